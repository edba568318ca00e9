package idps_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	core "github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/e2e/idp"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/registration"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// keyless is a dashboard without keys.
type keyless struct{ dashboard.Dashboard }

func (keyless) Policies(context.Context) ([]*doc.Node, error) { return nil, nil }

func (keyless) Keys(context.Context) ([]dashboard.Key, error) { return nil, nil }

// doctor returns the service that examines the world: at dashboards it checks registries alone.
func (w *world) doctor() *apps.Service {
	sagas := intents.New(intents.Settings{Holder: w.Tools.NewID(), Alone: true, Wait: 50 * time.Millisecond}, w.Tools, w.Keys)
	nowhere := func(context.Context, tenant.Scope, table.ID) (synchronise.Provider, error) {
		return synchronise.Provider{Dashboard: keyless{}}, nil
	}
	return apps.New(apps.Config{Tools: w.Tools, Secrets: w.Keys, Scope: w.Scope, Intents: sagas, Open: nowhere, Logins: w.service, Issuers: issuers.Issuers{}})
}

// credential stores a credential for an issued grant.
func (w *world) credential(app table.ID, g *issuers.Grant) {
	w.Helper()
	w.update(func(wr store.Writer) error {
		_, err := portal.Add(w.Context(), wr, apps.Credentials, w.at(), credential.Credential{AppID: app, RequestID: 1, PlanID: g.Plan.ID, ProviderID: g.Provider, Method: issuers.Registration, AuthType: "jwt", Public: g.Values.Public})
		return err
	})
}

// TestDoctor: clients without credential, and superfluous or missing mappings, are found and
// fixed in one pass; the second one finds nothing. Additions of administrators to an entry
// stay, and so do clients that credentials need.
func TestDoctor(t *testing.T) {
	w := open(t, idp.Keycloak, true)
	orders, gold := w.offer(1, "orders", "shop")
	claims, silver := w.offer(2, "claims", "care")
	lost, kept, partly := grant(7, orders, gold), grant(8, orders, gold), grant(8, claims, silver)
	for _, g := range []*issuers.Grant{lost, kept, partly} {
		if err := w.act(issuers.Issue, g, nil); err != nil {
			t.Fatal(err)
		}
	}
	w.credential(8, kept)
	d := w.doctor()
	look := func(fix bool, want ...string) {
		t.Helper()
		found, err := d.Examine(t.Context(), w.Scope, fix)
		if err != nil {
			t.Fatal(err)
		}
		have := []string{}
		for _, f := range found.Findings {
			have = append(have, fmt.Sprintf("%s: app %d, dashboard %d, fixed %v%s", f.Finding, f.AppID, f.ProviderID, f.Fixed, f.Message))
		}
		if !reflect.DeepEqual(have, append([]string{}, want...)) {
			t.Errorf("%q", have)
		}
	}
	// Mappings of a plan that was deleted silently, one of administrators, and one that is
	// lost.
	patch, _ := doc.ParseNode([]byte(`{"orders":{"scope_to_policy":{"theirs":"policy"}}}`))
	if err := w.dashboards[1].PatchEntry(t.Context(), w.provider.EntryID(), patch); err != nil {
		t.Fatal(err)
	}
	w.update(func(wr store.Writer) error { return portal.Remove(t.Context(), wr, plans.Kind, gold.ID, w.at()) })
	if err := w.dashboards[2].DeleteEntry(t.Context(), w.provider.EntryID()); err != nil {
		t.Fatal(err)
	}
	look(false, "client without credential: app 7, dashboard 0, fixed false", "client without credential: app 8, dashboard 0, fixed false",
		"mapping without product: app 0, dashboard 1, fixed false", "product without mapping: app 0, dashboard 2, fixed false")
	look(true, "client without credential: app 7, dashboard 0, fixed true", "client without credential: app 8, dashboard 0, fixed true",
		"mapping without product: app 0, dashboard 1, fixed true", "product without mapping: app 0, dashboard 2, fixed true")
	look(true)
	if id, scopes := w.only(); id != kept.Values.ClientID || !reflect.DeepEqual(scopes, []string{"shop", "shop-plan"}) {
		t.Error(id, scopes)
	}
	if want := (core.Mappings{"orders": {"shop": "policy-shop-1", "theirs": "policy"}}); !reflect.DeepEqual(w.mappings(1), want) {
		t.Error(w.mappings(1))
	}
	if want := (core.Mappings{"claims": {"care": "policy-care-2", "care-plan": "plan-policy-care-2"}}); !reflect.DeepEqual(w.mappings(2), want) {
		t.Error(w.mappings(2))
	}
	// A product that was deleted silently; a dashboard that is away is reported.
	w.update(func(wr store.Writer) error { return portal.Remove(t.Context(), wr, products.Kind, claims.ID, w.at()) })
	look(false, "mapping without product: app 0, dashboard 2, fixed false")
	w.away[2] = true
	look(true, "mapping without product: app 0, dashboard 2, fixed falsethe dashboard does not answer as it should")
	delete(w.away, 2)
	look(true, "mapping without product: app 0, dashboard 2, fixed true")
	look(false)
}

// TestDoctorForgets: a client that its provider has deleted, which the provider only shows by
// refusing the token (RFC 7592, 2.3), must not be a permanent finding. As long as a credential
// needs the client, its record stays.
func TestDoctorForgets(t *testing.T) {
	w := openWith(t, idp.Other, false, 1)
	orders, gold := w.offer(1, "orders", "shop")
	g := grant(7, orders, gold)
	if err := w.act(issuers.Issue, g, nil); err != nil {
		t.Fatal(err)
	}
	was := core.Client{URI: g.Values.RegistrationURI, Token: g.Values.RegistrationToken}
	if err := w.service.Registrar.Delete(t.Context(), registration.Place{}, was); err != nil {
		t.Fatal(err)
	}
	if err := w.act(issuers.Revoke, g, nil); !invalid(err) {
		t.Error(err)
	}
	d := w.doctor()
	for _, want := range []int{1, 0} {
		if found, err := d.Examine(t.Context(), w.Scope, true); err != nil || len(found.Findings) != want || want == 1 && !found.Findings[0].Fixed {
			t.Errorf("%+v, %v", found, err)
		}
	}
}

// TestDoctorWaits: a client with a running saga is left alone.
func TestDoctorWaits(t *testing.T) {
	w := openWith(t, idp.Other, false, 1)
	orders, gold := w.offer(1, "orders", "shop")
	g := grant(7, orders, gold)
	if err := w.act(issuers.Issue, g, nil); err != nil {
		t.Fatal(err)
	}
	all, err := w.service.Lonely(t.Context(), w.Scope)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	w.credential(7, g)
	if is, err := w.service.Needed(t.Context(), w.Scope, all[0]); err != nil || !is {
		t.Error("the credential has come meanwhile", err)
	}
	if all, err := w.service.Lonely(t.Context(), w.Scope); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
}
