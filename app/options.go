package app

import (
	"cmp"
	"context"
	"log/slog"
	nethttp "net/http"
	"net/netip"
	"time"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/collector"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/health"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/outbound"
	"github.com/gatehouse-io/gatehouse/app/replicated"
	"github.com/gatehouse-io/gatehouse/app/session"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/ports/analytics"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/load"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/observe"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/presence"
	"github.com/gatehouse-io/gatehouse/ports/rules"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Option adjusts an App.
type Option func(*settings)

// Tools is what an embedder's own services and rules are made of: the same
// things the built-in ones use.
type Tools struct {
	Store      store.Store
	Now        system.Clock
	NewID      system.NewID
	Log        *slog.Logger
	PageSize   int
	Operations func() []operation.Operation // the whole table, once it is complete
	// Get returns what the caller of another call would get from a GET of a path,
	// as decoded JSON; rules aside, since rules ask.
	Get func(ctx context.Context, as *operation.Call, path string) (any, error)
	// Class returns the class of the API that a call is about: "classic", "oas",
	// "streams", "mcp", or "" when it is about none.
	Class func(ctx context.Context, as *operation.Call) string
}

// WithStore replaces the store in memory. When the store also has a change log and
// snapshots, reads come from a copy in memory that follows it. The store stays
// the caller's to close.
func WithStore(s store.Store) Option { return func(o *settings) { o.store = s } }

// WithReads says how current reads from the copy in memory must be; the default
// is replicated.Current.
func WithReads(m replicated.Mode) Option { return func(o *settings) { o.reads = m } }

// WithRules replaces the built-in decision by an engine made from the table of
// operations. An engine with a method Run(context.Context) error is run while
// the App is.
func WithRules(make func(Tools) (rules.Engine, error)) Option {
	return func(o *settings) { o.rules = make }
}

// WithRulesAPI lets admins read, replace and try the rules of their organisation
// under /api/org/opa. The workshop may be the engine of WithRules. One with a method
// Run(context.Context) error is run while the App is.
func WithRulesAPI(make func(Tools) (rules.Workshop, error)) Option {
	return func(o *settings) { o.workshop = make }
}

// WithRulesCheck refuses texts that cannot be used where rules are stored with their
// organisation, whether or not rules decide. Without it any are taken.
func WithRulesCheck(make func(Tools) rules.Checker) Option {
	return func(o *settings) { o.checker = make }
}

// WithAdditionalPermissions gives organisations that stored none the permissions that
// their rules can ask for, by name and label.
func WithAdditionalPermissions(labels map[string]string) Option {
	return func(o *settings) { o.custom = labels }
}

// WithSinks announces commits at places such as Redis. It needs a store with a
// change log and leases; the store in memory has both.
func WithSinks(sinks ...notify.Sink) Option {
	return func(o *settings) { o.sinks = append(o.sinks, sinks...) }
}

// WithObserver watches every operation, for metrics or traces.
func WithObserver(ob observe.Observer) Option { return func(o *settings) { o.observer = ob } }

// WithAnalytics answers questions about traffic from what gateways reported. Without it
// nothing is known of traffic. The reader stays the caller's to close.
func WithAnalytics(r analytics.Reader) Option { return func(o *settings) { o.traffic = r } }

// WithRecordedCredentials shows recorded requests and responses as they are stored. Without it
// the credentials in them are hidden.
func WithRecordedCredentials() Option { return func(o *settings) { o.unmasked = true } }

// WithBoard shares the list of live gateway nodes with other replicas.
func WithBoard(b presence.Board) Option { return func(o *settings) { o.board = b } }

// WithKeys replaces how access keys are protected. Without it the secret is
// random, and keys work until the process ends: right for a store in memory only.
func WithKeys(k secret.Keys) Option { return func(o *settings) { o.keys = k } }

// WithPasswords replaces how passwords are hashed.
func WithPasswords(p secret.Passwords) Option { return func(o *settings) { o.passwords = p } }

// WithLogger replaces slog.Default.
func WithLogger(l *slog.Logger) Option { return func(o *settings) { o.log = l } }

// WithClock replaces time.Now.
func WithClock(now system.Clock) Option { return func(o *settings) { o.now = now } }

// WithIDs replaces how identifiers of records and of requests are made.
func WithIDs(record system.NewID, request func() string) Option {
	return func(o *settings) {
		o.newID, o.requestID = record, request
		o.newAPIID = func() string { return record() + "00000000" }
	}
}

// Definitions says how API definitions and policies are treated.
type Definitions struct {
	APIs            apis.Settings
	UnsafePolicyIDs bool           // identifiers of policies may hold any characters
	Hosts           servers.Config // where gateways are, for the addresses in documents
}

// WithDefinitions says how API definitions and policies are treated; the zero
// Definitions, the default, is the strictest.
func WithDefinitions(d Definitions) Option { return func(o *settings) { o.definitions = d } }

// WithFetcher lets the service fetch what users name by address: descriptions to
// import, examples, answers of gateways. Without it no server is called.
func WithFetcher(f fetch.Fetcher) Option { return func(o *settings) { o.fetcher = f } }

// WithGateways names the gateways that users may call through the service.
func WithGateways(gs ...outbound.Gateway) Option {
	return func(o *settings) { o.gateways = append(o.gateways, gs...) }
}

// WithGatewayAPI names the gateway whose control API the service may use.
func WithGatewayAPI(g outbound.GatewayAPI) Option { return func(o *settings) { o.gatewayAPI = g } }

// WithExamples permits the indexes of example APIs at these addresses; the first
// is the default one.
func WithExamples(urls ...string) Option { return func(o *settings) { o.examples = urls } }

// WithAdminSecret opens the admin surface to callers who know the secret.
func WithAdminSecret(s string) Option { return func(o *settings) { o.adminSecret = s } }

// WithBrokerSecret lets identity brokers who know the secret ask the admin surface for
// single sign-on, and for nothing else.
func WithBrokerSecret(s string) Option { return func(o *settings) { o.brokerSecret = s } }

// WithNodeSecret opens the node surface to gateways that know the secret.
func WithNodeSecret(s string) Option { return func(o *settings) { o.nodeSecret = s } }

// WithVersion sets the version that probes and the API description report.
func WithVersion(v string) Option { return func(o *settings) { o.version = v } }

// WithHealthPath moves the readiness probe from "/health".
func WithHealthPath(path string) Option { return func(o *settings) { o.healthPath = path } }

// WithPageSize sets the number of items on a page; the default is 10.
func WithPageSize(n int) Option { return func(o *settings) { o.pageSize = n } }

// WithLimits bounds requests: body in bytes, nesting of JSON in levels, and how
// long one may take. Zero keeps a default: 32 MiB, 128, 30 s.
func WithLimits(body int64, depth int, deadline time.Duration) Option {
	return func(o *settings) { o.maxBody, o.maxDepth, o.deadline = cmp.Or(body, o.maxBody), depth, deadline }
}

// WithBodies bounds request bodies further: values in one, and the memory that
// all under way may take together, beyond which callers wait. Zero keeps a
// default: 300,000 and 160 MiB. pressure, if not nil, hears when the first large
// body begins to be worked on and when the last is done.
func WithBodies(values int, memory int64, pressure func(bool)) Option {
	return func(o *settings) { o.maxValues, o.room = cmp.Or(values, o.maxValues), load.NewRoom(memory, pressure) }
}

// WithBodyRate ends large request bodies that come with fewer bytes a second, on average
// and after two seconds, with 408: they take room from others. Zero keeps the default,
// 64 KiB; a negative rate is no limit.
func WithBodyRate(bytes int64) Option { return func(o *settings) { o.bodyRate = bytes } }

// WithFailedCredentials limits wrong credentials from one address in a minute:
// further ones get 429; right ones never do. 0, the default, is no limit. Of
// proxies at these addresses X-Forwarded-For says who calls.
func WithFailedCredentials(limit int, proxies ...netip.Prefix) Option {
	return func(o *settings) { o.failures, o.proxies = limit, proxies }
}

// WithOrganisationBytes bounds what the records of one organisation take, all together: further changes
// but deletions get 507. 0, the default, is no limit, and so is any with a store that does not
// know their size (store.Sized).
func WithOrganisationBytes(bytes int64) Option {
	return func(o *settings) { o.organisation = bytes }
}

// WithMaxStaleness says how long the copy in memory may lag behind a store that
// is away before the service reports that it is not ready; the default is 60 s.
func WithMaxStaleness(d time.Duration) Option { return func(o *settings) { o.staleness = d } }

// WithServing says whether this program answers requests; nothing is announced
// while it returns an error, because a gateway that is told of a change and gets no
// answer stops reloading. Nil, the default, means from Start on.
func WithServing(ready func() error) Option { return func(o *settings) { o.serving = ready } }

// WithHistory says for how long commits are kept, and how many bytes of them; 0, the
// default, keeps them whatever their age, or size.
func WithHistory(age time.Duration, bytes int64) Option {
	return func(o *settings) { o.history = history{age, bytes} }
}

// WithAudit keeps a trail of writes and refused calls in the store. The zero Settings,
// the default, keep none.
func WithAudit(a audit.Settings) Option { return func(o *settings) { o.audit = a } }

// WithDeliveries sends events to receivers outside, such as the addresses that
// organisations name. The zero Settings, the default, send nothing. Holder and TTL are
// the App's to choose.
func WithDeliveries(d delivery.Settings) Option { return func(o *settings) { o.deliveries = d } }

// WithListeners says by which ways, besides HTTP, organisations are told of events that
// they name receivers for. Without it there are none.
func WithListeners(l identity.Listeners) Option { return func(o *settings) { o.listeners = l } }

// WithCollector keeps what gateways report. The zero Settings, the default, keep nothing.
// Holder and TTL are the App's to choose.
func WithCollector(c collector.Settings) Option { return func(o *settings) { o.collector = c } }

// WithMultiOrgUsers lets one address have a user in several organisations.
func WithMultiOrgUsers() Option { return func(o *settings) { o.multiOrg = true } }

// WithAdminPasswordResets lets admins set other users' passwords.
func WithAdminPasswordResets() Option { return func(o *settings) { o.adminResets = true } }

// WithPasswordSettings says which passwords users may have, and for how long.
func WithPasswordSettings(r identity.PasswordSettings) Option {
	return func(o *settings) { o.passwordSettings = r }
}

// WithSessions says how browsers log in, and for how long.
func WithSessions(c session.Config) Option { return func(o *settings) { o.sessions = c } }

// WithHiddenAccessKeys shows admins no access keys but their own.
func WithHiddenAccessKeys() Option { return func(o *settings) { o.hideKeys = true } }

// WithKeptAccessKeys lets users, admins included, renew no access key but their own.
func WithKeptAccessKeys() Option { return func(o *settings) { o.keepKeys = true } }

// WithMaintenance closes the management surface.
func WithMaintenance() Option { return func(o *settings) { o.maintenance = true } }

// WithChecks adds components to the probes.
func WithChecks(cs ...health.Check) Option {
	return func(o *settings) { o.checks = append(o.checks, cs...) }
}

// WithService adds operations of the embedder's own, behind the same guard and
// in the same description.
func WithService(make func(Tools) operation.Service) Option {
	return func(o *settings) { o.services = append(o.services, make) }
}

// WithResource adds kinds of resources of the embedder's own, with all that they bring:
// see crud.Resource and crud.Facts. The start is refused when another kind has the name
// of one of them.
func WithResource(rs ...crud.Registrar) Option {
	return func(o *settings) { o.resources = append(o.resources, rs...) }
}

// WithFront puts something in front of the API, such as the operations console:
//
//	app.WithFront(console.Front(console.Config{}))
//
// What it does not answer itself it hands on. Without this option there is nothing but
// the API.
func WithFront(front func(nethttp.Handler) nethttp.Handler) Option {
	return func(o *settings) { o.front = append(o.front, front) }
}
