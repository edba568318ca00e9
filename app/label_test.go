package app_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/label"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestNamesOfRecords states that no operation stores a name or an identifier with a character
// that changes the direction of text: each that has one in its example is sent such a one.
func TestNamesOfRecords(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range newEstate(t, false).a.Operations() {
		if o.Surface != operation.Management || o.Public || o.Request == nil || o.Method == "DELETE" || below(o.Path, "/api/portal") && !below(o.Path, "/api/portal/policies") {
			continue
		}
		for _, field := range [][]string{
			{"name"}, {"Name"}, {"first_name"}, {"last_name"}, {"email_address"}, {"alias"}, {"client_name"}, {"owner_name"}, {"id"}, {"client_idp_id"},
			{"api_definition", "name"}, {"api_definition", "api_id"}, {"x-tyk-api-gateway", "info", "name"}, {"x-tyk-api-gateway", "info", "id"},
		} {
			body, ok := misnamed(t, o, field)
			if !ok {
				continue
			}
			e := newEstate(t, false)
			path, _, ok := e.path(o.Path, "own", "admin")
			if !ok {
				continue
			}
			before, _ := e.db.Head(t.Context())
			w := e.send(credentials{"Authorization": e.keys["admin"]}, o.Method, path, body)
			if after, _ := e.db.Head(t.Context()); after != before && e.turned() {
				t.Errorf("%s stored %s\nsent %s", o.ID, strings.Join(field, "."), body)
			}
			if strings.Contains(w.Body.String(), "U+202E") {
				seen[o.ID+" "+field[len(field)-1]] = true
			}
			if w.Code >= 500 {
				t.Errorf("%s: %d %s", o.ID, w.Code, w.Body)
			}
		}
	}
	for _, want := range []string{
		"apis.create name", "apis.oas.create name", "mcps.create name", "policies.create name", "policies.replace name", "clientidps.create name", "clientidps.replace name",
		"users.create first_name", "users.replace last_name", "usergroups.create name", "assets.create name", "service-accounts.keys.create name", "keys.create alias",
	} {
		if !seen[want] {
			t.Errorf("%s was not refused for its name", want)
		}
	}
}

// misnamed returns the example of an operation with another name in a field, if it has the field.
func misnamed(t *testing.T, o operation.Operation, field []string) (string, bool) {
	t.Helper()
	m := exampleOf(t, o)
	if m == nil {
		return "", false
	}
	at := m
	for _, name := range field[:len(field)-1] {
		if at = part(at, name); at == nil {
			return "", false
		}
	}
	last := field[len(field)-1]
	was, ok := at[last].(string)
	if !ok {
		return "", false
	}
	at[last] = "x\u202e" + was
	text, err := json.Marshal(m)
	return string(text), err == nil
}

// turned reports whether a record has a character that changes the direction of text.
func (e *estate) turned() (found bool) {
	err := e.db.View(e.t.Context(), tenant.Everyone("test"), func(r store.Reader) error {
		for _, k := range e.a.Kinds() {
			for rec, err := range r.Scan(e.t.Context(), store.Query{Kind: k.Kind}) {
				if err != nil {
					return err
				}
				found = found || strings.ContainsFunc(string(rec.Doc), label.Turns)
			}
		}
		return nil
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return found
}
