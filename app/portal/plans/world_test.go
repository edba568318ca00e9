package plans_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/dashboard/local"
	"github.com/gatehouse-io/gatehouse/adapters/dashboard/remote"
	"github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/adapters/files/record"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/catalogues"
	"github.com/gatehouse-io/gatehouse/app/portal/contents"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/products/rows"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/provider"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// watched is the dashboard, with a count of calls and failures on demand.
type watched struct {
	dashboard.Dashboard
	calls  int
	before func(call string) error // nil: nothing
	made   func()                  // runs after a policy was created; nil: nothing
}

func (d *watched) called(call string) error {
	d.calls++
	if d.before != nil {
		return d.before(call)
	}
	return nil
}

func (d *watched) Policy(ctx context.Context, ref sync.Ref) (dashboard.Policy, error) {
	if err := d.called("policy"); err != nil {
		return dashboard.Policy{}, err
	}
	return d.Dashboard.Policy(ctx, ref)
}

func (d *watched) Create(ctx context.Context, n *doc.Node) (sync.Ref, error) {
	if err := d.called("create"); err != nil {
		return sync.Ref{}, err
	}
	ref, err := d.Dashboard.Create(ctx, n)
	if d.made != nil {
		d.made()
	}
	return ref, err
}

func (d *watched) Replace(ctx context.Context, p dashboard.Policy) error {
	if err := d.called("replace"); err != nil {
		return err
	}
	return d.Dashboard.Replace(ctx, p)
}

func (d *watched) Delete(ctx context.Context, ref sync.Ref) error {
	if err := d.called("delete"); err != nil {
		return err
	}
	return d.Dashboard.Delete(ctx, ref)
}

// full is a store that can be made full.
type full struct {
	store.Store
	full bool
}

var errFull = errors.New("the disk is full")

func (f *full) Update(ctx context.Context, s tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	if f.full {
		return 0, errFull
	}
	return f.Store.Update(ctx, s, fn)
}

// world is a portal with two catalogues and one provider, whose dashboard is a
// Gatehouse.
type world struct {
	t     *testing.T
	tools crud.Tools
	db    *full
	scope tenant.Scope
	ops   map[string]operation.Operation
	dash  *watched
}

func open(t *testing.T, overHTTP bool) *world {
	t.Helper()
	a, err := app.New(app.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.Bootstrap(t.Context(), identity.First{Email: "admin@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	p := apptest.NewPortal(t)
	w := &world{t: t, db: &full{Store: p.DB}, tools: p.Tools, scope: p.Scope, ops: map[string]operation.Operation{}, dash: &watched{Dashboard: local.New(a.Do, a.Text, b.AccessKey)}}
	if overHTTP {
		server := httptest.NewServer(a)
		t.Cleanup(server.Close)
		w.dash.Dashboard = remote.New(fetch.New(fetch.Config{MaxBytes: 1 << 20}), remote.Config{URL: server.URL, Secret: b.AccessKey, Trusted: true, Pause: time.Millisecond})
	}
	w.tools.Store = w.db
	w.connect(func(context.Context, tenant.Scope, table.ID) (synchronise.Provider, error) { return w.provider(), nil })
	w.update(func(wr store.Writer) error { return catalogues.Found(t.Context(), wr, w.at()) })
	for _, name := range []string{"One", "Two"} {
		w.update(func(wr store.Writer) error {
			_, err := portal.Add(t.Context(), wr, providers.Kind, w.at(), provider.Provider{Name: name, Settings: provider.Settings{PoliciesTags: w.provider().Tags}})
			return err
		})
	}
	return w
}

// connect builds operations that find the dashboard with dial.
func (w *world) connect(dial synchronise.Providers) {
	for _, r := range []crud.Registrar{plans.Resource(dial), rows.Resource(dial, contents.Shelf{Storage: record.Storage{}}, 1<<25), catalogues.Resource(products.Offers(), plans.Offers), catalogues.AudienceResource} {
		for _, o := range r.Registration().Operations(w.tools) {
			w.ops[o.ID] = o
		}
	}
}

func (w *world) provider() synchronise.Provider {
	return synchronise.Provider{Dashboard: w.dash, Tags: []string{"public"}}
}

func (w *world) at() crud.Stamp { return crud.Stamp{ID: w.tools.NewID(), Now: time.Now} }

func (w *world) update(fn func(store.Writer) error) {
	w.t.Helper()
	if _, err := w.tools.Store.Update(w.t.Context(), w.scope, fn); err != nil {
		w.t.Fatal(err)
	}
}

// try calls an operation on the record with a number, if it is not 0.
func (w *world) try(id string, number table.ID, body string) (any, error) {
	o := w.ops[id]
	name, _, _ := strings.Cut(strings.TrimPrefix(id, "portal-"), ".")
	name = strings.TrimSuffix(name, "s") + "_id"
	call := &operation.Call{Spec: &o.Spec, Scope: w.scope, Body: []byte(body)}
	if number != 0 {
		call.Path = map[string]string{name: number.String()}
	}
	return o.Do(w.t.Context(), call)
}

func (w *world) call(id string, number table.ID, body string) any {
	w.t.Helper()
	out, err := w.try(id, number, body)
	if err != nil {
		w.t.Fatalf("%s %s: %v", id, body, err)
	}
	return out
}

func (w *world) create(body string) plans.Shown {
	w.t.Helper()
	return w.call("portal-plans.create", 0, body).(plans.Shown)
}

func (w *world) change(id table.ID, body string) plans.Shown {
	w.t.Helper()
	return w.call("portal-plans.update", id, body).(plans.Shown)
}

func (w *world) get(id table.ID) plans.Shown {
	w.t.Helper()
	return w.call("portal-plans.get", id, "").(plans.Shown)
}

// refused fails unless an operation returns a text, without a call of the dashboard.
func (w *world) refused(id string, number table.ID, body, want string) {
	w.t.Helper()
	calls := w.dash.calls
	out, err := w.try(id, number, body)
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Message != want || w.dash.calls != calls {
		w.t.Errorf("%s %s: %v %v and %d calls", id, body, out, err, w.dash.calls-calls)
	}
}

// policy returns the policy with an identifier, or nil.
func (w *world) policy(id string) *doc.Node {
	w.t.Helper()
	list, err := w.dash.Policies(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, n := range list {
		if n.Get("id").Text() == id || n.Get("_id").Text() == id {
			return n
		}
	}
	return nil
}

// List, Store and Forget are synchronise.Records of the first provider.
func (w *world) List(ctx context.Context) (out []sync.Record, err error) {
	err = w.db.View(ctx, w.scope, func(r store.Reader) error {
		out, err = plans.Shelf.List(ctx, r, 1)
		return err
	})
	return out, err
}

func (w *world) Store(ctx context.Context, seen *sync.Record, r sync.Record) error {
	_, err := w.db.Update(ctx, w.scope, func(wr store.Writer) error { return plans.Shelf.Store(ctx, wr, 1, seen, r, w.at()) })
	return err
}

func (w *world) Forget(ctx context.Context, r sync.Record) error {
	_, err := w.db.Update(ctx, w.scope, func(wr store.Writer) error { return plans.Shelf.Forget(ctx, wr, 1, r) })
	return err
}

// run synchronises, and returns the number of writes.
func (w *world) run() int {
	w.t.Helper()
	report, err := synchronise.Run(w.t.Context(), w.provider(), w)
	if err != nil || len(report.Problems) > 0 {
		w.t.Fatalf("%v, %+v", err, report.Problems)
	}
	return report.Writes + report.Stored
}

// quiet fails if there is something to synchronise.
func (w *world) quiet() {
	w.t.Helper()
	if n := w.run(); n != 0 {
		w.t.Errorf("a run found %d things to do", n)
	}
}
