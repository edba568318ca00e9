package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestSecretsOfProviders: the access key of a dashboard is sealed where it is stored, and
// in no log, change, trail, list or error.
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
