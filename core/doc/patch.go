package doc

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Merge applies a JSON merge patch (RFC 7386, RFC 7396) to a document and
// returns the result; target may be empty. Members that the patch does not
// mention keep their text and their place. Neither argument is changed.
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

// UnmarshalJSON implements json.Unmarshaler; anything but an object is refused.
func (p *Patch) UnmarshalJSON(text []byte) error {
	if !IsObject(text) {
		return ErrNoObject
	}
	var err error
	p.Object, err = ParseObject(bytes.Clone(text))
	return err
}
