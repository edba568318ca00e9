// Package providers has the dashboards that a portal is connected to: the resource, the
// connection, and synchronisation (docs/wire/portal-providers.md).
package providers

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/lease"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/provider"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Config is the configuration of a Service.
type Config struct {
	crud.Tools
	Keys  secret.Keys
	Scope tenant.Scope // of the portal; the zero Scope: there is none
	// Dial returns a client for a dashboard; it makes no call.
	Dial func(provider.Settings) dashboard.Dashboard
	// Shelves store products and plans, in the order in which they are synchronised.
	Shelves []Shelf
	// Clear deletes other records of a deleted provider; nil: there are none.
	Clear func(ctx context.Context, w store.Writer, id table.ID) error
	// Holder identifies this process among those that share the store.
	Holder string
	// Then runs after products and plans are synchronised with a dashboard, for further
	// updates of it; nil: none.
	Then func(ctx context.Context, portal tenant.Scope, id table.ID) error
	// Every is how often all providers are synchronised; 0: only on request.
	Every time.Duration
}

// Service has the operations on providers.
type Service struct {
	Config
	turns *turns
}

// New returns a Service.
func New(c Config) *Service {
	t := &turns{lines: map[table.ID]*line{}}
	t.leases, _ = c.Store.(store.Leases)
	t.config = lease.Config{Leases: t.leases, Name: "synchronise " + string(c.Scope.Org()) + " ", Holder: c.Holder, Logger: c.Log}
	return &Service{c, t}
}

// The kinds of providers, and of their synchronisation state.
var (
	Kind   = portal.KindOf[provider.Provider]()
	states = &store.Kind[provider.State]{
		Name: provider.StateKind, Noun: "state of a provider",
		ID:  func(s provider.State) string { return s.Provider.Key() },
		Org: func(s provider.State) tenant.ID { return s.Portal },
	}
)

// States returns the registration of the kind of synchronisation states.
func States() crud.Registration {
	return crud.Facts[provider.State]{Kind: states, Sample: func(at crud.Stamp) (provider.State, error) {
		return provider.State{Provider: portal.Sampled(provider.Provider{}, at).ID, Portal: at.Org, Status: provider.Up, SyncedAt: at.Now()}, nil
	}}.Registration()
}

// Open returns a provider for synchronisation and other code that writes policies. It makes no
// call. It is synchronise.Providers.
func (s *Service) Open(ctx context.Context, scope tenant.Scope, id table.ID) (out synchronise.Provider, err error) {
	err = s.Store.View(ctx, scope, func(r store.Reader) error {
		p, err := portal.Find(ctx, r, Kind, id.String())
		if err != nil {
			return err
		}
		out, err = s.reach(p)
		return err
	})
	return out, err
}

// reach returns a provider with a client for its dashboard.
func (s *Service) reach(p provider.Provider) (synchronise.Provider, error) {
	p, err := s.opened(p)
	if err != nil {
		return synchronise.Provider{}, err
	}
	turn := func(ctx context.Context, fn func(context.Context) error) error {
		return s.turns.do(ctx, p.ID, maxWrites, fn)
	}
	return synchronise.Provider{Dashboard: s.Dial(p.Settings), Tags: p.Settings.PoliciesTags, Org: p.Settings.OrgID, Turn: turn}, nil
}

// opened returns a provider with its secret in plain text.
func (s *Service) opened(p provider.Provider) (provider.Provider, error) {
	if p.Settings.Secret == "" {
		return p, nil
	}
	plain, _, err := s.Keys.Open(p.Settings.Secret)
	if err != nil {
		return p, fault.New(fault.Unavailable, CodeSealed, "the secret of the provider %s cannot be opened: configure the encryption key, or send the secret again", p.Name).Because(err)
	}
	p.Settings.Secret = plain
	return p, nil
}

// CodeSealed is the fault code for a secret that no encryption key can open.
const CodeSealed = "portal_provider.sealed"

// maxBody bounds request bodies in bytes: a name and settings.
const maxBody = 512 << 10

// Resource defines providers as a resource.
func (s *Service) Resource() portal.Resource[provider.Provider, Listed, Shown] {
	sample := provider.Provider{
		Name: "Acme dashboard", Type: provider.TykPro,
		Settings: provider.Settings{URL: "https://dashboard.example.com", OrgID: "5e9d9544a1dcd60001d0ed20", Gateway: "https://api.example.com", PoliciesTags: []string{"portal"}},
		Sent:     `{"MetaData":"{\"URL\":\"https://dashboard.example.com\",\"Secret\":\"\",\"OrgID\":\"5e9d9544a1dcd60001d0ed20\",\"Gateway\":\"https://api.example.com\",\"PoliciesTags\":[\"portal\"],\"InsecureSkipVerify\":false}"}`,
	}
	return portal.Resource[provider.Provider, Listed, Shown]{
		Kind: Kind, Name: "portal-providers", Path: "/providers", Param: "provider_id", One: "a provider", Many: "providers",
		List: s.list, Show: s.show, Sample: sample, Sealed: func(p *provider.Provider) *string { return &p.Settings.Secret },
		Hooks: portal.Hooks[provider.Provider]{Prepare: s.prepare, Before: s.before, After: s.after},
		Rows: func(o portal.Operations[provider.Provider, Listed, Shown]) []operation.Row {
			hidden := []operation.Option{operation.Redact("Configuration", "MetaData"), operation.Limits(maxBody, 0)}
			slow := []operation.Option{operation.Limits(0, longest), operation.Faulting(CodeFailed, CodeBusy)}
			act := append([]operation.Option{portal.Action(), portal.Unprocessable()}, slow...)
			return []operation.Row{
				o.ListRow(), o.CreateRow(hidden...), o.GetRow(), o.UpdateRow(hidden...), o.DeleteRow(operation.Limits(0, longest),
					operation.Notes("The products and plans of the provider are deleted as well. The dashboard is not called; its policies and keys remain. Many products are deleted in several steps. If the request fails between steps, send it again.")),
				operation.PUT("synchronize", "/{provider_id}/synchronize", "Synchronise a provider now", s.synchronise, append(act,
					operation.Notes("The response comes when the synchronisation has ended. If one is already running, a new one starts after it."), operation.Example(nil, portal.Executed("Synchronize")))...),
				operation.PUT("synchronize_all", "/all/synchronize", "Synchronise all providers now", func(ctx context.Context, _ struct{}) (portal.Done, error) {
					return portal.Executed("Synchronize"), s.All(ctx)
				}, append(act,
					operation.Notes("Providers are synchronised one after the other. The response has an error text for each provider that failed."), operation.Example(nil, portal.Executed("Synchronize")))...),
				operation.GET("drift", "/{provider_id}/drift", "List the differences between the portal and a dashboard", s.drift, append(slow,
					operation.Notes("Nothing is changed. The next synchronisation repairs the differences."), operation.Example(nil, exampleDrift))...),
			}
		},
	}
}

// step is how many records of a provider are deleted in one unit of work.
const step = 500

// prepare deletes most records of a provider to be deleted in short units of work, so that
// others can write in between; the last unit deletes the rest. Synchronisation cannot add
// records meanwhile.
func (s *Service) prepare(ctx context.Context, c *portal.Change[provider.Provider]) error {
	if c.Op != store.Deleted {
		return nil
	}
	for _, shelf := range s.Shelves {
		n, err := s.count(ctx, shelf, c.Old.ID)
		if err == nil && n > step {
			err = s.turns.do(ctx, c.Old.ID, maxRuns, func(ctx context.Context) error { // deletes records of the shelf until step are left
				for {
					n, err := s.count(ctx, shelf, c.Old.ID)
					if err != nil || n <= step {
						return err
					}
					_, err = s.Store.Update(ctx, c.Scope, func(w store.Writer) error { return shelf.Clear(ctx, w, c.Old.ID, min(step, n-step), c.At) })
					if err != nil {
						return err
					}
				}
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) count(ctx context.Context, shelf Shelf, of table.ID) (n int, err error) {
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) (err error) {
		n, err = shelf.Count(ctx, r, of)
		return err
	})
	return n, err
}

// before takes the configuration in the request, and seals its secret. An unchanged secret
// stays sealed as it was.
func (s *Service) before(_ context.Context, _ store.Writer, c *portal.Change[provider.Provider]) (err error) {
	if c.Op == store.Deleted {
		return nil
	}
	var replaced bool
	c.New, replaced, _ = c.New.Configured() // its problems were reported before
	if !replaced || c.New.Settings.Secret == "" {
		return nil
	}
	if was, err := s.opened(c.Old); err == nil && was.Settings.Secret == c.New.Settings.Secret {
		c.New.Settings.Secret = c.Old.Settings.Secret
		return nil
	}
	c.New.Settings.Secret, err = s.Keys.Seal(c.New.Settings.Secret)
	return err
}

// after stores the state of a new provider, and deletes the records of a deleted one.
func (s *Service) after(ctx context.Context, w store.Writer, c *portal.Change[provider.Provider]) error {
	switch c.Op {
	case store.Created:
		return states.Insert(ctx, w, provider.State{Provider: c.New.ID, Portal: c.Scope.Org(), Status: provider.Unknown})
	case store.Deleted:
		for _, shelf := range s.Shelves {
			if err := shelf.Clear(ctx, w, c.Old.ID, 0, c.At); err != nil {
				return err
			}
		}
		if s.Clear != nil {
			if err := s.Clear(ctx, w, c.Old.ID); err != nil {
				return err
			}
		}
		_, err := states.Delete(ctx, w, c.Old.ID.Key(), nil)
		return err
	}
	return nil
}
