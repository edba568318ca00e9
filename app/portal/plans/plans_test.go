package plans_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/catalogues"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/provider"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

const gold = `{"Name":"Gold","ProviderID":1,"DisplayName":"Golden","RateLimit":100,"Per":60,"Quota":1000,"QuotaRenewalRate":3600,"KeyExpiresIn":60,"MetaData":{"tier":"gold"},"Catalogues":[1]}`

// TestLife follows a plan and its policy from creation to deletion, in one process and
// over HTTP.
func TestLife(t *testing.T) {
	for name, overHTTP := range map[string]bool{"in process": false, "over HTTP": true} {
		t.Run(name, func(t *testing.T) {
			w := open(t, overHTTP)
			p := w.create(gold)
			n := w.policy(p.ReferenceID)
			if n == nil || n.Get("_id").Text() != p.ReferenceID || len(p.ReferenceID) != 24 {
				t.Fatalf("%+v", p)
			}
			for member, want := range map[string]string{
				"name": `"Gold"`, "rate": "100", "per": "60", "quota_max": "1000", "quota_renewal_rate": "3600", "key_expires_in": "60", "meta_data": `{"tier":"gold"}`,
				"tags": `["public"]`, "active": "true", "is_inactive": "false", "state": `"active"`, "throttle_interval": "-1", "throttle_retry_limit": "-1",
			} {
				if got := string(n.Get(member).JSON()); got != want {
					t.Errorf("%s is %s, want %s", member, got, want)
				}
			}
			if parts := n.Get("partitions"); parts.Get("acl").True() || !parts.Get("quota").True() || !parts.Get("rate_limit").True() {
				t.Error(string(parts.JSON()))
			}
			w.quiet()

			calls := w.dash.calls
			w.change(p.ID, `{"DisplayName":"Best","Description":"<p>x</p>","AutoApproveAccessRequests":true,"Catalogues":[1,2],"JWTScope":"gold","PlanQuota":3,"PlanQuotaRenewalRate":-1,"Name":"Gold","RateLimit":"100"}`)
			if w.dash.calls != calls {
				t.Error("what concerns the portal alone called the dashboard")
			}
			for _, step := range []struct{ body, member, want string }{
				{`{"KeyExpiresIn":3600}`, "key_expires_in", "3600"},
				{`{"MetaData":{"tier":["gold",1],"deep":{"a":null}}}`, "meta_data", `{"deep":{"a":null},"tier":["gold",1]}`},
				{`{"MetaData":null}`, "meta_data", `{}`},
				{`{"Name":"Silver"}`, "name", `"Silver"`},
				{`{"RateLimit":5}`, "rate", "5"},
				{`{"Per":10}`, "per", "10"},
				{`{"Quota":7}`, "quota_max", "7"},
				{`{"QuotaRenewalRate":-1}`, "quota_renewal_rate", "-1"},
				{`{"UnlimitedQuota":true}`, "quota_max", "-1"},
				{`{"UnlimitedQuota":false,"Quota":9}`, "quota_max", "9"},
				{`{"UnlimitedRateLimit":true}`, "rate", "-1"},
				{`{"KeyExpiresIn":0}`, "key_expires_in", "0"},
			} {
				writes := w.dash.calls
				w.change(p.ID, step.body)
				if got := string(w.policy(p.ReferenceID).Get(step.member).JSON()); got != step.want || w.dash.calls == writes {
					t.Errorf("%s: %s is %s", step.body, step.member, got)
				}
				w.quiet()
			}
			p = w.get(p.ID)
			if p.RateLimit != -1 || p.Per != -1 || !p.UnlimitedRateLimit || p.UnlimitedQuota || p.Quota != 9 || string(p.MetaData) != "{}" || !slices.Equal(p.Catalogues, []table.ID{1, 2}) {
				t.Errorf("%+v", p)
			}

			w.call("portal-plans.delete", p.ID, "")
			if w.policy(p.ReferenceID) != nil {
				t.Error("the policy is there")
			}
			for _, id := range []string{"portal-plans.get", "portal-plans.update", "portal-plans.delete"} {
				w.refused(id, p.ID, `{}`, "plan not found")
			}
			if left, err := w.List(t.Context()); len(left) > 0 || err != nil {
				t.Errorf("%+v %v", left, err)
			}
			w.quiet()
			w.create(`{"Name":"Silver","ProviderID":1,"JWTScope":"gold","CID":"` + p.CID + `"}`) // all its unique values are free again
			w.quiet()
		})
	}
}

// TestTheirsStays: settings at the dashboard survive a change, and a change that concerns
// only the portal does not rewrite the dashboard's form of "unlimited".
func TestTheirsStays(t *testing.T) {
	w := open(t, false)
	p := w.create(gold)
	theirs, err := w.dash.Dashboard.Policy(t.Context(), sync.Ref{ObjectID: p.ReferenceID})
	if err != nil {
		t.Fatal(err)
	}
	theirs.Document.Set("smoothing", doc.NewObject())
	theirs.Document.Put(doc.NewInt(7), "smoothing", "threshold")
	theirs.Document.Set("rate", doc.NewInt(-1))
	if err := w.dash.Dashboard.Replace(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	w.run()
	calls := w.dash.calls
	if p = w.change(p.ID, `{"Description":"x","RateLimit":-1,"Per":60,"UnlimitedRateLimit":true}`); w.dash.calls != calls || p.Per != 60 || !p.UnlimitedRateLimit {
		t.Errorf("%d calls, %+v", w.dash.calls-calls, p)
	}
	w.quiet()
	w.change(p.ID, `{"KeyExpiresIn":9}`)
	if n := w.policy(p.ReferenceID); n.Get("smoothing", "threshold").Int() != 7 || n.Get("per").Int() != 60 || n.Get("key_expires_in").Int() != 9 {
		t.Error(string(n.JSON()))
	}
	w.quiet()
}

// TestRefusedBeforeACall: invalid values, and values of another record, are refused before
// the dashboard is called.
func TestRefusedBeforeACall(t *testing.T) {
	w := open(t, false)
	p := w.create(`{"Name":"Gold","ProviderID":1,"JWTScope":"read, write","CID":"2r7p8aUnkzby17hCJk8w2XvK3K6"}`)
	other := w.create(`{"Name":"Silver","ProviderID":1}`)
	for body, want := range map[string]string{
		`{"Name":"Gold","ProviderID":1}`:                                           "Name has already been taken",
		`{"Name":"New","ProviderID":1,"JWTScope":"admin write"}`:                   "JWTScope has already been taken",
		`{"Name":"Gold","ProviderID":1,"JWTScope":"read"}`:                         "Name has already been taken; JWTScope has already been taken",
		`{"Name":"New","ProviderID":1,"CID":"2r7p8aUnkzby17hCJk8w2XvK3K6"}`:        "CID has already been taken",
		`{"Name":"New","ProviderID":9}`:                                            "ProviderID is invalid",
		`{"Name":"New","ProviderID":1,"Catalogues":[9],"RateLimit":"1.5"}`:         "Catalogues is invalid; RateLimit is invalid",
		`{"ProviderID":1,"KeyExpiresIn":-1,"CID":"short"}`:                         "CID is invalid; Name can't be blank; KeyExpiresIn is invalid",
		`{"Name":"New","ProviderID":1,"MetaData":"[]"}`:                            "MetaData is invalid",
		`{"Name":"New","ProviderID":null,"Quota":-2,"QuotaRenewalRate":"x"}`:       "ProviderID can't be blank; Quota is invalid; QuotaRenewalRate is invalid",
		`{"Name":"New","ProviderID":1,"PlanQuota":-1,"PlanQuotaRenewalRate":-2}`:   "PlanQuota is invalid; PlanQuotaRenewalRate is invalid",
		`{"Name":"New","ProviderID":1,"UnlimitedQuota":"maybe","Catalogues":{}}`:   "UnlimitedQuota is invalid",
		`{"Name":"New","ProviderID":1,"AutoApproveAccessRequests":2,"Per":"-0.5"}`: "AutoApproveAccessRequests is invalid; Per is invalid",
	} {
		w.refused("portal-plans.create", 0, body, want)
	}
	for body, want := range map[string]string{
		`{"ProviderID":2}`:                       "ProviderID can't be changed",
		`{"Name":"Gold"}`:                        "Name has already been taken",
		`{"JWTScope":"read","ProviderID":2}`:     "ProviderID can't be changed; JWTScope has already been taken",
		`{"Name":"","KeyExpiresIn":"yesterday"}`: "Name can't be blank; KeyExpiresIn is invalid",
	} {
		w.refused("portal-plans.update", other.ID, body, want)
	}
	w.change(p.ID, `{"JWTScope":"write,read,more"}`) // its own scopes
	w.quiet()
}

// TestTheStoreFails: a policy whose plan cannot be stored is deleted again, unless it
// existed before.
func TestTheStoreFails(t *testing.T) {
	w := open(t, false)
	w.db.full = true
	if _, err := w.try("portal-plans.create", 0, gold); !errors.Is(err, errFull) {
		t.Fatal(err)
	}
	if list, err := w.dash.Policies(t.Context()); len(list) != 0 || err != nil {
		t.Errorf("%d policies, %v", len(list), err)
	}
	const cid = "2r7p8aUnkzby17hCJk8w2XvK3K6"
	w.dash.before = func(call string) error {
		if call == "delete" {
			return dashboard.ErrUnreachable
		}
		return nil
	}
	if _, err := w.try("portal-plans.create", 0, `{"CID":"`+cid+`",`+gold[1:]); !errors.Is(err, errFull) {
		t.Fatal(err)
	}
	list, err := w.dash.Policies(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatal("a dashboard that does not answer has deleted the policy: ", len(list), err)
	}
	left := list[0].Get("_id").Text()
	w.dash.before = nil
	if _, err := w.try("portal-plans.create", 0, `{"CID":"`+cid+`",`+gold[1:]); !errors.Is(err, errFull) || w.policy(left) == nil {
		t.Fatal("a policy that was there before is gone: ", err)
	}
	w.db.full = false
	p := w.create(`{"CID":"` + cid + `",` + gold[1:])
	if p.ReferenceID != left {
		t.Error("the policy that was left is not taken up")
	}
	w.quiet()
}

// TestInterrupted: if a process ends between the dashboard and the store, the next run
// completes its work.
func TestInterrupted(t *testing.T) {
	w := open(t, false)
	w.db.full = true
	w.dash.before = func(call string) error {
		if call == "delete" {
			return dashboard.ErrUnreachable
		}
		return nil
	}
	_, _ = w.try("portal-plans.create", 0, gold)
	w.db.full, w.dash.before = false, nil
	w.run()
	p := w.get(1)
	if p.Name != "Gold" || p.KeyExpiresIn != 60 || w.policy(p.ReferenceID) == nil {
		t.Errorf("the policy has not become a plan: %+v", p)
	}
	w.quiet()

	w.db.full = true
	if _, err := w.try("portal-plans.update", 1, `{"KeyExpiresIn":5,"Description":"lost"}`); !errors.Is(err, errFull) {
		t.Fatal(err)
	}
	w.db.full = false
	w.run()
	if p := w.get(1); p.KeyExpiresIn != 5 || p.Description != "" {
		t.Errorf("%+v", p)
	}
	w.quiet()

	w.db.full = true
	if _, err := w.try("portal-plans.delete", 1, ""); !errors.Is(err, errFull) {
		t.Fatal(err)
	}
	w.db.full = false
	w.run()
	w.refused("portal-plans.get", 1, "", "plan not found")
	w.quiet()
}

// TestPolicyOfAnother: a new plan does not adopt a policy that another plan has.
func TestPolicyOfAnother(t *testing.T) {
	w := open(t, false)
	w.create(gold)
	w.db.full = true
	if _, err := w.try("portal-plans.update", 1, `{"Name":"Silver"}`); !errors.Is(err, errFull) {
		t.Fatal(err)
	}
	w.db.full = false // the dashboard has the new name, but the portal has not stored it
	if _, err := w.try("portal-plans.create", 0, strings.Replace(gold, "Gold", "Silver", 1)); fault.CodeOf(err) != sync.CodeShared {
		t.Error(err)
	}
	w.run()
	if p := w.get(1); p.Name != "Silver" {
		t.Errorf("%+v", p)
	}
	w.quiet()
}

// TestTheDashboardFails: nothing is stored that the dashboard has not accepted, and the
// error contains its reason.
func TestTheDashboardFails(t *testing.T) {
	w := open(t, false)
	p := w.create(gold)
	w.dash.before = func(string) error { return fmt.Errorf("replace the policy Gold: %w", dashboard.ErrUnreachable) }
	for id, body := range map[string]string{"portal-plans.update": `{"KeyExpiresIn":9,"Description":"x"}`, "portal-plans.delete": "", "portal-plans.create": `{"Name":"New","ProviderID":1}`} {
		number := p.ID
		if id == "portal-plans.create" {
			number = 0
		}
		_, err := w.try(id, number, body)
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.Invalid || !errors.Is(err, dashboard.ErrUnreachable) || f.Message == "" {
			t.Errorf("%s: %v", id, err)
		}
	}
	w.dash.before = nil
	if got := w.get(p.ID); got.KeyExpiresIn != 60 || got.Description != "" {
		t.Errorf("%+v", got)
	}
	w.quiet()
	if err := w.dash.Dashboard.Delete(t.Context(), sync.Ref{ObjectID: p.ReferenceID}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.try("portal-plans.update", p.ID, `{"KeyExpiresIn":9}`); fault.KindOf(err) != fault.Invalid {
		t.Errorf("its policy is gone: %v", err)
	}
	w.call("portal-plans.delete", p.ID, "") // a missing policy counts as deleted
	w.quiet()
}

// TestMeanwhile: two administrators change a plan at the same time; nothing is lost, and
// no unit of work waits for the dashboard.
func TestMeanwhile(t *testing.T) {
	w := open(t, false)
	p := w.create(gold)
	w.dash.before = func(call string) error {
		if call != "replace" {
			return nil
		}
		w.dash.before = nil
		w.change(p.ID, `{"DisplayName":"Other","Catalogues":[2]}`)
		return nil
	}
	if got := w.change(p.ID, `{"KeyExpiresIn":5}`); got.KeyExpiresIn != 5 || got.DisplayName != "Other" || !slices.Equal(got.Catalogues, []table.ID{2}) {
		t.Errorf("%+v", got)
	}
	w.quiet()
	w.dash.before = func(call string) error {
		if call == "replace" {
			w.dash.before = nil
			w.change(p.ID, `{"Quota":5}`)
		}
		return nil
	}
	if _, err := w.try("portal-plans.update", p.ID, `{"RateLimit":7}`); !errors.Is(err, dashboard.ErrChanged) && fault.KindOf(err) != fault.Invalid {
		t.Errorf("a policy that has changed is overwritten: %v", err)
	}
	if got := w.get(p.ID); got.Quota != 5 || got.RateLimit != 100 {
		t.Errorf("%+v", got)
	}
	w.dash.before = func(call string) error {
		if call == "replace" {
			w.dash.before = nil
			w.call("portal-plans.delete", p.ID, "")
		}
		return nil
	}
	if _, err := w.try("portal-plans.update", p.ID, `{"RateLimit":8}`); err == nil {
		t.Error("a plan that is deleted meanwhile is changed")
	}
	w.quiet()
}

// TestRunMeanwhile: a synchronisation run that begins while an administrator creates a
// plan waits until the plan is stored; changes that concern only the portal do not wait
// for a run.
func TestRunMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, false)
		service := providers.New(providers.Config{Tools: w.tools, Scope: w.scope, Shelves: []providers.Shelf{plans.Shelf},
			Dial: func(provider.Settings) dashboard.Dashboard { return w.dash }})
		w.connect(service.Open)
		var ran error
		w.dash.made = func() {
			go func() { _, ran = service.Synchronise(t.Context(), 1) }()
			synctest.Wait()
		}
		p := w.create(gold)
		if synctest.Wait(); ran != nil {
			t.Fatal(ran)
		}
		if got := w.get(p.ID); got.DisplayName != "Golden" || !slices.Equal(got.Catalogues, []table.ID{1}) {
			t.Errorf("%+v", got)
		}
		w.quiet()

		w.dash.before = func(string) error {
			w.change(p.ID, `{"DisplayName":"Best"}`)
			return nil
		}
		if got := w.change(p.ID, `{"KeyExpiresIn":5}`); got.DisplayName != "Best" {
			t.Errorf("%+v", got)
		}
	})
}

// TestCatalogues: plans store their catalogues, and hidden ones return to their place.
func TestCatalogues(t *testing.T) {
	w := open(t, false)
	a, b := w.create(gold), w.create(`{"Name":"Silver","ProviderID":1}`)
	calls := w.dash.calls
	shown := func(id table.ID) []string {
		return w.call("portal-catalogues.get", id, "").(catalogues.Shown).Plans
	}
	is := func(id table.ID, want ...string) {
		t.Helper()
		if got := shown(id); !slices.Equal(got, append([]string{}, want...)) {
			t.Errorf("catalogue %d has %q, want %q", id, got, want)
		}
	}
	is(1, "Gold")
	w.call("portal-catalogues.update", 1, `{"Plans":["1",`+b.ID.String()+`]}`)
	is(1, "Gold", "Silver")
	w.call("portal-catalogues.update", 1, `{"Plans":["Gold"],"Products":[]}`)
	is(1, "Gold", "Silver")
	w.call("portal-catalogues.update", 2, `{"Plans":"`+b.CID+`"}`)
	if got := w.get(b.ID).Catalogues; !slices.Equal(got, []table.ID{1, 2}) {
		t.Error(got)
	}
	w.call("portal-catalogues.create", 0, `{"Name":"New","Plans":[1]}`)
	is(3, "Gold")

	hide(t, w, a.CID, true)
	is(1, "Silver")
	for _, id := range []string{"portal-plans.get", "portal-plans.update", "portal-plans.delete"} {
		w.refused(id, a.ID, `{}`, "plan not found")
	}
	w.refused("portal-plans.create", 0, `{"Name":"New","ProviderID":1,"CID":"`+a.CID+`"}`, "CID has already been taken")
	w.refused("portal-catalogues.update", 1, `{"Plans":[1]}`, "Plans is invalid")
	w.call("portal-catalogues.update", 1, `{"Plans":null}`)
	is(1)
	w.call("portal-catalogues.delete", 3, "")
	hide(t, w, a.CID, false)
	is(1, "Gold")
	if got := w.get(a.ID).Catalogues; !slices.Equal(got, []table.ID{1}) {
		t.Errorf("the plan is in %v", got)
	}
	if w.dash.calls != calls {
		t.Errorf("catalogues made %d calls", w.dash.calls-calls)
	}
	w.quiet()
	w.call("portal-plans.delete", a.ID, "")
	is(1)
}

// TestApart: plans and products share the unique identifiers of policies, scopes, and
// catalogues.
func TestApart(t *testing.T) {
	w := open(t, false)
	const cid = "2r7p8aUnkzby17hCJk8w2XvK3K6"
	w.call("portal-products.create", 0, `{"Name":"Payments","IsDocumentationOnly":true,"CID":"`+cid+`","DCREnabled":true,"Scopes":"read,read","Catalogues":[1]}`)
	w.refused("portal-plans.create", 0, `{"Name":"Gold","ProviderID":1,"CID":"`+cid+`"}`, "CID has already been taken")
	w.refused("portal-plans.create", 0, `{"Name":"Gold","ProviderID":1,"JWTScope":"write read"}`, "JWTScope has already been taken")
	p := w.create(`{"Name":"Gold","ProviderID":1,"JWTScope":"write write"}`)
	w.refused("portal-products.create", 0, `{"Name":"Loans","IsDocumentationOnly":true,"CID":"`+p.CID+`"}`, "CID has already been taken")
	w.refused("portal-products.update", 1, `{"Scopes":"read,write"}`, "Scopes has already been taken")
	w.call("portal-products.update", 1, `{"DCREnabled":false}`)
	w.change(p.ID, `{"JWTScope":"read"}`)
	w.refused("portal-products.update", 1, `{"DCREnabled":"true"}`, "Scopes has already been taken")

	w.call("portal-catalogues.update", 1, `{"Plans":["`+p.CID+`"],"Products":["1"]}`)
	w.call("portal-catalogues.update", 2, `{"Products":{"ID":1}}`) // ignored
	one, two := w.call("portal-catalogues.get", 1, "").(catalogues.Shown), w.call("portal-catalogues.get", 2, "").(catalogues.Shown)
	if !slices.Equal(one.Plans, []string{"Gold"}) || !slices.Equal(one.Products, []string{"Payments"}) || len(two.Products) != 0 {
		t.Errorf("%+v %+v", one, two)
	}
	w.call("portal-catalogues.delete", 1, "")
	if got := w.get(p.ID).Catalogues; len(got) != 0 {
		t.Error(got)
	}
	if err := w.db.View(t.Context(), w.scope, func(r store.Reader) error {
		v, err := portal.Find(t.Context(), r, products.Kind, "1")
		if len(v.Catalogues) != 0 {
			t.Error(v.Catalogues)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// hide stores what synchronisation stores for a plan whose policy is gone, or restores it.
func hide(t *testing.T, w *world, cid string, hidden bool) {
	t.Helper()
	list, err := w.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, seen := range list {
		if seen.CID == cid {
			next := seen
			next.Hidden = hidden
			if err := w.Store(t.Context(), &seen, next); err != nil {
				t.Fatal(err)
			}
		}
	}
}
