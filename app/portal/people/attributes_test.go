package people_test

import (
	"fmt"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/portal/event"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

var model = map[string]string{"extended_attribute_id": "1"}

// TestValuesFollow states that values are renamed and deleted with their attributes, and are in
// events and in the metadata of credentials.
func TestValuesFollow(t *testing.T) {
	w := open(t)
	w.call(t, "portal-custom-attributes.create", model, `{"Name":"Department","Identifier":"department","Type":1,"AddToKeyMetadata":true}`)
	w.call(t, "portal-custom-attributes.create", model, `{"Name":"Secret","Identifier":"hidden","Type":1}`)
	w.call(t, "portal-users.create", nil, `{"Email":"x@example.com","First":"X","OrganisationID":2,"CustomAttributes":[{"Identifier":"department","Value":"Engines"},{"Identifier":"hidden","Value":"h"}]}`)
	described := func() string {
		t.Helper()
		u, out := w.stored(t, "3"), ""
		if err := w.tools.Store.View(t.Context(), w.scope, func(r store.Reader) error {
			list, err := people.Describe(t.Context(), r, u)
			out = fmt.Sprint(list)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if got := described(); got != "[{department Engines []}]" {
		t.Error(got)
	}
	for id := 1; id <= 6; id++ {
		w.call(t, "portal-extended-attributes.update-default", map[string]string{"extended_attribute_id": "1", "default_attribute_id": fmt.Sprint(id)}, `{"AddToKeyMetadata":true}`)
	}
	w.call(t, "portal-custom-attributes.update", map[string]string{"extended_attribute_id": "1", "custom_attribute_id": "1"}, `{"Identifier":"division"}`)
	if got := described(); got != "[{First X []} {Last  []} {Email x@example.com []} {Role consumer-team-member []} {Organisation Acme []} {TeamNames  [Acme All users]} {division Engines []}]" {
		t.Error(got)
	}
	u := w.stored(t, "3")
	u.Active = true
	before := u
	before.Active = false
	if told := event.OfUsers.Of(&before, &u); fmt.Sprint(told[0].Message.(event.User).CustomAttributes) != "[{division Engines} {hidden h}]" {
		t.Errorf("%+v", told)
	}
	w.call(t, "portal-custom-attributes.delete", map[string]string{"extended_attribute_id": "1", "custom_attribute_id": "1"}, "")
	if u := w.stored(t, "3"); len(u.Attributes) != 1 || u.Attributes[0].Identifier != "hidden" {
		t.Error(u.Attributes)
	}
}

// TestDefaultsComeFirst: a custom attribute that users may edit does not replace the portal's
// own data in the metadata of credentials.
func TestDefaultsComeFirst(t *testing.T) {
	w := open(t)
	w.call(t, "portal-custom-attributes.create", model, `{"Name":"Role","Identifier":"Role","Type":1,"AddToKeyMetadata":true}`)
	w.call(t, "portal-users.create", nil, `{"Email":"x@example.com","First":"X","OrganisationID":2,"CustomAttributes":[{"Identifier":"Role","Value":"super-admin"}]}`)
	for _, want := range []string{"[{Role super-admin []}]", "[{Role consumer-team-member []}]"} {
		if err := w.tools.Store.View(t.Context(), w.scope, func(r store.Reader) error {
			list, err := people.Describe(t.Context(), r, w.stored(t, "3"))
			if got := fmt.Sprint(list); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		w.call(t, "portal-extended-attributes.update-default", map[string]string{"extended_attribute_id": "1", "default_attribute_id": "4"}, `{"AddToKeyMetadata":true}`)
	}
}
