package idp_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/registry"
)

// TestWants: each API of a product gets the scopes of the product and of its plans.
func TestWants(t *testing.T) {
	got := idp.Wants([]idp.Offer{
		{APIs: []string{"orders", "bills"}, Scope: idp.Scope{Names: []string{"shop"}, Policy: "p1"}, Plans: []idp.Scope{{Names: []string{"gold", "fast"}, Policy: "p2"}}},
		{APIs: []string{"bills"}, Scope: idp.Scope{Names: []string{"bills"}, Policy: "p3"}},
		{Scope: idp.Scope{Names: []string{"nothing"}, Policy: "p4"}},
		{APIs: []string{"loose"}, Scope: idp.Scope{Names: []string{"no policy"}}},
	})
	if want := (idp.Mappings{"orders": {"shop": "p1", "gold": "p2", "fast": "p2"}, "bills": {"shop": "p1", "gold": "p2", "fast": "p2", "bills": "p3"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

// some returns random mappings from a small set of values.
func some(r *rand.Rand) idp.Mappings {
	out := idp.Mappings{}
	for api := range 3 {
		for scope := range 3 {
			if r.IntN(3) == 0 {
				name := fmt.Sprint("a", api)
				if out[name] == nil {
					out[name] = map[string]string{}
				}
				out[name][fmt.Sprint("s", scope)] = fmt.Sprint("p", r.IntN(2))
			}
		}
	}
	return out
}

func entry(t *testing.T, m idp.Mappings) registry.IdP {
	t.Helper()
	ms := map[string]any{}
	for api, scopes := range m {
		ms[api] = map[string]any{"scope_to_policy": scopes}
	}
	text, _ := json.Marshal(map[string]any{"name": "n", "jwks_uri": "j", "api_mappings": ms})
	var d registry.Draft
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return registry.IdP{APIMappings: d.APIMappings}
}

// TestPatchLaw: a patch, applied as dashboards do, gives an entry with all wanted mappings,
// without those that the portal wrote and no longer wants, and with all those of others; a
// second patch is empty.
func TestPatchLaw(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5_000 {
		now, wrote, want := some(r), some(r), some(r)
		after := now
		if patch := idp.Patch(now, wrote, want); patch != nil {
			var merge doc.Patch
			if err := json.Unmarshal(patch.JSON(), &merge); err != nil {
				t.Fatal(err)
			}
			p, err := entry(t, now).PatchMappings(merge, registry.IdP{}.Created)
			if err != nil {
				t.Fatal(err)
			}
			after = idp.Recorded(p.APIMappings)
		}
		for api, scopes := range want {
			for scope, policy := range scopes {
				if after[api][scope] != policy {
					t.Fatalf("%v, wrote %v, want %v: %v", now, wrote, want, after)
				}
			}
		}
		for api, scopes := range now {
			for scope, policy := range scopes {
				_, wanted := want[api][scope]
				_, left := after[api][scope]
				if ours := wrote[api][scope] == policy; !wanted && left == ours {
					t.Fatalf("%v, wrote %v, want %v: %v", now, wrote, want, after)
				}
			}
		}
		for api, scopes := range after {
			if len(scopes) == 0 && len(now[api]) > 0 {
				t.Fatalf("%s is empty, not gone: %v", api, after)
			}
		}
		if again := idp.Patch(after, want, want); again != nil {
			t.Fatalf("a second patch: %s", again.JSON())
		}
	}
}

// TestPatch: examples of patches.
func TestPatch(t *testing.T) {
	for _, test := range []struct {
		now, wrote, want idp.Mappings
		patch            string
	}{
		{nil, nil, idp.Mappings{"a": {"s": "p"}}, `{"a":{"scope_to_policy":{"s":"p"}}}`},
		{idp.Mappings{"a": {"s": "p"}}, idp.Mappings{"a": {"s": "p"}}, idp.Mappings{"a": {"s": "p"}}, ``},
		{idp.Mappings{"a": {"s": "p", "x": "q"}}, idp.Mappings{"a": {"s": "p"}}, nil, `{"a":{"scope_to_policy":{"s":null}}}`},
		{idp.Mappings{"a": {"s": "p"}}, idp.Mappings{"a": {"s": "p"}}, nil, `{"a":null}`},
		{idp.Mappings{"a": {"s": "other"}}, idp.Mappings{"a": {"s": "p"}}, nil, ``},
	} {
		got := ""
		if n := idp.Patch(test.now, test.wrote, test.want); n != nil {
			got = string(n.JSON())
		}
		if got != test.patch {
			t.Errorf("%v: %s", test, got)
		}
	}
}

// TestDefinitions: keys and scopes are added to existing ones; adding twice changes nothing;
// an API with static keys stays unchanged.
func TestDefinitions(t *testing.T) {
	trust := idp.Trust{JWKSURI: "https://a/keys", Claim: "scp", Scopes: map[string]string{"shop": "p1", "gold": "p2"}}
	encoded := base64.StdEncoding.EncodeToString([]byte(trust.JWKSURI))
	classic := doctest.Node(t, `{"name":"Orders","enable_jwt":true,"jwt_source":"","scopes":{"jwt":{"scope_claim_name":"","scope_to_policy":{"old":"p0"}}}}`)
	for i := range 2 {
		changed, err := added(t, idp.Classic, trust, classic)
		if err != nil || changed != (i == 0) {
			t.Error(changed, err)
		}
	}
	if want := `{"name":"Orders","enable_jwt":true,"jwt_source":"` + encoded + `","scopes":{"jwt":{"scope_claim_name":"scp","scope_to_policy":{"old":"p0","gold":"p2","shop":"p1"}}}}`; string(classic.JSON()) != want {
		t.Errorf("%s", classic.JSON())
	}
	for _, text := range []string{`{"enable_jwt":false}`, `{"enable_jwt":true,"jwt_source":"c2VjcmV0"}`} {
		if _, err := added(t, idp.Classic, trust, doctest.Node(t, text)); fault.KindOf(err) != fault.Invalid {
			t.Error(text, err)
		}
	}
	// Another provider is added.
	second := idp.Trust{JWKSURI: "https://b/keys", Scopes: map[string]string{"more": "p3"}}
	for i := range 2 {
		if changed, err := added(t, idp.Classic, second, classic); err != nil || changed != (i == 0) {
			t.Error(changed, err)
		}
	}
	if got := string(classic.Get("jwt_jwks_uris").JSON()); got != `[{"url":"https://a/keys"},{"url":"https://b/keys"}]` {
		t.Error(got)
	}
	const oas = `{"components":{"securitySchemes":{"key":{"type":"apiKey"},"jwt":{"type":"http","scheme":"bearer","bearerFormat":"JWT"}}},"x-tyk-api-gateway":{"server":{"authentication":{"securitySchemes":{"jwt":{"enabled":true%s}}}}}}`
	document := doctest.Node(t, fmt.Sprintf(oas, `,"jwksURIs":[{"url":"https://b/keys"}]`))
	for i := range 2 {
		changed, err := added(t, idp.Document, trust, document)
		if err != nil || changed != (i == 0) {
			t.Error(changed, err)
		}
	}
	scheme := document.Get("x-tyk-api-gateway", "server", "authentication", "securitySchemes", "jwt")
	if want := `{"enabled":true,"jwksURIs":[{"url":"https://b/keys"},{"url":"https://a/keys"}],"scopes":{"claimName":"scp","scopeToPolicyMapping":[{"scope":"gold","policyId":"p2"},{"scope":"shop","policyId":"p1"}]}}`; string(scheme.JSON()) != want {
		t.Errorf("%s", scheme.JSON())
	}
	for _, text := range []string{`{}`, fmt.Sprintf(oas, `,"source":"c2VjcmV0"`)} {
		if _, err := added(t, idp.Document, trust, doctest.Node(t, text)); fault.KindOf(err) != fault.Invalid {
			t.Error(text, err)
		}
	}
}

// places are definitions of both forms, with placeholders for their values about tokens.
var places = map[string]struct {
	at   func(string, *doc.Node) (idp.Place, error)
	text string // %s: the claim, %s: the pairs, %s: the sources of keys
	pair string
	keys string
}{
	"classic": {idp.Classic, `{"enable_jwt":true,"jwt_source":"","scopes":{"jwt":{"scope_claim_name":"%s","scope_to_policy":{%s}}},"jwt_jwks_uris":[%s]}`, `"%s":"%s"`, `{"url":"%s"}`},
	"OpenAPI": {idp.Document, `{"components":{"securitySchemes":{"jwt":{"type":"http","scheme":"bearer","bearerFormat":"JWT"}}},"x-tyk-api-gateway":{"server":{"authentication":{"securitySchemes":{"jwt":{"scopes":{"claimName":"%s","scopeToPolicyMapping":[%s]},"jwksURIs":[%s]}}}}}}`,
		`{"scope":"%s","policyId":"%s"}`, `{"url":"%s"}`},
}

// TestClaimOfOthers: the scope claim of one provider's tokens is not changed to that of
// another provider.
func TestClaimOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		now, want string // claims
		mapped    bool   // scopes of any provider are mapped
		other     bool   // keys of another provider are known
		refused   bool
	}{
		"the first":                       {now: "", want: "scp"},
		"our own, which has moved":        {now: "", want: "scp", mapped: true},
		"another, without scopes":         {now: "", want: "scp", other: true},
		"another, with the default claim": {now: "", want: "scp", mapped: true, other: true, refused: true},
		"another, with its claim":         {now: "own", want: "scp", mapped: true, other: true, refused: true},
		"another, with the same claim":    {now: "scp", want: "scp", mapped: true, other: true},
		"both have the default claim":     {now: "", want: "scope", mapped: true, other: true},
		"no claim is asked for":           {now: "own", want: "", mapped: true, other: true},
	} {
		for form, p := range places {
			pairs, keys := "", ""
			if c.mapped {
				pairs = fmt.Sprintf(p.pair, "old", "p0")
			}
			if c.other {
				keys = fmt.Sprintf(p.keys, "https://b/keys")
			}
			place, err := p.at("orders", doctest.Node(t, fmt.Sprintf(p.text, c.now, pairs, keys)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err = place.Add(idp.Trust{JWKSURI: "https://a/keys", Claim: c.want, Scopes: map[string]string{"shop": "p1"}}); (fault.KindOf(err) == fault.Invalid) != c.refused {
				t.Errorf("%s, %s: %v", name, form, err)
			}
		}
	}
}

// TestTakeBack: added values are removed, except those that are still needed or that another
// writer has changed since.
func TestTakeBack(t *testing.T) {
	for form, p := range places {
		text := fmt.Sprintf(p.text, "", fmt.Sprintf(p.pair, "shop", "before"), fmt.Sprintf(p.keys, "https://b/keys"))
		definition := doctest.Node(t, text)
		place, err := p.at("orders", definition)
		if err != nil {
			t.Fatal(err)
		}
		a, err := place.Add(idp.Trust{JWKSURI: "https://a/keys", Scopes: map[string]string{"shop": "p1", "gold": "p2", "more": "p3"}})
		if err != nil {
			t.Fatal(err)
		}
		added := definition.Clone()
		if place.TakeBack(a, a.Scopes) || !definition.Equal(added) {
			t.Errorf("%s: %s", form, definition.JSON())
		}
		if changed := place.TakeBack(a, map[string]string{"gold": "p2"}); !changed || strings.Contains(string(definition.JSON()), "p3") || !strings.Contains(string(definition.JSON()), "p2") || !strings.Contains(string(definition.JSON()), "https://a/keys") {
			t.Errorf("%s: %v, %s", form, changed, definition.JSON())
		}
		if changed := place.TakeBack(a, nil); !changed || !definition.Equal(doctest.Node(t, text)) {
			t.Errorf("%s: %v, %s", form, changed, definition.JSON())
		}
		if place.TakeBack(a, nil) {
			t.Errorf("%s: %s", form, definition.JSON())
		}
		if _, err := place.Add(idp.Trust{JWKSURI: "https://a/keys", Scopes: map[string]string{"gold": "other"}}); err != nil {
			t.Fatal(err)
		}
		if place.TakeBack(a, nil); !strings.Contains(string(definition.JSON()), "other") || strings.Contains(string(definition.JSON()), "https://a/keys") {
			t.Errorf("%s: %s", form, definition.JSON())
		}
	}
}

// added adds a Trust to a definition, and reports whether this changed the definition.
func added(t *testing.T, at func(string, *doc.Node) (idp.Place, error), trust idp.Trust, definition *doc.Node) (changed bool, err error) {
	t.Helper()
	place, err := at("orders", definition)
	if err != nil {
		return false, err
	}
	before := definition.Clone()
	a, err := place.Add(trust)
	if err == nil && a.Empty() != definition.Equal(before) {
		t.Errorf("%+v was added: %s", a, definition.JSON())
	}
	return !a.Empty(), err
}

// TestClaims: a client has the scopes of all its claims, and those that an administrator
// added.
func TestClaims(t *testing.T) {
	var none idp.Registered
	one := none.With(idp.Claim{ID: "1", Scopes: []string{"shop", "gold"}})
	two := one.With(idp.Claim{ID: "2", Scopes: []string{"bills", "gold"}})
	if got := idp.Moved([]string{"profile", "shop", "gold"}, one, two); !slices.Equal(got, []string{"profile", "shop", "gold", "bills"}) {
		t.Error(got)
	}
	if got := idp.Moved([]string{"profile", "shop", "gold", "bills"}, two, two.Without("1")); !slices.Equal(got, []string{"profile", "gold", "bills"}) {
		t.Error(got)
	}
	if got, ok := two.With(idp.Claim{ID: "1"}).Claimed("1"); !ok || len(got) != 0 || len(two.Claims) != 2 {
		t.Error(got, ok)
	}
	e := idp.Entry{Wrote: idp.Mappings{"a": {"s": "old", "t": "p"}}}.Begun(idp.Mappings{"a": {"s": "new"}, "b": {"u": "q"}})
	if want := (idp.Mappings{"a": {"s": "new", "t": "p"}, "b": {"u": "q"}}); e.Turn != 1 || !reflect.DeepEqual(e.Wrote, want) {
		t.Errorf("%+v", e)
	}
}

// TestAstray: which mappings of an entry are too many, and which are missing. Mappings that
// others have written or changed are theirs.
func TestAstray(t *testing.T) {
	one := func(policy string) idp.Mappings { return idp.Mappings{"a": {"s": policy}} }
	for name, c := range map[string]struct {
		now, wrote, want idp.Mappings
		more, less       bool
	}{
		"as wanted":                       {one("p"), one("p"), one("p"), false, false},
		"missing":                         {nil, nil, one("p"), false, true},
		"another policy":                  {one("q"), one("q"), one("p"), false, true},
		"no longer wanted":                {one("p"), one("p"), nil, true, false},
		"no longer wanted, and gone":      {nil, one("p"), nil, false, false},
		"no longer wanted, and another's": {one("q"), one("p"), nil, false, false},
		"another's":                       {one("p"), nil, nil, false, false},
	} {
		if more, less := idp.Astray(c.now, c.wrote, c.want); more != c.more || less != c.less {
			t.Errorf("%s: %t %t", name, more, less)
		}
	}
}
