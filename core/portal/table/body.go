package table

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Codes of the faults of bodies.
const (
	CodeInvalid = "portal.invalid" // failed validations
	CodeBody    = "body.malformed"
)

// Body is a request body for a table. Names of members are case-sensitive; unknown members are
// ignored.
type Body[T Row[T]] struct{ members map[string]any }

// UnmarshalJSON implements json.Unmarshaler.
func (b *Body[T]) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&b.members); err != nil || b.members == nil {
		return fault.New(fault.Invalid, CodeBody, "an object is wanted")
	}
	return nil
}

// Schema describes the body.
func (b *Body[T]) Schema() map[string]any {
	var zero T
	return zero.Table().Schema()
}

// SchemaName returns the name of the body in the API description.
func (b *Body[T]) SchemaName() string {
	var zero T
	var name strings.Builder
	for word := range strings.FieldsSeq(zero.Table().Noun) {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String() + "Input"
}

// Has reports whether the client sent a member, even if it is null.
func (b *Body[T]) Has(name string) bool { _, ok := b.members[name]; return ok }

// Without returns the body without a member.
func (b *Body[T]) Without(name string) Body[T] {
	members := maps.Clone(b.members)
	delete(members, name)
	return Body[T]{members}
}

// Get returns a decoded member, with numbers as json.Number; nil: there is none.
func (b *Body[T]) Get(name string) any { return b.members[name] }

// Resolve returns the ID of the record with an ID or CID given as text; false: there is none.
type Resolve func(kind, name string) (ID, bool, error)

// Apply applies the body to a record. making says that the record is new: then required fields
// must be present, and fixed ones may be. All failed validations are in one fault.
func (b *Body[T]) Apply(v *T, making bool, resolve Resolve) error {
	var zero T
	t, wrong := zero.Table(), Problems{}
	if making {
		switch cid, ok := b.members["CID"].(string); {
		case b.members["CID"] == nil || ok && cid == "":
		case !ok || !IsCID(cid):
			wrong.Invalid("CID")
		default:
			t.Base(v).CID = cid
		}
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Fixed && !making {
			continue
		}
		if f.Repeated && !making && !b.Has(f.Name) {
			wrong.Blank(f.Name)
			continue
		}
		before := len(wrong)
		if err := b.field(f, v, resolve, &wrong); err != nil {
			return err
		}
		if len(wrong) > before {
			continue
		}
		at := f.At(v)
		if making && f.Default != "" && empty(at) {
			*at.(*string) = f.Default
		}
		switch s, isText := textOf(at); {
		case empty(at):
			if f.Required && (making || !f.Fixed) {
				wrong.Blank(f.Name)
			}
		case isText && utf8.RuneCountInString(s) > cmp.Or(f.Max, MaxText):
			wrong = append(wrong, fmt.Sprintf("%s is too long (the maximum is %d characters)", f.Name, cmp.Or(f.Max, MaxText)))
		case len(f.Enum) > 0 && !slices.Contains(f.Enum, s):
			wrong.Invalid(f.Name)
		case f.Valid != nil && !f.Valid(*v):
			wrong.Invalid(f.Name)
		}
	}
	if t.Check != nil {
		t.Check(*v, &wrong)
	}
	return wrong.Err()
}

// Fresh returns the body without unchanged relations, so that a client may send back a
// response about the record (docs/wire/portal.md#fields). This is needed only for names that
// could be IDs or CIDs; without such names, answer is not called.
func (b Body[T]) Fresh(answer func() (any, error)) (Body[T], error) {
	var zero T
	names := []string{}
	for _, f := range zero.Table().Fields {
		for _, name := range append([]string{f.Name}, f.Also...) {
			if f.Target != "" && doubtful(b.members[name]) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return b, nil
	}
	v, err := answer()
	if err != nil {
		return b, err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return b, err
	}
	var shown Body[T]
	if err := shown.UnmarshalJSON(text); err != nil {
		return b, err
	}
	members := maps.Clone(b.members)
	for _, name := range names {
		if reflect.DeepEqual(members[name], shown.members[name]) {
			delete(members, name)
		}
	}
	return Body[T]{members}, nil
}

// doubtful reports whether a relation was sent as texts that could be IDs, CIDs or names.
func doubtful(sent any) bool {
	if list, ok := sent.([]any); ok {
		return len(list) > 0 && !slices.ContainsFunc(list, func(v any) bool { return !doubtful(v) })
	}
	name, ok := sent.(string)
	if ok {
		_, ok, _ = named(name)
	}
	return ok
}

// Err returns the failed validations as one fault, or nil.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return fault.Several(fault.Invalid, CodeInvalid, p)
}

// field sets a field from the body, from the first of its names with a value.
func (b *Body[T]) field(f *Field[T], v *T, resolve Resolve, wrong *Problems) error {
	for _, name := range append([]string{f.Name}, f.Also...) {
		sent, ok := b.members[name]
		if !ok {
			continue
		}
		before, _ := textOf(f.At(v))
		done, err := take(f.At(v), sent, f.Target, resolve)
		switch {
		case err == errInvalid: //nolint:errorlint // it is never wrapped
			wrong.Invalid(f.Name)
			return nil
		case err != nil:
			return err
		case done:
			if text, _ := textOf(f.At(v)); f.Line && text != before && strings.ContainsFunc(text, unicode.IsControl) {
				wrong.Invalid(f.Name)
			}
			return nil
		}
	}
	return nil
}

// Fact is what there is to know about a field without a record.
type Fact struct {
	Name     string
	Target   string   // the kind of record that a relation names
	Takes    any      // a pointer to an empty value of its type
	Enum     []string // the only texts there are
	Required bool
	Fixed    bool
	Repeated bool // each change has to send it, too
}

// Facts returns the kind of record that a body is for, and its fields.
func (b *Body[T]) Facts() (kind string, fields []Fact) {
	var zero T
	t := zero.Table()
	for _, f := range t.Fields {
		fields = append(fields, Fact{f.Name, f.Target, f.At(&zero), f.Enum, f.Required, f.Fixed, f.Repeated})
	}
	return t.Kind, fields
}
