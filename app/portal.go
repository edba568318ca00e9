package app

import (
	"cmp"
	"context"
	"log/slog"
	nethttp "net/http"
	"slices"
	"strings"
	"time"

	"go.uber.org/fx"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/dashboard/local"
	"github.com/gatehouse-io/gatehouse/adapters/dashboard/remote"
	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/adapters/yaml"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/catalogues"
	certified "github.com/gatehouse-io/gatehouse/app/portal/certificates"
	"github.com/gatehouse-io/gatehouse/app/portal/contents"
	"github.com/gatehouse-io/gatehouse/app/portal/documents"
	"github.com/gatehouse-io/gatehouse/app/portal/door"
	"github.com/gatehouse-io/gatehouse/app/portal/general"
	"github.com/gatehouse-io/gatehouse/app/portal/idps"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/app/portal/mails"
	"github.com/gatehouse-io/gatehouse/app/portal/menus"
	users "github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/posts"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/products/rows"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
	"github.com/gatehouse-io/gatehouse/app/portal/sso"
	"github.com/gatehouse-io/gatehouse/app/portal/tags"
	"github.com/gatehouse-io/gatehouse/app/portal/themes"
	"github.com/gatehouse-io/gatehouse/app/portal/tutorials"
	"github.com/gatehouse-io/gatehouse/app/portal/webhooks"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/provider"
	portaltable "github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/files"
	"github.com/gatehouse-io/gatehouse/ports/graphql"
	"github.com/gatehouse-io/gatehouse/ports/load"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/registration"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Portal configures the developer portal.
type Portal struct {
	// ID names the portal in the store: several portals can share a store. "" is "default".
	ID string
	// Shared serves the portal beside the dashboard, by App itself. Otherwise only
	// App.Portal serves it.
	Shared bool
	// SigningKey signs the tokens of admins; "": a random key, which is stored.
	SigningKey string
	// GraphQL checks the schemas that admins upload; nil: only introspection results can
	// be uploaded.
	GraphQL graphql.Checker
	// Themes are the settings for uploaded themes; MaxUpload bounds their size, too.
	Themes themes.Settings
	// Mails are the settings for mails; the zero value sends none.
	Mails mails.Settings
	// MaxUpload is the maximum size of a form with a file, in bytes; 0: 32 MiB.
	MaxUpload int64
	// Files stores pictures, archives of themes and documents; nil: they are in the store.
	Files files.Storage
	// Options is the answer of GET /portal-api/configs: the operator's settings, with
	// secrets masked.
	Options map[string]any
	// Refresh is how often products and plans are synchronised with the dashboards; 0:
	// only when an admin asks.
	Refresh time.Duration
	// Fetcher calls dashboards, and restricts their addresses; nil: only the dashboard of
	// this App can be reached.
	Fetcher fetch.Fetcher
	// Relay calls gateways for developers who try APIs, and restricts their addresses; nil:
	// none can be called.
	Relay fetch.Relay
	// Reader fetches descriptions of APIs from other hosts, and restricts their addresses;
	// nil: none can be fetched.
	Reader fetch.Fetcher
	// Registrar registers clients at identity providers; nil: none can be reached.
	Registrar registration.Registrar
	// Registry says that dashboards learn about tokens from their registry of client IdPs,
	// rather than from the definitions of APIs.
	Registry bool
	// Webhooks are the settings for webhooks; the zero value sends none. The App itself sets
	// Holder, TTL, Name, Serves and Share of the deliveries.
	Webhooks webhooks.Settings
	// Local are addresses of the dashboard of this App: providers with such an address are
	// called without HTTP (ADR 24).
	Local []string
	// Live are the settings for browser users. Without Post, letters are sent as the mails
	// of sessions are, if those are sent.
	Live live.Settings
	// URL is the public address of the portal; "": the addresses in single sign-on profiles
	// are relative.
	URL string
	// Pages returns a middleware that serves the portal's pages in front of its API; nil:
	// there are no pages.
	Pages func(Pages) func(nethttp.Handler) nethttp.Handler
	// SignOn are the settings of single sign-on.
	SignOn sso.Settings
	// Journal receives a line of JSON for each action of an admin; nil: no journal is kept.
	Journal audit.File
}

// Pages is what the pages of the portal need from the App besides its operations.
type Pages struct {
	// Theme returns the files of the current theme.
	Theme func(ctx context.Context) (theme.Content, error)
	// Bootstrapped reports whether the portal has its first admin.
	Bootstrapped func(ctx context.Context) (bool, error)
	// Alone says that the portal is the only service here: its pages also answer unknown
	// addresses.
	Alone bool
	// Room is where visitors take turns, and Visitor returns in whose name a request takes a
	// turn.
	Room    *load.Room
	Visitor func(*nethttp.Request) string
	Log     *slog.Logger
}

// WithPortal runs the developer portal (docs/wire/portal.md).
func WithPortal(p Portal) Option { return func(o *settings) { o.portal = portalSettings{&p} } }

// portalSettings is the portal, or none.
type portalSettings struct{ *Portal }

// portalTenant is the prefix of the organisation IDs of portals. No organisation of a
// dashboard can have such an ID: their identifiers contain no colon.
const portalTenant = "portal:"

// scope returns the data of the portal, or the zero Scope without one.
func (p portalSettings) scope() (tenant.Scope, error) {
	if p.Portal == nil {
		return tenant.Scope{}, nil
	}
	id := p.ID
	if id == "" {
		id = "default"
	}
	return tenant.Of(portalTenant + tenant.ID(id))
}

// portalKinds are the kinds of resources of the portal. They are registered even without a
// portal, so that its data can be checked and purged; their operations are not.
func portalKinds(p portalSettings, dashboards *providers.Service, hooks *webhooks.Service, persons *users.Service, own *live.Service, logins *idps.Service, certs *certified.Service, a *App) (out []crud.Registrar) {
	goods, limits := rows.Resource(dashboards.Open, p.shelf(), p.documents().MaxUpload), plans.Resource(dashboards.Open)
	goods.Hooks, limits.Hooks = logins.Products(goods.Hooks), logins.Plans(limits.Hooks)
	access := func() *apps.Service { return a.access }
	goods.Hooks = apps.Products(goods.Hooks, access)
	limits.Hooks = apps.Plans(limits.Hooks, access)
	boards := dashboards.Resource()
	boards.Hooks = apps.Providers(boards.Hooks)
	for _, r := range slices.Concat([]crud.Registrar{
		portal.Counters(),
		door.Registration(),
		catalogues.Resource(products.Offers(), plans.Offers),
		catalogues.AudienceResource,
		general.Registration(),
		tags.Resource,
		boards,
		providers.States(),
		goods,
		rows.Images(),
		contents.Registration(),
		limits,
		hooks.Resource(),
		hooks.HeaderResource(),
		logins.Resource(),
		logins.TypeResource(),
		certs.Resource(),
		p.signIn(logins.Keys).Resource(),
		sso.Nonces(),
	}, idps.Registrations(), persons.Registrations(), own.Registrations(), apps.Registrations(), p.documents().Resources(), tutorials.Registrations(), p.pages(dashboards.Log).Resources(), posts.Resources(), menus.Resources(), themes.Registrations(), mails.Registrations()) {
		reg := r.Registration()
		if p.Portal == nil {
			reg.Operations = nil
		}
		out = append(out, reg)
	}
	return out
}

// documents returns the configuration of the documents of products.
func (p portalSettings) documents() documents.Config {
	c := documents.Config{YAML: yaml.Codec{}, MaxUpload: httpadapter.MaxBody, Shelf: p.shelf()}
	if p.Portal != nil {
		c.GraphQL, c.MaxUpload = p.GraphQL, cmp.Or(p.MaxUpload, c.MaxUpload)
	}
	return c
}

// newDoor returns the service for bootstrap and admin tokens. Its seeds are in the order in
// which bootstrap stores the initial records.
func newDoor(p portalSettings, s people, t crud.Tools, keys secret.Keys, a *App) (*door.Service, error) {
	scope, err := p.scope()
	if err != nil {
		return nil, &refusal{err}
	}
	c := door.Config{Tools: t, Keys: keys, Passwords: s.passwords, Scope: scope, Stopping: a.writes.Closed, Seeds: []door.Seed{users.Found, catalogues.Found, func(ctx context.Context, w store.Writer, at crud.Stamp) error {
		if err := p.pages(t.Log).Found(ctx, w, at, themes.Standard().Pages); err != nil {
			return err
		}
		return menus.Found(ctx, w, at)
	}, general.Found}}
	if p.Portal != nil {
		c.SigningKey = p.SigningKey
	}
	return &door.Service{Config: c}, nil
}

// newPersons returns the service for users, and what follows from changes of them.
func newPersons(p portalSettings, s people, keys secret.Keys, a *App) *users.Service {
	return &users.Service{Config: users.Config{Keys: keys, Passwords: s.passwords, Signing: func(ctx context.Context, r store.Reader) (string, error) {
		set := ""
		if p.Portal != nil {
			set = p.SigningKey
		}
		key, err := door.Signing(ctx, r, keys, set)
		if fault.KindOf(err) == fault.NotFound {
			err = nil // examples are made even without a portal
		}
		return key, err
	}, Followers: []users.Follower{live.Follower(), {
		Leave: func(ctx context.Context, in tenant.Scope, u account.User, force bool) error {
			return a.access.Leave(ctx, in, u, force)
		},
		HandOver: apps.HandOver,
		Follow:   apps.Follow,
	}}, Dismiss: func(ctx context.Context, id portaltable.ID) error { return a.access.Dismiss(ctx, id) }}}
}

// newGeneral returns the service for the general settings.
func newGeneral(p portalSettings, t crud.Tools, keys secret.Keys) (*general.Service, error) {
	scope, err := p.scope()
	if err != nil {
		return nil, &refusal{err}
	}
	s := &general.Service{Tools: t, Keys: keys, Scope: scope, Options: map[string]any{}}
	if p.Portal != nil && p.Options != nil {
		s.Options = p.Options
	}
	return s, nil
}

// newProviders connects the portal with dashboards. Products and plans are synchronised in
// the order of the shelves.
func newProviders(lc fx.Lifecycle, b basics, p portalSettings, st store.Store, keys secret.Keys, a *App) (*providers.Service, error) {
	scope, err := p.scope()
	if err != nil {
		return nil, &refusal{err}
	}
	// The dashboard of the App is called in this process, others over HTTP.
	dial := func(s provider.Settings) dashboard.Dashboard {
		at := strings.TrimRight(s.URL, "/")
		if slices.ContainsFunc(p.Local, func(own string) bool { return strings.EqualFold(strings.TrimRight(own, "/"), at) }) {
			return local.New(a.Do, a.Text, s.Secret)
		}
		var f fetch.Fetcher = nowhere{}
		if p.Fetcher != nil {
			f = p.Fetcher
		}
		return remote.New(f, remote.Config{URL: s.URL, Secret: s.Secret, Insecure: s.InsecureSkipVerify})
	}
	c := providers.Config{Tools: crud.Tools{Store: st, NewID: b.newID, Now: b.now, Log: b.log}, Keys: keys, Scope: scope, Dial: dial, Holder: crypto.NewUUID(), Shelves: []providers.Shelf{rows.Shelf(), plans.Shelf}}
	if p.Portal != nil {
		c.Every = p.Refresh
	}
	out := providers.New(c)
	background(lc, out)
	return out, nil
}

// newApps returns the service for the apps of developers.
func newApps(lc fx.Lifecycle, p portalSettings, o outside, t crud.Tools, i *intents.Service, d *providers.Service, persons *users.Service, logins *idps.Service, _ *certified.Service, keys secret.Keys, a *App) (*apps.Service, error) {
	scope, err := p.scope()
	if err != nil {
		return nil, &refusal{err}
	}
	tokens := issuers.Keys{Open: d.Open, Secrets: keys, Sweeper: issuers.NewSweeper(i, t, d.Open)}
	a.access = apps.New(apps.Config{
		Tools: t, Secrets: keys, Scope: scope, Intents: i, Persons: persons, Open: d.Open, Logins: logins, Describe: users.Describe,
		Issuers: issuers.Issuers{issuers.Tokens: tokens, issuers.Certified: issuers.Certificates{Keys: tokens, Others: apps.CertificateUsers(t.Store), Pool: apps.Pool}, issuers.Registration: idps.Issuer{Service: logins},
			issuers.Client: issuers.Clients{Open: d.Open, Secrets: keys, Separator: o.separator}},
	})
	if p.Portal != nil {
		a.access.Receivers = p.Webhooks.Deliveries.Fetcher
	}
	d.Then = a.access.After(d.Then)
	background(lc, a.access)
	return a.access, nil
}

// portalHandler serves the portal; nil: there is no portal, or it is served beside the
// dashboard.
type portalHandler struct{ nethttp.Handler }

// Portal returns the handler that serves the portal alone, or nil when there is none.
func (a *App) Portal() nethttp.Handler { return a.portal.Handler }

// auditor receives the calls of the portal before the audit trail does. Refused calls without
// authentication, and bootstrap, belong to the portal's audit trail as well.
func (p portalSettings) auditor(b basics, own *live.Service) (guard.Auditor, error) {
	scope, err := p.scope()
	if err != nil || p.Portal == nil {
		return func(context.Context, *operation.Call, error) {}, err
	}
	written := func(context.Context, *operation.Call, error) {}
	if p.Journal != nil {
		written = (&door.Journal{File: p.Journal, Admin: own.Administers, Now: b.now, Log: b.log}).Hear
	}
	return func(ctx context.Context, c *operation.Call, err error) {
		if c.Spec.Surface == operation.Portal && c.Scope.IsZero() {
			c.Scope = scope
		}
		written(ctx, c, err)
	}, nil
}
