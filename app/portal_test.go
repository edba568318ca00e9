package app_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app"
)

// TestPortalIsApart states that neither surface reaches the data of the other, and neither
// do two portals in one store.
func TestPortalIsApart(t *testing.T) {
	a := service(t, nobodyWatches(), portalOptions()...)
	if code, text := fetch(t, a, "POST", "/portal-api/bootstrap", "", `{"username":"admin@example.com","password":"secret"}`); code != 200 {
		t.Fatal(code, text)
	}
	if code, text := fetch(t, a, "POST", "/portal-api/tags", "portal-admin", `{"Name":"Payments"}`); code != 201 {
		t.Fatal(code, text)
	}
	for _, c := range []struct {
		method, path, as, body string
		code                   int
	}{
		{"GET", "/api/users", "portal-admin", "", 401},
		{"GET", "/admin/organisations", "portal-admin", "", 401},
		{"GET", "/portal-api/tags", "admin", "", 401},
		{"GET", "/portal-api/tags", "super-admin", "", 401},
		{"POST", "/admin/organisations", "super-admin", `{"id":"portal:default","owner_name":"x","owner_slug":"x"}`, 400},
	} {
		if code, text := fetch(t, a, c.method, c.path, c.as, c.body); code != c.code {
			t.Errorf("%s %s as %s: %d %s", c.method, c.path, c.as, code, text)
		}
	}
	other, err := app.New(append(portalOptions(), app.WithStore(a.Store()), app.WithPortal(app.Portal{ID: "other", Shared: true, SigningKey: signingKey}))...)
	if err != nil {
		t.Fatal(err)
	}
	if code, text := fetch(t, other, "GET", "/portal-api/tags", "portal-admin", ""); code != 503 {
		t.Errorf("another portal answers %d %s", code, text)
	}
}

// TestBeforeBootstrap: until there is a first admin, all paths and methods of the portal's
// API give the same answer, except bootstrap and the probes.
func TestBeforeBootstrap(t *testing.T) {
	a := service(t, nobodyWatches(), portalOptions()...)
	listeners := map[string]http.Handler{"shared": a, "own": a.Portal()}
	check := func(rows [][3]string) {
		t.Helper()
		for name, at := range listeners {
			for _, row := range rows {
				if code, text := fetch(t, at, row[0], row[1], "", ""); strconv.Itoa(code)+" " != row[2][:4] || !strings.Contains(text, row[2][4:]) {
					t.Errorf("%s: %s %s: %d %s, want %s", name, row[0], row[1], code, text, row[2])
				}
			}
		}
	}
	const early = "503 portal is not bootstrapped"
	check([][3]string{
		{"GET", "/portal-api/tags", early}, {"PATCH", "/portal-api/tags", early}, {"OPTIONS", "/portal-api/tags/1/", early}, {"GET", "/portal-api/nothing", early}, {"POST", "/portal-api", early},
		{"PUT", "/portal-api/bootstrap", "405 method not allowed"}, {"GET", "/portal-api/bootstrap/", "405 method not allowed"}, {"GET", "/portal-api/bootstrap/x", early},
		{"GET", "/live", "200 "}, {"GET", "/ready", "200 "},
	})
	if code, text := fetch(t, a, "POST", "/portal-api/bootstrap", "", `{"username":"admin@example.com","password":"secret"}`); code != 200 {
		t.Fatal(code, text)
	}
	check([][3]string{
		{"GET", "/portal-api/tags", "401 unauthorized"}, {"PATCH", "/portal-api/tags", "405 method not allowed"}, {"GET", "/portal-api/nothing", "404 not found"}, {"GET", "/portal-api/bootstrap/x", "404 not found"},
	})
	none := service(t, nobodyWatches())
	if code, text := fetch(t, none, "GET", "/portal-api/tags", "", ""); code != 404 {
		t.Errorf("without a portal: %d %s", code, text)
	}
}

// TestPortalListener states what the portal's own listener answers, and what the
// dashboard's answers then.
func TestPortalListener(t *testing.T) {
	a := service(t, nobodyWatches(), app.WithPortal(app.Portal{}))
	for path, code := range map[string]int{"/live": 200, "/ready": 200, "/portal-api/tags": 503, "/api/apis": 404, "/": 404} {
		if got, text := fetch(t, a.Portal(), "GET", path, "", ""); got != code || code == 404 && !strings.Contains(text, `"errors"`) {
			t.Errorf("%s of the portal: %d %s", path, got, text)
		}
	}
	for path, code := range map[string]int{"/live": 404, "/portal-api/tags": 404, "/health": 200} {
		if got, text := fetch(t, a, "GET", path, "", ""); got != code {
			t.Errorf("%s of the dashboard: %d %s", path, got, text)
		}
	}
	if service(t, nobodyWatches()).Portal() != nil {
		t.Error("there is a portal without the option")
	}
}

// TestPortalBeforeBootstrap states that unauthenticated callers can store nothing in a
// portal without an admin, and learn only that it has none.
func TestPortalBeforeBootstrap(t *testing.T) {
	a := service(t, nobodyWatches(), portalOptions()...)
	const newcomer = `{"Email":"admin@example.com","First":"E","Last":"V","Password":"a-good-password"}`
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/portal/api/register", newcomer},
		{"POST", "/portal/api/login", `{"Email":"admin@example.com","Password":"x"}`},
		{"POST", "/portal/api/password/forgot", `{"Email":"admin@example.com"}`},
		{"GET", "/portal/api/profile", ""},
		{"GET", "/portal/api/site", ""},
		{"GET", "/portal-api/users", ""},
	} {
		if code, text := fetch(t, a, c.method, c.path, "", c.body); code != 503 || !strings.Contains(text, "portal is not bootstrapped") {
			t.Errorf("%s %s: %d %s", c.method, c.path, code, text)
		}
	}
	if code, text := fetch(t, a, "POST", "/portal-api/bootstrap", "", `{"username":"admin@example.com","password":"secret"}`); code != 200 {
		t.Error(code, text)
	}
	if code, text := fetch(t, a, "GET", "/portal-api/users", "portal-admin", ""); code != 200 || !strings.Contains(text, `"ID": 1`) || strings.Count(text, `"Email"`) != 1 {
		t.Error(code, text)
	}
}
