package apps_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"slices"
	stdsync "sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/dashboard/local"
	"github.com/gatehouse-io/gatehouse/adapters/dashboard/remote"
	"github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/plan"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/provider"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// ours is a Gatehouse dashboard with the policies one, two (of products) and gold (of a
// plan), in this process or over HTTP. Tests share it, each with its own portal.
type ours struct {
	dashboard.Dashboard
}

func newOurs(t testing.TB, overHTTP bool) ours {
	t.Helper()
	a, err := app.New(app.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.Bootstrap(t.Context(), identity.First{OrgID: "one", Email: "admin@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"one", "two"} {
		apptest.Send(t, a, b.AccessKey, "POST", "/api/apis", fmt.Sprintf(`{"api_definition":{"name":"%s","api_id":"%s","active":true,"use_standard_auth":true,"proxy":{"listen_path":"/%s/","target_url":"http://up.example"}}}`, id, id, id))
		apptest.Send(t, a, b.AccessKey, "POST", "/api/portal/policies", fmt.Sprintf(`{"id":"%s","name":"%s","active":true,"access_rights":{"%s":{"api_id":"%s","versions":["Default"]}},"partitions":{"acl":true}}`, id, id, id, id))
	}
	for _, id := range []string{"c1", "c2"} { // also require a certificate
		apptest.Send(t, a, b.AccessKey, "POST", "/api/apis", fmt.Sprintf(`{"api_definition":{"name":"%s","api_id":"%s","active":true,"use_standard_auth":true,"use_mutual_tls_auth":true,"client_certificates":["theirs"],"proxy":{"listen_path":"/%s/","target_url":"http://up.example"}}}`, id, id, id))
		apptest.Send(t, a, b.AccessKey, "POST", "/api/portal/policies", fmt.Sprintf(`{"id":"%s","name":"%s","active":true,"access_rights":{"%s":{"api_id":"%s","versions":["Default"]}},"partitions":{"acl":true}}`, id, id, id, id))
	}
	for _, id := range []string{"o1", "o2"} { // accept tokens of OAuth clients
		apptest.Send(t, a, b.AccessKey, "POST", "/api/apis", fmt.Sprintf(`{"api_definition":{"name":"%s","api_id":"%s","active":true,"use_oauth2":true,"proxy":{"listen_path":"/%s/","target_url":"http://up.example"}}}`, id, id, id))
		apptest.Send(t, a, b.AccessKey, "POST", "/api/portal/policies", fmt.Sprintf(`{"id":"%s","name":"%s","active":true,"access_rights":{"%s":{"api_id":"%s","versions":["Default"]}},"partitions":{"acl":true}}`, id, id, id, id))
	}
	apptest.Send(t, a, b.AccessKey, "POST", "/api/portal/policies", `{"id":"silver","name":"silver","active":true,"rate":5,"per":1,"quota_max":50,"access_rights":{},"partitions":{"quota":true,"rate_limit":true}}`)
	apptest.Send(t, a, b.AccessKey, "POST", "/api/portal/policies", `{"id":"gold","name":"gold","active":true,"rate":10,"per":1,"quota_max":-1,"access_rights":{},"partitions":{"quota":true,"rate_limit":true}}`)
	if !overHTTP {
		return ours{local.New(a.Do, a.Text, b.AccessKey)}
	}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return ours{remote.New(fetch.New(fetch.Config{MaxBytes: 1 << 20}), remote.Config{URL: server.URL, Secret: b.AccessKey, Trusted: true, Pause: time.Millisecond, Attempts: 1})}
}

var errDead = errors.New("the process is dead")

// fate determines the outcome of calls of the store and the dashboard.
type fate struct {
	mu    stdsync.Mutex
	seen  int
	at    int  // number of the call that fails; 0: none
	after bool // it fails after it was carried out
	once  bool // only this call fails; otherwise the process is dead from then on
	dead  bool
	says  error
}

// meet returns the outcome of a call.
func (f *fate) meet(call func() error) error {
	f.mu.Lock()
	f.seen++
	now := f.seen == f.at
	switch {
	case f.dead:
		f.mu.Unlock()
		return f.says
	case now && !f.once:
		f.dead = true
	}
	after := f.after
	f.mu.Unlock()
	if now && !after {
		return f.says
	}
	err := call()
	if now && err == nil {
		err = f.says
	}
	return err
}

// mortal is the store of a process that may die.
type mortal struct {
	store.Store
	*fate
}

func (m mortal) Update(ctx context.Context, s tenant.Scope, fn func(store.Writer) error) (at store.Revision, err error) {
	err = m.meet(func() (err error) { at, err = m.Store.Update(ctx, s, fn); return err })
	return at, err
}

// world is a portal with a provider, two products, a plan and one that approves by itself,
// a user and an app, over a dashboard.
type world struct {
	t     testing.TB
	p     apptest.Portal
	dash  ours
	fate  *fate
	seen  *watched
	sagas *intents.Service
	apps  *apps.Service
	users *people.Service
	ops   map[string]operation.Operation
	user  table.ID
	app   table.ID
	// linger is for how long a dashboard may create keys after the portal has stopped
	// waiting.
	linger time.Duration
	// registers is the issuer of registered clients, if there is one.
	registers issuers.Issuer
}

func open(t testing.TB, d ours) *world {
	t.Helper()
	w := &world{t: t, p: apptest.NewPortal(t), dash: d}
	w.users = &people.Service{Config: people.Config{Keys: w.p.Keys, Signing: func(context.Context, store.Reader) (string, error) { return "key", nil }}}
	w.start(&fate{})
	w.update(func(wr store.Writer) error {
		ctx, at := t.Context(), w.at()
		if err := people.Found(ctx, wr, at); err != nil {
			return err
		}
		u, err := portal.Add(ctx, wr, people.Users, at, account.User{Email: "ada@example.com", First: "Ada", Role: account.Member, OrganisationID: 1, Teams: []table.ID{1}, Active: true, Token: "ada"})
		if err != nil {
			return err
		}
		w.user = u.ID
		if _, err := portal.Add(ctx, wr, providers.Kind, at, provider.Provider{Name: "Ours"}); err != nil {
			return err
		}
		for _, id := range []string{"one", "two"} {
			if _, err := portal.Add(ctx, wr, products.Kind, at, product.Product{ProviderID: 1, Ref: sync.Ref{ID: id}, Name: id, Path: id, APIs: product.Details{{APIID: id}}, AuthTypes: []string{"authToken"}}); err != nil {
				return err
			}
		}
		for i, name := range []string{"gold", "auto"} {
			if _, err := portal.Add(ctx, wr, plans.Kind, at, plan.Plan{ProviderID: 1, Ref: sync.Ref{ID: "gold"}, Name: name, KeyExpiresIn: 3600, AutoApprove: i == 1}); err != nil {
				return err
			}
		}
		a, err := portal.Add(ctx, wr, apps.Kind, at, application.App{Name: "Till", UserID: w.user, Visibility: application.Personal})
		w.app = a.ID
		return err
	})
	return w
}

// start starts a process on the store; the previous one is dead.
func (w *world) start(f *fate) {
	w.fate, w.seen = f, &watched{Dashboard: w.dash, fate: f}
	tools := w.p.Tools
	tools.Store = mortal{w.p.DB, f}
	dial := func(_ context.Context, _ tenant.Scope, id table.ID) (p synchronise.Provider, err error) {
		err = w.p.DB.View(context.Background(), w.p.Scope, func(r store.Reader) error {
			_, err := portal.Find(context.Background(), r, providers.Kind, id.String())
			return err
		})
		return synchronise.Provider{Dashboard: w.seen, Org: "one"}, err
	}
	w.sagas = intents.New(intents.Settings{Holder: w.p.Tools.NewID(), Alone: true, Wait: 50 * time.Millisecond}, tools, w.p.Keys)
	tokens := issuers.Keys{Open: dial, Secrets: w.p.Keys}
	if w.linger > 0 {
		tokens.Sweeper = issuers.NewSweeper(w.sagas, tools, dial)
		tokens.Sweeper.Linger = w.linger
	}
	w.apps = apps.New(apps.Config{Tools: tools, Secrets: w.p.Keys, Scope: w.p.Scope, Intents: w.sagas, Persons: w.users, Open: dial,
		Issuers: issuers.Issuers{issuers.Tokens: tokens, issuers.Certified: issuers.Certificates{Keys: tokens, Others: apps.CertificateUsers(tools.Store), Pool: apps.Pool}, issuers.Registration: w.registers,
			issuers.Client: issuers.Clients{Open: dial, Secrets: w.p.Keys, Separator: ";"}}})
	w.users.Followers = []people.Follower{{Leave: w.apps.Leave, Follow: apps.Follow}}
	w.users.Dismiss = w.apps.Dismiss
	w.ops = map[string]operation.Operation{}
	for _, o := range w.apps.Operations() {
		w.ops[o.ID] = o
	}
	for _, o := range w.users.UserResource().Registration().Operations(tools) {
		w.ops[o.ID] = o
	}
}

func (w *world) at() crud.Stamp {
	return crud.Stamp{ID: w.p.Tools.NewID(), Org: w.p.Scope.Org(), Now: time.Now}
}

func (w *world) update(fn func(store.Writer) error) {
	w.t.Helper()
	if _, err := w.p.DB.Update(w.t.Context(), w.p.Scope, fn); err != nil {
		w.t.Fatal(err)
	}
}

// try calls an operation; path has names and values of placeholders, in pairs.
func (w *world) try(id, body string, path ...string) (any, error) {
	o, known := w.ops[id]
	if !known {
		w.t.Fatalf("no operation %s", id)
	}
	call := &operation.Call{Spec: &o.Spec, Scope: w.p.Scope, Principal: operation.Principal{ID: account.Principal(99)}, Body: []byte(body), Path: map[string]string{}}
	for pair := range slices.Chunk(path, 2) {
		call.Path[pair[0]] = pair[1]
	}
	return o.Do(w.t.Context(), call)
}

func (w *world) do(id, body string, path ...string) any {
	w.t.Helper()
	out, err := w.try(id, body, path...)
	if err != nil {
		w.t.Fatalf("%s %v: %v", id, path, err)
	}
	return out
}

// Acts of tests.
func (w *world) provision(body string) error {
	_, err := w.try("portal-apps.provision", body, "app_id", w.app.String())
	return err
}

func (w *world) approve(id string) error {
	_, err := w.try("portal-access-requests.approve", "", "access_request_id", id)
	return err
}

func (w *world) credential(what, request, id string) error {
	_, err := w.try("portal-app-credentials."+what, "", "app_id", w.app.String(), "access_request_id", request, "credential_id", id)
	return err
}

// make gives the app a custom credential.
func (w *world) make(body string) error {
	_, err := w.try("portal-custom-credentials.create", `{"Alias":"x",`+body+`}`, "app_id", w.app.String())
	return err
}

func (w *world) custom(what, id string) error {
	_, err := w.try("portal-custom-credentials."+what, "", "app_id", w.app.String(), "credential_id", id)
	return err
}

// customs returns the custom credentials of the app; none when it is gone.
func (w *world) customs() []apps.ListedCustom {
	out, err := w.try("portal-custom-credentials.list", "", "app_id", w.app.String())
	if err != nil {
		return nil
	}
	return out.(operation.Listing[apps.ListedCustom]).Items
}

func (w *world) delete(what, param, id string) error {
	_, err := w.try(what+".delete", "", param, id)
	return err
}

// requests returns the access requests, the oldest first.
func (w *world) requests() (out []apps.ShownRequest) {
	w.t.Helper()
	list := w.do("portal-access-requests.list", "").(operation.Listing[apps.ListedRequest])
	for _, r := range slices.Backward(list.Items) {
		out = append(out, w.do("portal-access-requests.get", "", "access_request_id", r.ID.String()).(apps.ShownRequest))
	}
	return out
}

// keys returns the policies of the dashboard's keys, by key.
func (w *world) keys() map[string][]string {
	w.t.Helper()
	list, err := w.dash.Keys(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[string][]string{}
	for _, k := range list {
		out[k.ID] = k.Session.Get("apply_policies").Texts()
	}
	return out
}

// consistent fails unless the dashboard has exactly the keys of the credentials, with the
// policies of their products, and every approved request for tokens that never lost its
// credential has one.
func (w *world) consistent(what string) {
	w.t.Helper()
	have, want := w.keys(), map[string][]string{}
	for _, r := range w.requests() {
		for _, c := range r.Credentials {
			if c.OAuthClientID == "" {
				want[c.Credential] = nil
			}
		}
	}
	for _, c := range w.customs() {
		k, err := w.dash.Key(w.t.Context(), dashboard.KeyName{Text: c.KeyID})
		if err != nil {
			w.t.Errorf("%s: a custom credential has no key: %v", what, err)
		}
		want[k.ID] = nil
	}
	w.certified(what)
	w.clientele(what)
	for key := range want {
		if _, there := have[key]; !there {
			w.t.Errorf("%s: a credential has no key", what)
		}
	}
	for key, policies := range have {
		if _, known := want[key]; !known {
			w.t.Errorf("%s: a key with %v belongs to no credential", what, policies)
		}
		if len(policies) < 2 || policies[len(policies)-1] != "gold" {
			w.t.Errorf("%s: a key has the policies %v", what, policies)
		}
	}
}

// clear removes what other tests have left at the dashboard.
func (w *world) clear() {
	w.t.Helper()
	list, err := w.dash.Keys(w.t.Context())
	for _, k := range list {
		err = errors.Join(err, w.dash.DeleteKey(w.t.Context(), k.Name()))
	}
	err = errors.Join(err, w.clearCertificates(), w.clearClients())
	if err != nil {
		w.t.Fatal(err)
	}
}

// resume starts another process, which settles open sagas.
func (w *world) resume() {
	w.t.Helper()
	w.start(&fate{})
	ctx, stop := context.WithCancel(w.t.Context())
	var done stdsync.WaitGroup
	done.Go(func() { _ = w.sagas.Run(ctx) })
	for range 2000 {
		s, err := w.sagas.Status(ctx)
		if err != nil {
			w.t.Fatal(err)
		}
		if s.Active == 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	stop()
	done.Wait()
	if s, _ := w.sagas.Status(w.t.Context()); s.Active+s.Rest != 0 {
		text, _ := json.Marshal(w.do("portal-operations.list", ""))
		w.t.Errorf("not settled: %s", text)
	}
}
