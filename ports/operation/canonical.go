package operation

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// membersOf returns the names by which a body of type t knows its members.
func membersOf(t reflect.Type) (names []string) {
	if t == nil || t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// Canonical returns a body whose members are spelled as the operation spells
// them. Decoding does not look at upper and lower case, but rules do: what is
// decided about must be what is done. Of two spellings of one member the last
// counts, at any depth: decoding would put the members of two objects of one name
// together. A body that is no object is returned as it is.
func (s *Spec) Canonical(body json.RawMessage) json.RawMessage {
	if len(s.members) == 0 || doc.Check(body, 0) != nil || !doc.IsObject(body) {
		return body
	}
	if doc.Repeats(body) {
		n, err := doc.ParseNode(body)
		if err != nil {
			return body
		}
		body = n.JSON()
	}
	o, err := doc.ParseObject(body)
	if err != nil {
		return body
	}
	e, same := doc.Object{}.Edit(), true
	for name, value := range o.All() {
		spelled := name
		if i := slices.IndexFunc(s.members, func(m string) bool { return strings.EqualFold(m, name) }); i >= 0 {
			spelled = s.members[i]
		}
		same = same && spelled == name
		e.Delete(spelled)
		e.Set(spelled, value)
	}
	if same {
		return body
	}
	text, err := e.Object().AppendJSON(nil)
	if err != nil {
		return body
	}
	return text
}
