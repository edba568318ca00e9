package app_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/portal/catalogues"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestAudiencesGo: audiences are deleted with their team or organisation, and no catalogue
// becomes visible to everyone by that. An audience that is added later determines again who sees
// the catalogue.
func TestAudiencesGo(t *testing.T) {
	db, err := memdb.New(apptest.Clock())
	if err != nil {
		t.Fatal(err)
	}
	a := service(t, nobodyWatches(), portalOptions(app.WithStore(db))...)
	send := func(method, path, body string, code int) {
		t.Helper()
		if got, text := fetch(t, a, method, "/portal-api"+path, "portal-admin", body); got != code {
			t.Fatalf("%s %s: %d %s", method, path, got, text)
		}
	}
	is := func(want bool) {
		t.Helper()
		if got := closed(t, db, 2); got != want {
			t.Errorf("closed: %v", got)
		}
	}
	none := func() {
		t.Helper()
		if code, text := fetch(t, a, "GET", "/portal-api/catalogues/2/audiences", "portal-admin", ""); code != 200 || strings.TrimSpace(text) != "[]" {
			t.Errorf("%d %s", code, text)
		}
	}
	if code, text := fetch(t, a, "POST", "/portal-api/bootstrap", "", `{"username":"admin@example.com","password":"secret"}`); code != 200 {
		t.Fatal(code, text)
	}
	is(false)
	send("POST", "/organisations", `{"Name":"Acme"}`, 201)
	send("POST", "/organisations/2/teams", `{"Name":"Builders"}`, 201)
	for _, gone := range []struct{ team, path string }{{"3", "/organisations/2/teams/3"}, {"2", "/organisations/2"}} {
		send("POST", "/catalogues/2/audiences", fmt.Sprintf(`{"OrganisationID":2,"TeamID":%s}`, gone.team), 201)
		is(false)
		send("DELETE", gone.path, "", 200)
		none()
		is(true)
	}
	send("POST", "/catalogues/2/audiences", `{"OrganisationID":1,"TeamID":1}`, 201)
	is(false)
	send("DELETE", "/catalogues/2/audiences/3", "", 200) // an admin opens it
	is(false)
}

// TestAudiencesOfAnswers: a catalogue made from a read answer lists audiences by name, which is
// ignored. It is not visible to everyone; a catalogue that lists no audiences is.
func TestAudiencesOfAnswers(t *testing.T) {
	db, err := memdb.New(apptest.Clock())
	if err != nil {
		t.Fatal(err)
	}
	a := service(t, nobodyWatches(), portalOptions(app.WithStore(db))...)
	if code, text := fetch(t, a, "POST", "/portal-api/bootstrap", "", `{"username":"admin@example.com","password":"secret"}`); code != 200 {
		t.Fatal(code, text)
	}
	const read, sent = `{"Catalogue":"Partners","ID":1,"Name":"Builders","Organisation":"Acme"}`, `{"OrganisationID":1,"TeamID":1}`
	for i, c := range []struct {
		members string
		closed  bool
	}{
		{`,"OrgCatalogues":[` + read + `]`, true},
		{`,"OrgCatalogs":[` + read + `]`, true},
		{`,"OrgCatalogues":[` + read + `,` + sent + `]`, false},
		{`,"OrgCatalogues":[` + read + `],"OrgCatalogs":[` + sent + `]`, false},
		{`,"OrgCatalogues":[]`, false},
		{`,"OrgCatalogues":null`, false},
		{``, false},
	} {
		if code, text := fetch(t, a, "POST", "/portal-api/catalogues", "portal-admin", fmt.Sprintf(`{"Name":"Copy %d"%s}`, i, c.members)); code != 201 {
			t.Fatal(code, text)
		}
		if shut := closed(t, db, table.ID(i+3)); shut != c.closed {
			t.Errorf("%s: closed %v", c.members, shut)
		}
	}
	if code, text := fetch(t, a, "POST", "/portal-api/catalogues/3/audiences", "portal-admin", sent); code != 201 || closed(t, db, 3) {
		t.Error("an audience that is named later", code, text)
	}
}

// closed reports whether a catalogue stays closed without audiences.
func closed(t *testing.T, db store.Store, id table.ID) (is bool) {
	t.Helper()
	scope, err := tenant.Of("portal:default")
	if err != nil {
		t.Fatal(err)
	}
	if err := db.View(t.Context(), scope, func(r store.Reader) error {
		c, err := catalogues.Kind.Get(t.Context(), r, id.Key())
		is = c.Value.Closed
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return is
}
