package app_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/replicated"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestDamagedRecordsCanBeDeleted damages one record of every resource on disk:
// lists show the others, and each damaged one goes by its ordinary DELETE.
func TestDamagedRecordsCanBeDeleted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	keys, err := crypto.NewKeys("secret")
	if err != nil {
		t.Fatal(err)
	}
	open := func() (*sqlite.Store, *app.App) {
		st, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = st.Close() })
		return st, started(t, app.WithStore(st), app.WithKeys(keys))
	}
	st, a := open()
	if _, err := a.Bootstrap(t.Context(), identity.First{OrgID: "acme", Email: "me@example.com", AccessKey: callers["admin"][1]}); err != nil {
		t.Fatal(err)
	}
	resources := []struct{ kind, list, body, id string }{
		{kind: "policy", list: "/api/portal/policies", body: `{"name":"%","rate":1,"per":1,"access_rights":{"x":{"api_id":"x"}}}`},
		{kind: "client_idp", list: "/api/clientidps", body: `{"name":"%","issuer":"https://%.example.com/","jwks_uri":"https://%.example.com/keys"}`},
		{kind: "webhook", list: "/api/hooks", body: `{"name":"%","method":"POST","target_path":"https://%.example.com/"}`},
		{kind: "asset", list: "/api/assets", body: `{"name":"%","kind":"oas-template","data":{}}`},
		{kind: "api", list: "/api/apis", body: `{"api_definition":{"name":"%","api_id":"%","proxy":{"listen_path":"/%/","target_url":"http://up.example/"}}}`},
	}
	for i := range resources {
		r := &resources[i]
		for _, name := range []string{"uno", "duo"} {
			code, text := fetch(t, a, "POST", r.list, "admin", strings.ReplaceAll(r.body, "%", name))
			if code/100 != 2 {
				t.Fatal(r.kind, code, text)
			}
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	for i := range resources {
		r := &resources[i]
		if err := db.QueryRowContext(t.Context(), `select kind, id from record where doc like '%duo%' and kind like $1`, "%"+strings.TrimPrefix(r.kind, "client_")+"%").Scan(&r.kind, &r.id); err != nil {
			t.Fatal(r.kind, err)
		}
		if _, err := db.ExecContext(t.Context(), `update record set doc = substr(doc, 1, length(doc) - 5) where id = $1`, r.id); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	st, a = open()
	if found, err := st.Damaged(t.Context()); err != nil || len(found) != len(resources) {
		t.Errorf("counted %v, %v", found, err)
	}
	for _, r := range resources {
		if code, text := fetch(t, a, "GET", r.list, "admin", ""); code != 200 || !strings.Contains(text, "uno") || strings.Contains(text, "duo") {
			t.Errorf("%s: listed %d %s", r.kind, code, text)
		}
		code, text := fetch(t, a, "GET", r.list+"/"+r.id, "admin", "")
		if code < 400 || !json.Valid([]byte(text)) {
			t.Errorf("%s: read %d %s", r.kind, code, text)
		}
		if code, text := fetch(t, a, "DELETE", r.list+"/"+r.id, "admin", ""); code/100 != 2 {
			t.Errorf("%s: deleted %d %s", r.kind, code, text)
		}
	}
	if found, err := st.Damaged(t.Context()); err != nil || len(found) != 0 {
		t.Errorf("left %v, %v", found, err)
	}
}

// TestVanishedFileIsTold refuses writes to a database that has been deleted with a
// plain text, turns the probe red, and goes on serving what it knows.
func TestVanishedFileIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	st, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	a := started(t, app.WithStore(st), app.WithReads(replicated.Local))
	if _, err := a.Bootstrap(t.Context(), identity.First{OrgID: "acme", Email: "me@example.com", AccessKey: callers["admin"][1]}); err != nil {
		t.Fatal(err)
	}
	hook := `{"name":"one","method":"POST","target_path":"https://hooks.example.com/"}`
	for _, want := range []struct {
		method, path, body string
		code               int
		text               string
	}{
		{"POST", "/api/hooks", hook, 200, "created"}, {"GET", "/health", "", 200, "pass"},
		{"", "", "", 0, ""},
		{"POST", "/api/hooks", hook, 503, "The database file has been moved or deleted and nothing was stored"},
		{"POST", "/api/clientidps", `{"name":"x","jwks_uri":"https://x"}`, 500, "error saving client idp: The database file has been moved or deleted"},
		{"GET", "/health", "", 503, "nothing can be written: store: the database file has been moved or deleted"},
		{"GET", "/api/hooks", "", 200, "hooks.example.com"},
	} {
		if want.method == "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if code, text := fetch(t, a, want.method, want.path, "admin", want.body); code != want.code || !strings.Contains(text, want.text) {
			t.Errorf("%s %s: %d %s", want.method, want.path, code, text)
		}
	}
}

// crowded is a store without room.
type crowded struct{ *memdb.DB }

func (crowded) Update(context.Context, tenant.Scope, func(store.Writer) error) (store.Revision, error) {
	return 0, store.ErrFull
}

func (crowded) Trouble(context.Context) error { return store.ErrFull }

// TestFullDiskIsTold answers writes with 507 and a plain text when there is no
// room, also where a row has an answer of its own for a store that is away.
func TestFullDiskIsTold(t *testing.T) {
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := crypto.NewKeys("secret")
	if err != nil {
		t.Fatal(err)
	}
	roomy := started(t, app.WithStore(db), app.WithKeys(keys))
	if _, err := roomy.Bootstrap(t.Context(), identity.First{OrgID: "acme", Email: "me@example.com", AccessKey: callers["admin"][1]}); err != nil {
		t.Fatal(err)
	}
	a := started(t, app.WithStore(crowded{db}), app.WithReads(replicated.Direct), app.WithKeys(keys))
	for path, body := range map[string]string{
		"/api/hooks":      `{"name":"one","method":"POST","target_path":"https://hooks.example.com/"}`,
		"/api/clientidps": `{"client_idp_id":"a","name":"a","jwks_uri":"https://a.example.com/keys"}`,
	} {
		if code, text := fetch(t, a, "POST", path, "admin", body); code != 507 || !strings.Contains(text, "The disk of the store is full and nothing was stored") {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	if code, text := fetch(t, a, "GET", "/health", "admin", ""); code != 503 || !strings.Contains(text, "nothing can be written: store: the disk is full") {
		t.Errorf("%d %s", code, text)
	}
}
