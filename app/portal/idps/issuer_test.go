package idps_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/idps"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	core "github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/e2e/idp"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

type draft = registry.Draft

var flavours = []idp.Flavour{idp.Keycloak, idp.Gluu, idp.Okta, idp.Other}

// only returns the identifier and scopes of the only client.
func (w *world) only() (id string, scopes []string) {
	w.Helper()
	all := w.server.Clients()
	if len(all) != 1 {
		w.Fatalf("%d clients: %v", len(all), all)
	}
	for id, text := range all {
		scopes = core.Scopes(text)
		slices.Sort(scopes)
		return id, scopes
	}
	return "", nil
}

// TestOneClient: an app has one client at each provider, whose scopes follow its credentials;
// the last credential deletes the client. Mappings stay.
func TestOneClient(t *testing.T) {
	for _, f := range flavours {
		t.Run(string(f), func(t *testing.T) {
			w := open(t, f, true)
			orders, gold := w.offer(1, "orders", "shop")
			claims, silver := w.offer(1, "claims", "care")
			one, two := grant(7, orders, gold), grant(7, claims, silver)
			if err := w.act(issuers.Issue, one, nil); err != nil {
				t.Fatal(err)
			}
			id, scopes := w.only()
			if v := one.Values; v.ClientID != id || v.ClientSecret == "" || v.Response == "" || v.JWKSURI != w.server.JWKS() || v.TokenURL != w.server.Issuer()+"/token" || !slices.Equal(scopes, []string{"shop", "shop-plan"}) || v.Scope != "shop shop-plan" {
				t.Errorf("%v: %+v", scopes, v)
			}
			if token, status := w.server.Token(id, one.Values.ClientSecret); token == "" {
				t.Error(status)
			}
			if want := (core.Mappings{"orders": {"shop": "policy-shop-1", "shop-plan": "plan-policy-shop-1"}}); !reflect.DeepEqual(w.mappings(1), want) || len(w.mappings(2)) != 0 {
				t.Error(w.mappings(1), w.mappings(2))
			}
			if err := w.act(issuers.Issue, two, nil); err != nil {
				t.Fatal(err)
			}
			if two.Values.JWKSURI != w.server.JWKS() || two.Values.TokenURL != one.Values.TokenURL {
				t.Errorf("%+v", two.Values)
			}
			if got, scopes := w.only(); got != id || two.Values.ClientSecret != one.Values.ClientSecret || !slices.Equal(scopes, []string{"care", "care-plan", "shop", "shop-plan"}) {
				t.Error(got, scopes)
			}
			if err := w.act(issuers.Rotate, two, nil); !invalid(err) {
				t.Error(err)
			}
			if err := w.act(issuers.Revoke, one, nil); err != nil {
				t.Fatal(err)
			}
			if _, scopes := w.only(); !slices.Equal(scopes, []string{"care", "care-plan"}) {
				t.Error(scopes)
			}
			for range 2 { // a missing client counts as revoked
				if err := w.act(issuers.Revoke, two, nil); err != nil || len(w.server.Clients()) != 0 {
					t.Error(err, w.server.Clients())
				}
			}
			if _, status := w.server.Token(id, two.Values.ClientSecret); status != 400 {
				t.Error(status)
			}
			if len(w.mappings(1)) != 2 {
				t.Error(w.mappings(1))
			}
		})
	}
}

// TestSecretEnds: a credential expires when the provider says that the secret of its client
// does, also if the provider says so later.
func TestSecretEnds(t *testing.T) {
	w := open(t, idp.Keycloak, true)
	orders, gold := w.offer(1, "orders", "shop")
	claims, silver := w.offer(1, "claims", "care")
	one, two, ends := grant(7, orders, gold), grant(7, claims, silver), time.Unix(1_900_000_000, 0).UTC()
	if err := w.act(issuers.Issue, one, nil); err != nil || !one.Values.Expires.IsZero() {
		t.Fatal(err, one.Values.Expires)
	}
	w.server.EndSecrets(ends)
	if err := w.act(issuers.Issue, two, nil); err != nil || !two.Values.Expires.Equal(ends) {
		t.Error(err, two.Values.Expires)
	}
}

// TestPlanChange: under another plan the client has that plan's scopes; after an undo it has
// the old ones, and the dashboard forgets the plan.
func TestPlanChange(t *testing.T) {
	w := open(t, idp.Gluu, true)
	orders, gold := w.offer(1, "orders", "shop")
	_, silver := w.offer(1, "claims", "care")
	g := grant(7, orders, gold)
	if err := w.act(issuers.Issue, g, nil); err != nil {
		t.Fatal(err)
	}
	moved := *g
	moved.Before, moved.Grows, moved.Earlier = g.Products, true, g.Plan
	moved.Plan = issuers.Plan{ID: silver.ID, Policy: silver.Ref.Name(), Scopes: silver.Scopes()}
	away := moved
	w.away[1] = true
	if err := w.act(issuers.Change, &away, func() { delete(w.away, 1) }); err == nil {
		t.Error("the dashboard was told while it was away")
	}
	if _, scopes := w.only(); !slices.Equal(scopes, []string{"shop", "shop-plan"}) || len(w.mappings(1)["orders"]) != 2 {
		t.Error(scopes, w.mappings(1))
	}
	if err := w.act(issuers.Change, &moved, nil); err != nil {
		t.Fatal(err)
	}
	if _, scopes := w.only(); !slices.Equal(scopes, []string{"care-plan", "shop"}) || w.mappings(1)["orders"]["care-plan"] != silver.Ref.Name() {
		t.Error(scopes, w.mappings(1))
	}
	less := moved
	less.Plan.Scopes = nil
	if err := w.act(issuers.Change, &less, nil); !invalid(err) {
		t.Error("a plan without a scope:", err)
	}
}

// TestFollow: the client of an app follows its redirect addresses, and keeps its scopes; an
// undo restores the old ones.
func TestFollow(t *testing.T) {
	w := openWith(t, idp.Keycloak, true, 1)
	p, l := w.offer(1, "orders", "shop")
	g := grant(7, p, l)
	if err := w.act(issuers.Issue, g, nil); err != nil {
		t.Fatal(err)
	}
	before, id := g.App, g.Values.ClientID
	g.Was, g.Formerly, g.Before = g.Values, before, g.Products
	g.App.RedirectURLs = "https://other.example.com/back"
	if err := w.act(issuers.Follow, g, nil); err != nil || g.Values.RedirectURI != "https://other.example.com/back" || g.Values.ClientID != id {
		t.Fatal(err, g.Values)
	}
	if _, scopes := w.only(); !slices.Equal(scopes, []string{"shop", "shop-plan"}) {
		t.Error(scopes)
	}
	steps := issuers.Issuer(idps.Issuer{Service: w.service}).Steps(w.Scope.Org(), issuers.Follow, g)
	if err := steps[0].Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.Was = g.Values
	if err := w.act(issuers.Follow, g, nil); err != nil {
		t.Fatal(err)
	}
}

// TestFaults: whatever fails during an approval, in the end there is no client and no mapping
// of it, and a second attempt works. Only a provider without idempotency keys may keep a
// client whose answer was lost.
func TestFaults(t *testing.T) {
	unanswered := []idp.Fault{idp.Garbage, idp.Dies, idp.Slow}
	for _, f := range []idp.Flavour{idp.Other, idp.Keycloak} {
		for _, at := range []idp.Endpoint{idp.Discovery, idp.Registration, idp.Reading, idp.Updating} {
			for _, kind := range idp.Faults {
				if f == idp.Keycloak && (at == idp.Reading || at == idp.Updating) && slices.Contains(unanswered, kind) {
					continue // TestLostToken
				}
				w := openWith(t, f, true, 1)
				orders, gold := w.offer(1, "orders", "shop")
				claims, silver := w.offer(1, "claims", "care")
				g, before := grant(7, orders, gold), 0
				if at == idp.Reading || at == idp.Updating {
					if err := w.act(issuers.Issue, g, nil); err != nil {
						t.Fatal(err)
					}
					g, before = grant(7, claims, silver), 1
				}
				w.server.Misbehave(at, kind, -1)
				err := w.act(issuers.Issue, g, w.server.Behave)
				w.server.Behave()
				lost := f != idp.Other && at == idp.Registration && slices.Contains(unanswered, kind)
				if n := len(w.server.Clients()); err == nil || n != before && !lost {
					t.Errorf("%s, %s, %s: %d clients, %v", f, at, kind, n, err)
				}
				if err != nil && (strings.Contains(err.Error(), w.server.InitialToken()) && w.server.InitialToken() != "") {
					t.Error("the error tells the token")
				}
				if before == 1 {
					if _, scopes := w.only(); !slices.Equal(scopes, []string{"shop", "shop-plan"}) {
						t.Errorf("%s, %s, %s: %v", f, at, kind, scopes)
					}
				}
				if m := w.mappings(1); len(m) != before {
					t.Errorf("%s, %s, %s: %v", f, at, kind, m)
				}
				if err := w.act(issuers.Issue, g, nil); err != nil {
					t.Errorf("%s, %s, %s, again: %v", f, at, kind, err)
				}
			}
		}
	}
}

// TestUnreadableRegistration: a provider whose answers to registrations cannot be read is
// called once more when an approval is undone, and no further.
func TestUnreadableRegistration(t *testing.T) {
	w := openWith(t, idp.Keycloak, true, 1)
	w.server.Misbehave(idp.Registration, idp.Garbage, -1)
	orders, gold := w.offer(1, "orders", "shop")
	if err := w.act(issuers.Issue, grant(7, orders, gold), nil); err == nil { // there, a failed undo is an error
		t.Error("approved")
	}
	if n := w.server.Calls(idp.Registration); n != 2 {
		t.Error(n, "registrations")
	}
	w.server.Behave()
	if err := w.act(issuers.Issue, grant(7, orders, gold), nil); err != nil {
		t.Error(err)
	}
}

// TestRefusedScopes: if the provider refuses further scopes for a client, later changes do
// not add them either, and the client is deleted with its credential.
func TestRefusedScopes(t *testing.T) {
	for _, at := range []idp.Endpoint{idp.Reading, idp.Updating} {
		w := openWith(t, idp.Gluu, true, 1)
		orders, gold := w.offer(1, "orders", "shop")
		claims, silver := w.offer(1, "claims", "care")
		g := grant(7, orders, gold)
		if err := w.act(issuers.Issue, g, nil); err != nil {
			t.Fatal(err)
		}
		w.server.Misbehave(at, idp.Refuses, 1)
		if err := w.act(issuers.Issue, grant(7, claims, silver), nil); !invalid(err) {
			t.Errorf("%s: %v", at, err)
		}
		w.server.Behave()
		g.Formerly, g.Before = g.App, g.Products
		g.App.RedirectURLs = "https://other.example.com/back"
		if err := w.act(issuers.Follow, g, nil); err != nil {
			t.Error(err)
		}
		if _, scopes := w.only(); !slices.Equal(scopes, []string{"shop", "shop-plan"}) || len(w.mappings(1)) != 1 {
			t.Errorf("%s: %v, %v", at, scopes, w.mappings(1))
		}
		if err := w.act(issuers.Revoke, g, nil); err != nil || len(w.server.Clients()) != 0 {
			t.Errorf("%s: %v, %v", at, err, w.server.Clients())
		}
	}
}

// TestRefusedDefinition: if one of the definitions of a product cannot take the keys, none of
// them is changed, and nothing is recorded as approved.
func TestRefusedDefinition(t *testing.T) {
	w := openWith(t, idp.Keycloak, false, 1)
	p, l := w.offer(1, "orders", "shop")
	before, err := w.dashboards[1].Definition(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	d, err := w.dashboards[1].Definition(t.Context(), "claims")
	if err != nil {
		t.Fatal(err)
	}
	d.Document.Put(doc.NewString("c2VjcmV0"), "x-tyk-api-gateway", "server", "authentication", "securitySchemes", "jwt", "source")
	if err := w.dashboards[1].ReplaceDefinition(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	g := grant(7, p, l)
	g.Products[0].APIs = []string{"orders", "claims"}
	if err := w.act(issuers.Issue, g, nil); !invalid(err) {
		t.Error(err)
	}
	after, err := w.dashboards[1].Definition(t.Context(), "orders")
	if err != nil || !after.Document.Equal(before.Document) {
		t.Errorf("%s %v", after.Document.JSON(), err)
	}
	w.view(func(r store.Reader) error {
		n, err := r.Count(t.Context(), store.Query{Kind: core.ApprovalKind})
		if n != 0 {
			t.Error(n, "approvals")
		}
		return err
	})
}

// TestHalfDefined: an approval that fails after some of the definitions are written reverts
// its changes, but not those that another approval needs.
func TestHalfDefined(t *testing.T) {
	for name, at := range map[string]refusing{
		"refused":          {api: "orders", err: dashboard.ErrRefused},
		"not answered":     {api: "orders", err: dashboard.ErrUnreachable},
		"done, but silent": {api: "orders", err: dashboard.ErrUnreachable, done: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := openWith(t, idp.Keycloak, false, 1)
			p, l := w.offer(1, "orders", "shop")
			before, first := w.definitions(), grant(7, p, l)
			first.Products[0].APIs = []string{"claims", "orders"}
			w.writes = func(d dashboard.Dashboard) dashboard.Dashboard {
				at.Dashboard = d
				return at
			}
			fail := func(g *issuers.Grant) {
				t.Helper()
				if err := w.act(issuers.Issue, g, func() { w.writes = nil }); err == nil {
					t.Error("approved")
				}
				w.writes = nil
			}
			fail(first)
			if after := w.definitions(); after != before || len(w.server.Clients()) != 0 {
				t.Errorf("%d clients, %s\n%s", len(w.server.Clients()), before, after)
			}
			other, _ := w.offer(1, "claims", "care")
			if err := w.act(issuers.Issue, grant(8, other, l), nil); err != nil {
				t.Fatal(err)
			}
			approved := w.definitions()
			w.writes = func(d dashboard.Dashboard) dashboard.Dashboard {
				at.Dashboard = d
				return at
			}
			again := grant(7, p, l)
			again.Products[0].APIs = []string{"claims", "orders"}
			fail(again)
			if after := w.definitions(); after != approved {
				t.Errorf("%s\n%s", approved, after)
			}
		})
	}
}

// definitions returns the token settings in the definitions of both APIs, without empty
// members.
func (w *world) definitions() (out string) {
	w.Helper()
	empty := func(n *doc.Node) bool {
		return n.IsNull() || n.Is(doc.TypeString) && n.Text() == "" || n.Is(doc.TypeObject, doc.TypeArray) && n.Len() == 0
	}
	for _, api := range []string{"orders", "claims"} {
		d, err := w.dashboards[1].Definition(w.Context(), api)
		if err != nil {
			w.Fatal(err)
		}
		said := d.Document.Get("x-tyk-api-gateway", "server", "authentication")
		if !d.OAS {
			said = doc.NewObject()
			for _, name := range []string{"jwt_source", "jwt_jwks_uris", "scopes"} {
				if v := d.Document.Get("api_definition", name); v != nil {
					said.Set(name, v.Clone())
				}
			}
		}
		out += string(said.Without(empty).JSON()) + "\n"
	}
	return out
}

// TestLostToken: if each answer has a new token for the client, and one answer is lost, the
// client cannot be managed any more. An approval and its undo report that; the operator sees
// the saga rest.
func TestLostToken(t *testing.T) {
	w := open(t, idp.Keycloak, true)
	orders, gold := w.offer(1, "orders", "shop")
	claims, silver := w.offer(1, "claims", "care")
	if err := w.act(issuers.Issue, grant(7, orders, gold), nil); err != nil {
		t.Fatal(err)
	}
	w.server.Misbehave(idp.Reading, idp.Dies, -1)
	issuer, g := idps.Issuer{Service: w.service}, grant(7, claims, silver)
	w.view(func(r store.Reader) error { return issuer.Prepare(t.Context(), r, issuers.Issue, g) })
	step := issuer.Steps(w.Scope.Org(), issuers.Issue, g)[0]
	if err := step.Do(t.Context()); fault.KindOf(err) != fault.Unavailable {
		t.Error(err)
	}
	w.server.Behave()
	if err := step.Undo(t.Context()); !invalid(err) || !strings.Contains(err.Error(), "does not take the token") {
		t.Error(err)
	}
	if _, scopes := w.only(); !slices.Equal(scopes, []string{"shop", "shop-plan"}) {
		t.Error(scopes)
	}
}

// TestDashboardAway: an approval leaves no client if the dashboard cannot be updated.
func TestDashboardAway(t *testing.T) {
	w := open(t, idp.Keycloak, true)
	orders, gold := w.offer(1, "orders", "shop")
	w.away[1] = true
	if err := w.act(issuers.Issue, grant(7, orders, gold), nil); err == nil || len(w.server.Clients()) != 0 {
		t.Error(err, w.server.Clients())
	}
	delete(w.away, 1)
	if m := w.mappings(1); len(m) != 0 {
		t.Error(m)
	}
}

// TestRefusals: preconditions of an approval.
func TestRefusals(t *testing.T) {
	w := open(t, idp.Keycloak, true)
	orders, gold := w.offer(1, "orders", "shop")
	for name, spoil := range map[string]func(*issuers.Grant){
		"Scopes":       func(g *issuers.Grant) { g.Products[0].Scopes = nil },
		"JWTScope":     func(g *issuers.Grant) { g.Plan.Scopes = nil },
		"client type":  func(g *issuers.Grant) { g.ClientType = 9 },
		"RedirectURLs": func(g *issuers.Grant) { g.ClientType = 2 },
	} {
		g := grant(7, orders, gold)
		spoil(g)
		if err := w.act(issuers.Issue, g, nil); !invalid(err) || !strings.Contains(err.Error(), name) || w.server.Calls(idp.Registration) != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.update(func(wr store.Writer) error {
		_, err := portal.Edit(t.Context(), wr, products.Kind, orders.ID, w.at(), func(p product.Product) (product.Product, error) {
			p.AuthTypes = []string{"authToken"}
			return p, nil
		})
		return err
	})
	if err := w.act(issuers.Issue, grant(7, orders, gold), nil); !invalid(err) || !strings.Contains(err.Error(), "JWT") {
		t.Error(err)
	}
}

// TestDefinitions: with the registry off, the definitions of the APIs get the keys and the
// scopes; revoked ones stay in them.
func TestDefinitions(t *testing.T) {
	w := open(t, idp.Keycloak, false)
	if _, err := w.dashboards[1].Entry(t.Context(), w.provider.EntryID()); !errors.Is(err, dashboard.ErrGone) {
		t.Error(err)
	}
	for api, scope := range map[string]string{"orders": "shop", "claims": "care"} {
		p, l := w.offer(1, api, scope)
		g := grant(7, p, l)
		for range 2 {
			if err := w.act(issuers.Issue, g, nil); err != nil {
				t.Fatal(api, err)
			}
			if err := w.act(issuers.Revoke, g, nil); err != nil {
				t.Fatal(api, err)
			}
			d, err := w.dashboards[1].Definition(t.Context(), api)
			if err != nil || d.OAS != (api == "claims") {
				t.Fatal(err)
			}
			text := string(d.Document.JSON())
			for _, want := range []string{`"` + scope + `"`, `"policy-` + scope + `-1"`, `"` + scope + `-plan"`, `"plan-policy-` + scope + `-1"`} {
				if strings.Count(text, want) != 1 {
					t.Errorf("%s: %d of %s: %s", api, strings.Count(text, want), want, text)
				}
			}
		}
	}
}

// TestSilentProvider: an unreadable discovery document is requested once for all dashboards,
// and once by each synchronisation.
func TestSilentProvider(t *testing.T) {
	w := open(t, idp.Keycloak, true)
	before := w.server.Calls(idp.Discovery)
	w.server.Misbehave(idp.Discovery, idp.Broken, -1)
	w.do("portal-oauth-providers.create", nil, fmt.Sprintf(`{"Name":"Second","Type":"Other","WellKnownURL":%q}`, w.server.WellKnown()))
	const attempts = 3
	if n := w.server.Calls(idp.Discovery) - before; n != attempts {
		t.Error(n)
	}
	before += attempts
	if err := w.service.Synchronise(t.Context(), w.Scope, 1); err == nil {
		t.Error("nothing is said of the provider that does not answer")
	}
	if n := w.server.Calls(idp.Discovery) - before; n != 2*attempts { // for both providers
		t.Error(n)
	}
	w.server.Behave()
	if err := w.service.Synchronise(t.Context(), w.Scope, 1); err != nil {
		t.Error(err)
	}
}

// TestRegistry: every dashboard gets an entry at once, which follows changes of products,
// plans and providers. Failed writes are repeated at the next synchronisation.
func TestRegistry(t *testing.T) {
	w := open(t, idp.Keycloak, true)
	orders, gold := w.offer(1, "orders", "shop")
	claims, silver := w.offer(2, "claims", "care")
	for _, g := range []*issuers.Grant{grant(7, orders, gold), grant(7, claims, silver)} {
		if err := w.act(issuers.Issue, g, nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.mappings(1)) != 1 || len(w.mappings(2)) != 1 {
		t.Fatal(w.mappings(1), w.mappings(2))
	}
	changed := func(op store.Op, old, fresh product.Product) {
		announce(w, w.service.Products, op, old, fresh)
	}
	// Another API, other scopes.
	more := orders.WithAPIs([]string{"claims", "orders"})
	more.Scopes = "mall"
	w.update(func(wr store.Writer) error {
		_, err := portal.Edit(t.Context(), wr, products.Kind, orders.ID, w.at(), func(p product.Product) (product.Product, error) {
			more.Base = p.Base
			return more, nil
		})
		return err
	})
	changed(store.Updated, orders, more)
	scopes := map[string]string{"mall": "policy-shop-1", "shop-plan": "plan-policy-shop-1"}
	if want := (core.Mappings{"orders": scopes, "claims": scopes}); !reflect.DeepEqual(w.mappings(1), want) {
		t.Error(w.mappings(1))
	}
	// The plan is deleted while its dashboard is away.
	w.away[1] = true
	w.update(func(wr store.Writer) error { return portal.Remove(t.Context(), wr, plans.Kind, gold.ID, w.at()) })
	announce(w, w.service.Plans, store.Deleted, gold, gold)
	delete(w.away, 1)
	if len(w.mappings(1)["orders"]) != 2 {
		t.Error(w.mappings(1))
	}
	if err := w.service.Synchronise(t.Context(), w.Scope, 1); err != nil {
		t.Error(err)
	}
	scopes = map[string]string{"mall": "policy-shop-1"}
	if want := (core.Mappings{"orders": scopes, "claims": scopes}); !reflect.DeepEqual(w.mappings(1), want) {
		t.Error(w.mappings(1))
	}
	// The product is deleted: nothing remains.
	w.update(func(wr store.Writer) error { return portal.Remove(t.Context(), wr, products.Kind, orders.ID, w.at()) })
	changed(store.Deleted, more, more)
	if len(w.mappings(1)) != 0 || len(w.mappings(2)) != 1 {
		t.Error(w.mappings(1), w.mappings(2))
	}
	// A dashboard that is connected later gets the entry.
	if err := w.service.Synchronise(t.Context(), w.Scope, w.connect()); err != nil || len(w.mappings(3)) != 0 {
		t.Error(err)
	}
	// A change of the provider reaches all dashboards; so does its deletion, some of them
	// later.
	w.do("portal-oauth-providers.update", map[string]string{"provider_id": "1"}, `{"Name":"Acme","ScopeClaimName":"scp"}`)
	for id := range w.dashboards {
		if e, err := w.dashboards[id].Entry(t.Context(), w.provider.EntryID()); err != nil || e.Name != "Acme" || e.ScopeClaim != "scp" || (len(core.Recorded(e.APIMappings)) == 1) != (id == 2) {
			t.Error(id, err, e)
		}
	}
	w.away[2] = true
	if _, err := w.try("portal-oauth-providers.delete", map[string]string{"provider_id": "1"}, "", nil); !invalid(err) {
		t.Error(err)
	}
	if _, err := w.try("portal-oauth-providers.delete", map[string]string{"provider_id": "1"}, "", map[string][]string{"force": {"true"}}); err != nil {
		t.Fatal(err)
	}
	delete(w.away, 2)
	for id, d := range w.dashboards {
		if _, err := d.Entry(t.Context(), w.provider.EntryID()); errors.Is(err, dashboard.ErrGone) == (id == 2) {
			t.Error(id, err)
		}
	}
	if err := w.service.Synchronise(t.Context(), w.Scope, 2); err != nil {
		t.Error(err)
	}
	if _, err := w.dashboards[2].Entry(t.Context(), w.provider.EntryID()); !errors.Is(err, dashboard.ErrGone) {
		t.Error(err)
	}
}

// TestQuiet: changes of neither APIs nor scopes make no call.
func TestQuiet(t *testing.T) {
	w := open(t, idp.Keycloak, true)
	orders, gold := w.offer(1, "orders", "shop")
	if err := w.act(issuers.Issue, grant(7, orders, gold), nil); err != nil {
		t.Fatal(err)
	}
	before := w.server.Calls(idp.Discovery)
	fresh := orders
	fresh.Description, fresh.DisplayName = "Other", "Other"
	w.away[1] = true
	w.opens = 0
	announce(w, w.service.Products, store.Updated, orders, fresh)
	if w.opens != 0 || w.server.Calls(idp.Discovery) != before {
		t.Error(w.opens, "dashboards were called")
	}
	delete(w.away, 1)
	fresh.Scopes = "mall"
	announce(w, w.service.Products, store.Updated, orders, fresh)
	if w.opens != 1 || w.server.Calls(idp.Discovery) != before {
		t.Error(w.opens, "dashboards were called")
	}
}
