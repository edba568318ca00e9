package identity

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// The types without methods, for encoding/json.
type (
	plainOrganisation Organisation
	plainDraft        OrganisationDraft
)

// UnmarshalJSON decodes an organisation and keeps unknown members.
func (o *Organisation) UnmarshalJSON(text []byte) (err error) {
	o.Rest, err = read(text, (*plainOrganisation)(o))
	return err
}

// MarshalJSON encodes the known members, then the others. Missing objects are written as
// empty, also for organisations that were stored without them.
func (o Organisation) MarshalJSON() ([]byte, error) {
	for _, v := range []*json.RawMessage{&o.UI, &o.OrgOptionsMeta} {
		if len(*v) == 0 || doc.IsNull(*v) {
			*v = json.RawMessage("{}")
		}
	}
	return write(plainOrganisation(o), o.Rest)
}

// UnmarshalJSON decodes a draft and keeps unknown members.
func (d *OrganisationDraft) UnmarshalJSON(text []byte) (err error) {
	d.Rest, err = read(text, (*plainDraft)(d))
	return err
}

// MarshalJSON encodes the known members, then the others.
func (d OrganisationDraft) MarshalJSON() ([]byte, error) { return write(plainDraft(d), d.Rest) }

// read decodes the known members into a value, and returns the others.
func read(text []byte, into any) (rest doc.Object, err error) {
	if err := json.Unmarshal(text, into); err != nil || !doc.IsObject(text) {
		return rest, err
	}
	o, err := doc.ParseObject(bytes.Clone(text)) // the caller may reuse its text
	if err != nil {
		return rest, err
	}
	e := o.Edit()
	for name := range o.All() {
		if slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) { // like encoding/json, ignore case
			e.Delete(name)
		}
	}
	return e.Object(), nil
}

// known are the names of the members of an organisation.
var known = func() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Organisation]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
			names = append(names, name)
		}
	}
	return names
}()

// write appends members to a value that has at least one.
func write(value any, rest doc.Object) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil || rest.Len() == 0 {
		return text, err
	}
	more, err := rest.AppendJSON(nil)
	if err != nil || bytes.Equal(text, []byte("{}")) {
		return more, err
	}
	return append(append(text[:len(text)-1], ','), more[1:]...), nil
}
