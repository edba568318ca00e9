package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	nethttp "net/http"
	"slices"
	"time"

	"go.uber.org/fx"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/gzip"
	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/adapters/openapi"
	"github.com/gatehouse-io/gatehouse/adapters/yaml"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/gateway"
	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/app/health"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/lease"
	"github.com/gatehouse-io/gatehouse/app/outbound"
	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/app/portal/door"
	"github.com/gatehouse-io/gatehouse/app/portal/general"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
	"github.com/gatehouse-io/gatehouse/app/registry"
	"github.com/gatehouse-io/gatehouse/app/relay"
	"github.com/gatehouse-io/gatehouse/app/replicated"
	"github.com/gatehouse-io/gatehouse/app/reports"
	"github.com/gatehouse-io/gatehouse/app/resources/hooks"
	"github.com/gatehouse-io/gatehouse/app/rulebook"
	"github.com/gatehouse-io/gatehouse/app/schemas"
	"github.com/gatehouse-io/gatehouse/app/session"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// APIVersion is the version of the wire contract that the API description
// carries (docs/wire/errors.md#contradictions).
const APIVersion = "5.15.0"

// table is every operation, in order of ID.
type table []operation.Operation

// modules is the graph. A resource with rules of its own adds a service; a plain one is
// in the list of newKinds, and nowhere else.
var modules = fx.Options(
	service[*registry.ClientIDPs](newClientIDPs),
	service[identity.AdminUsers](func(s *identity.Service) identity.AdminUsers { return identity.AdminUsers{Service: s} }),
	service[identity.Users](func(s *identity.Service) identity.Users { return identity.Users{Service: s} }),
	service[*session.Service](newSessions),
	service[identity.ServiceAccounts](func(s *identity.Service) identity.ServiceAccounts { return identity.ServiceAccounts{Service: s} }),
	service[identity.UserGroups](func(s *identity.Service, t crud.Tools) identity.UserGroups {
		return identity.UserGroups{Service: s, Tools: t}
	}),
	service[session.SSO](func(s *session.Service) session.SSO { return session.SSO{Service: s} }),
	service[*door.Service](newDoor),
	service[*general.Service](newGeneral),
	definitions,
	service[*policies.Service](newPolicies),
	service[*hooks.Service](newHooks),
	service[*schemas.Service](newSchemas),
	service[*rulebook.Service](newRulebook),
	service[*outbound.Proxy](newProxy),
	service[*outbound.Debug](newDebug),
	service[*outbound.Examples](newExamples),
	service[*audit.Service](newAudit),
	service[*delivery.Service](newDeliveries),
	service[portalDeliveries](newPortalDeliveries),
	service[*reports.Stats](newStats),
	service[*reports.Notifications](func() *reports.Notifications { return &reports.Notifications{} }),
	service[*gateway.Nodes](newNodes),
	service[*gateway.Tokens](func(st store.Store) *gateway.Tokens { return &gateway.Tokens{Store: st} }),
	service[*health.Service](newHealth),
	fx.Provide(newStore, newKinds, newReferences, newResourceTools, openapi.New, newKeys, newTools, newIdentity, newTable, newRules, newWorkshop, newChecker, newGuard, newHandler, newRelays, newProviders, newWebhooks),
	transfers,
	fx.Invoke(prune),
)

// service feeds the operations of a set of use cases into the table, and runs
// its background work if it has any.
func service[S operation.Service](ctor any) fx.Option {
	return fx.Options(
		fx.Provide(ctor, fx.Annotate(func(s S) []operation.Operation { return s.Operations() }, fx.ResultTags(`group:"operations,flatten"`))),
		fx.Invoke(func(lc fx.Lifecycle, s S) { background(lc, s) }),
	)
}

// runner is background work: it ends, soon, when its context does.
type runner interface {
	Run(ctx context.Context) error
}

// background runs whatever can run for as long as the App does.
func background(lc fx.Lifecycle, v any) {
	r, ok := v.(runner)
	if !ok {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	lc.Append(fx.Hook{
		OnStart: func(context.Context) error {
			go func() { defer close(done); _ = r.Run(ctx) }()
			return nil
		},
		OnStop: func(stop context.Context) error {
			cancel()
			select {
			case <-done:
				return nil
			case <-stop.Done():
				return stop.Err()
			}
		},
	})
}

// stores is the store the use cases see and, when it is one that copies, the same
// as what it is.
type stores struct {
	fx.Out
	Store store.Store
	Copy  *replicated.Store
}

func newStore(lc fx.Lifecycle, b basics, s storage) (stores, error) {
	if s.store == nil {
		db, err := memdb.New(b.now)
		return stores{Store: db}, err
	}
	primary, ok := s.store.(replicated.Primary)
	if _, inMemory := s.store.(*memdb.DB); !ok || inMemory || s.reads == replicated.Direct {
		return stores{Store: s.store}, nil
	}
	db, err := memdb.New(b.now)
	if err != nil {
		return stores{}, err
	}
	c := replicated.New(primary, db, s.reads, b.log)
	background(lc, c)
	return stores{Store: c, Copy: c}, nil
}

func newKeys(s people) (secret.Keys, error) {
	if s.keys != nil {
		return s.keys, nil
	}
	return crypto.Ephemeral()
}

func newIdentity(b basics, s people, e embedded, st store.Store, keys secret.Keys, l *apis.Repository) *identity.Service {
	return &identity.Service{Store: st, Keys: keys, Passwords: s.passwords, NewID: b.newID, Now: b.now, Log: b.log,
		PageSize: b.pageSize, MultiOrg: s.multiOrg, AdminResets: s.adminResets, HideKeys: s.hideKeys, KeepKeys: s.keepKeys, RulesDecide: e.rules != nil, Preset: s.custom, Disown: l.Disown, EndSessions: session.EndAll, PasswordSettings: s.wording}
}

func newSessions(s people, id *identity.Service) *session.Service { return session.New(id, s.sessions) }

func newClientIDPs(t crud.Tools, l *apis.Repository) *registry.ClientIDPs {
	return &registry.ClientIDPs{Tools: t, Foreign: l.Foreign}
}

func newNodes(b basics, s nodes, st store.Store, ks crud.Kinds) *gateway.Nodes {
	return gateway.New(gateway.Config{
		Store: st, Tokens: crypto.NewNodeTokens(s.nodeSecret), Now: b.now, Log: b.log, Board: s.board, Coding: &gzip.Coding{},
		Sources: ks.Feeds(),
	})
}

func newTools(s basics, st store.Store, a *App) Tools {
	return Tools{Store: st, Now: s.now, NewID: s.newID, Log: s.log, PageSize: s.pageSize, Operations: a.Operations, Get: a.get, Class: a.class}
}

type tableParams struct {
	fx.In
	Embedded embedded
	Tools    Tools
	Kinds    crud.Kinds
	Resource crud.Tools
	Ops      []operation.Operation `group:"operations"`
}

// newTable joins all operations: groups come in random order, the table does not.
func newTable(p tableParams) (table, error) {
	ops := append(p.Ops, p.Kinds.Operations(p.Resource)...)
	for _, make := range p.Embedded.services {
		ops = append(ops, make(p.Tools).Operations()...)
	}
	description := httpadapter.NewDescription(APIVersion)
	ops = append(ops, description.Operations()...)
	slices.SortFunc(ops, func(a, b operation.Operation) int { return cmp.Compare(a.ID, b.ID) })
	if err := operation.Check(ops); err != nil {
		return nil, err
	}
	return ops, description.Describe(ops)
}

// refusal is an error about what was passed in, told without what the graph adds.
type refusal struct{ error }

func newRules(lc fx.Lifecycle, s embedded, t Tools, ops table) (rules.Engine, error) {
	if s.rules == nil {
		return rules.BuiltIn{}, nil
	}
	t.Operations = func() []operation.Operation { return ops }
	e, err := s.rules(t)
	if err != nil {
		return nil, &refusal{err}
	}
	background(lc, e)
	return e, nil
}

// newWorkshop returns nil when the API of rules is switched off.
func newWorkshop(lc fx.Lifecycle, s embedded, t Tools, ops table, e rules.Engine) (rules.Workshop, error) {
	if s.workshop == nil {
		return nil, nil
	}
	t.Operations = func() []operation.Operation { return ops }
	w, err := s.workshop(t)
	if err != nil {
		return nil, &refusal{err}
	}
	if any(w) != any(e) {
		background(lc, w)
	}
	return w, nil
}

// newChecker returns nil where rules are stored unseen.
func newChecker(s embedded, t Tools, ops table) rules.Checker {
	if s.checker == nil {
		return nil
	}
	t.Operations = func() []operation.Operation { return ops }
	return s.checker(t)
}

func newRulebook(s embedded, a *App, id *identity.Service, trail *audit.Service) *rulebook.Service {
	return rulebook.New(rulebook.Config{
		Identity: id, Workshop: func() rules.Workshop { return a.workshop }, Find: a.find, Decides: s.rules != nil, Trail: trail.Newest,
	})
}

// newAudit makes the trail. It asks for operations only later, when the table is there.
func newAudit(s storage, t crud.Tools, a *App) (*audit.Service, error) {
	s.audit.Silent = []string{delivery.Operation, providers.Noting}
	trail, err := audit.New(s.audit, t, func(id string) *operation.Spec {
		if o := a.byID[id]; o != nil {
			return &o.Spec
		}
		return nil
	})
	if err != nil {
		return nil, &refusal{err}
	}
	a.trail = trail
	return trail, nil
}

func newGuard(b basics, s admission, n nodes, p portalSettings, a *App, d *door.Service, browsers *session.Service, e rules.Engine, trail *audit.Service) (operation.Middleware, error) {
	written := guard.Log(b.log)
	portal, err := p.auditor(b)
	if err != nil {
		return nil, &refusal{err}
	}
	return guard.New(guard.Config{
		Authenticators: map[operation.Surface]guard.Authenticator{
			operation.Management: browsers.Authenticate,
			operation.Admin:      identity.AuthenticateAdmin(s.adminSecret, s.brokerSecret),
			operation.Portal:     d.Authenticate,
			operation.Node:       gateway.Authenticate(identity.Equal, n.nodeSecret),
		},
		Rules: e, Audit: func(ctx context.Context, c *operation.Call, err error) {
			portal(ctx, c, err)
			written(ctx, c, err)
			trail.Hear(ctx, c, err)
		}, Failures: &guard.Failures{Limit: s.failures, Now: b.now, Log: b.log}, Maintenance: s.maintenance, Writes: &a.writes,
	}), nil
}

func newHandler(b basics, s transport, p portalSettings, ops table, g operation.Middleware) (nethttp.Handler, portalHandler, error) {
	cfg := httpadapter.Config{
		Guard: g, YAML: yaml.Codec{}, Observer: s.observer, Logger: b.log, Now: b.now, MaxBody: s.maxBody, MaxValues: s.maxValues, MaxDepth: s.maxDepth, BodyRate: s.bodyRate,
		Deadline: s.deadline, Room: s.room, Proxies: s.proxies, NewRequestID: s.requestID,
	}
	main, own := divided(ops)
	if p.Portal != nil && p.Shared {
		main = beside(main, own)
	}
	h, err := httpadapter.Handler(main, cfg)
	if err != nil || len(own) == 0 {
		return h, portalHandler{}, err
	}
	cfg.Home = operation.Portal
	alone, err := httpadapter.Handler(own, cfg)
	return h, portalHandler{alone}, err
}

// takeover is how long a dead process keeps its leases: the default, if no other
// process waits for them.
func takeover(s storage) time.Duration {
	if own, ok := s.store.(interface{ Alone() bool }); s.store == nil || ok && own.Alone() {
		return 0
	}
	return lease.Takeover
}

func newDeliveries(d delivery.Settings, kept storage, t crud.Tools, ks crud.Kinds, a *App) (*delivery.Service, error) {
	d.Holder, d.TTL, d.Serves = crypto.NewUUID(), takeover(kept), func(audience string) bool { return !ofPortal(audience) }
	out, err := delivery.New(d, t, ks.Events(), identity.Listeners{})
	if err != nil {
		return nil, &refusal{err}
	}
	a.deliveries = out
	return out, nil
}

// newRelays makes a relay per sink.
func newRelays(lc fx.Lifecycle, b basics, s announcing, kept storage, st store.Store, ks crud.Kinds, keys secret.Keys) ([]*relay.Relay, error) {
	if len(s.sinks) == 0 {
		return nil, nil
	}
	source, ok := st.(interface {
		store.ChangeLog
		store.Leases
	})
	if !ok {
		return nil, errors.New("sinks need a store with a change log and leases")
	}
	holder, ttl := crypto.NewUUID(), takeover(kept)
	var out []*relay.Relay
	unseal := func(sealed string) (string, error) {
		plain, _, err := keys.Open(sealed)
		return plain, err
	}
	for _, sink := range s.sinks {
		r := relay.New(relay.Config{ChangeLog: source, Leases: source, Sink: sink, Signals: ks.Signals(), Holder: holder, Now: b.now, Logger: b.log, Ready: answerable(s, st), TTL: ttl, Unseal: unseal})
		background(lc, r)
		out = append(out, r)
	}
	return out, nil
}

// answerable reports whether gateways that are told now would find the new state.
func answerable(s announcing, st store.Store) func(context.Context) error {
	return func(ctx context.Context) error {
		if s.serving != nil {
			if err := s.serving(); err != nil {
				return err
			}
		}
		return st.View(ctx, tenant.Everyone("announce"), func(store.Reader) error { return nil })
	}
}

func newHealth(b basics, s probing, kept storage, a *App, st store.Store, c *replicated.Store) *health.Service {
	checks := append([]health.Check{{Name: "store", Type: "datastore", Run: storeCheck(b, kept, st, c)}}, s.checks...)
	return &health.Service{Checks: checks, Now: b.now, Version: s.version, Path: s.healthPath, Stopping: a.writes.Closed}
}

// storeCheck fails once reads have been stale for longer than allowed.
func storeCheck(b basics, s storage, st store.Store, c *replicated.Store) func(context.Context) (health.Status, error) {
	return func(ctx context.Context) (health.Status, error) {
		if w, ok := s.store.(interface{ Trouble(context.Context) error }); ok {
			if err := writing(w.Trouble(ctx)); err != nil {
				return health.Fail, err
			}
		}
		if c != nil {
			select {
			case <-c.Loaded():
			default:
				return health.Fail, errors.New("nothing has been loaded yet")
			}
			if t := c.Trouble(); t != nil {
				away := b.now().Sub(t.Since)
				err := fmt.Errorf("the store has been away for %s", away.Round(1e9))
				if away > s.staleness {
					return health.Fail, err
				}
				return health.Warn, err
			}
		}
		f, ok := st.(store.ChangeLog)
		if !ok {
			return health.Pass, nil
		}
		if _, err := f.Head(ctx); err != nil {
			return health.Warn, errors.New("the store does not answer")
		}
		return health.Pass, nil
	}
}

// writing says without details why nothing can be written. That the store does not
// answer is not among it: the copy in memory knows since when.
func writing(err error) error {
	for _, known := range []error{store.ErrFull, store.ErrGone, store.ErrDamaged} {
		if errors.Is(err, known) {
			return fmt.Errorf("nothing can be written: %w", known)
		}
	}
	return nil
}
