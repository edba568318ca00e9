package app

import (
	"cmp"
	"context"
	nethttp "net/http"
	"slices"

	"go.uber.org/fx"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/adapters/yaml"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/gateway"
	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/portal/door"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/app/portal/sso"
	"github.com/gatehouse-io/gatehouse/app/portal/themes"
	"github.com/gatehouse-io/gatehouse/app/session"
	"github.com/gatehouse-io/gatehouse/ports/load"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// APIVersion is the version of the wire contract that the API description
// carries (docs/wire/errors.md#contradictions).
const APIVersion = "5.15.0"

// table is every operation, in order of ID.
type table []operation.Operation

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
	p.Kinds.Link(ops)
	description := httpadapter.NewDescription(APIVersion)
	ops = append(ops, description.Operations()...)
	slices.SortFunc(ops, func(a, b operation.Operation) int { return cmp.Compare(a.ID, b.ID) })
	if err := operation.Check(ops); err != nil {
		return nil, err
	}
	description.Describe(ops)
	return ops, nil
}

func newGuard(b basics, st store.Store, s admission, n nodes, p portalSettings, a *App, d *door.Service, own *live.Service, signOn *sso.Service, browsers *session.Service, e rules.Engine, trail *audit.Service) (operation.Middleware, error) {
	written := guard.Log(b.log)
	portal, err := p.auditor(b, own)
	if err != nil {
		return nil, &refusal{err}
	}
	var capacity guard.Capacity
	if sized, ok := st.(store.Sized); ok {
		capacity = guard.Capacity{Store: sized, Most: s.organisation}
	}
	deputies := identity.AuthenticateAdmin(s.adminSecret, s.brokerSecret)
	return guard.New(guard.Config{
		Authenticators: map[operation.Surface]guard.Authenticator{
			operation.Management: identity.OrDeputies(browsers.Authenticate, deputies),
			operation.Admin:      deputies,
			operation.Portal: func(ctx context.Context, c *operation.Call) error {
				switch {
				case c.Spec.BySession: // people have the session of a browser
					return own.Authenticate(ctx, c)
				case c.Spec.Brokers: // identity brokers a secret
					return signOn.Authenticate(ctx, c)
				}
				return d.Authenticate(ctx, c) // admins tokens
			},
			operation.Node: gateway.Authenticate(identity.Equal, n.nodeSecret),
		},
		SetUp: map[operation.Surface]guard.SetUp{operation.Portal: d.Bootstrapped},
		Rules: e, Audit: func(ctx context.Context, c *operation.Call, err error) {
			portal(ctx, c, err)
			written(ctx, c, err)
			trail.Hear(ctx, c, err)
		}, Failures: &guard.Failures{Limit: s.failures, Now: b.now, Log: b.log}, Maintenance: s.maintenance, Writes: &a.writes, Capacity: capacity,
	}), nil
}

func newHandler(b basics, s transport, p portalSettings, e embedded, ops table, g operation.Middleware, looks *themes.Service, d *door.Service) (nethttp.Handler, portalHandler, error) {
	cfg := httpadapter.Config{
		Guard: g, YAML: yaml.Codec{}, Observer: s.observer, Logger: b.log, Now: b.now, MaxBody: s.maxBody, MaxValues: s.maxValues, MaxDepth: s.maxDepth, BodyRate: s.bodyRate,
		Deadline: s.deadline, Room: s.room, Proxies: s.proxies, NewRequestID: s.requestID,
	}
	if cfg.Room == nil {
		cfg.Room = load.NewRoom(0, nil) // of pages and their operations
	}
	if p.Portal != nil {
		cfg.PortalCookie = p.Live.Cookie
	}
	var main, own table // of the dashboard, and of the portal
	taken := map[string]bool{}
	for _, o := range ops {
		if o.Surface == operation.Portal {
			own = append(own, o)
		} else {
			main, taken[o.Method+" "+o.Path] = append(main, o), true
		}
	}
	if p.Portal != nil && p.Shared {
		for _, o := range own {
			if !taken[o.Method+" "+o.Path] { // routes of the dashboard win
				main = append(main, o)
			}
		}
	}
	h, err := httpadapter.Handler(main, cfg)
	pages := func(h nethttp.Handler, alone bool) nethttp.Handler {
		if p.Portal == nil || p.Pages == nil || h == nil {
			return h
		}
		return p.Pages(Pages{Theme: looks.Active, Bootstrapped: d.Begun, Alone: alone, Room: cfg.Room, Visitor: httpadapter.Visitors(cfg.Proxies), Log: b.log})(h)
	}
	if p.Portal != nil && p.Shared {
		h = pages(h, false)
	}
	for _, front := range e.front {
		h = front(h)
	}
	if err != nil || len(own) == 0 {
		return h, portalHandler{}, err
	}
	cfg.Home = operation.Portal
	alone, err := httpadapter.Handler(own, cfg)
	return h, portalHandler{pages(brokersToo(alone), true)}, err
}
