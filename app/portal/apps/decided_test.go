package apps_test

import (
	"context"
	"strings"
	stdsync "sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
	"github.com/gatehouse-io/gatehouse/core/portal/plan"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/provider"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// noService returns nil: a deletion here has no consequences elsewhere.
func noService() *apps.Service { return nil }

// ends deletes a record as its operation does, with the hooks of access requests.
func ends[T table.Row[T]](w *world, kind *store.Kind[T], hooks portal.Hooks[T], id table.ID) {
	w.update(func(wr store.Writer) error {
		ctx := w.t.Context()
		old, err := portal.Find(ctx, wr, kind, id.String())
		if err != nil {
			return err
		}
		if err := portal.Remove(ctx, wr, kind, id, w.at()); err != nil {
			return err
		}
		return hooks.After(ctx, wr, &portal.Change[T]{Op: store.Deleted, Scope: w.p.Scope, Old: old, At: w.at()})
	})
}

// TestDeletedPlan: when a plan or a product is deleted, the access requests that wait for it
// are rejected, also one that is being approved; others stay.
func TestDeletedPlan(t *testing.T) {
	d := newOurs(t, false)
	for name, end := range map[string]func(w *world, plan table.ID){
		"plan": func(w *world, id table.ID) {
			ends(w, plans.Kind, apps.Plans(portal.Hooks[plan.Plan]{}, noService), id)
		},
		"product": func(w *world, _ table.ID) {
			ends(w, products.Kind, apps.Products(portal.Hooks[product.Product]{}, noService), 1)
		},
		"provider": func(w *world, id table.ID) {
			if id == 2 {
				ends(w, providers.Kind, apps.Providers(portal.Hooks[provider.Provider]{}), 1)
			} else {
				ends(w, plans.Kind, apps.Plans(portal.Hooks[plan.Plan]{}, noService), id)
			}
		},
	} {
		w := open(t, d)
		for _, body := range []string{`{"PlanID":1,"ProductIDs":[1]}`, `{"PlanID":2,"ProductIDs":[2]}`} {
			if err := w.provision(body); err != nil {
				t.Fatal(err)
			}
		}
		end(w, 1)
		if all := w.requests(); all[0].Status != string(request.Rejected) || all[1].Status != string(request.Approved) {
			t.Errorf("%s: %+v", name, all)
		}
		w.clear()

		w = open(t, d)
		w.dash = ours{overtaken{d, func() { end(w, 2) }}}
		w.start(&fate{})
		err := w.provision(`{"PlanID":2,"ProductIDs":[1]}`)
		if err == nil || strings.Contains(err.Error(), "pending") || w.requests()[0].Status != string(request.Rejected) || len(w.keys()) != 0 && name != "provider" { // keys stay because the portal cannot reach them
			t.Errorf("%s, while its request is approved: %v, %+v, %d keys", name, err, w.requests(), len(w.keys()))
		}
		w.clear()
	}
}

// TestOneCredentialAtOnce: of several concurrent requests to add a product to one credential,
// one is made. Requests that could never be approved are not stored.
func TestOneCredentialAtOnce(t *testing.T) {
	for _, orders := range [][]string{
		{`{"PlanID":2,"ProductIDs":[2],"CredentialID":1}`},
		{`{"PlanID":2,"ProductIDs":[2],"CredentialID":1}`, `{"PlanID":2,"ProductIDs":[3],"CredentialID":1}`},
	} {
		w := open(t, newOurs(t, false))
		w.update(func(wr store.Writer) error {
			_, err := portal.Add(t.Context(), wr, products.Kind, w.at(), product.Product{ProviderID: 1, Name: "three", Path: "three", APIs: product.Details{{APIID: "two"}}, AuthTypes: []string{"authToken"}})
			return err
		})
		if err := first(w); err != nil {
			t.Fatal(err)
		}
		var all stdsync.WaitGroup
		for i := range 8 {
			all.Go(func() { _ = w.provision(orders[i%len(orders)]) })
		}
		all.Wait()
		list := w.requests()
		for _, r := range list {
			if r.Status != string(request.Approved) {
				t.Errorf("request %s is %s", r.ID, r.Status)
			}
		}
		if len(list) < 2 || len(list) > 1+len(orders) {
			t.Errorf("%d requests", len(list))
		}
	}
	// The same with approval by administrators.
	w := open(t, newOurs(t, false))
	if err := w.provision(`{"PlanID":1,"ProductIDs":[1]}`); err != nil {
		t.Fatal(err)
	}
	if err := w.approve("1"); err != nil {
		t.Fatal(err)
	}
	again := `{"PlanID":1,"ProductIDs":[2],"CredentialID":1}`
	if err := w.provision(again); err != nil {
		t.Fatal(err)
	}
	if err := w.provision(again); err == nil || err.Error() != "CredentialID: access request 2 asks for the product already" || len(w.requests()) != 2 {
		t.Errorf("%v, %d requests", err, len(w.requests()))
	}
	w.clear()
}

// TestLeftClock: a request left by a process whose clock was ahead is approved although the
// clock has been put back since.
func TestLeftClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, newOurs(t, false))
		w.start(&fate{at: 2, says: errDead})
		_ = w.provision(`{"PlanID":2,"ProductIDs":[1]}`)
		w.start(&fate{})
		w.update(func(wr store.Writer) error {
			_, err := portal.Edit(t.Context(), wr, apps.Requests, 1, crud.Stamp{ID: w.p.Tools.NewID(), Org: w.p.Scope.Org(), Now: func() time.Time { return time.Now().Add(24 * time.Hour) }}, func(r request.Request) (request.Request, error) { return r, nil })
			return err
		})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.apps.Run(ctx) }()
		time.Sleep(10 * time.Minute)
		stop()
		<-done
		if one := w.requests()[0]; one.Status != string(request.Approved) {
			t.Errorf("%+v", one)
		}
		w.clear()
	})
}
