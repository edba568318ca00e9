package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// What a client tries to choose, and what it would be recognised by.
const (
	wrongID   = "5f1a0c5d8e3b2a1fdeadbeef"
	wrongDate = "2001-01-01T00:00:00Z"
	wrongHash = "a-hash-of-the-clients-own"
)

// exampleOf returns the body that the description of an operation shows; nil: it is none that has
// members.
func exampleOf(t testing.TB, o operation.Operation) (m map[string]any) {
	t.Helper()
	text, err := json.Marshal(o.Request)
	if err != nil {
		t.Fatal(err)
	}
	if json.Unmarshal(text, &m) != nil {
		return nil
	}
	return m
}

// smuggle puts members that only the server chooses into a body: into itself, into a
// definition, and into the extension of a document. ok is false when the body is none
// that has members.
func smuggle(t testing.TB, o operation.Operation, ids []string) (body string, ok bool) {
	t.Helper()
	m := exampleOf(t, o)
	if m == nil {
		return "", false
	}
	wrong := map[string]any{"org_id": "org-b", "_id": wrongID}
	switch { // APIs and policies keep members that the service does not know
	case below(o.Path, "/api/apis"):
		wrong["created_at"], wrong["updated_at"] = wrongDate, wrongDate
	case below(o.Path, "/api/portal/policies"):
		wrong["date_created"], wrong["last_updated"] = wrongDate, wrongDate
		if o.Method == "POST" {
			delete(wrong, "_id") // scripts choose the identifiers of new policies
		}
	default:
		for _, name := range []string{"created_at", "updated_at", "date_created", "last_updated", "password_updated", "last_login_date"} {
			wrong[name] = wrongDate
		}
		for _, name := range []string{"owner", "access_key", "password_hash", "key_digest"} {
			wrong[name] = wrongHash
		}
		wrong["grouped"], wrong["credentials"] = true, map[string]string{"key_digest": wrongHash, "key_sealed": wrongHash, "password_hash": wrongHash}
	}
	// A replace that names another record is refused.
	if info := part(part(m, "x-tyk-api-gateway"), "info"); info != nil {
		info["orgId"] = "org-b"
		switch o.Method {
		case "POST":
			info["dbId"] = wrongID
		case "PUT":
			info["id"] = ids[0]
		}
	}
	if def := part(m, "api_definition"); def != nil {
		def["org_id"] = "org-b"
		if o.Method == "POST" {
			def["id"] = wrongID
		}
	}
	if _, document := m["openapi"]; !document { // a document has no such members, and says so
		maps.Copy(m, wrong)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), true
}

func part(m map[string]any, name string) map[string]any {
	v, _ := m[name].(map[string]any)
	return v
}

// TestMassAssignment states that no operation for users takes an organisation, a
// database identifier, an owner, a date or a hash from a body: each is sent one that has
// them all, and no record of the store has any of them afterwards.
func TestMassAssignment(t *testing.T) {
	stored := map[string]bool{}
	for _, o := range newEstate(t, false).a.Operations() {
		if o.Surface != operation.Management || o.Public || o.Request == nil || o.Method == "DELETE" {
			continue
		}
		if below(o.Path, "/api/portal") && !below(o.Path, "/api/portal/policies") {
			continue // bodies are kept as they come, as one member, and nothing looks at them
		}
		e := newEstate(t, false) // examples would be in the way of one another
		path, ids, ok := e.path(o.Path, "own", "admin")
		if !ok {
			continue
		}
		body, ok := smuggle(t, o, ids)
		if !ok {
			continue
		}
		before, _ := e.db.Head(t.Context())
		w := e.send(credentials{"Authorization": e.keys["admin"]}, o.Method, path, body)
		if after, _ := e.db.Head(t.Context()); after != before {
			stored[o.ID] = true
		}
		if problem := e.smuggled(); problem != "" {
			t.Errorf("%s: %s\nsent %s\nanswered %d %s", o.ID, problem, body, w.Code, w.Body)
		}
	}
	for _, id := range []string{"apis.create", "apis.replace", "apis.oas.create", "apis.oas.replace", "mcps.create", "mcps.replace", "policies.create", "policies.replace", "policies.patch",
		"assets.create", "assets.replace", "hooks.create", "hooks.replace", "clientidps.create", "clientidps.replace", "users.create", "users.replace", "usergroups.create", "usergroups.replace",
		"service-accounts.create", "service-accounts.replace", "service-accounts.keys.create"} {
		if !stored[id] {
			t.Errorf("%s stored nothing: the test says nothing of it", id)
		}
	}
}

// smuggled returns what is wrong with a record of the store, or "".
func (e *estate) smuggled() (problem string) {
	err := e.db.View(e.t.Context(), tenant.Everyone("test"), func(r store.Reader) error {
		for _, k := range e.a.Kinds() {
			for rec, err := range r.Scan(e.t.Context(), store.Query{Kind: k.Kind}) {
				if err != nil {
					return err
				}
				text := string(rec.Doc)
				for _, wrong := range []string{wrongID, wrongDate, wrongHash} {
					if rec.ID == wrong || strings.Contains(text, wrong) {
						problem = fmt.Sprintf("%s %s has %s: %s", rec.Kind, rec.ID, wrong, text)
					}
				}
				if rec.Org == "org-a" && strings.Contains(text, "org-b") {
					problem = fmt.Sprintf("%s %s names another organisation: %s", rec.Kind, rec.ID, text)
				}
				if rec.Org == "org-b" && !e.known(rec) {
					problem = fmt.Sprintf("%s %s is in another organisation: %s", rec.Kind, rec.ID, text)
				}
			}
		}
		return nil
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return problem
}

// known reports whether a record of the other organisation has been there before.
func (e *estate) known(rec store.Record) bool {
	return rec.Kind == "organisation" || rec.ID == e.ids["admin of b"] || rec.ID == e.ids["other, no admin"]
}
