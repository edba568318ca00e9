package app_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/identity"
	port "github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

// deciding lets rules decide, and opens their API, with one engine.
func deciding(file string) []app.Option {
	var made *opa.Engine
	engine := func(t app.Tools) (*opa.Engine, error) {
		if made != nil {
			return made, nil
		}
		own := identity.Service{Store: t.Store}
		e, err := opa.New(opa.Config{File: file, Logger: t.Log, Lookup: t.Get, ObjectKind: t.Class, OrgRules: own.Rules}, t.Operations())
		made = e
		return e, err
	}
	return []app.Option{
		app.WithRules(func(t app.Tools) (rules.Engine, error) { return engine(t) }),
		app.WithRulesAPI(func(t app.Tools) (rules.Workshop, error) { return engine(t) }),
	}
}

// put makes a request that replaces rules.
func put(text string) string {
	return fmt.Sprintf(`{"open_policy":{"rules":%q}}`, text)
}

// Rules of an organisation decide at once, on every replica, about its own requests
// and those of no other; a text that cannot be used changes nothing; without rules of
// its own those of the file decide.
func TestRulesOfTheOrganisationDecide(t *testing.T) {
	file := t.TempDir() + "/dashboard.rego"
	const shared = "package dashboard_users\ndeny[\"file\"] { input.request.path == \"/api/assets\" }\n"
	if err := os.WriteFile(file, []byte(shared), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := crypto.NewKeys("a secret of the test")
	if err != nil {
		t.Fatal(err)
	}
	a := service(t, nobodyWatches(), append(deciding(file), app.WithStore(db))...)
	b, err := app.New(append(deciding(file), app.WithStore(db), app.WithKeys(keys))...)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(a *app.App, who, want string) {
		t.Helper()
		code, text := fetch(t, a, "GET", "/api/assets", who, "")
		if want == "" && code != 200 || want != "" && (code != 403 || !strings.Contains(text, "access denied: "+want+`"`)) {
			t.Errorf("%s: %d %s, want %q", who, code, text, want)
		}
	}
	replace := func(who, text string, want int) {
		t.Helper()
		if code, answer := fetch(t, a, "PUT", "/api/org/opa", who, put(text)); code != want {
			t.Errorf("%q: %d %s", text, code, answer)
		}
	}
	for _, replica := range []*app.App{a, b} {
		ask(replica, "admin", "file")
		ask(replica, "other", "file")
	}
	if _, text := fetch(t, b, "GET", "/api/org/opa", "admin", ""); !strings.Contains(text, `deny[\"file\"]`) {
		t.Error("not the text of the file:", text)
	}
	replace("admin", "package dashboard_users\ndeny[\"own\"] { input.request.path == \"/api/assets\" }", 200)
	replace("admin", "package dashboard_users\ndeny[", 400)
	for _, replica := range []*app.App{a, b} {
		ask(replica, "admin", "own")
		ask(replica, "other", "file")
	}
	replace("other", "package dashboard_users\ndeny[\"x\"] { false }", 200)
	ask(b, "other", "")
	ask(b, "admin", "own")
	replace("admin", "", 200)
	ask(b, "admin", "file")
	ask(b, "other", "")
}

// Rules decide who reads and replaces rules. Whom they let in besides admins cannot
// see through the eyes of others.
func TestRulesDecideAboutRules(t *testing.T) {
	a := service(t, nobodyWatches(), deciding("")...)
	trial := func(user string) (int, string) {
		return fetch(t, a, "POST", "/api/org/opa/evaluate", "writer", `{"method":"GET","path":"/api/assets"`+user+`}`)
	}
	if code, text := trial(""); code != 403 {
		t.Error(code, text)
	}
	if code, text := fetch(t, a, "PUT", "/api/org/opa", "admin", put("package dashboard_users\ndeny[\"no\"] { input.request.method == \"PUT\" }")); code != 200 {
		t.Fatal(code, text)
	}
	if code, text := trial(""); code != 200 || !strings.Contains(text, `"in_force":true`) {
		t.Error(code, text)
	}
	if code, text := trial(`,"user":{"user_permissions":{"IsAdmin":"admin"}}`); code != 403 || !strings.Contains(text, "only an admin") {
		t.Error(code, text)
	}
	if code, text := fetch(t, a, "POST", "/api/org/opa/replay", "writer", "{}"); code != 403 || !strings.Contains(text, "only an admin") {
		t.Error(code, text)
	}
	if code, text := fetch(t, a, "PUT", "/api/org/opa", "admin", put("")); code != 403 || !strings.Contains(text, "access denied: no") {
		t.Error(code, text)
	}
}

// Organisations have the permissions of the settings until they store their own, be it none; a
// record that says nothing of them has those of the settings again.
func TestAdditionalPermissionsOfTheSettings(t *testing.T) {
	a := service(t, nobodyWatches(), app.WithAdditionalPermissions(map[string]string{"billing": "Bills"}))
	look := func(want string) {
		t.Helper()
		if code, text := fetch(t, a, "GET", "/api/org/permissions", "nobody", ""); code != 200 || text != want {
			t.Error(code, text)
		}
	}
	look(`{"additional_permissions":{"billing":"Bills"}}`)
	for _, own := range []string{`{"additional_permissions":{"own":"Own"}}`, `{"additional_permissions":{}}`} {
		if code, text := fetch(t, a, "PUT", "/api/org/permissions", "admin", own); code != 200 {
			t.Error(code, text)
		}
		look(own)
		_, whole := fetch(t, a, "GET", "/admin/organisations/org-a", "super-admin", "")
		if code, text := fetch(t, a, "PUT", "/admin/organisations/org-a", "super-admin", whole); code != 200 {
			t.Error(code, text)
		}
		look(own)
	}
	if code, text := fetch(t, a, "PUT", "/admin/organisations/org-a", "super-admin", `{"owner_slug":"a"}`); code != 200 {
		t.Error(code, text)
	}
	look(`{"additional_permissions":{"billing":"Bills"}}`)
}

// Bootstrap stores the rules that it is given with the organisation that it makes, and
// never touches those of one that exists.
func TestBootstrapStoresRules(t *testing.T) {
	a := service(t, nobodyWatches(), withRulesAPI)
	const text = "package dashboard_users\ndeny[\"x\"] { true }\n"
	for _, org := range []string{"org-c", "org-a"} {
		if _, err := a.Bootstrap(t.Context(), identity.First{OrgID: org, Email: "first@" + org + ".example", AccessKey: strings.Repeat(org[4:], 31) + "0", Rules: text}); err != nil {
			t.Fatal(err)
		}
		code, answer := fetch(t, a, "GET", "/admin/organisations/"+org, "super-admin", "")
		if code != 200 || strings.Contains(answer, "package dashboard_users") != (org == "org-c") {
			t.Error(code, answer)
		}
	}
}

// The functions for classes tell the class of the API that a request names, whatever
// the surface, or makes.
func TestClassesOfAPIs(t *testing.T) {
	const text = "package dashboard_users\ndeny[\"classic\"] { isTykClassic() }\ndeny[\"oas\"] { isTykOas() }\ndeny[\"streams\"] { isTykStreams() }\n"
	a := furnished(t, deciding("")...)
	for _, c := range [][3]string{
		{"GET", "/api/apis/oas/doc", "oas"}, {"GET", "/api/apis/doc", "oas"}, {"PUT", "/api/apis/doc/access", "oas"}, {"POST", "/api/apis/oas", "oas"},
		{"GET", "/api/apis/old", "classic"}, {"POST", "/api/apis", "classic"}, {"DELETE", "/api/cache/old", "classic"},
		{"GET", "/api/apis/streams/flow", "streams"}, {"POST", "/api/apis/streams", "streams"},
		{"GET", "/api/mcps/proxy", ""}, {"POST", "/api/mcps", ""}, {"GET", "/api/apis", ""}, {"GET", "/api/apis/gone", ""}, {"GET", "/api/assets", ""},
	} {
		code, answer := fetch(t, a, "POST", "/api/org/opa/evaluate", "admin", fmt.Sprintf(`{"method":%q,"path":%q,"open_policy":{"rules":%q}}`, c[0], c[1], text))
		want := `"reasons":[]`
		if c[2] != "" {
			want = fmt.Sprintf(`"reasons":[%q]`, c[2])
		}
		if code != 200 || !strings.Contains(answer, want) {
			t.Error(c, code, answer)
		}
	}
	if code, answer := fetch(t, a, "POST", "/api/org/opa/evaluate", "other", fmt.Sprintf(`{"path":"/api/apis/doc","open_policy":{"rules":%q}}`, text)); code != 200 || !strings.Contains(answer, `"reasons":[]`) {
		t.Error("of another organisation:", code, answer)
	}
}

// Patches of rules reach what is proxied and what is tried at a gateway.
func TestPatchesOfProxiedBodies(t *testing.T) {
	const text = "package dashboard_users\npatch_request[{\"body\": {\"stamp\": \"a stamp that is longer\"}}] { input.request.path == \"/api/proxy\" }\n" +
		"patch_request[{\"request\": {\"body\": \"a stamp that is longer\"}}] { input.request.path == \"/api/debug\" }\n"
	sent := &wire{}
	a := service(t, nobodyWatches(), append(deciding(""), app.WithFetcher(sent))...)
	if code, answer := fetch(t, a, "PUT", "/api/org/opa", "admin", put(text)); code != 200 {
		t.Fatal(code, answer)
	}
	for path, body := range map[string]string{
		"/api/proxy": `{"method":"POST","url":"http://gateway.example:8080/orders","body":{}}`,
		"/api/debug": `{"request":{"method":"GET","path":"/","body":""},"spec":{"name":"T"}}`,
	} {
		sent.requests = nil
		if code, answer := fetch(t, a, "POST", path, "admin", body); code != 200 {
			t.Error(path, code, answer)
		}
		if len(sent.requests) != 1 || !strings.Contains(string(sent.requests[0].Body), "a stamp that is longer") {
			t.Errorf("%s: %+v", path, sent.requests)
		}
	}
}

// wire remembers what is sent.
type wire struct{ requests []port.Request }

// Fetch implements fetch.Fetcher.
func (w *wire) Fetch(_ context.Context, r port.Request) (port.Answer, error) {
	w.requests = append(w.requests, r)
	return port.Answer{Status: 200, Body: []byte(`{}`)}, nil
}

// What rules say about a write is cut: a replay tells of a thousand.
func TestReasonsOfReplaysAreBounded(t *testing.T) {
	keys, err := crypto.NewKeys("a secret of the test")
	if err != nil {
		t.Fatal(err)
	}
	a := service(t, nobodyWatches(), append(deciding(""), app.WithAudit(audit.Settings{Signer: keys}))...)
	if code, text := fetch(t, a, "POST", "/api/assets", "admin", `{"id":"a","kind":"oas-template","name":"A","data":{}}`); code != 201 {
		t.Fatal(code, text)
	}
	rule := `package dashboard_users
deny[r] { i := numbers.range(10, 99)[_]; r := sprintf("%d %s", [i, concat(",", [sprintf("%d", [n]) | n := numbers.range(1, 200)[_]])]) }`
	code, text := fetch(t, a, "POST", "/api/org/opa/replay", "admin", fmt.Sprintf(`{"last":1,"open_policy":{"rules":%q}}`, rule))
	if code != 200 || !strings.Contains(text, `"verdict":"deny","reasons":["10 1,2`) || strings.Contains(text, `"15 `) || len(text) > 2000 {
		t.Error(code, len(text), text[:min(len(text), 500)])
	}
}
