// Package app puts a control plane together: the use cases, a store, a transport,
// and whatever else is passed in. It is the embedding API; the program uses
// nothing else.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	nethttp "net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.uber.org/fx"
	"go.uber.org/fx/fxevent"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/collector"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/gateway"
	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/keys"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/relay"
	"github.com/gatehouse-io/gatehouse/app/replicated"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// App is a control plane. It is an http.Handler; mount it anywhere. New starts
// nothing and opens no port.
type App struct {
	fx         *fx.App
	handler    nethttp.Handler
	guard      operation.Middleware
	table      []operation.Operation
	byID       map[string]*operation.Operation
	identity   *identity.Service
	relays     []*relay.Relay
	deliveries *delivery.Service
	intents    *intents.Service
	webhooks   portalDeliveries
	access     *apps.Service // of the portal
	mails      portalMails
	collector  *collector.Service
	nodes      *gateway.Nodes
	copy       *replicated.Store
	store      store.Store
	kinds      crud.Kinds
	workshop   rules.Workshop
	checker    rules.Checker // of texts that are stored as rules; nil: any are
	keys       *keys.Service // of gateways; nil: keys are records of ours
	trail      *audit.Service
	portal     portalHandler
	now        func() time.Time
	writes     guard.Writes
	carriers
}

// New builds an App. Without options it keeps everything in memory, decides by
// permission maps and announces nothing.
func New(opts ...Option) (*App, error) {
	s := newSettings(opts...)
	a := &App{now: s.now}
	a.fx = fx.New(s.graph(a))
	if err := a.fx.Err(); err != nil {
		if r, ok := errors.AsType[*refusal](err); ok {
			err = r.error
		}
		return nil, fmt.Errorf("gatehouse: %w", err)
	}
	return a, nil
}

// graph is everything that an App consists of.
func (s settings) graph(a *App) fx.Option {
	return fx.Options(
		fx.WithLogger(func() fxevent.Logger {
			l := &fxevent.SlogLogger{Logger: s.log.With("component", "fx")}
			l.UseLogLevel(slog.LevelDebug - 4)   // wiring is for those who debug the wiring
			l.UseErrorLevel(slog.LevelDebug - 4) // errors are returned
			return l
		}),
		fx.Supply(a),
		fx.Supply(s.basics, s.storage, s.people, s.admission, s.nodes, s.transport, s.outside, s.announcing, s.probing, s.embedded, s.portal, s.deliveries, s.listeners, s.collector, s.definitions),
		modules,
		fx.Invoke(assemble),
	)
}

// parts is what the graph hands over to the App.
type parts struct {
	fx.In
	App      *App
	Handler  nethttp.Handler
	Guard    operation.Middleware
	Table    table
	Identity *identity.Service
	Store    store.Store
	Copy     *replicated.Store
	Relays   []*relay.Relay
	Nodes    *gateway.Nodes
	Kinds    crud.Kinds
	Records  *collector.Service
	Workshop rules.Workshop
	Checker  rules.Checker
	Portal   portalHandler
}

func assemble(p parts) {
	a := p.App
	a.handler, a.guard, a.table, a.identity = p.Handler, p.Guard, p.Table, p.Identity
	a.store, a.copy, a.relays, a.nodes, a.kinds, a.workshop, a.portal = p.Store, p.Copy, p.Relays, p.Nodes, p.Kinds, p.Workshop, p.Portal
	a.checker, a.collector = p.Checker, p.Records
	a.byID = map[string]*operation.Operation{}
	for i := range a.table {
		a.byID[a.table[i].ID] = &a.table[i]
	}
}

// ServeHTTP implements http.Handler.
func (a *App) ServeHTTP(w nethttp.ResponseWriter, r *nethttp.Request) { a.handler.ServeHTTP(w, r) }

// Start starts background work: the copy in memory, announcements, the list of
// live nodes. It returns when reads can be served, or with the error that
// prevents it.
func (a *App) Start(ctx context.Context) error {
	if err := a.fx.Start(ctx); err != nil {
		return err
	}
	if a.copy == nil {
		return nil
	}
	var err error
	select {
	case <-a.copy.Loaded():
		return nil
	case err = <-a.copy.Broken():
	case <-ctx.Done():
		err = ctx.Err()
		if t := a.copy.Trouble(); t != nil {
			err = t.Err
		}
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return errors.Join(fmt.Errorf("gatehouse: the store could not be loaded: %w", err), a.fx.Stop(stop))
}

// Drain prepares for the end: writes are refused with 503, those under way are
// waited for, then announcements end and another process takes them over. What was
// stored and not announced is announced by that process, or by the next one.
//
// Go on answering requests for a few seconds afterwards. A gateway that has been
// told of a change comes within a second or two, and one that finds its connection
// refused then never reloads again.
func (a *App) Drain(ctx context.Context) error {
	err := a.writes.Close(ctx)
	for _, r := range a.relays {
		err = errors.Join(err, r.Quit(ctx))
	}
	return errors.Join(err, a.deliveries.Quit(ctx), a.intents.Quit(ctx), a.webhooks.Quit(ctx), a.mails.Quit(ctx), a.collector.Quit(ctx))
}

// Stop ends background work and waits for it.
func (a *App) Stop(ctx context.Context) error { return a.fx.Stop(ctx) }

// Operations returns the table of everything the App can be asked to do.
func (a *App) Operations() []operation.Operation { return slices.Clone(a.table) }

// Do carries out an operation without HTTP, behind the same guard: the call says
// who asks by its Token.
func (a *App) Do(ctx context.Context, id string, c *operation.Call) (any, error) {
	o, ok := a.byID[id]
	if !ok {
		return nil, fault.New(fault.NotFound, "operation.unknown", "there is no operation %q", id)
	}
	call := *c
	call.Spec = &o.Spec
	if call.RawPath == "" {
		segs := strings.Split(o.Path, "/")
		for i, s := range segs {
			if name, ok := operation.Placeholder(s); ok {
				segs[i] = url.PathEscape(call.Path[name])
			}
		}
		call.RawPath = strings.Join(segs, "/")
	}
	return a.guard(o.Do)(ctx, &call)
}

// Text returns the body with which HTTP would answer what Do has returned for an
// operation.
func (a *App) Text(id string, answer any) ([]byte, error) {
	o, ok := a.byID[id]
	if !ok {
		return nil, fault.New(fault.NotFound, "operation.unknown", "there is no operation %q", id)
	}
	return httpadapter.Text(o, answer)
}

// Bootstrap makes sure that a first organisation with an admin exists.
func (a *App) Bootstrap(ctx context.Context, f identity.First) (identity.Bootstrapped, error) {
	return a.identity.Bootstrap(ctx, f)
}

// Empty reports whether there is no organisation yet.
func (a *App) Empty(ctx context.Context) (bool, error) { return a.identity.Empty(ctx) }

// Rekey protects with the current encryption key what an older one protects,
// and returns how many access keys and other secrets there were.
func (a *App) Rekey(ctx context.Context) (int, error) {
	n, err := a.identity.Rekey(ctx)
	if err != nil {
		return n, err
	}
	more, err := a.kinds.Reseal(ctx, a.store, a.identity.Keys)
	return n + more, err
}

// ResetKeys gives a new access key to every user whose key no encryption key
// opens any more, and tells each.
func (a *App) ResetKeys(ctx context.Context, tell func(identity.Renewed) error) error {
	return a.identity.ResetKeys(ctx, tell)
}

// Relays returns how far each sink has been told, by name of the sink.
func (a *App) Relays() map[string]relay.Status {
	out := map[string]relay.Status{}
	for _, r := range a.relays {
		out[r.Name()] = r.Status()
	}
	return out
}

// Collector returns how the collector of what gateways report is doing.
func (a *App) Collector() collector.Status { return a.collector.Status() }

// Feeds names what gateways load.
func (a *App) Feeds() []string { return a.nodes.FeedNames() }

// LeftOut returns how many records gateways should get in a feed and do not,
// because they could not read them.
func (a *App) LeftOut(ctx context.Context, feed string) (int, error) {
	return a.nodes.LeftOut(ctx, feed)
}

// Intents returns how many changes of gateways are open or have failed.
func (a *App) Intents(ctx context.Context) (intents.Status, error) { return a.intents.Status(ctx) }

// Deliveries returns how many events receivers outside do not have yet.
func (a *App) Deliveries(ctx context.Context) (delivery.Backlog, error) {
	return a.deliveries.Backlog(ctx)
}

// Trail returns the audit trail.
func (a *App) Trail() *audit.Service { return a.trail }

// Kinds returns what each kind of resource brings.
func (a *App) Kinds() crud.Kinds { return slices.Clone(a.kinds) }

// Readable reports why a stored record cannot be read, or nil. Of kinds that are not
// registered it knows only what the store says.
func (a *App) Readable(rec store.Record) error {
	if rec.Damage != nil {
		return rec.Damage
	}
	return a.kinds.Readable(rec)
}

// Store returns the store as the use cases see it.
func (a *App) Store() store.Store { return a.store }
