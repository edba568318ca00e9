package operation

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// membersOf returns the JSON names of the members of a body of type t.
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

// Canonical returns a body with the member names spelled as the operation spells them. The
// decoder ignores case, but rules do not: the values that rules decide about must be those
// that the decoder uses. Of two spellings of one member the last counts, at any depth: the
// decoder would merge two objects with the same name. A body that is not an object is returned
// unchanged.
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
