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

// TestAudiencesGo: audiences go with their team or organisation, and no catalogue opens by
// that; one that is named later says again who sees it.
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
	closed := func(want bool) {
		t.Helper()
		scope, err := tenant.Of("portal:default")
		if err != nil {
			t.Fatal(err)
		}
		if err := db.View(t.Context(), scope, func(r store.Reader) error {
			c, err := catalogues.Kind.Get(t.Context(), r, table.ID(2).Key())
			if c.Value.Closed != want {
				t.Errorf("closed: %v", c.Value.Closed)
			}
			return err
		}); err != nil {
			t.Fatal(err)
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
	closed(false)
	send("POST", "/organisations", `{"Name":"Acme"}`, 201)
	send("POST", "/organisations/2/teams", `{"Name":"Builders"}`, 201)
	for _, gone := range []struct{ team, path string }{{"3", "/organisations/2/teams/3"}, {"2", "/organisations/2"}} {
		send("POST", "/catalogues/2/audiences", fmt.Sprintf(`{"OrganisationID":2,"TeamID":%s}`, gone.team), 201)
		closed(false)
		send("DELETE", gone.path, "", 200)
		none()
		closed(true)
	}
	send("POST", "/catalogues/2/audiences", `{"OrganisationID":1,"TeamID":1}`, 201)
	closed(false)
	send("DELETE", "/catalogues/2/audiences/3", "", 200) // an admin opens it
	closed(false)
}
