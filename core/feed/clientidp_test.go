package feed_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/core/shape/shapetest"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// orgs returns the organisations with an API: "ours" belongs to o1, "theirs" to o2, "shared"
// to both, and others to none.
func orgs(api string) []tenant.ID {
	return map[string][]tenant.ID{"ours": {"o1"}, "theirs": {"o2"}, "shared": {"o2", "o1"}}[api]
}

func idp(members string) string {
	return `{"_id":"i1","org_id":"o1","name":"n","issuer":"s","jwks_uri":"https://i/jwks","scope_claim_name":"","date_created":"2026-01-02T03:04:05Z"` + members + `}`
}

func TestClientIDP(t *testing.T) {
	text := func(id, mappings string) string {
		return `{"client_idp_id":"` + id + `","org_id":"o1","name":"n","issuer":"s","jwks_uri":"https://i/jwks","scope_claim_name":"","api_mappings":` + mappings + `}`
	}
	const grant = `{"scope_to_policy":{"read":"gold"}}`
	for _, c := range []struct{ name, record, want, other string }{
		{"a name of its own", idp(`,"client_idp_id":"corp","api_mappings":{"ours":` + grant + `}`),
			text("corp", `{"ours":`+grant+`}`), text("i1", `{"ours":`+grant+`}`)},
		{"no other name than the ID", idp(`,"client_idp_id":"i1","api_mappings":{}`), text("i1", `{}`), ``},
		{"no mappings", idp(`,"client_idp_id":"i1"`), text("i1", `{}`), ``},
		{"APIs of others", idp(`,"client_idp_id":"i1","api_mappings":{"theirs":` + grant + `,"ours":` + grant + `,"shared":` + grant + `}`),
			text("i1", `{"ours":`+grant+`,"shared":`+grant+`}`), ``},
		{"an API that may be about to come", idp(`,"client_idp_id":"i1","api_mappings":{"soon":` + grant + `}`), text("i1", `{"soon":`+grant+`}`), ``},
		{"unknown members", idp(`,"client_idp_id":"i1","notes":"secret"`), text("i1", `{}`), ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := feed.ClientIDP([]byte(c.record), orgs)
			if string(e.Text) != c.want || string(e.Other) != c.other || e.Problems != nil {
				t.Errorf("have %s\nor   %s, %v\nwant %s\nor   %s", e.Text, e.Other, e.Problems, c.want, c.other)
			}
			if want := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC); !e.Since.Equal(want) {
				t.Errorf("made at %v", e.Since)
			}
		})
	}
}

// TestClientIDPLeftOut: a provider that gateways cannot decode is left out completely, with
// its problems.
func TestClientIDPLeftOut(t *testing.T) {
	for name, c := range map[string]struct{ record, want string }{
		"no JSON":            {`{"a"`, "an identity provider"},
		"a list":             {`[]`, "want"},
		"mappings null":      {idp(`,"api_mappings":null`), "an identity provider"},
		"mappings in a list": {idp(`,"api_mappings":[]`), "an identity provider"},
		"a mapping":          {idp(`,"api_mappings":{"a":5}`), "api_mappings.a"},
		"a policy":           {idp(`,"api_mappings":{"a":{"scope_to_policy":{"read":1}}}`), "api_mappings.a.scope_to_policy.read"},
		"a name":             {idp(`,"client_idp_id":1`), "client_idp_id"},
		"another spelling":   {idp(`,"Jwks_Uri":"https://evil/jwks"`), "Jwks_Uri must be spelled jwks_uri"},
	} {
		e := feed.ClientIDP([]byte(c.record), orgs)
		var all []string
		for _, p := range e.Problems {
			all = append(all, p.String())
		}
		if have := strings.Join(all, "; "); e.Text != nil || e.Other != nil || !strings.Contains(have, c.want) {
			t.Errorf("%s: %s, %q", name, e.Text, have)
		}
	}
}

// TestNoWrongClientIDPIsServed tries a wrong value and a misspelt name at every place of a
// record.
func TestNoWrongClientIDPIsServed(t *testing.T) {
	n := 0
	for _, cases := range []func(func(shapetest.Case) bool){shapetest.Wrong(registry.Type), shapetest.Misspelt(registry.Type)} {
		for c := range cases {
			n++
			if e := feed.ClientIDP([]byte(c.Text), orgs); e.Text != nil || e.Problems == nil {
				t.Errorf("%s is served", c.Text)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d documents", n)
	}
}

// FuzzClientIDP: an entry either is served or has problems. A served entry names no API that
// only other organisations have, and making it again gives the same.
func FuzzClientIDP(f *testing.F) {
	f.Add(idp(`,"client_idp_id":"corp","api_mappings":{"ours":{"scope_to_policy":{"read":"gold"}},"theirs":{"scope_to_policy":{}}}`))
	f.Add(idp(`,"api_mappings":{"a":{"scope_to_policy":null},"a":{"scope_to_policy":{"x":"y"}}}`))
	f.Add("{\"_id\":\"i\",\"api_mapping\u017f\":{},\"date_created\":\"x\"}")
	f.Add(`{}`)
	f.Fuzz(func(t *testing.T, record string) {
		e := feed.ClientIDP([]byte(record), orgs)
		if (e.Text == nil) == (e.Problems == nil) || e.Other != nil && e.Text == nil {
			t.Fatalf("%s: %s, %s, %v", record, e.Text, e.Other, e.Problems)
		}
		for _, text := range [][]byte{e.Text, e.Other} {
			if text == nil {
				continue
			}
			n, err := doc.ParseNode(text)
			if err != nil || registry.Type.Check(n) != nil || !n.Get("api_mappings").Is(doc.TypeObject) {
				t.Fatalf("%s: %v, %v", text, err, registry.Type.Check(n))
			}
			for api := range n.Get("api_mappings").Members() {
				if have := orgs(api); have != nil && !slices.Contains(have, tenant.ID(n.Get("org_id").Text())) {
					t.Fatalf("%s maps %s", text, api)
				}
			}
			if again := feed.ClientIDP(text, orgs); string(again.Text) != string(text) {
				t.Fatalf("%s became %s, %v", text, again.Text, again.Problems)
			}
		}
	})
}
