package app

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.uber.org/fx"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/collector"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/lease"
	"github.com/gatehouse-io/gatehouse/app/relay"
	"github.com/gatehouse-io/gatehouse/app/replicated"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

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
	// Gateways may have loaded what the store no longer has.
	c.PutBack = func(ctx context.Context) error { return reloadAll(ctx, c, "put_back") }
	background(lc, c)
	return stores{Store: c, Copy: c}, nil
}

// takeover is how long a dead process keeps its leases: the default, if no other
// process waits for them.
func takeover(s storage) time.Duration {
	if own, ok := s.store.(interface{ Alone() bool }); s.store == nil || ok && own.Alone() {
		return 0
	}
	return lease.Takeover
}

func newKeys(s people) (secret.Keys, error) {
	if s.keys != nil {
		return s.keys, nil
	}
	return crypto.Ephemeral()
}

// newCollector keeps what gateways report.
func newCollector(lc fx.Lifecycle, b basics, c collector.Settings, kept storage, st store.Store) (*collector.Service, error) {
	leases, _ := st.(store.Leases)
	c.Holder, c.TTL = crypto.NewUUID(), takeover(kept)
	out, err := collector.New(c, leases, b.now, b.log)
	if err != nil {
		return nil, &refusal{err}
	}
	background(lc, out)
	return out, nil
}

func newDeliveries(d delivery.Settings, who identity.Listeners, kept storage, t crud.Tools, ks crud.Kinds, a *App) (*delivery.Service, error) {
	d.Holder, d.TTL, d.Serves = crypto.NewUUID(), takeover(kept), func(audience string) bool {
		return !strings.HasPrefix(audience, string(portalTenant)) // those of portals have the names of their organisations
	}
	out, err := delivery.New(d, t, ks.Events(), who)
	if err != nil {
		return nil, &refusal{err}
	}
	a.deliveries = out
	return out, nil
}

// process names this process in what it holds: services in one process that share a store
// do not take one another for dead.
var process = crypto.NewUUID()

// newIntents carries out what takes more than one commit of ours. Services add their
// actions when they are made.
func newIntents(kept storage, t crud.Tools, keys secret.Keys, a *App) *intents.Service {
	ttl := takeover(kept)
	a.intents = intents.New(intents.Settings{Holder: process, TTL: ttl, Alone: ttl == 0}, t, keys)
	return a.intents
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
	ready := func(ctx context.Context) error { // whether gateways that are told now would find the new state
		if s.serving != nil {
			if err := s.serving(); err != nil {
				return err
			}
		}
		return st.View(ctx, tenant.Everyone("announce"), func(store.Reader) error { return nil })
	}
	for _, sink := range s.sinks {
		r := relay.New(relay.Config{ChangeLog: source, Leases: source, Sink: sink, Signals: ks.Signals(), Holder: holder, Now: b.now, Logger: b.log, Ready: ready, TTL: ttl, Unseal: unseal})
		background(lc, r)
		out = append(out, r)
	}
	return out, nil
}
