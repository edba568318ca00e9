package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/argon2"
	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/adapters/gzip/quick"
	"github.com/gatehouse-io/gatehouse/adapters/logfile"
	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/adapters/otel"
	"github.com/gatehouse-io/gatehouse/adapters/prometheus"
	"github.com/gatehouse-io/gatehouse/adapters/redis"
	"github.com/gatehouse-io/gatehouse/adapters/web/console"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/certificates"
	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/identity"
	apikeys "github.com/gatehouse-io/gatehouse/app/keys"
	"github.com/gatehouse-io/gatehouse/app/outbound"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/observe"
	"github.com/gatehouse-io/gatehouse/ports/rules"
	"github.com/gatehouse-io/gatehouse/ports/secret"
)

// Composition is a control plane with everything that the settings configure.
type Composition struct {
	*app.App
	Metrics *prometheus.Observer
	Traces  *otel.Observer // nil: off
	primary any            // the store as it was opened, without replication
	// gateways are the gateways of tyk_api_config; nil: there are none.
	gateways gateway.Installation
	serves   atomic.Bool // the service responds to requests
	closers  closers
}

var errNotServing = errors.New("the service does not answer requests yet")

// serving returns an error until the service responds to requests, so that
// announcements wait: records may have to be upgraded first, however long that takes,
// and the start may still fail.
func (c *Composition) serving() error {
	if !c.serves.Load() {
		return errNotServing
	}
	return nil
}

// Close closes what Compose opened.
func (c *Composition) Close() error { return c.closers.Close() }

// Purpose says what a composition is used for.
type Purpose struct {
	// Beside: a command that works on the data of a service, which may run meanwhile.
	// It announces nothing, because gateways that get an announcement must reach the
	// service; the service announces the changes.
	Beside bool
	// Lost: the encryption key is lost, and the command is about to replace it.
	Lost bool
	// Stored: a command that reads stored data. It is refused if the store does not
	// exist.
	Stored bool
}

// Compose opens stores and sinks and builds the App of a service; it starts nothing.
func Compose(ctx context.Context, s config.Settings, log *slog.Logger, version string) (*Composition, error) {
	return ComposeFor(ctx, s, log, version, Purpose{})
}

// Beside is Compose for a command beside a service.
func Beside(ctx context.Context, s config.Settings, log *slog.Logger, version string) (*Composition, error) {
	return ComposeFor(ctx, s, log, version, Purpose{Beside: true})
}

// ComposeFor is Compose with a purpose.
func ComposeFor(ctx context.Context, s config.Settings, log *slog.Logger, version string, p Purpose) (*Composition, error) {
	if p.Stored {
		if err := stored(s); err != nil {
			return nil, err
		}
	}
	s.NotifyOnChange = s.NotifyOnChange && !p.Beside && s.Portal.Serve != config.PortalAlone
	if p.Beside {
		s.Portal.RefreshInterval = 0 // the service synchronises
	}
	s.Portal.Webhooks.Disable = s.Portal.Webhooks.Disable || p.Beside || p.Lost
	c := &Composition{Metrics: prometheus.New()}
	if err := c.open(ctx, s, log, version, p); err != nil {
		_ = c.Close() // the error of Close is not the cause
		return nil, err
	}
	return c, nil
}

func (c *Composition) open(ctx context.Context, s config.Settings, log *slog.Logger, version string, p Purpose) error {
	keys, sealing, err := openKeys(ctx, s, log, p.Lost)
	if err != nil {
		return err
	}
	opts, st, err := openStore(ctx, s, log, crypto.NewUUID(), p.Beside, sealing)
	if err != nil {
		return err
	}
	c.closers, c.primary = append(c.closers, st), st
	if err := fitKeys(ctx, s, st, keys, p.Lost); err != nil {
		return err
	}
	traffic, err := openAnalytics(s, log)
	if err != nil {
		return err
	}
	c.closers = append(c.closers, traffic)
	observer, err := c.observer(ctx, s, log, version)
	if err != nil {
		return err
	}
	served, err := c.portal(s, log, p)
	if err != nil {
		return err
	}
	opts = append(append(append(opts, served...), common(s, log, version)...), c.gatewayControl(s, observer)...)
	if traffic.Counters.There() || traffic.Records.There() || traffic.Uptime.There() {
		opts = append(opts, app.WithAnalytics(traffic))
	}
	if !s.Analytics.Mask {
		opts = append(opts, app.WithRecordedCredentials())
	}
	opts = append(opts, app.WithPasswords(argon2.New(crypto.Passwords{})), app.WithKeys(keys), app.WithObserver(observer), app.WithServing(c.serving))
	if s.Deliveries.Enabled && !p.Beside && !p.Lost {
		opts = append(opts, app.WithDeliveries(deliveriesOf(s.Deliveries)))
	}
	trail, err := c.trail(s, keys, p)
	if err != nil {
		return err
	}
	more, err := c.optional(s, log)
	if err != nil {
		return err
	}
	records, err := c.collect(s, log, p, traffic)
	if err != nil {
		return err
	}
	c.App, err = app.New(slices.Concat(opts, records, []app.Option{app.WithAudit(trail)}, more)...)
	if err != nil {
		return err
	}
	c.Metrics.AddGauges(append(gauges(c.App, st), gatewayGauges(c.gateways)...)...)
	if s.Collector.Enabled {
		c.Metrics.AddGauges(collectorGauges(c.App)...)
	}
	return nil
}

// trail returns the settings of the audit trail. A command beside a service writes no
// records: the service finds the changes of the command in the change log.
func (c *Composition) trail(s config.Settings, keys secret.Keys, p Purpose) (audit.Settings, error) {
	trail := audit.Settings{MaxAge: s.Audit.MaxAge, MaxBytes: s.Audit.MaxBytes, ReadOnly: p.Beside || p.Lost, JSON: s.Audit.Format == config.AuditJSON,
		Reads: s.Audit.Reads, Detailed: s.Audit.Detailed, Pack: quick.Packer()}
	if s.Audit.On() && s.Audit.Store == config.AuditDB {
		signer, err := openSigner(s.Audit.Signing, keys)
		if err != nil {
			return trail, err
		}
		trail.Signer = signer
	}
	path := s.Audit.File()
	if path == "" || trail.ReadOnly {
		return trail, nil
	}
	file, err := logfile.Open(path, s.Audit.FileSize, s.Audit.FileKeep)
	if err != nil {
		return trail, fmt.Errorf("audit.path: %w", err)
	}
	c.closers, trail.File = append(c.closers, file), file
	return trail, nil
}

// common returns the options of settings that are plain values.
func common(s config.Settings, log *slog.Logger, version string) []app.Option {
	memory := machine()
	opts := []app.Option{
		app.WithLogger(log), app.WithVersion(version), app.WithAdminSecret(s.AdminSecret.Reveal()), app.WithBrokerSecret(s.SSO.BrokerSecret.Reveal()), app.WithNodeSecret(s.NodeSecret.Reveal()),
		app.WithPageSize(s.PageSize), app.WithHealthPath("/" + s.HealthEndpoint), app.WithMaxStaleness(s.MaxStaleness),
		app.WithHistory(s.History.MaxAge, s.History.MaxBytes), app.WithLimits(s.Limits.MaxBodyBytes, s.Limits.MaxDepth, s.Limits.RequestTimeout),
		app.WithBodies(s.Limits.MaxBodyValues, bodyMemory(s.Limits.BodyMemory, memory), newThrift(memory).frugal), app.WithOrganisationBytes(organisationBytes(s.Limits.Organisation, memory)), app.WithBodyRate(cmp.Or(s.Limits.BodyRate, -1)),
	}
	proxies, _ := s.Limits.TrustedProxies() // the settings were validated
	opts = append(opts, app.WithFailedCredentials(s.Limits.Failures, proxies...))
	scheme, host := s.PublicGateway()
	d := s.Definitions
	hosts := servers.Config{Protocol: scheme, DefaultHost: host}
	for _, e := range s.Edges {
		hosts.Edges = append(hosts.Edges, servers.Edge{Endpoint: e.Endpoint, Tags: e.Tags})
	}
	opts = append(opts, app.WithFetcher(importsOf(s)), app.WithExamples(s.Security.AllowedExamples...),
		app.WithRedirectSeparator(s.RedirectSeparator), app.WithCertificateExpiry(certificates.Expiry{Every: time.Duration(s.Expiry.Minutes) * time.Minute, Days: s.Expiry.Days}),
		app.WithGateways(gatewaysOf(s, hosts)...), app.WithGatewayAPI(outbound.GatewayAPI{URL: s.Gateway.URL(), Secret: s.Gateway.Secret.Reveal()}),
		app.WithDefinitions(app.Definitions{
			APIs: apis.Settings{Ownership: d.Ownership, DuplicatePaths: d.DuplicateSlugs, SeparateGateways: d.SeparateGateways, ForceDefaults: d.ForceDefaults, UnsafeOAS: d.UnsafeOAS,
				Examples: d.ValidateExamples, Defaults: d.ValidateDefaults, Streams: d.Streams, AllStreams: d.ExperimentalStreams},
			UnsafePolicyIDs: d.UnsafePolicyIDs, Hosts: hosts,
		}))
	if s.Console.Enabled {
		opts = append(opts, app.WithFront(console.Front(console.Config{Servers: s.Console.Servers})))
	}
	if s.MultiOrgUsers {
		opts = append(opts, app.WithMultiOrgUsers())
	}
	if s.Security.AdminResetsPassword {
		opts = append(opts, app.WithAdminPasswordResets())
	}
	if s.Security.HideAccessKeys {
		opts = append(opts, app.WithHiddenAccessKeys())
	}
	if s.Security.KeepAccessKeys {
		opts = append(opts, app.WithKeptAccessKeys())
	}
	if s.Maintenance {
		opts = append(opts, app.WithMaintenance())
	}
	return opts
}

// importsOf returns the client for documents at URLs that users send.
func importsOf(s config.Settings) *fetch.Client {
	return fetch.New(fetch.Config{AllowPrivate: s.AllowPrivateAddresses})
}

// maxAnswer bounds the part of a receiver's response that is read, in bytes.
const maxAnswer = 64 << 10

// deliveriesOf returns the settings for sending events to external receivers.
func deliveriesOf(d config.Deliveries) delivery.Settings {
	allowed, _ := d.Allowed() // the settings were validated
	return delivery.Settings{
		Fetcher: fetch.New(fetch.Config{Allow: allowed, MaxBytes: maxAnswer}), Workers: d.Workers, Pause: d.Pause, KeepDone: d.KeepDone, Keep: d.KeepFailed,
	}
}

// gatewaysOf returns the gateways in the settings.
func gatewaysOf(s config.Settings, hosts servers.Config) []outbound.Gateway {
	addresses := []string{s.Gateway.URL()}
	switch host := hosts.DefaultHost; { // the host in the URLs of APIs
	case strings.Contains(host, "://"):
		addresses = append(addresses, host)
	case host != "":
		addresses = append(addresses, hosts.Protocol+host)
	}
	for _, e := range s.Edges {
		addresses = append(addresses, e.Endpoint)
	}
	var out []outbound.Gateway
	for _, address := range addresses {
		if address != "" {
			out = append(out, outbound.Gateway{URL: address, Trusted: true})
		}
	}
	return out
}

// observer combines metrics and, if a collector is configured, traces.
func (c *Composition) observer(ctx context.Context, s config.Settings, log *slog.Logger, version string) (observe.Observer, error) {
	if s.OTLPEndpoint == "" {
		return c.Metrics, nil
	}
	var err error
	if c.Traces, err = otel.New(ctx, otel.Config{Endpoint: s.OTLPEndpoint.Reveal(), ServiceName: "gatehouse", Version: version}); err != nil {
		return nil, fmt.Errorf("tracing.otlp_endpoint: %w", err)
	}
	c.closers = append(c.closers, closerFunc(func() error {
		if err := c.Traces.Shutdown(context.WithoutCancel(ctx)); err != nil {
			log.Warn("the last traces could not be sent", "error", err)
		}
		return nil
	}))
	return observe.Join(c.Traces, c.Metrics), nil
}

// optional returns the options of Redis, mail, passwords, keys and rules.
func (c *Composition) optional(s config.Settings, log *slog.Logger) ([]app.Option, error) {
	users, err := passwordPolicy(s, "password.json")
	if err != nil {
		return nil, err
	}
	basic, err := passwordPolicy(s, "basic_auth.json")
	if err != nil {
		return nil, err
	}
	server, err := mailServer(s)
	if err != nil {
		return nil, err
	}
	opts := []app.Option{
		app.WithPasswordSettings(identity.PasswordSettings{
			Policy: users, History: s.Security.PasswordHistory, MaxDays: s.Security.PasswordMaxDays, First: s.Security.FirstLoginChange,
		}),
		app.WithKeySettings(apikeys.Settings{
			Hashed: s.Keys.Hashed, ListHashes: s.Keys.ListHashes, UpdateByHash: s.Keys.UpdateByHash, DeleteByHash: s.Keys.DeleteByHash, NotByUser: s.Keys.NotByUser,
			Master: s.Keys.Master, Password: basic,
		}),
		browserSessions(s, server),
	}
	listeners := identity.Listeners{Mail: server}
	engine := ruleEngine(s, log)
	if s.Security.OpenPolicy.Enabled {
		opts = append(opts, app.WithRules(func(t app.Tools) (rules.Engine, error) {
			e, err := engine(t)
			return e, naming("security.open_policy.enabled", err)
		}))
	}
	if s.Security.OpenPolicy.API {
		opts = append(opts, app.WithRulesAPI(func(t app.Tools) (rules.Workshop, error) {
			e, err := engine(t)
			return e, naming("security.open_policy.enable_api", err)
		}))
	}
	opts = append(opts, app.WithAdditionalPermissions(s.Security.AdditionalPermissions),
		app.WithRulesCheck(func(t app.Tools) rules.Checker {
			return ruleChecker(sync.OnceValues(func() (*opa.Engine, error) { return opa.New(opa.Config{Logger: log}, t.Operations()) }))
		}))
	if s.Redis.Enabled() {
		client, err := redis.Open(redisConfig(s.Redis, log))
		if err != nil {
			return nil, err
		}
		c.closers, listeners.Publisher = append(c.closers, client), redis.NewPublisher(client)
		if s.NotifyOnChange {
			sign, err := announcementSigner(s)
			if err != nil {
				return nil, err
			}
			opts = append(opts, app.WithSinks(redis.NewSink(client, sign)), app.WithChecks(redisCheck(client)))
		}
	}
	return append(opts, app.WithListeners(listeners)), nil
}

// rulesFile returns the path of the file with rules for all organisations.
func rulesFile(s config.Settings) string {
	return filepath.Join(s.HomeDir, "schemas", "dashboard.rego")
}

// naming adds the name of the setting that an error comes from.
func naming(setting string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", setting, err)
}

// ruleEngine returns a function that makes the engine of rules in Rego. The engine uses
// the rules of the organisation, or else the file schemas/dashboard.rego in home_dir,
// or else the default rules. All callers share one engine.
func ruleEngine(s config.Settings, log *slog.Logger) func(app.Tools) (*opa.Engine, error) {
	var made *opa.Engine
	return func(t app.Tools) (*opa.Engine, error) {
		if made != nil {
			return made, nil
		}
		look := identity.Service{Store: t.Store}
		e, err := opa.New(opa.Config{
			File: rulesFile(s), Later: true, Debug: s.Security.OpenPolicy.Debug, Logger: log,
			OrgRules: look.Rules, Lookup: t.Get, ObjectKind: t.Class,
			Security: map[string]any{
				"allow_admin_reset_password": s.Security.AdminResetsPassword,
				"additional_permissions":     s.Security.AdditionalPermissions,
			},
		}, t.Operations())
		made = e
		return e, err
	}
}
