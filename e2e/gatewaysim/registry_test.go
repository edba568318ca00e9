package gatewaysim

import (
	"encoding/json"
	"reflect"
	"testing"
)

const idpA = `{"client_idp_id":"idp-a","org_id":"o1","name":"idp-a","issuer":"https://a.example/",
	"jwks_uri":"https://a.example/jwks.json","scope_claim_name":"scope",
	"api_mappings":{"a1":{"scope_to_policy":{"read":"p1","write":"p2"}}}}`

// The answers of docs/wire/feeds.md#client-idps: refused ones keep the previous registry.
func TestRegistryAnswers(t *testing.T) {
	f := newFake(t)
	f.always(pathIdPs, feed(idpA))
	g := loaded(t, f.config())
	for name, tt := range map[string]struct {
		answer reply
		idps   int
	}{
		"the envelope":          {feed(idpA, `{"client_idp_id":"idp-b"}`), 2},
		"null":                  {reply{status: 200, body: `{"Message":null}`}, 0},
		"empty list":            {feed(), 0},
		"bare list":             {reply{status: 200, body: `[` + idpA + `]`}, 1},
		"empty body":            {reply{status: 200}, 1},
		"map instead of list":   {reply{status: 200, body: `{"Message":{"a":` + idpA + `}}`}, 1},
		"wrong type of issuer":  {feed(idpA, `{"client_idp_id":"b","issuer":7}`), 1},
		"wrong type of name":    {feed(`{"client_idp_id":"b","name":[]}`), 1},
		"wrong type of org":     {feed(`{"client_idp_id":"b","org_id":{}}`), 1},
		"wrong type of mapping": {feed(`{"client_idp_id":"b","api_mappings":{"a":[]}}`), 1},
		"wrong type of policy":  {feed(`{"client_idp_id":"b","api_mappings":{"a":{"scope_to_policy":{"r":1}}}}`), 1},
		"mappings as a list":    {feed(`{"client_idp_id":"b","api_mappings":[]}`), 1},
		"nulls":                 {feed(`{"client_idp_id":"b","issuer":null,"api_mappings":{"a1":{"scope_to_policy":null},"a2":null}}`), 1},
		"404":                   {reply{status: 404}, 1},
		"500":                   {reply{status: 500}, 1},
		"neutral 403":           {reply{status: 403, body: "go away"}, 1},
	} {
		f.always(pathIdPs, feed(idpA))
		reload(t, g)
		f.always(pathIdPs, tt.answer)
		reload(t, g)
		if s := g.State(); len(s.IdPs) != tt.idps || s.Wedged != "" || s.ReloadsFailed != 0 {
			t.Errorf("%s: IdPs %v, want %d; state %+v", name, s.IdPs, tt.idps, s)
		}
	}
}

func TestRegistryIndex(t *testing.T) {
	reg, err := parseRegistry(json.RawMessage(`[` + idpA + `,
		{"client_idp_id":"idp-b","org_id":"other","issuer":"b","jwks_uri":"http://b","api_mappings":{"a1":{},"a2":{"scope_to_policy":null}}},
		{"client_idp_id":"idp-a","issuer":"late","jwks_uri":"http://late","api_mappings":{"a3":{"scope_to_policy":{"r":"p"}}}}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]Binding{
		"a1": {
			// The second idp-a replaced issuer and key set of the first.
			{IdP: "idp-a", Issuer: "late", JWKSURI: "http://late", ScopeClaim: "scope", ScopeToPolicy: map[string]string{"read": "p1", "write": "p2"}},
			{IdP: "idp-b", Issuer: "b", JWKSURI: "http://b"},
		},
		"a2": {{IdP: "idp-b", Issuer: "b", JWKSURI: "http://b"}},
		"a3": {{IdP: "idp-a", Issuer: "late", JWKSURI: "http://late", ScopeToPolicy: map[string]string{"r": "p"}}},
	}
	if !reflect.DeepEqual(reg.byAPI, want) {
		t.Errorf("bindings %+v", reg.byAPI)
	}
}

func TestBindingsOfUnloadedAPIAreInert(t *testing.T) {
	f := newFake(t)
	f.always(pathIdPs, feed(with(idpA, map[string]any{"api_mappings": map[string]any{"a1": map[string]any{}, "unknown": map[string]any{}}})))
	g := loaded(t, f.config())
	if g.Bindings("unknown") != nil || len(g.Bindings("a1")) != 1 {
		t.Errorf("bindings %v and %v", g.Bindings("unknown"), g.Bindings("a1"))
	}
	if d := g.Decide("unknown", "x"); d.Status != 404 {
		t.Errorf("decision %+v", d)
	}
}
