// Package tabletest tests the tables of the portal's resources by the bodies that clients send
// (docs/wire/portal.md#fields).
package tabletest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Resolve knows the records 1 to 9 of each kind.
func Resolve(_, name string) (table.ID, bool, error) {
	id, ok := table.ParseID(name)
	return id, ok && id < 10, nil
}

// Apply applies a body to a record and returns the failed validations.
func Apply[T table.Row[T]](t testing.TB, v *T, body string, making bool) []string {
	t.Helper()
	var b table.Body[T]
	if err := json.Unmarshal([]byte(body), &b); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	err := b.Apply(v, making, Resolve)
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.All
	} else if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return nil
}

// Bodies applies each body to a copy of a record. A key is a body. Its value is an object, and
// the record has its members afterwards, or the texts of the failed validations with "; "
// between them.
func Bodies[T table.Row[T]](t *testing.T, record T, making bool, cases map[string]string) {
	t.Helper()
	for body, want := range cases {
		v := record
		wrong := strings.Join(Apply(t, &v, body, making), "; ")
		if !strings.HasPrefix(want, "{") {
			if wrong != want {
				t.Errorf("%s\nhave: %s\nwant: %s", body, wrong, want)
			}
			continue
		}
		text, err := json.Marshal(v)
		if err != nil || wrong != "" {
			t.Errorf("%s: %s, %v", body, wrong, err)
			continue
		}
		have, members := decoded(t, string(text)), decoded(t, want)
		for name, value := range members {
			if !reflect.DeepEqual(have[name], value) {
				t.Errorf("%s\nhave: %s\nwant: %s", body, text, want)
				break
			}
		}
	}
}

// Sound checks the rules that hold for the fields of every table: no two fields share a
// variable, each has its name in the API description, required ones must be present, fixed ones
// stay, and values beyond the limits are refused with the name of the field. body is that of a
// valid new record with all its required fields.
func Sound[T table.Row[T]](t *testing.T, body string) {
	t.Helper()
	var made T
	if wrong := Apply(t, &made, body, true); len(wrong) > 0 {
		t.Fatalf("%s is not valid: %q", body, wrong)
	}
	tab, members, seen := made.Table(), decoded(t, body), map[uintptr]string{}
	properties, _ := tab.Schema()["properties"].(doc.Fields)
	for _, f := range tab.Fields {
		at := reflect.ValueOf(f.At(&made))
		if other := seen[at.Pointer()]; other != "" {
			t.Errorf("%s and %s are one variable", other, f.Name)
		}
		seen[at.Pointer()] = f.Name
		if properties.Get(f.Name) == nil {
			t.Errorf("%s is not described", f.Name)
		}
		c := check[T]{t, f, members}
		c.presence(made)
		c.limits()
	}
	const cid = "2r7p8aUnkzby17hCJk8w2XvK3K6"
	if named := with(t, members, "CID", cid, &made); len(named) > 0 || tab.Base(&made).CID != cid {
		t.Errorf("a CID that the client chose: %q, %q", tab.Base(&made).CID, named)
	}
	if wrong := with(t, members, "CID", "mine", new(T)); !slices.Contains(wrong, "CID is invalid") {
		t.Errorf("a CID of another form: %q", wrong)
	}
	var none T
	for _, u := range tab.Unique {
		if value := u.Of(made); u.Name == "" || u.Taken == "" || value != "" && value == u.Of(none) {
			t.Errorf("%q is not unique in %s", u.Name, body)
		}
	}
}

// check checks one field with the members of a valid body.
type check[T table.Row[T]] struct {
	t       *testing.T
	f       table.Field[T]
	members map[string]any
}

// with returns the failed validations of a new record whose field has a value.
func (c check[T]) with(value any) []string {
	c.t.Helper()
	members := maps.Clone(c.members)
	for _, name := range c.f.Also {
		delete(members, name)
	}
	return with(c.t, members, c.f.Name, value, new(T))
}

// with applies members, with one of them replaced, to a new record.
func with[T table.Row[T]](t testing.TB, members map[string]any, name string, value any, v *T) []string {
	t.Helper()
	members = maps.Clone(members)
	members[name] = value
	text, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return Apply(t, v, string(text), true)
}

func (c check[T]) presence(made T) {
	c.t.Helper()
	blank := c.f.Name + " can't be blank"
	needed := c.f.Required && c.f.Default == ""
	wrong := c.with(nil)
	if missed := slices.Contains(wrong, blank); needed && !missed || missed && !needed && made.Table().Check == nil { // a Check may require more
		c.t.Errorf("without %s: %q", c.f.Name, wrong)
	}
	if wrong := Apply(c.t, &made, "{}", false); slices.Contains(wrong, blank) != c.f.Repeated {
		c.t.Errorf("a change without %s: %q", c.f.Name, wrong)
	}
	if c.f.Fixed {
		changed := made
		Apply(c.t, &changed, `{"`+c.f.Name+`":"other"}`, false)
		if !reflect.DeepEqual(c.f.At(&changed), c.f.At(&made)) {
			c.t.Errorf("%s can be changed", c.f.Name)
		}
	}
}

func (c check[T]) limits() {
	c.t.Helper()
	invalid := c.f.Name + " is invalid"
	var zero T
	switch c.f.At(&zero).(type) {
	case table.Taker, *json.RawMessage, *table.Object:
	case *string, *table.CSV:
		limit := table.MaxText
		if c.f.Max > 0 {
			limit = c.f.Max
		}
		long := fmt.Sprintf("%s is too long (the maximum is %d characters)", c.f.Name, limit)
		if wrong := c.with(strings.Repeat("é", limit)); slices.Contains(wrong, long) {
			c.t.Errorf("%d characters: %q", limit, wrong)
		}
		if wrong := c.with(strings.Repeat("é", limit+1)); !slices.Contains(wrong, long) {
			c.t.Errorf("%d characters: %q", limit+1, wrong)
		}
		if wrong := c.with("a\ab"); c.f.Line && !slices.Contains(wrong, invalid) {
			c.t.Errorf("%s with a control character: %q", c.f.Name, wrong)
		}
		for _, value := range c.f.Enum {
			if wrong := c.with(value); slices.Contains(wrong, invalid) {
				c.t.Errorf("%s %s: %q", c.f.Name, value, wrong)
			}
		}
		if wrong := c.with("no such value"); c.f.Enum != nil && !slices.Contains(wrong, invalid) {
			c.t.Errorf("another %s: %q", c.f.Name, wrong)
		}
	case *[]string:
		if wrong := c.with(make([]string, table.MaxList+1)); !slices.Contains(wrong, invalid) {
			c.t.Errorf("%s with %d entries: %q", c.f.Name, table.MaxList+1, wrong)
		}
	case *table.ID, *[]table.ID:
		if wrong := c.with("10"); !slices.Contains(wrong, invalid) {
			c.t.Errorf("%s that does not exist: %q", c.f.Name, wrong)
		}
		if wrong := c.with("1"); slices.Contains(wrong, invalid) {
			c.t.Errorf("%s that exists: %q", c.f.Name, wrong)
		}
	default: // numbers, true and false
		if wrong := c.with("maybe"); !slices.Contains(wrong, invalid) {
			c.t.Errorf("%s maybe: %q", c.f.Name, wrong)
		}
	}
}

func decoded(t testing.TB, text string) (members map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return members
}
