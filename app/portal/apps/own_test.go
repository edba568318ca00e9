package apps_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/catalogues"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/plan"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// by calls an operation as a logged-in user.
func (w *world) by(user table.ID, id, body string, path ...string) (any, error) {
	o := w.ops["portal-own-apps."+id]
	call := &operation.Call{Spec: &o.Spec, Scope: w.p.Scope, Principal: operation.Principal{ID: account.Principal(user)}, Body: []byte(body), Path: map[string]string{}}
	for pair := range slices.Chunk(path, 2) {
		call.Path[pair[0]] = pair[1]
	}
	return o.Do(w.t.Context(), call)
}

// TestOwnStrangers calls every operation on apps of each visibility as users in all relations to
// the app: a user who may not use an app gets NotFound, and one who may not change it is refused.
func TestOwnStrangers(t *testing.T) {
	w := open(t, newOurs(t, false))
	type someone struct {
		id   table.ID
		role string
		org  table.ID
		team table.ID
	}
	all := []*someone{{role: account.Member, org: 2, team: 3}, {role: account.Member, org: 2, team: 3}, {role: account.Member, org: 2, team: 4}, {role: account.ConsumerAdmin, org: 2, team: 2}, {role: account.ConsumerAdmin, org: 3, team: 5}, {role: account.Member, org: 1, team: 1}, {role: account.SuperAdmin}}
	owned := map[string]table.ID{}
	w.update(func(wr store.Writer) error {
		for _, s := range all {
			u, err := portal.Add(t.Context(), wr, people.Users, w.at(), account.User{Email: w.p.Tools.NewID() + "@example.com", First: "X", Role: s.role, OrganisationID: s.org, Teams: []table.ID{s.team}, Active: true, Token: w.p.Tools.NewID()})
			if err != nil {
				return err
			}
			s.id = u.ID
		}
		for _, v := range []string{application.Personal, application.Team, application.Organisation} {
			a, err := portal.Add(t.Context(), wr, apps.Kind, w.at(), application.App{Name: v, UserID: all[0].id, Visibility: v})
			if err != nil {
				return err
			}
			owned[v] = a.ID
		}
		return nil
	})
	uses := map[string][]int{application.Personal: {0}, application.Team: {0, 1}, application.Organisation: {0, 1, 2, 3}}
	for visibility, app := range owned {
		path := []string{"app_id", app.String(), "access_request_id", "99", "credential_id", "99"}
		for i, who := range all {
			may := slices.Contains(uses[visibility], i)
			list, err := w.by(who.id, "list", "")
			if err != nil {
				t.Fatal(err)
			}
			if listed := slices.ContainsFunc(list.(operation.Listing[apps.OwnApp]).Items, func(a apps.OwnApp) bool { return a.ID == app }); listed != may {
				t.Errorf("%s is listed for %d: %v", visibility, i, listed)
			}
			if _, err := w.by(who.id, "get", "", path...); (err == nil) != may || !may && fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s to %d: %v", visibility, i, err)
			}
			changes := i == 0 || may && i == 3
			if _, err := w.by(who.id, "update", `{"Description":"changed"}`, path...); (err == nil) != changes || !may && fault.KindOf(err) != fault.NotFound || may && !changes && fault.CodeOf(err) != apps.CodeOwner {
				t.Errorf("%s changed by %d: %v", visibility, i, err)
			}
			for _, id := range []string{"order", "request", "withdraw", "subscribe", "reveal", "rotate", "revoke", "renew", "forget", "delete"} {
				if id == "delete" && changes || id == "order" && may {
					continue
				}
				_, err := w.by(who.id, id, `{"PlanID":1,"ProductIDs":[1],"Certificate":"x"}`, path...)
				want := fault.NotFound
				if id == "delete" && may {
					want = fault.Denied
				}
				if fault.KindOf(err) != want {
					t.Errorf("%s of %s by %d: %v", id, visibility, i, err)
				}
			}
		}
	}
}

// TestOwnPlain states what a developer is shown of a secret, and of a dashboard's error.
func TestOwnPlain(t *testing.T) {
	w := open(t, newOurs(t, false))
	if err := w.provision(`{"PlanID":2,"ProductIDs":[1]}`); err != nil {
		t.Fatal(err)
	}
	path := []string{"app_id", w.app.String(), "credential_id", "1"}
	shown, err := w.by(w.user, "get", "", path...)
	if err != nil {
		t.Fatal(err)
	}
	told, err := w.by(w.user, "reveal", "", path...)
	if err != nil {
		t.Fatal(err)
	}
	c, secret := shown.(apps.OwnShown).Credentials[0], told.(apps.Revealed).Credential
	if len(secret) < 32 || c.Credential != credential.Masked(secret) || !c.Rotatable || c.Expired {
		t.Errorf("%+v", c)
	}
	// The error of a dashboard is for administrators only.
	w.start(&fate{at: 1, says: dashboard.ErrUnreachable, once: false})
	for _, id := range []string{"rotate", "revoke"} {
		if _, err := w.by(w.user, id, "", path...); err == nil || fault.CodeOf(err) == apps.CodeOpen && err.Error() != "this could not be finished now: look again in a few minutes, and tell the administrators of the portal if nothing has changed" {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// TestOwnPlanNamesNoCatalogues: a plan of an app does not show its catalogues, since some of them
// may be hidden from its developer.
func TestOwnPlanNamesNoCatalogues(t *testing.T) {
	w := open(t, newOurs(t, false))
	if err := w.provision(`{"PlanID":2,"ProductIDs":[1]}`); err != nil {
		t.Fatal(err)
	}
	w.update(func(wr store.Writer) error {
		_, err := portal.Edit(t.Context(), wr, plans.Kind, 2, w.at(), func(p plan.Plan) (plan.Plan, error) {
			p.Catalogues = []table.ID{1, 7}
			return p, nil
		})
		return err
	})
	shown, err := w.by(w.user, "get", "", "app_id", w.app.String())
	if err != nil {
		t.Fatal(err)
	}
	out := shown.(apps.OwnShown)
	if a, b := out.AccessRequests[0].Plan, out.Credentials[0].Plan; a.ID != 2 || b.ID != 2 || len(a.Catalogues)+len(b.Catalogues) != 0 {
		t.Errorf("%+v %+v", a, b)
	}
}

// TestVisibilityStays: a change that sends an empty visibility does not share the app with others.
func TestVisibilityStays(t *testing.T) {
	w := open(t, newOurs(t, false))
	w.update(func(wr store.Writer) error {
		_, err := portal.Edit(t.Context(), wr, people.Users, w.user, w.at(), func(u account.User) (account.User, error) {
			u.OrganisationID, u.Teams, u.Active = 2, []table.ID{3}, true
			return u, nil
		})
		return err
	})
	for _, want := range []string{application.Personal, application.Team, application.Organisation} {
		w.do("portal-apps.update", `{"Visibility":"`+want+`"}`, "app_id", w.app.String())
		for _, body := range []string{`{"Visibility":""}`, `{"Visibility":null}`, `{"Name":"Till"}`} {
			w.do("portal-apps.update", body, "app_id", w.app.String())
			if _, err := w.by(w.user, "update", body, "app_id", w.app.String()); err != nil {
				t.Fatal(err)
			}
			w.update(func(wr store.Writer) error {
				a, err := portal.Find(t.Context(), wr, apps.Kind, w.app.String())
				if a.Visibility != want {
					t.Errorf("%s after %s: %s", want, body, a.Visibility)
				}
				return err
			})
		}
	}
}

// TestManyTypes: an access request shows a limited number of event types, however many its products
// have: an app shows a thousand requests.
func TestManyTypes(t *testing.T) {
	w := open(t, newOurs(t, false))
	w.update(func(wr store.Writer) error {
		for id := range table.ID(3) {
			types := make([]string, 900)
			for i := range types {
				types[i] = fmt.Sprintf("type %d of %d", i, id)
			}
			if id == 2 {
				if _, err := portal.Add(t.Context(), wr, products.Kind, w.at(), product.Product{ProviderID: 1, Name: "three", Path: "three", APIs: product.Details{{APIID: "two"}}, AuthTypes: []string{"authToken"}, WebhookEventTypes: types}); err != nil {
					return err
				}
				continue
			}
			if _, err := portal.Edit(t.Context(), wr, products.Kind, id+1, w.at(), func(p product.Product) (product.Product, error) {
				p.WebhookEventTypes = types
				return p, nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err := w.provision(`{"PlanID":1,"ProductIDs":[1,2,3]}`); err != nil {
		t.Fatal(err)
	}
	out, err := w.by(w.user, "get", "", "app_id", w.app.String())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(out.(apps.OwnShown).AccessRequests[0].EventTypes); n < 1000 || n > 2000 {
		t.Errorf("%d types", n)
	}
}

// TestOwnTwice repeats calls with a ticket, also at the same moment: the record of the first call
// is answered again, and nothing else is made.
func TestOwnTwice(t *testing.T) {
	w := open(t, newOurs(t, false))
	w.clear()
	w.update(func(wr store.Writer) error {
		c, err := portal.Add(t.Context(), wr, catalogues.Kind, w.at(), catalogue.Catalogue{Name: "All", NameWithSlug: "all", VisibilityStatus: catalogue.Public})
		if err == nil {
			_, err = portal.Edit(t.Context(), wr, plans.Kind, 2, w.at(), func(p plan.Plan) (plan.Plan, error) { p.Catalogues = []table.ID{c.ID}; return p, nil })
		}
		if err == nil {
			_, err = portal.Edit(t.Context(), wr, products.Kind, 1, w.at(), func(p product.Product) (product.Product, error) { p.Catalogues = []table.ID{c.ID}; return p, nil })
		}
		return err
	})
	call := func(user table.ID, id, number, body string, path ...string) (any, error) {
		o := w.ops["portal-own-apps."+id]
		c := &operation.Call{Spec: &o.Spec, Scope: w.p.Scope, Principal: operation.Principal{ID: account.Principal(user)}, Body: []byte(body), Path: map[string]string{}, Header: map[string]string{"Idempotency-Key": number}}
		for pair := range slices.Chunk(path, 2) {
			c.Path[pair[0]] = pair[1]
		}
		return o.Do(t.Context(), c)
	}
	var all sync.WaitGroup
	made := make([]table.ID, 6)
	for i := range made {
		all.Go(func() {
			a, err := call(w.user, "create", "once", `{"Name":"Kiosk"}`)
			if err != nil {
				t.Error(err)
				return
			}
			made[i] = a.(apps.OwnShown).ID
		})
	}
	all.Wait()
	app := made[0]
	if len(slices.Compact(made)) != 1 || app == 0 {
		t.Fatal(made)
	}
	for i := range made {
		all.Go(func() {
			r, err := call(w.user, "order", "once", `{"PlanID":2,"ProductIDs":[1]}`, "app_id", app.String())
			if err != nil || r.(apps.OwnRequest).Status != "approved" {
				t.Error(r, err)
				return
			}
			made[i] = r.(apps.OwnRequest).ID
		})
	}
	all.Wait()
	if len(slices.Compact(made)) != 1 || len(w.keys()) != 1 || len(w.requests()) != 1 {
		t.Error(made, w.keys())
	}
	for _, c := range [][]string{{"create", `{"Name":"Another one"}`}, {"order", `{"PlanID":1,"ProductIDs":[1]}`, "app_id", app.String()}} {
		if _, err := call(w.user, c[0], "once", c[1], c[2:]...); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "Idempotency-Key") {
			t.Errorf("%s: the same number for something else: %v", c[0], err)
		}
	}
	if _, err := w.by(w.user, "update", `{"Name":"Renamed"}`, "app_id", app.String()); err != nil {
		t.Fatal(err)
	}
	if a, err := call(w.user, "create", "once", `{"Name":"Kiosk"}`); err != nil || a.(apps.OwnShown).ID != app {
		t.Error("the same call after its app has another name:", a, err)
	}
	other, err := call(w.user, "create", "again", `{"Name":"Kiosk"}`)
	if err != nil || other.(apps.OwnShown).ID == app {
		t.Error(other, err)
	}
	var stranger table.ID
	w.update(func(wr store.Writer) error {
		u, err := portal.Add(t.Context(), wr, people.Users, w.at(), account.User{Email: "eve@example.com", First: "Eve", Role: account.Member, OrganisationID: 1, Teams: []table.ID{1}, Active: true, Token: "eve"})
		stranger = u.ID
		return err
	})
	if theirs, err := call(stranger, "create", "once", `{"Name":"Theirs"}`); err != nil || theirs.(apps.OwnShown).ID == app || theirs.(apps.OwnShown).UserID != stranger {
		t.Error("somebody else with the same number:", theirs, err)
	}
	if _, err := call(w.user, "create", strings.Repeat("x", 101), `{"Name":"Kiosk"}`); fault.KindOf(err) != fault.Invalid {
		t.Error(err)
	}
	if _, err := w.by(w.user, "delete", "", "app_id", app.String()); err != nil {
		t.Fatal(err)
	}
	if a, err := call(w.user, "create", "once", `{"Name":"Kiosk"}`); err != nil || a.(apps.OwnShown).ID == app {
		t.Error("after it is deleted:", a, err)
	}
}
