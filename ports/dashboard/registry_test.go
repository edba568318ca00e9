package dashboard_test

import (
	"context"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// TestPutEntry: empty members are sent too.
func TestPutEntry(t *testing.T) {
	want := registry.Draft{ClientIdPID: "portal-1", Name: "Login", Issuer: "https://a", JWKSURI: "https://a/keys"}
	var sent []string
	stored := ""
	e := dashboard.Entries{Wire: func(_ context.Context, r dashboard.Request) (dashboard.Answer, error) {
		if r.Method == "GET" && stored == "" {
			return dashboard.Answer{}, dashboard.ErrGone
		}
		if r.Method != "GET" {
			sent = append(sent, r.Method+" "+string(r.Body))
		}
		return dashboard.Answer{Body: []byte(stored)}, nil
	}}
	if err := e.PutEntry(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	stored = `{"client_idp_id":"portal-1","name":"Login","issuer":"https://a","jwks_uri":"https://a/keys","scope_claim_name":"scp","api_mappings":{"orders":{"scope_to_policy":{"shop":"gold"}}}}`
	if err := e.PutEntry(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{
		`POST {"client_idp_id":"portal-1","name":"Login","issuer":"https://a","jwks_uri":"https://a/keys","scope_claim_name":"","api_mappings":{}}`,
		`PUT {"client_idp_id":"portal-1","name":"Login","issuer":"https://a","jwks_uri":"https://a/keys","scope_claim_name":"","api_mappings":{"orders":{"scope_to_policy":{"shop":"gold"}}}}`,
	} {
		if i >= len(sent) || sent[i] != text {
			t.Errorf("sent %q, want %s", sent, text)
		}
	}
}
