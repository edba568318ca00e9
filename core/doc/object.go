// Package doc handles JSON documents without changing how they were written: member order, the
// spelling of numbers and unknown members survive every edit. It also computes differences of
// texts, so that history stores changes instead of copies.
package doc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
)

// Appender is a value that encodes its own JSON. Storage and transport prefer it to
// encoding/json, which would scan the text once more.
type Appender interface {
	AppendJSON(b []byte) ([]byte, error)
}

// Object is an immutable JSON object with its members in order. Values are stored as text;
// editing one member copies no other. The zero Object is empty.
type Object struct{ members []member }

type member struct {
	name  string
	raw   json.RawMessage
	spelt []byte // the name as written, if our spelling differs
}

// ParseObject parses an object. Of members with the same name the last one wins. The Object
// keeps the text, which must not be changed afterwards.
func ParseObject(text []byte) (Object, error) {
	if err := Check(text, 0); err != nil {
		return Object{}, err
	}
	if !IsObject(text) {
		return Object{}, ErrNoObject
	}
	return LoadObject(text)
}

// LoadObject is ParseObject for a text that is known to be a valid object, such as a stored
// document: it finds the members and checks nothing else. For other text it returns an error
// or some object, but never reads past the end.
func LoadObject(text []byte) (Object, error) {
	e := Editor{}
	i := space(text, 0)
	if byteAt(text, i) != '{' {
		return Object{}, ErrNoObject
	}
	for i = space(text, i+1); byteAt(text, i) != '}'; {
		at, value, end, ok := memberAt(text, i)
		if !ok {
			return Object{}, fmt.Errorf("%w: the object is broken at offset %d", ErrSyntax, i)
		}
		name, err := Unquote(text[i:at])
		if err != nil {
			return Object{}, fmt.Errorf("%w: %s", ErrSyntax, err.Error())
		}
		e.set(name, text[value:end:end], text[i:at:at])
		i = behind(text, end)
	}
	return e.Object(), nil
}

// byteAt returns a byte of text, and 0 after its end.
func byteAt(text []byte, i int) byte {
	if i < len(text) {
		return text[i]
	}
	return 0
}

// memberAt returns the end of the name of the member that begins at text[i], and the beginning
// and end of its value.
func memberAt(text []byte, i int) (name, value, end int, ok bool) {
	name = stringEnd(text, i)
	colon := space(text, name)
	value = space(text, min(colon+1, len(text)))
	if byteAt(text, i) != '"' || byteAt(text, colon) != ':' || value == len(text) {
		return 0, 0, 0, false
	}
	return name, value, valueEnd(text, value), true
}

// behind returns the beginning of the next member after a value, or the end of the object.
func behind(text []byte, end int) int {
	i := space(text, end)
	if byteAt(text, i) == ',' {
		i = space(text, i+1)
	}
	return i
}

// Len returns the number of members.
func (o Object) Len() int { return len(o.members) }

// Get returns the text of a member. Treat it as read-only.
func (o Object) Get(name string) (json.RawMessage, bool) {
	for i := range o.members {
		if o.members[i].name == name {
			return o.members[i].raw, true
		}
	}
	return nil, false
}

// All yields the members in order.
func (o Object) All() iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		for _, m := range o.members {
			if !yield(m.name, m.raw) {
				return
			}
		}
	}
}

// With returns o with one member set; a new member is added at the end.
func (o Object) With(name string, value json.RawMessage) Object {
	e := o.Edit()
	e.Set(name, value)
	return e.Object()
}

// Without returns o without one member.
func (o Object) Without(name string) Object {
	e := o.Edit()
	e.Delete(name)
	return e.Object()
}

// AppendJSON implements Appender.
func (o Object) AppendJSON(b []byte) ([]byte, error) {
	size := 2
	for _, m := range o.members {
		size += len(m.name) + len(m.raw) + len(`"":,`)
	}
	b = append(slices.Grow(b, size), '{')
	for i, m := range o.members {
		if i > 0 {
			b = append(b, ',')
		}
		if m.spelt != nil {
			b = append(b, m.spelt...)
		} else {
			b = AppendString(b, m.name)
		}
		b = append(b, ':')
		b = append(b, m.raw...)
	}
	return append(b, '}'), nil
}

// MarshalJSON implements json.Marshaler.
func (o Object) MarshalJSON() ([]byte, error) { return o.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (o *Object) UnmarshalJSON(text []byte) (err error) {
	*o, err = ParseObject(bytes.Clone(text))
	return err
}

// Editor changes many members of an object with only one copy.
type Editor struct {
	members []member
	index   map[string]int // nil until enough look-ups are worth an index
	lookups int
	dead    int
}

// Edit returns an editor that starts from o; o itself never changes.
func (o Object) Edit() *Editor {
	members := make([]member, len(o.members), len(o.members)+1)
	copy(members, o.members)
	return &Editor{members: members}
}

// indexAfter is the number of lookups after which an index is built: one edit of a large
// object is a linear search, and a thousand do not become quadratic.
const indexAfter = 16

func (e *Editor) find(name string) int {
	if e.lookups++; e.lookups == indexAfter {
		e.index = make(map[string]int, len(e.members)+1)
		for i, m := range e.members {
			if m.raw != nil {
				e.index[m.name] = i
			}
		}
	}
	if e.index == nil {
		for i := range e.members {
			if e.members[i].name == name && e.members[i].raw != nil {
				return i
			}
		}
		return -1
	}
	if i, ok := e.index[name]; ok {
		return i
	}
	return -1
}

// Get returns the current text of a member.
func (e *Editor) Get(name string) (json.RawMessage, bool) {
	if i := e.find(name); i >= 0 {
		return e.members[i].raw, true
	}
	return nil, false
}

// Set adds or replaces a member.
func (e *Editor) Set(name string, value json.RawMessage) { e.set(name, value, nil) }

// set is Set for a name with its spelling; an existing member keeps its own spelling.
func (e *Editor) set(name string, value json.RawMessage, literal []byte) {
	if i := e.find(name); i >= 0 {
		e.members[i].raw = value
		return
	}
	if bytes.IndexByte(literal, '\\') < 0 || bytes.Equal(AppendString(nil, name), literal) {
		literal = nil
	}
	e.members = append(e.members, member{name, value, literal})
	if e.index != nil {
		e.index[name] = len(e.members) - 1
	}
}

// Delete removes a member; a missing member is not an error.
func (e *Editor) Delete(name string) {
	i := e.find(name)
	if i < 0 {
		return
	}
	e.members[i].raw = nil
	e.dead++
	delete(e.index, name)
}

// Object returns the edited object. The editor must not be used afterwards.
func (e *Editor) Object() Object {
	if e.dead == 0 {
		return Object{e.members}
	}
	live := e.members[:0]
	for _, m := range e.members {
		if m.raw != nil {
			live = append(live, m)
		}
	}
	return Object{live}
}

// Merge applies a JSON merge patch (RFC 7386, RFC 7396) to a document and returns the result;
// target may be empty. Members that are not in the patch keep their text and their place.
// Neither argument is changed.
func Merge(target, patch []byte) ([]byte, error) {
	if err := Check(patch, 0); err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	return merge(target, patch)
}

func merge(target, patch []byte) ([]byte, error) {
	patch = bytes.TrimSpace(patch)
	if patch[0] != '{' {
		return patch, nil
	}
	p, err := ParseObject(patch)
	if err != nil {
		return nil, err
	}
	var t Object
	if target = bytes.TrimSpace(target); len(target) > 0 && target[0] == '{' {
		if t, err = ParseObject(target); err != nil {
			return nil, err
		}
	}
	e := t.Edit()
	for name, value := range p.All() {
		if IsNull(value) {
			e.Delete(name)
			continue
		}
		old, _ := e.Get(name)
		merged, err := merge(old, value)
		if err != nil {
			return nil, err
		}
		e.Set(name, merged)
	}
	return e.Object().AppendJSON(nil)
}

// IsNull reports whether a JSON text is the literal null.
func IsNull(text json.RawMessage) bool { return string(bytes.TrimSpace(text)) == "null" }

// IsObject reports whether a JSON text is an object.
func IsObject(text json.RawMessage) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 0 && text[0] == '{'
}

// Patch is a merge patch whose top level is an object.
type Patch struct{ Object }

// UnmarshalJSON implements json.Unmarshaler; it refuses values that are not objects.
func (p *Patch) UnmarshalJSON(text []byte) error {
	if !IsObject(text) {
		return ErrNoObject
	}
	var err error
	p.Object, err = ParseObject(bytes.Clone(text))
	return err
}
