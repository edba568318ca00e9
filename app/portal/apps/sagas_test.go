package apps_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	stdsync "sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/organisation"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// act is an action with the preparation of its world.
type act struct {
	name    string
	prepare func(w *world) error
	do      func(w *world) error
	done    func(w *world) bool // reports whether it is complete after it succeeded
}

func first(w *world) error { return w.provision(`{"PlanID":2,"ProductIDs":[1]}`) }

func both(w *world) error {
	if err := first(w); err != nil {
		return err
	}
	return w.provision(`{"PlanID":2,"ProductIDs":[2],"CredentialID":1}`)
}

func drawn(w *world) error {
	return w.make(`"Type":"CREDENTIAL_TYPE_TYK_MANAGED","PlanID":1,"ProductIDs":[1,2]`)
}

func chosen(w *world) error {
	return w.make(`"Type":"CREDENTIAL_TYPE_TYK_MANAGED","PlanID":1,"ProductIDs":[1],"KeyID":"till-of-old"`)
}

func none(w *world) bool { return len(w.keys()) == 0 }

// drop removes the first product from the first credential.
func drop(w *world) error {
	_, err := w.by(w.user, "drop", "", "app_id", w.app.String(), "credential_id", "1", "product_id", "1")
	return err
}

// opened returns the policies of the only key.
func opened(w *world) string {
	for _, policies := range w.keys() {
		return strings.Join(policies, " ")
	}
	return ""
}

// acts are all actions that write at a dashboard.
var acts = []act{
	{
		"approve", func(w *world) error { return w.provision(`{"PlanID":1,"ProductIDs":[1,2]}`) }, func(w *world) error { return w.approve("1") },
		func(w *world) bool {
			r := w.requests()[0]
			return r.Status == "approved" && len(r.Credentials) == 1
		},
	},
	{
		"approve at once", func(*world) error { return nil }, first,
		func(w *world) bool { r := w.requests(); return len(r) == 1 && len(r[0].Credentials) == 1 },
	},
	{
		"use a credential again", first, func(w *world) error { return w.provision(`{"PlanID":2,"ProductIDs":[2],"CredentialID":1}`) },
		func(w *world) bool { return opened(w) == "one two gold" },
	},
	{"rotate", first, func(w *world) error { return w.credential("rotate", "1", "1") }, func(w *world) bool { return len(w.keys()) == 1 }},
	{"delete a credential", first, func(w *world) error { return w.credential("delete", "1", "1") }, func(w *world) bool { return none(w) && len(w.requests()) == 1 }},
	{"delete a request", first, func(w *world) error { return w.delete("portal-access-requests", "access_request_id", "1") }, func(w *world) bool { return none(w) && len(w.requests()) == 0 }},
	{
		"delete a request that shares", both, func(w *world) error { return w.delete("portal-access-requests", "access_request_id", "1") },
		func(w *world) bool { return opened(w) == "two gold" },
	},
	{
		"take a product off", both, drop, func(w *world) bool {
			r := w.requests()
			return len(r) == 1 && len(r[0].Credentials) == 1 && opened(w) == "two gold"
		},
	},
	{
		"take a product off a request of two", func(w *world) error { return w.provision(`{"PlanID":2,"ProductIDs":[1,2]}`) }, drop, func(w *world) bool {
			r := w.requests()
			return len(r) == 1 && !strings.Contains(r[0].Products, ",") && len(r[0].Credentials) == 1 && opened(w) == "two gold"
		},
	},
	{
		"make a custom credential", func(*world) error { return nil }, drawn,
		func(w *world) bool { return len(w.customs()) == 1 && len(w.keys()) == 1 },
	},
	{
		"make one with a key that is chosen", drawn, chosen,
		func(w *world) bool { return len(w.customs()) == 2 && len(w.keys()) == 2 },
	},
	{"rotate a custom credential", chosen, func(w *world) error { return w.custom("rotate", "1") }, func(w *world) bool { return len(w.keys()) == 1 && w.customs()[0].KeyID != "till-of-old" }},
	{"delete a custom credential", chosen, func(w *world) error { return w.custom("delete", "1") }, func(w *world) bool { return none(w) && len(w.customs()) == 0 }},
	{
		"delete the app with a custom credential", func(w *world) error {
			if err := both(w); err != nil {
				return err
			}
			return chosen(w)
		}, func(w *world) error { return w.delete("portal-apps", "app_id", "1") }, none,
	},
	{
		"approve with a certificate", func(w *world) error { w.sells(true); return nil }, with(0),
		func(w *world) bool { return len(w.keys()) == 1 && len(w.requests()[0].Credentials) == 1 },
	},
	{
		"renew a certificate", with(0), func(w *world) error { return w.renew(1) },
		func(w *world) bool { return w.requests()[0].Credentials[0].CertificateID == "one"+fingerprints[1] },
	},
	{
		"take a certificate away", with(0), func(w *world) error { return w.credential("forget", "1", "1") },
		func(w *world) bool { return w.requests()[0].Credentials[0].CertificateID == "" },
	},
	{"delete a credential with a certificate", with(0), func(w *world) error { return w.credential("delete", "1", "1") }, func(w *world) bool { return none(w) }},
	{
		"approve with certificates of the organisation", func(w *world) error { return given(w, 0, 1) }, ordered,
		func(w *world) bool {
			return len(w.keys()) == 1 && len(w.requests()[0].Credentials[0].CertificateIDs) == 2
		},
	},
	{
		"follow the certificates of the organisation", func(w *world) error { return errors.Join(given(w, 0), ordered(w)) }, func(w *world) error {
			return errors.Join(given(w, 1), w.apps.Recertify(w.t.Context(), w.p.Scope, 1))
		}, func(w *world) bool {
			return slices.Equal(w.requests()[0].Credentials[0].CertificateIDs, []string{"one" + fingerprints[1]}) && slices.Equal(w.bindings(), []string{"one" + fingerprints[1]})
		},
	},
	{"delete a credential with certificates of the organisation", func(w *world) error { return errors.Join(given(w, 0, 1), ordered(w)) }, func(w *world) error { return w.credential("delete", "1", "1") }, none},
	{"delete the app", both, func(w *world) error { return w.delete("portal-apps", "app_id", "1") }, func(w *world) bool { return none(w) && len(w.requests()) == 0 }},
	{
		"delete the user", both, func(w *world) error { return w.delete("portal-users", "user_id", w.user.String()) },
		func(w *world) bool { return none(w) && len(w.requests()) == 0 },
	},
}

// TestEveryPoint kills the process, or makes the dashboard or the disk fail for one call, at every
// call of every act, before and after the call is carried out. No acknowledged change is lost; when
// the next process has settled open sagas, the dashboard has exactly the keys of the credentials.
func TestEveryPoint(t *testing.T) {
	for _, a := range slices.Concat(acts, ofClients) {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // most of the time is spent waiting for a retry
				d := newOurs(t, false)
				for point := 1; ; point++ {
					met := 0
					for how := range 4 {
						met = max(met, at(t, d, a, &fate{at: point, after: how&1 != 0, once: how&2 != 0}))
					}
					if met < point {
						if point < 3 {
							t.Error("the act makes no calls")
						}
						return
					}
				}
			})
		})
	}
}

// at runs an act with a fate, and returns how many calls it made.
func at(t *testing.T, d ours, a act, f *fate) int {
	t.Helper()
	w := open(t, d)
	defer w.clear()
	if err := a.prepare(w); err != nil {
		t.Fatal(err)
	}
	if f.says = errDead; f.once {
		f.says = fmt.Errorf("%w: away", dashboard.ErrUnreachable)
	}
	w.start(f)
	err := a.do(w)
	met := f.seen
	what := fmt.Sprintf("at %d (after %v, once %v): %v", f.at, f.after, f.once, err)
	w.resume()
	w.consistent(what)
	if err == nil && !a.done(w) {
		t.Errorf("%s: acknowledged and not done", what)
	}
	for _, r := range w.requests() {
		if r.Status == "approved" && len(r.Credentials) == 0 && !strings.HasPrefix(a.name, "delete a credential") {
			t.Errorf("%s: approved without a credential", what)
		}
	}
	return met
}

// TestRefused: an act that the dashboard refuses is undone, and returns the reason.
func TestRefused(t *testing.T) {
	for _, a := range slices.Concat(acts, ofClients) {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newOurs(t, false)
				for point := 1; ; point++ {
					w := open(t, d)
					if err := a.prepare(w); err != nil {
						t.Fatal(err)
					}
					f := &fate{at: point, once: true, says: fmt.Errorf("%w: 403 no", dashboard.ErrRefused)}
					w.start(f)
					err := a.do(w)
					if err != nil && (strings.HasPrefix(a.name, "delete a credential with") || strings.HasPrefix(a.name, "delete") && strings.Contains(a.name, "client")) { // a refused act can be repeated
						err = a.do(w)
					}
					w.resume()
					w.consistent(fmt.Sprintf("%s, refused at %d: %v", a.name, point, err))
					w.clear()
					if f.seen < point {
						break
					}
				}
			})
		})
	}
}

// TestTaken requests a key that another credential has, with each fate at every point: that key is
// not changed, and no undo deletes it.
func TestTaken(t *testing.T) {
	d := newOurs(t, false)
	theirs, err := doc.ParseNode([]byte(`{"org_id":"one","alias":"theirs","apply_policies":["two","gold"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.CreateKey(t.Context(), "till-of-old", theirs); err != nil {
		t.Fatal(err)
	}
	for point := 0; point < 8; point++ {
		for how := range 4 {
			w := open(t, d)
			w.start(&fate{at: point, after: how&1 != 0, once: how&2 != 0, says: errDead})
			if err := chosen(w); err == nil {
				t.Errorf("at %d: the key was taken over", point)
			}
			w.resume()
			k, err := d.Key(t.Context(), dashboard.KeyName{Text: "till-of-old"})
			if err != nil || k.Session.Get("alias").Text() != "theirs" || len(w.customs()) != 0 {
				t.Fatalf("at %d: %v, %v", point, k, err)
			}
		}
	}
}

// gate is a dashboard that reports lookups of keys, and blocks them until it opens.
type gate struct {
	dashboard.Dashboard
	looked, open chan struct{}
}

func (g gate) Key(ctx context.Context, n dashboard.KeyName) (dashboard.Key, error) {
	k, err := g.Dashboard.Key(ctx, n)
	g.looked <- struct{}{}
	<-g.open
	return k, err
}

// TestClaimed: if two apps choose the same key at the same time, one gets it, and the other does
// not affect it, even if both look it up before one of them makes it.
func TestClaimed(t *testing.T) {
	g := gate{newOurs(t, false), make(chan struct{}, 9), make(chan struct{})}
	w := open(t, ours{g})
	other := w.do("portal-apps.create", `{"Name":"Other","UserID":`+w.user.String()+`}`).(apps.Shown).ID
	said := make(chan error, 2)
	choose := func(app table.ID) {
		_, err := w.try("portal-custom-credentials.create", `{"Alias":"x","Type":"CREDENTIAL_TYPE_TYK_MANAGED","PlanID":1,"ProductIDs":[1],"KeyID":"till-of-old"}`, "app_id", app.String())
		said <- err
	}
	go choose(w.app)
	<-g.looked
	go choose(other)
	var second error
	select {
	case <-g.looked:
		t.Error("both find the key free")
		close(g.open)
		second = <-said
	case second = <-said:
		close(g.open)
	}
	if first := <-said; first != nil || fault.CodeOf(second) != "portal_access.taken" || len(w.keys()) != 1 {
		t.Errorf("%v, then %v; keys %v", first, second, w.keys())
	}
}

// busy is a dashboard that runs a function when the first key is deleted.
type busy struct {
	dashboard.Dashboard
	meanwhile *func()
}

func (b busy) DeleteKey(ctx context.Context, n dashboard.KeyName) error {
	if do := *b.meanwhile; do != nil {
		*b.meanwhile = nil
		do()
	}
	return b.Dashboard.DeleteKey(ctx, n)
}

// overtaken is a dashboard that runs a function when a key is made.
type overtaken struct {
	dashboard.Dashboard
	meanwhile func()
}

func (o overtaken) CreateKey(ctx context.Context, id string, session *doc.Node) (dashboard.Key, error) {
	o.meanwhile()
	return o.Dashboard.CreateKey(ctx, id, session)
}

// entered is a dashboard that signals when it is about to delete a key.
type entered struct {
	dashboard.Dashboard
	tell func()
}

func (e entered) DeleteKey(ctx context.Context, n dashboard.KeyName) error {
	e.tell()
	return e.Dashboard.DeleteKey(ctx, n)
}

// TestDeletedTwice: of two concurrent deletions of the same object, one gets NotFound.
func TestDeletedTwice(t *testing.T) {
	for name, remove := range map[string]func(w *world) error{
		"credential": func(w *world) error { return w.credential("delete", "1", "1") },
		"request":    func(w *world) error { return w.delete("portal-access-requests", "access_request_id", "1") },
		"app":        func(w *world) error { return w.delete("portal-apps", "app_id", "1") },
	} {
		t.Run(name, func(t *testing.T) {
			var w *world
			var once stdsync.Once
			second := make(chan error, 1)
			w = open(t, ours{entered{newOurs(t, false), func() {
				once.Do(func() {
					go func() { second <- remove(w) }()
					time.Sleep(20 * time.Millisecond) // it has found the record, and waits
				})
			}}})
			if err := first(w); err != nil {
				t.Fatal(err)
			}
			if err := remove(w); err != nil {
				t.Error(err)
			}
			if err := <-second; fault.KindOf(err) != fault.NotFound {
				t.Error(err)
			}
		})
	}
}

// slow is a dashboard that creates keys but does not answer in time.
type slow struct {
	dashboard.Dashboard
	late *[]func() error
}

func (s slow) CreateKey(ctx context.Context, id string, session *doc.Node) (dashboard.Key, error) {
	*s.late = append(*s.late, func() error {
		_, err := s.Dashboard.CreateKey(context.WithoutCancel(ctx), id, session)
		return err
	})
	return dashboard.Key{}, fmt.Errorf("%w: it is slow", dashboard.ErrUnreachable)
}

// TestLateKeys: a key that a dashboard creates after the portal has stopped waiting is deleted, and
// meanwhile the app can get other keys.
func TestLateKeys(t *testing.T) {
	quick, late := newOurs(t, false), []func() error{}
	w := open(t, ours{slow{quick, &late}})
	w.linger = 100 * time.Millisecond
	w.start(&fate{})
	if err := w.provision(`{"PlanID":1,"ProductIDs":[1]}`); err != nil {
		t.Fatal(err)
	}
	if err := w.approve("1"); err == nil || len(late) != 1 || w.requests()[0].Status != string(request.Pending) {
		t.Fatalf("%v: %d keys, %+v", err, len(late), w.requests()[0])
	}
	if err := late[0](); err != nil || len(w.keys()) != 1 {
		t.Fatal(err, w.keys())
	}
	w.dash = quick
	w.start(&fate{})
	if err := w.approve("1"); err != nil || len(w.keys()) != 2 {
		t.Errorf("%v: %v", err, w.keys())
	}
	w.resume()
	if r := w.requests()[0]; len(w.keys()) != 1 || len(r.Credentials) != 1 || w.keys()[r.Credentials[0].Credential] == nil {
		t.Errorf("%+v: %v", r, w.keys())
	}
}

// TestRejectedMeanwhile: a request that is rejected while its key is made stays rejected, and the
// key is deleted.
func TestRejectedMeanwhile(t *testing.T) {
	var w *world
	w = open(t, ours{overtaken{newOurs(t, false), func() {
		if _, err := w.try("portal-access-requests.reject", "", "access_request_id", "1"); err != nil {
			t.Error(err)
		}
	}}})
	if err := w.provision(`{"PlanID":1,"ProductIDs":[1]}`); err != nil {
		t.Fatal(err)
	}
	if err := w.approve("1"); fault.CodeOf(err) != request.CodeState {
		t.Error(err)
	}
	w.resume()
	if r := w.requests()[0]; r.Status != "rejected" || len(r.Credentials) > 0 || len(w.keys()) > 0 {
		t.Errorf("%+v, keys %v", r, w.keys())
	}
}

// TestKeyOfDraft: a key that is changed while the policy of one of its products is inactive
// works again with that policy.
func TestKeyOfDraft(t *testing.T) {
	w := open(t, newOurs(t, false))
	if err := first(w); err != nil {
		t.Fatal(err)
	}
	inactive := func() bool {
		list, err := w.dash.Keys(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatal(len(list), err)
		}
		return list[0].Session.Get("is_inactive").True()
	}
	w.edit("one", func(n *doc.Node) { n.Set("is_inactive", doc.NewBool(true)) })
	if !inactive() {
		t.Error("the policy does not count")
	}
	if err := w.provision(`{"PlanID":2,"ProductIDs":[2],"CredentialID":1}`); err != nil {
		t.Fatal(err)
	}
	if !inactive() {
		t.Error("the policy does not count any more")
	}
	w.edit("one", func(n *doc.Node) { n.Set("is_inactive", doc.NewBool(false)) })
	if inactive() {
		t.Error("the key stays inactive")
	}
}

// TestRotatedWithout: a credential that has lost a product, with its policy, gets a new key for the
// others.
func TestRotatedWithout(t *testing.T) {
	w := open(t, newOurs(t, false))
	if err := both(w); err != nil {
		t.Fatal(err)
	}
	w.update(func(wr store.Writer) error { return portal.Remove(t.Context(), wr, products.Kind, 1, w.at()) })
	p, err := w.dash.Policy(t.Context(), sync.Ref{ID: "one"})
	if err == nil {
		err = w.dash.Delete(t.Context(), p.Ref())
	}
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Collect(maps.Keys(w.keys()))
	if err := w.credential("rotate", "2", "1"); err != nil {
		t.Fatal(err)
	}
	now := w.keys()
	for id, policies := range now {
		if len(now) != 1 || slices.Contains(before, id) || !slices.Equal(policies, []string{"two", "gold"}) {
			t.Errorf("%s %v, before %v", id, policies, before)
		}
	}
}

// TestRotatedWithoutAPIs: while a product has no APIs, its policy is a draft, with which no key
// is made: a rotation is refused in words of the portal, before anything is asked of the
// dashboard, and the key stays.
func TestRotatedWithoutAPIs(t *testing.T) {
	w := open(t, newOurs(t, false))
	if err := both(w); err != nil {
		t.Fatal(err)
	}
	idle := func(yes bool) {
		w.update(func(wr store.Writer) error {
			_, err := portal.Edit(t.Context(), wr, products.Kind, 1, w.at(), func(p product.Product) (product.Product, error) {
				p.IsDocumentationOnly = yes
				return p, nil
			})
			return err
		})
		w.edit("one", func(n *doc.Node) { n.Set("state", doc.NewString(map[bool]string{true: "draft", false: "active"}[yes])) })
	}
	idle(true)
	before := w.keys()
	if err := w.credential("rotate", "1", "1"); fault.CodeOf(err) != apps.CodeIdle || !strings.Contains(err.Error(), "product one has no APIs") {
		t.Error(err)
	}
	if now := w.keys(); !reflect.DeepEqual(now, before) {
		t.Errorf("%v, before %v", now, before)
	}
	idle(false)
	if err := w.credential("rotate", "1", "1"); err != nil {
		t.Error(err)
	}
}

// TestMoreApps: if a user gets another app with a credential while the others are being deleted,
// that app is deleted too, and no key is left.
func TestMoreApps(t *testing.T) {
	var meanwhile func()
	w := open(t, ours{busy{newOurs(t, false), &meanwhile}})
	if err := first(w); err != nil {
		t.Fatal(err)
	}
	meanwhile = func() {
		w.app = w.do("portal-apps.create", `{"Name":"Late","UserID":`+w.user.String()+`}`).(apps.Shown).ID
		if err := first(w); err != nil {
			t.Error(err)
		}
	}
	w.do("portal-users.delete", "", "user_id", w.user.String())
	left := w.do("portal-apps.list", "").(operation.Listing[apps.Listed])
	if len(w.keys()) != 0 || len(w.requests()) != 0 || len(left.Items) != 0 {
		t.Errorf("keys %v, apps %v", w.keys(), left.Items)
	}
}

// registrar registers clients elsewhere, and deletes them.
type registrar struct {
	meanwhile func()
	clients   int
}

func (*registrar) Prepare(context.Context, store.Reader, issuers.Act, *issuers.Grant) error {
	return nil
}

func (r *registrar) Steps(tenant.ID, issuers.Act, *issuers.Grant) []intents.Step {
	return []intents.Step{{Name: "register", Do: func(context.Context) error { r.clients++; r.meanwhile(); return nil }, Undo: func(context.Context) error { r.clients--; return nil }}}
}

func (*registrar) Discard(tenant.ID, *issuers.Grant) []intents.Step { return nil }

// TestTypeGone: if a client type is deleted during the registration of a client, the client is
// deleted and nothing is approved.
func TestTypeGone(t *testing.T) {
	w, types, r := open(t, newOurs(t, false)), portal.KindOf[idp.ClientType](), &registrar{meanwhile: func() {}}
	w.registers = r
	w.start(&fate{})
	w.update(func(wr store.Writer) error {
		_, err := portal.Edit(t.Context(), wr, products.Kind, 1, w.at(), func(p product.Product) (product.Product, error) {
			p.AuthTypes, p.DCREnabled, p.Templates = []string{request.JWT}, true, []table.ID{1, 2}
			return p, nil
		})
		if err != nil {
			return err
		}
		for range 2 {
			made, err := portal.Add(t.Context(), wr, types, w.at(), idp.ClientType{ProviderID: 1, Name: "Server"})
			if err == nil {
				_, err = portal.Add(t.Context(), wr, apps.Requests, w.at(), request.Request{AppID: w.app, UserID: w.user, PlanID: 1, ProviderID: 1, ProductIDs: []table.ID{1}, ClientTypeID: made.ID, DCREnabled: true, AuthType: request.JWT, Status: request.Pending})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err := w.approve("1"); err != nil || r.clients != 1 {
		t.Fatal(err)
	}
	r.meanwhile = func() {
		w.update(func(wr store.Writer) error { return portal.Remove(t.Context(), wr, types, 2, w.at()) })
	}
	if err := w.approve("2"); fault.CodeOf(err) != apps.CodeGone || r.clients != 1 || w.requests()[1].Status != string(request.Pending) {
		t.Errorf("%v: %d clients, %+v", err, r.clients, w.requests()[1])
	}
}

// TestCustomBound: an app may have only as many custom credentials as can be revoked at once.
func TestCustomBound(t *testing.T) {
	w := open(t, newOurs(t, false))
	for range 100 {
		if err := w.make(`"Type":"CREDENTIAL_TYPE_CUSTOM","CredentialKey":"ada"`); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.make(`"Type":"CREDENTIAL_TYPE_CUSTOM","CredentialKey":"ada"`); err == nil || !strings.Contains(err.Error(), "too many custom credentials") {
		t.Error(err)
	}
}

// TestOrders deletes the records of a world in every order: after each deletion the dashboard has
// exactly the keys of the credentials.
func TestOrders(t *testing.T) {
	steps := map[string]func(w *world) error{
		"credential": func(w *world) error { return w.credential("delete", "1", "1") },
		"request":    func(w *world) error { return w.delete("portal-access-requests", "access_request_id", "1") },
		"app":        func(w *world) error { return w.delete("portal-apps", "app_id", "1") },
		"user":       func(w *world) error { return w.delete("portal-users", "user_id", w.user.String()) },
		"product": func(w *world) error {
			return gone(w, func(wr store.Writer) error { return portal.Remove(w.t.Context(), wr, products.Kind, 1, w.at()) })
		},
		"plan": func(w *world) error {
			return gone(w, func(wr store.Writer) error { return portal.Remove(w.t.Context(), wr, plans.Kind, 2, w.at()) })
		},
	}
	for _, overHTTP := range []bool{false, true} {
		d := newOurs(t, overHTTP)
		names := []string{"credential", "request", "app", "user", "product", "plan"}
		if overHTTP || testing.Short() {
			names = names[:4]
		}
		permutations(names, func(order []string) {
			w := open(t, d)
			if err := both(w); err != nil {
				t.Fatal(err)
			}
			for i, name := range order {
				if err := steps[name](w); err != nil && !strings.Contains(err.Error(), "no ") && !strings.Contains(err.Error(), "not found") && !strings.Contains(err.Error(), "could not") {
					t.Errorf("%v, %s: %v", order, name, err)
				}
				w.consistent(fmt.Sprint(order[:i+1]))
			}
			if len(w.keys()) != 0 || len(w.requests()) != 0 {
				t.Errorf("%v: something is left", order)
			}
		})
	}
}

func gone(w *world, fn func(store.Writer) error) error {
	_, err := w.p.DB.Update(w.t.Context(), w.p.Scope, fn)
	return err
}

func permutations(list []string, do func([]string)) {
	var next func(int)
	next = func(n int) {
		if n == len(list) {
			do(list)
			return
		}
		for i := n; i < len(list); i++ {
			list[n], list[i] = list[i], list[n]
			next(n + 1)
			list[n], list[i] = list[i], list[n]
		}
	}
	next(0)
}

// TestProviderGone: a request keeps the names of records deleted with its provider. A credential is
// deleted with its provider; its key stays at the dashboard.
func TestProviderGone(t *testing.T) {
	w := open(t, newOurs(t, false))
	if err := first(w); err != nil {
		t.Fatal(err)
	}
	w.update(func(wr store.Writer) error { // as a provider is deleted, with its records
		_, err := products.Kind.Delete(t.Context(), wr, table.ID(1).Key(), nil)
		_, also := plans.Kind.Delete(t.Context(), wr, table.ID(2).Key(), nil)
		return errors.Join(err, also, portal.Remove(t.Context(), wr, providers.Kind, 1, w.at()))
	})
	if r := w.requests()[0]; r.Plan != "auto" || r.Products != "one" {
		t.Errorf("%+v", r)
	}
	if err := w.delete("portal-apps", "app_id", "1"); err != nil || len(w.requests()) != 0 {
		t.Error(err)
	}
}

// TestForce: with force the records are deleted although the dashboard refuses.
func TestForce(t *testing.T) {
	w := open(t, newOurs(t, false))
	if err := first(w); err != nil {
		t.Fatal(err)
	}
	w.start(&fate{at: 2, once: true, says: fmt.Errorf("%w: 403 no", dashboard.ErrRefused)})
	if err := w.apps.Leave(t.Context(), w.p.Scope, account.User{Base: table.Base{ID: w.user}}, true); err != nil {
		t.Error(err)
	}
	if len(w.requests()) != 0 {
		t.Error("records are left")
	}
	w.clear()
}

// TestForceSilent: with force the records are deleted although the dashboard does not answer until
// no time is left.
func TestForceSilent(t *testing.T) {
	away, deletes := false, 0
	w := open(t, ours{absent{newOurs(t, false), &away, &deletes, true}})
	w.sagas.Budget = 100 * time.Millisecond
	if err := first(w); err != nil {
		t.Fatal(err)
	}
	away = true
	if err := w.delete("portal-users", "user_id", w.user.String()); err == nil {
		t.Error("deleted without its key")
	}
	if err := w.apps.Leave(t.Context(), w.p.Scope, account.User{Base: table.Base{ID: w.user}}, true); err != nil || len(w.requests()) != 0 {
		t.Error(err, w.requests())
	}
	away = false
	w.resume()
	w.clear()
}

// hurried is a dashboard that deletes no key, and records how long callers would wait.
type hurried struct {
	dashboard.Dashboard
	waits func(time.Duration)
}

func (h hurried) DeleteKey(ctx context.Context, _ dashboard.KeyName) error {
	end, _ := ctx.Deadline()
	h.waits(time.Until(end))
	return fmt.Errorf("%w: away", dashboard.ErrUnreachable)
}

// TestForceMany: the forced deletion of a user with many apps does not wait for each of them.
func TestForceMany(t *testing.T) {
	var waits []time.Duration
	var later time.Duration
	w := open(t, ours{hurried{newOurs(t, false), func(d time.Duration) {
		waits = append(waits, d)
		later += 10 * time.Second
	}}})
	w.do("portal-apps.create", `{"Name":"Second","UserID":`+w.user.String()+`}`)
	for app := range table.ID(2) {
		w.app = app + 1
		if err := w.provision(`{"PlanID":2,"ProductIDs":[1]}`); err != nil {
			t.Fatal(err)
		}
	}
	now := w.apps.Now
	w.apps.Now = func() time.Time { return now().Add(later) }
	if err := w.apps.Leave(t.Context(), w.p.Scope, account.User{Base: table.Base{ID: w.user}}, true); err != nil {
		t.Error(err)
	}
	if len(waits) != 2 || waits[0] < 2*time.Second || waits[1] > time.Second {
		t.Error(waits)
	}
}

// TestForceOne: with force one credential is deleted although the dashboard does not answer, and
// the access request and the app stay.
func TestForceOne(t *testing.T) {
	away, deletes := true, 0
	w := open(t, ours{absent{newOurs(t, false), &away, &deletes, false}})
	if err := first(w); err != nil {
		t.Fatal(err)
	}
	if err := w.make(`"Type":"CREDENTIAL_TYPE_TYK_MANAGED","PlanID":1,"ProductIDs":[1]`); err != nil {
		t.Fatal(err)
	}
	for id, path := range map[string]map[string]string{
		"portal-app-credentials.delete":    {"app_id": "1", "access_request_id": "1", "credential_id": "1"},
		"portal-custom-credentials.delete": {"app_id": "1", "credential_id": "2"},
	} {
		o := w.ops[id]
		call := &operation.Call{Spec: &o.Spec, Scope: w.p.Scope, Principal: operation.Principal{ID: account.Principal(99)}, Path: path}
		if _, err := o.Do(t.Context(), call); err == nil {
			t.Errorf("%s: deleted without its key", id)
		}
		call.Query = map[string][]string{"force": {"true"}}
		if _, err := o.Do(t.Context(), call); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	if r := w.requests(); len(r) != 1 || len(r[0].Credentials) != 0 || len(w.customs()) != 0 {
		t.Errorf("%+v, %+v", r, w.customs())
	}
	away = false
	w.resume()
	w.clear()
}

// absent is a dashboard that does not answer deletions of keys while it is away.
type absent struct {
	dashboard.Dashboard
	away    *bool
	deletes *int
	silent  bool // it blocks its callers
}

func (a absent) DeleteKey(ctx context.Context, n dashboard.KeyName) error {
	if *a.away {
		*a.deletes++
		if a.silent {
			<-ctx.Done()
			return ctx.Err()
		}
		return fmt.Errorf("%w: away", dashboard.ErrUnreachable)
	}
	return a.Dashboard.DeleteKey(ctx, n)
}

// TestForceAfterFailures: a user whose key cannot be revoked keeps the app of the key and apps
// without keys, and each further call makes one attempt. A forced deletion replaces the open one.
func TestForceAfterFailures(t *testing.T) {
	away, deletes := false, 0
	w := open(t, ours{absent{newOurs(t, false), &away, &deletes, false}})
	w.do("portal-apps.create", `{"Name":"Aside","UserID":`+w.user.String()+`}`)
	if err := first(w); err != nil {
		t.Fatal(err)
	}
	away = true
	for calls := 1; calls < 4; calls++ {
		if err := w.delete("portal-users", "user_id", w.user.String()); err == nil {
			t.Error("deleted without its key")
		}
		if deletes > calls {
			t.Errorf("%d attempts in %d calls", deletes, calls)
		}
	}
	left := func() int { return len(w.do("portal-apps.list", "").(operation.Listing[apps.Listed]).Items) }
	if left() != 2 || len(w.requests()) != 1 {
		t.Errorf("%d apps, %d requests are left", left(), len(w.requests()))
	}
	if err := w.apps.Leave(t.Context(), w.p.Scope, account.User{Base: table.Base{ID: w.user}}, true); err != nil || left() != 0 || len(w.requests()) != 0 {
		t.Errorf("%v: %d apps, %d requests are left", err, left(), len(w.requests()))
	}
	away = false
	w.resume()
	if left() != 0 {
		t.Error("what was given up brings something back")
	}
	w.clear()
}

// TestTogether: of concurrent approvals of one request one succeeds, and one key exists.
func TestTogether(t *testing.T) {
	w := open(t, newOurs(t, false))
	if err := w.provision(`{"PlanID":1,"ProductIDs":[1]}`); err != nil {
		t.Fatal(err)
	}
	var all stdsync.WaitGroup
	var mu stdsync.Mutex
	fine := 0
	for range 8 {
		all.Go(func() {
			if w.approve("1") == nil {
				mu.Lock()
				fine++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	w.resume()
	w.consistent("together")
	if r := w.requests()[0]; fine != 1 || r.Status != "approved" || len(r.Credentials) != 1 {
		t.Errorf("%d approvals: %+v", fine, r)
	}
}

// TestOvertaken: concurrent rotations and deletions act on the credential as they read it, or do
// nothing: no key without a credential is left.
func TestOvertaken(t *testing.T) {
	d := newOurs(t, false)
	for name, ops := range map[string][]string{"rotations": {"rotate", "rotate", "rotate", "rotate"}, "a deletion": {"rotate", "delete", "rotate", "rotate", "rotate"}} {
		w := open(t, d)
		if err := first(w); err != nil {
			t.Fatal(err)
		}
		r := w.requests()[0]
		id, of := r.ID.String(), r.Credentials[0].ID.String()
		var all stdsync.WaitGroup
		for _, op := range ops {
			all.Go(func() { _ = w.credential(op, id, of) }) // late ones are refused
		}
		all.Wait()
		w.consistent(name)
		w.clear()
	}
}

// TestMoved: when a user moves, or leaves a team, the visibility of apps is kept as far as
// possible.
func TestMoved(t *testing.T) {
	w := open(t, newOurs(t, false))
	var home, team, other table.ID
	w.update(func(wr store.Writer) error {
		for _, of := range []struct {
			id     *table.ID
			in     table.ID
			shared bool
		}{{&home, 7, true}, {&team, 7, false}, {&other, 8, true}} {
			made, err := portal.Add(t.Context(), wr, people.Teams, w.at(), organisation.Team{Name: "Team", OrganisationID: of.in, Default: of.shared})
			if err != nil {
				return err
			}
			*of.id = made.ID
		}
		return nil
	})
	for _, c := range []struct {
		was  string
		move func(account.User) account.User
		want string
	}{
		{application.Personal, func(u account.User) account.User { return u.Move(7, home) }, application.Personal},
		{application.Personal, func(u account.User) account.User { return u.Join(team) }, application.Personal},
		{application.Team, func(u account.User) account.User { return u.Leave(home, home) }, application.Team},
		{application.Team, func(u account.User) account.User { return u.Leave(team, home) }, application.Personal},
		{application.Organisation, func(u account.User) account.User { return u.Move(8, other) }, application.Organisation},
		{application.Organisation, func(u account.User) account.User { return u.Move(organisation.Default, organisation.Default) }, application.Personal},
	} {
		w.update(func(wr store.Writer) error {
			_, err := portal.Edit(t.Context(), wr, apps.Kind, w.app, w.at(), func(a application.App) (application.App, error) {
				a.Visibility = c.was
				return a, nil
			})
			if err == nil {
				_, err = w.users.Edit(t.Context(), wr, w.user, w.at(), func(u account.User) (account.User, error) { return c.move(u), nil })
			}
			return err
		})
		w.update(func(wr store.Writer) error {
			a, err := portal.Find(t.Context(), wr, apps.Kind, w.app.String())
			if err == nil && a.Visibility != c.want {
				t.Errorf("%q became %q, not %q", c.was, a.Visibility, c.want)
			}
			return err
		})
	}
}

// TestSecretsAreSealed: no key and no secret is in the store, in its history, or in the
// details of sagas.
func TestSecretsAreSealed(t *testing.T) {
	w := open(t, newOurs(t, false))
	if err := first(w); err != nil {
		t.Fatal(err)
	}
	if _, err := w.try("portal-app-access-requests.subscribe", `{"WebhookURL":"https://a.example","WebhookSecret":"hunter2hunter2","WebhookEventTypes":"a"}`, "app_id", "1", "access_request_id", "1"); err != nil {
		t.Fatal(err)
	}
	if err := w.credential("rotate", "1", "1"); err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{`"Type":"CREDENTIAL_TYPE_TYK_MANAGED","PlanID":1,"ProductIDs":[1],"KeyID":"hunter2-chosen"`, `"Type":"CREDENTIAL_TYPE_CUSTOM","CredentialKey":"hunter2","CredentialSecret":"hunter2"`} {
		if err := w.make(body); err != nil {
			t.Fatal(err)
		}
	}
	if err := oneClient(w); err != nil {
		t.Fatal(err)
	}
	key, secret := w.requests()[0].Credentials[0].Credential, w.requests()[1].Credentials[0].OAuthClientSecret
	w.update(func(wr store.Writer) error {
		for _, kind := range []string{"portal-app", "portal-access-request", "portal-credential", "intent"} {
			for rec, err := range wr.Scan(t.Context(), store.Query{Kind: kind}) {
				if err != nil {
					return err
				}
				if text := string(rec.Doc); strings.Contains(text, key) || secret == "" || strings.Contains(text, secret) || strings.Contains(text, "hunter2") {
					t.Errorf("%s: %s", kind, text)
				}
			}
		}
		return nil
	})
}

// TestDoctor: keys and credentials without a counterpart are found and, in one pass, fixed; the
// second pass finds nothing. Keys of others are left alone.
func TestDoctor(t *testing.T) {
	d := newOurs(t, false)
	w := open(t, d)
	if err := both(w); err != nil {
		t.Fatal(err)
	}
	if err := w.provision(`{"PlanID":2,"ProductIDs":[1]}`); err != nil {
		t.Fatal(err)
	}
	look := func(op string, want string) {
		t.Helper()
		have := ""
		for _, f := range w.do("portal-doctor."+op, "").(apps.Diagnosis).Findings {
			have += fmt.Sprintf("%s of %d %v;", f.Finding, f.AppID, f.Fixed)
		}
		if have != want {
			t.Errorf("%s: %s", op, have)
		}
	}
	look("get", "")
	session := func(text string) *doc.Node { n, _ := doc.ParseNode([]byte(text)); return n }
	for id, text := range map[string]string{
		"lost":   `{"apply_policies":["one","gold"],"tags":["portal-app-7","portal-org-1"]}`,
		"others": `{"apply_policies":["one","gold"],"tags":["till"]}`,
	} {
		if _, err := d.CreateKey(t.Context(), id, session(text)); err != nil {
			t.Fatal(err)
		}
	}
	key := w.requests()[0].Credentials[0].Credential
	if err := d.DeleteKey(t.Context(), dashboard.KeyName{Text: key}); err != nil {
		t.Fatal(err)
	}
	look("get", "key without credential of 7 false;credential without key of 1 false;")
	look("fix", "key without credential of 7 true;credential without key of 1 true;")
	look("get", "")
	if n := len(w.keys()); n != 2 { // the key of the third request, and the key of others
		t.Errorf("%d keys", n)
	}
}

// TestOrderOfEvents: events about a request that is approved at once are in chronological order.
func TestOrderOfEvents(t *testing.T) {
	d := newOurs(t, false)
	w := open(t, d)
	if err := first(w); err != nil {
		t.Fatal(err)
	}
	head, err := w.p.DB.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for c, err := range w.p.DB.Follow(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, ch := range c.Changes {
			if ch.Kind == "portal-access-request" || ch.Kind == "portal-credential" {
				told = append(told, ch.Kind+" "+string(ch.Op))
			}
		}
		if c.Rev >= head {
			break
		}
	}
	if have := strings.Join(told, ", "); have != "portal-access-request created, portal-credential created, portal-access-request updated" {
		t.Error(have)
	}
}
