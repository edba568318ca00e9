package app_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestNewerMembers checks that members which a newer version wrote survive an edit
// by this one, in every kind of record.
func TestNewerMembers(t *testing.T) {
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	a := service(t, nobodyWatches(), app.WithStore(db))
	do := func(method, path, body string) string {
		t.Helper()
		code, text := fetch(t, a, method, path, "admin", body)
		if code >= 300 {
			t.Fatal(method, path, code, text)
		}
		return text
	}
	const hook, asset = `{"webhook_id":"w","name":"W","method":"POST","target_path":"https://w.example"}`, `{"id":"t","kind":"oas-template","name":"T","data":{}}`
	const idp = `{"client_idp_id":"i","name":"I","jwks_uri":"https://i.example","api_mappings":{"orders":{"scope_to_policy":{"a":"b"}}}}`
	const classic = `{"api_definition":{"api_id":"orders","name":"O","proxy":{"listen_path":"/o/","target_url":"http://o"}}}`
	hookID := member(do("POST", "/api/hooks", hook), "ID")
	do("POST", "/api/assets", asset)
	do("POST", "/api/clientidps", idp)
	do("POST", "/api/apis", classic)
	do("POST", "/api/portal/policies", `{"id":"p","name":"P"}`)
	userID := ""

	edited := []string{"webhook", "asset", "clientidp", "api", "policy", "user"}
	for _, kind := range edited {
		rewrite(t, db, kind, func(rec store.Record) []byte {
			if kind == "user" && strings.Contains(string(rec.Doc), "admin@a.example") {
				userID = rec.ID
			}
			return []byte(strings.TrimSuffix(string(rec.Doc), "}") + `,"later":{"x":1.0}}`)
		})
	}
	do("PUT", "/api/hooks/"+hookID, hook)
	do("PUT", "/api/assets/t", asset)
	do("PUT", "/api/clientidps/i", idp)
	do("PATCH", "/api/clientidps/i/mappings", `{"orders":{"scope_to_policy":{"c":"d"}}}`)
	do("PUT", "/api/apis/orders", classic)
	do("PATCH", "/api/portal/policies/p", `{"rate":1}`)
	do("POST", "/api/users/"+userID+"/actions/reset", `{"new_password":"a new password"}`)
	for _, kind := range edited {
		rewrite(t, db, kind, func(rec store.Record) []byte {
			if rec.Kind != "user" || rec.ID == userID {
				if !strings.Contains(string(rec.Doc), `"later":{"x":1.0}`) {
					t.Errorf("%s: %s", kind, rec.Doc)
				}
			}
			return nil
		})
	}
}

// rewrite replaces the documents of all records of a kind; nil leaves one alone.
func rewrite(t *testing.T, db store.Store, kind string, fn func(store.Record) []byte) {
	t.Helper()
	scope, err := tenant.Of("org-a")
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Update(context.Background(), scope, func(w store.Writer) error {
		n := 0
		for rec, err := range w.Scan(t.Context(), store.Query{Kind: kind}) {
			if err != nil {
				return err
			}
			n++
			if text := fn(rec); text != nil {
				err = w.Put(t.Context(), store.Record{Org: rec.Org, Kind: rec.Kind, ID: rec.ID, Rev: rec.Rev, Doc: text, Keys: rec.Keys, Refs: rec.Refs})
			}
			if err != nil {
				return err
			}
		}
		if n == 0 {
			t.Errorf("no record of kind %s", kind)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// member returns the text of a member of an answer.
func member(text, name string) string {
	_, rest, _ := strings.Cut(text, `"`+name+`":"`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}
