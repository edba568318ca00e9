package apps_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/portal/plan"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// withClients adds products 3 and 4, whose APIs accept tokens of OAuth clients, also under
// plan 3.
func withClients(w *world) error {
	w.update(func(wr store.Writer) error {
		for _, id := range []string{"o1", "o2"} {
			p := product.Product{ProviderID: 1, Ref: sync.Ref{ID: id}, Name: id, Path: id, APIs: product.Details{{APIID: id}}, AuthTypes: []string{"oauth"}}
			if _, err := portal.Add(w.t.Context(), wr, products.Kind, w.at(), p); err != nil {
				return err
			}
		}
		_, err := portal.Add(w.t.Context(), wr, plans.Kind, w.at(), plan.Plan{ProviderID: 1, Ref: sync.Ref{ID: "silver"}, Name: "silver", AutoApprove: true})
		return err
	})
	_, err := w.try("portal-apps.update", `{"RedirectURLs":"https://a.example/back,https://b.example/back"}`, "app_id", w.app.String())
	return err
}

// oneClient makes an app with a client for product 3.
func oneClient(w *world) error {
	return errors.Join(withClients(w), w.provision(`{"PlanID":2,"ProductIDs":[3]}`))
}

func twoProducts(w *world) error {
	return errors.Join(oneClient(w), w.provision(`{"PlanID":2,"ProductIDs":[4],"CredentialID":1}`))
}

// policiesOfClients returns the policies that the portal has made for clients.
func (w *world) policiesOfClients() (out []*doc.Node) {
	w.t.Helper()
	list, err := w.dash.Policies(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, n := range list {
		if strings.HasPrefix(n.Get("id").Text(), "portal-client-") {
			out = append(out, n)
		}
	}
	return out
}

// clients returns the clients at the dashboard: API, policy, redirect addresses.
func (w *world) clients() (out []string) {
	w.t.Helper()
	for _, api := range []string{"o1", "o2"} {
		list, err := w.dash.OAuthClients(w.t.Context(), api)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, c := range list {
			out = append(out, strings.Join([]string{api, c.ID, c.Secret, c.Policy, c.RedirectURI}, " "))
		}
	}
	return out
}

// gives returns what the only policy of a client gives: APIs, and a rate; "" if there is
// none.
func (w *world) gives() string {
	list := w.policiesOfClients()
	if len(list) != 1 {
		return ""
	}
	n := list[0]
	apis := n.Get("access_rights").Names()
	slices.Sort(apis)
	dead := ""
	if n.Get("is_inactive").True() {
		dead = " inactive"
	}
	return fmt.Sprintf("%s %v%s", strings.Join(apis, ","), n.Get("rate").Float(), dead)
}

// clientele fails unless the dashboard has exactly the clients of the credentials, each with
// its own policy, at the APIs of its products.
func (w *world) clientele(what string) {
	w.t.Helper()
	var want, names []string
	for _, r := range w.requests() {
		for _, c := range r.Credentials {
			if c.OAuthClientID == "" || slices.Contains(names, "portal-client-"+c.OAuthClientID) {
				continue
			}
			policy := "portal-client-" + c.OAuthClientID
			names = append(names, policy)
			for _, n := range w.policiesOfClients() {
				if n.Get("id").Text() != policy {
					continue
				}
				for api := range n.Get("access_rights").Members() {
					want = append(want, strings.Join([]string{api, c.OAuthClientID, c.OAuthClientSecret, policy, strings.ReplaceAll(c.RedirectURI, ",", ";")}, " "))
				}
			}
		}
	}
	have := w.clients()
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(have, want) {
		w.t.Errorf("%s: clients\n%s, not\n%s", what, strings.Join(have, "\n"), strings.Join(want, "\n"))
	}
	var there []string
	for _, n := range w.policiesOfClients() {
		there = append(there, n.Get("id").Text())
	}
	slices.Sort(there)
	slices.Sort(names)
	if !slices.Equal(there, names) {
		w.t.Errorf("%s: policies of clients %v, not %v", what, there, names)
	}
}

func (w *world) clearClients() (err error) {
	for _, line := range w.clients() {
		api, rest, _ := strings.Cut(line, " ")
		id, _, _ := strings.Cut(rest, " ")
		err = errors.Join(err, w.dash.DeleteOAuthClient(w.t.Context(), api, id))
	}
	for _, n := range w.policiesOfClients() {
		err = errors.Join(err, w.dash.Delete(w.t.Context(), dashboard.Policy{Document: n}.Ref()))
	}
	return err
}

// ofClients are the acts that write clients.
var ofClients = []act{
	{
		"approve a client", withClients, func(w *world) error { return w.provision(`{"PlanID":2,"ProductIDs":[3,4]}`) },
		func(w *world) bool { return w.gives() == "o1,o2 10" && len(w.clients()) == 2 },
	},
	{
		"a product more for a client", oneClient, func(w *world) error { return w.provision(`{"PlanID":2,"ProductIDs":[4],"CredentialID":1}`) },
		func(w *world) bool { return w.gives() == "o1,o2 10" && len(w.clients()) == 2 },
	},
	{
		"another plan for a client", oneClient, func(w *world) error { return w.provision(`{"PlanID":3,"ProductIDs":[3],"CredentialID":1}`) },
		func(w *world) bool { return w.gives() == "o1 5" },
	},
	{
		"delete a request that shares a client", twoProducts, func(w *world) error { return w.delete("portal-access-requests", "access_request_id", "1") },
		func(w *world) bool { return w.gives() == "o2 10" && len(w.clients()) == 1 },
	},
	{"delete a credential that is a client", twoProducts, func(w *world) error { return w.credential("delete", "1", "1") }, func(w *world) bool { return len(w.clients()) == 0 }},
	{
		"other redirections of a client", twoProducts, func(w *world) error {
			_, err := w.try("portal-apps.update", `{"RedirectURLs":"https://c.example/back"}`, "app_id", w.app.String())
			return err
		}, func(w *world) bool {
			return strings.Count(strings.Join(w.clients(), ","), " https://c.example/back") == 2
		},
	},
	{"delete the app with a client", twoProducts, func(w *world) error { return w.delete("portal-apps", "app_id", "1") }, func(w *world) bool { return len(w.clients()) == 0 }},
}

// TestClients follows a client from approval to deletion, at a dashboard in this process and
// over HTTP.
func TestClients(t *testing.T) {
	for name, over := range map[string]bool{"in process": false, "over HTTP": true} {
		t.Run(name, func(t *testing.T) {
			w := open(t, newOurs(t, over))
			for _, a := range ofClients {
				if err := errors.Join(a.prepare(w), a.do(w)); err != nil {
					t.Errorf("%s: %v", a.name, err)
				}
				w.consistent(a.name)
				if !a.done(w) {
					t.Errorf("%s: not done: %s, %v", a.name, w.gives(), w.clients())
				}
				w.clear()
				w = open(t, w.dash)
			}
		})
	}
}

// TestClientIsNotRotated states which acts a client does not support.
func TestClientIsNotRotated(t *testing.T) {
	w := open(t, newOurs(t, false))
	if err := oneClient(w); err != nil {
		t.Fatal(err)
	}
	before := w.clients()
	if err := w.credential("rotate", "1", "1"); err == nil || !strings.Contains(err.Error(), "can't be rotated") {
		t.Error(err)
	}
	if err := w.credential("forget", "1", "1"); err == nil {
		t.Error("a client has no certificate to take away")
	}
	if _, err := w.try("portal-apps.update", `{"RedirectURLs":"https://a.example/x;y"}`, "app_id", w.app.String()); err == nil || !strings.Contains(err.Error(), "RedirectURLs") {
		t.Error(err)
	}
	w.consistent("after what was refused")
	if !slices.Equal(before, w.clients()) {
		t.Errorf("%v became %v", before, w.clients())
	}
}

// edit changes the policy of a product or plan at the dashboard.
func (w *world) edit(id string, change func(*doc.Node)) {
	w.t.Helper()
	p, err := w.dash.Policy(w.t.Context(), sync.Ref{ID: id})
	if err == nil {
		change(p.Document)
		err = w.dash.Replace(w.t.Context(), p)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// TestClientsFollow: the policy of a client follows changes at the dashboard and changes of
// products by administrators.
func TestClientsFollow(t *testing.T) {
	w := open(t, newOurs(t, false))
	if err := twoProducts(w); err != nil {
		t.Fatal(err)
	}
	synchronised := func(want string, more ...string) {
		t.Helper()
		if err := w.apps.After(nothing)(t.Context(), w.p.Scope, 1); err != nil {
			t.Fatal(err)
		}
		if have := w.gives(); have != want {
			t.Errorf("%s, not %s: %v", have, want, more)
		}
	}
	seen := w.fate.seen
	synchronised("o1,o2 10")
	if w.fate.seen != seen {
		t.Error("a client that is as it should be is written")
	}
	w.edit("gold", func(n *doc.Node) { n.Set("rate", doc.NewInt(20)) })
	synchronised("o1,o2 20")
	w.edit("o2", func(n *doc.Node) { n.Set("is_inactive", doc.NewBool(true)) })
	synchronised("o1,o2 20 inactive")
	w.edit("o2", func(n *doc.Node) { n.Set("is_inactive", doc.NewBool(false)) })
	synchronised("o1,o2 20")
	if err := w.dash.Delete(t.Context(), sync.Ref{ID: w.policiesOfClients()[0].Get("id").Text()}); err != nil {
		t.Fatal(err)
	}
	synchronised("o1,o2 20", "somebody has deleted it")
	w.consistent("made again")

	// A product loses its API and gets another one.
	var old, now product.Product
	w.update(func(wr store.Writer) (err error) {
		if old, err = portal.Find(t.Context(), wr, products.Kind, "4"); err != nil {
			return err
		}
		now, err = portal.Edit(t.Context(), wr, products.Kind, old.ID, w.at(), func(p product.Product) (product.Product, error) {
			p.APIs = product.Details{{APIID: "o1"}}
			return p, nil
		})
		return err
	})
	w.edit("o2", func(n *doc.Node) {
		n.Get("access_rights").Delete("o2")
		n.Set("access_rights", must(t, `{"o1":{"api_id":"o1","versions":["Default"]}}`))
		n.Delete("access_rights_array")
	})
	hooks := apps.Products(portal.Hooks[product.Product]{}, func() *apps.Service { return w.apps })
	c := &portal.Change[product.Product]{Op: store.Updated, Scope: w.p.Scope, Store: w.p.DB, Old: old, New: now, At: w.at()}
	if err := hooks.Turn(t.Context(), c, func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if w.gives() != "o1 20" || len(w.clients()) != 1 {
		t.Errorf("%s, %v", w.gives(), w.clients())
	}
	w.consistent("another API")

	// Without its plan a token gives no access: otherwise it would have no limit.
	if err := w.dash.Delete(t.Context(), sync.Ref{ID: "gold"}); err != nil {
		t.Fatal(err)
	}
	synchronised("o1 0 inactive")
	for _, n := range w.policiesOfClients() {
		if p, _ := sync.Read(n, nil, nil); p.Kind != sync.KindNone {
			t.Errorf("synchronisation would take the policy of a client for a product or a plan: %s", n.Canonical())
		}
	}
	if err := w.credential("delete", "1", "1"); err != nil {
		t.Fatal(err)
	}
	w.consistent("at the end")
}

func must(t *testing.T, text string) *doc.Node {
	t.Helper()
	n := doctest.Node(t, text)
	return n
}

func nothing(context.Context, tenant.Scope, table.ID) error { return nil }

// TestDoctorOfClients: clients without credential are deleted, incomplete clients are
// repaired, and credentials whose client was deleted are deleted; the second pass finds
// nothing.
func TestDoctorOfClients(t *testing.T) {
	w := open(t, newOurs(t, false))
	if err := twoProducts(w); err != nil {
		t.Fatal(err)
	}
	look := func(op, want string) {
		t.Helper()
		have := ""
		for _, f := range w.do("portal-doctor."+op, "").(apps.Diagnosis).Findings {
			have += fmt.Sprintf("%s of %d %v %s;", f.Finding, f.AppID, f.Fixed, f.Message)
		}
		if have != want {
			t.Errorf("%s: %s", op, have)
		}
	}
	look("get", "")
	client := w.requests()[0].Credentials[0]
	if err := w.dash.DeleteOAuthClient(t.Context(), "o1", client.OAuthClientID); err != nil {
		t.Fatal(err)
	}
	look("get", "client astray of 1 false ;")
	look("fix", "client astray of 1 true ;")
	look("get", "")
	w.consistent("mended")

	// A client of another portal at the same dashboard, and one whose credential is gone.
	mine := w.policiesOfClients()[0]
	for _, id := range []string{"theirs", "lost"} {
		n := mine.Clone()
		n.Delete("_id")
		n.Set("id", doc.NewString("portal-client-"+id))
		n.Set("name", doc.NewString(id))
		if id == "theirs" {
			n.Set("tags", doc.NewStrings([]string{"portal-app-1", "portal-clients-other"}))
		}
		if _, err := w.dash.Create(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		if err := w.dash.PutOAuthClient(t.Context(), "o1", dashboard.OAuthClient{ID: id, Secret: "s", Policy: "portal-client-" + id}); err != nil {
			t.Fatal(err)
		}
	}
	look("get", "client without credential of 1 false ;")
	look("fix", "client without credential of 1 true ;")
	look("get", "")
	if n := len(w.policiesOfClients()); n != 2 {
		t.Errorf("%d policies of clients, not ours and theirs", n)
	}
	for _, api := range []string{"o1", "o2"} {
		if err := w.dash.DeleteOAuthClient(t.Context(), api, client.OAuthClientID); err != nil {
			t.Fatal(err)
		}
	}
	look("fix", "credential without client of 1 true ;")
	look("get", "")
	if n := len(w.policiesOfClients()); n != 1 || len(w.clients()) != 1 {
		t.Errorf("%d policies, clients %v", n, w.clients())
	}
}

// TestDoctorOfIdleClients: a product that has no API for now leaves its clients at none. That
// is as it should be: the credentials stay, and the client comes back with an API.
func TestDoctorOfIdleClients(t *testing.T) {
	w := open(t, newOurs(t, false))
	if err := oneClient(w); err != nil {
		t.Fatal(err)
	}
	before := w.clients()
	sell := func(apis product.Details) {
		t.Helper()
		c := &portal.Change[product.Product]{Op: store.Updated, Scope: w.p.Scope, Store: w.p.DB, At: w.at()}
		w.update(func(wr store.Writer) (err error) {
			if c.Old, err = portal.Find(t.Context(), wr, products.Kind, "3"); err != nil {
				return err
			}
			c.New, err = portal.Edit(t.Context(), wr, products.Kind, c.Old.ID, w.at(), func(p product.Product) (product.Product, error) {
				p.APIs = apis
				return p, nil
			})
			return err
		})
		w.edit("o1", func(n *doc.Node) { n.Set("is_inactive", doc.NewBool(len(apis) == 0)) })
		hooks := apps.Products(portal.Hooks[product.Product]{}, func() *apps.Service { return w.apps })
		if err := hooks.Turn(t.Context(), c, func(context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	sell(nil)
	if len(w.clients()) != 0 {
		t.Fatalf("a product without APIs has the clients %v", w.clients())
	}
	for _, op := range []string{"get", "fix"} {
		if found := w.do("portal-doctor."+op, "").(apps.Diagnosis).Findings; len(found) != 0 {
			t.Errorf("%s: %+v", op, found)
		}
	}
	sell(product.Details{{APIID: "o1"}})
	if after := w.clients(); !slices.Equal(before, after) {
		t.Errorf("%v came back as %v", before, after)
	}
	w.consistent("at the end")
}
