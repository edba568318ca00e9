package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/portal/general"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestSecretsOfProviders: the access key of a dashboard is stored sealed, and is in no log, change,
// audit entry, list or error.
func TestSecretsOfProviders(t *testing.T) {
	var log apptest.Log
	signer, err := crypto.NewKeys("a secret of the test")
	if err != nil {
		t.Fatal(err)
	}
	a := service(t, nobodyWatches(), append(portalOptions(), app.WithLogger(log.Logger()),
		app.WithAudit(audit.Settings{Signer: signer}))...)
	if code, text := fetch(t, a, "POST", "/portal-api/bootstrap", "", `{"username":"admin@example.com","password":"secret"}`); code != 200 {
		t.Fatal(code, text)
	}
	const first, second = "the-first-access-key", "the-second-access-key"
	var shown []string
	ask := func(method, path, body string) string {
		t.Helper()
		_, text := fetch(t, a, method, path, "portal-admin", body)
		shown = append(shown, method+" "+path+": "+text)
		return text
	}
	settings := func(url, secret string) string {
		return `{"Name":"x","Configuration":{"MetaData":"{\"URL\":\"` + url + `\",\"Secret\":\"` + secret + `\"}"}}`
	}
	if text := ask("POST", "/portal-api/providers", settings("http://localhost:3000", first)); !strings.Contains(text, first) {
		t.Error("an admin does not see the secret:", text)
	}
	if text := ask("PUT", "/portal-api/providers/1", settings("https://dashboard.example.com", second)); !strings.Contains(text, second) {
		t.Error("an admin does not see the secret:", text)
	}
	shown = nil
	ask("GET", "/portal-api/providers", "")
	if text := ask("GET", "/portal-api/providers?keyword=dashboard.example", ""); text != "[]" {
		t.Error("settings are searched:", text)
	}
	ask("PUT", "/portal-api/providers/1/synchronize", "")
	ask("GET", "/portal-api/providers/1/drift", "")
	ask("POST", "/portal-api/providers", settings("not an address", second))
	ask("POST", "/portal-api/providers", settings("http://localhost:3000", second+" "))
	if err := a.Trail().Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.Store().View(t.Context(), tenant.Everyone("test"), func(r store.Reader) error {
		for _, k := range a.Kinds() {
			for rec, err := range r.Scan(t.Context(), store.Query{Kind: k.Kind}) {
				if err != nil {
					return err
				}
				shown = append(shown, k.Kind+": "+string(rec.Doc))
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	changes := a.Store().(store.ChangeLog)
	head, err := changes.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	told := false
	for c, err := range changes.Follow(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(c)
		told = told || bytes.Contains(text, []byte("portal-providers.update"))
		shown = append(shown, "change: "+string(text))
		if c.Rev == head {
			break
		}
	}
	var trail bytes.Buffer
	if err := a.Trail().Export(t.Context(), &trail, nil); err != nil {
		t.Fatal(err)
	}
	shown = append(shown, "trail: "+trail.String(), "log: "+log.String())
	for _, text := range shown {
		for _, secret := range []string{first, second} {
			if strings.Contains(text, secret) {
				t.Errorf("%q is in %.300s", secret, text)
			}
		}
	}
	if !told || log.Count("portal-providers.create") == 0 || !strings.Contains(trail.String(), "portal-providers.update") {
		t.Error("nothing was looked at")
	}
}

// TestSettingsThatWereNotSentStay: a change without MetaData keeps the access key of the dashboard,
// and invalid bodies of several kinds are refused with one text.
func TestSettingsThatWereNotSentStay(t *testing.T) {
	a := service(t, nobodyWatches(), portalOptions()...)
	if code, text := fetch(t, a, "POST", "/portal-api/bootstrap", "", `{"username":"admin@example.com","password":"secret"}`); code != 200 {
		t.Fatal(code, text)
	}
	if code, text := fetch(t, a, "POST", "/portal-api/providers", "portal-admin", `{"Name":"S","Configuration":{"MetaData":{"URL":"http://d","Secret":"sekret-123"}}}`); code != 201 {
		t.Fatal(code, text)
	}
	for _, body := range []string{`{}`, `{"Configuration":{}}`, `{"Configuration":{"ID":1}}`, `{"Configuration":{"MetaData":null}}`, `{"Name":"Q","Configuration":{"ID":1}}`,
		`{"Configuration":null}`, `{"Configuration":""}`, `{"Configuration":"{}"}`} {
		for _, method := range []string{"PUT", "GET"} {
			if code, text := fetch(t, a, method, "/portal-api/providers/1", "portal-admin", body); code != 200 || !strings.Contains(text, `\"Secret\":\"sekret-123\"`) {
				t.Errorf("%s %s: %d %s", method, body, code, text)
			}
		}
	}
	for _, sent := range []string{`"x"`, `[]`, `7`, `true`, `"[]"`} {
		for method, path := range map[string]string{"POST": "/portal-api/providers", "PUT": "/portal-api/providers/1"} {
			_, text := fetch(t, a, method, path, "portal-admin", `{"Name":"x","Configuration":`+sent+`}`)
			var problems struct{ Errors []string }
			if err := json.Unmarshal([]byte(text), &problems); err != nil || !slices.Equal(problems.Errors, []string{"Configuration is invalid"}) {
				t.Errorf("%s %s: %s", method, sent, text)
			}
		}
	}
}

// TestSecretsOfPortalsAreRekeyed: after a start with a new encryption key beside the old one, the
// old one can be removed: the key of a dashboard, the key that signs tokens, a webhook's header and
// the mail server's password still open.
func TestSecretsOfPortalsAreRekeyed(t *testing.T) {
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	with := func(secrets ...string) *app.App {
		keys, err := crypto.NewKeys(secrets...)
		if err != nil {
			t.Fatal(err)
		}
		a, err := app.New(app.WithStore(db), app.WithKeys(keys), app.WithPortal(app.Portal{Shared: true}), app.WithPasswords(crypto.Passwords{Iterations: 2}), app.WithLogger(slog.New(slog.DiscardHandler)))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	ask := func(a *app.App, method, path, token, body string) (int, string) {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Authorization", token)
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	old := with("old")
	_, text := ask(old, "POST", "/portal-api/bootstrap", "", `{"username":"admin@example.com","password":"secret"}`)
	var first struct {
		Data struct {
			Token string `json:"api_token"`
		}
	}
	if err := json.Unmarshal([]byte(text), &first); err != nil {
		t.Fatal(err)
	}
	if code, text := ask(old, "POST", "/portal-api/providers", first.Data.Token, `{"Name":"x","Configuration":{"MetaData":{"URL":"http://d","Secret":"hunter2"}}}`); code != 201 {
		t.Fatal(code, text)
	}
	if code, text := ask(old, "POST", "/portal-api/webhooks", first.Data.Token, `{"Name":"CRM","URL":"https://crm.example.com","Method":"POST","Headers":[{"Name":"X-Key","Value":"hunter3"}]}`); code != 201 {
		t.Fatal(code, text)
	}
	if code, text := ask(old, "PUT", "/portal-api/settings", first.Data.Token, `{"SMTPPassword":"hunter4"}`); code != 200 {
		t.Fatal(code, text)
	}
	both := with("new", "old")
	for _, want := range []int{4, 0} {
		if n, err := both.Rekey(t.Context()); n != want || err != nil {
			t.Errorf("%d were protected anew, want %d; %v", n, want, err)
		}
	}
	if code, text := ask(with("new"), "GET", "/portal-api/providers/1", first.Data.Token, ""); code != 200 || !strings.Contains(text, "hunter2") {
		t.Error("with the new key alone:", code, text)
	}
	if code, text := ask(with("new"), "GET", "/portal-api/webhooks/1/headers/1", first.Data.Token, ""); code != 200 || !strings.Contains(text, "hunter3") {
		t.Error("a header with the new key alone:", code, text)
	}
	if plain := mailPassword(t, with("new").Store(), "new"); plain != "hunter4" {
		t.Errorf("the password of the mail server is %q with the new key alone", plain)
	}
	if code, _ := ask(with("old"), "GET", "/portal-api/providers/1", first.Data.Token, ""); code == 200 {
		t.Error("the old key still opens something")
	}
}

// mailPassword returns the stored password of the mail server, opened with a secret.
func mailPassword(t *testing.T, st store.Store, secret string) (plain string) {
	t.Helper()
	keys, err := crypto.NewKeys(secret)
	if err != nil {
		t.Fatal(err)
	}
	err = st.View(t.Context(), tenant.Everyone("test"), func(r store.Reader) error {
		for v, err := range general.Kind.Find(t.Context(), r, store.Query{}) {
			if err != nil {
				return err
			}
			if plain, _, err = keys.Open(v.Value.SMTPPassword); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return plain
}
