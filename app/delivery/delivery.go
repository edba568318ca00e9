// Package delivery sends events to external receivers. It makes deliveries of the
// events in the change log, keeps them in the store, and sends those of each receiver
// in order, at least once, from one process of the cluster at a time
// (docs/wire/deliveries.md).
package delivery

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/lease"
	"github.com/gatehouse-io/gatehouse/core/delivery"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/deliver"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Settings says whether deliveries are made, and how. Fields with a default may be
// zero.
type Settings struct {
	Fetcher  fetch.Fetcher // sends; nil: there are no deliveries
	Workers  int           // concurrent attempts; default 8
	Pause    time.Duration // after the first failed attempt; default 5 s
	KeepDone time.Duration // how long a successful delivery is listed; default 24 h
	Keep     time.Duration // how long a failed delivery is listed; default 720 h
	Holder   string        // unique name of this process among all that share the store
	TTL      time.Duration // how long a dead process keeps others from sending; default 10 s
	Name     string        // of the lease: services with different names share only the log; default Operation
	// Serves reports whether this service sends the deliveries of an audience, by its
	// name; nil: it sends those of all audiences.
	Serves  func(audience string) bool
	Share   int           // maximum number of workers for one organisation; default half of them
	Timeout time.Duration // maximum duration of an attempt; default 30 s
}

// defaultTimeout is the timeout of an attempt if its target sets none.
const defaultTimeout = 10 * time.Second

// Operation is the attribution of commits that maintain the queue. Audit trails leave
// these commits out.
const Operation = "deliveries"

// Store is what deliveries need of a store.
type Store interface {
	store.Store
	store.ChangeLog
	store.Leases
	store.Historian
}

// Service stores and sends deliveries. Make one with New.
type Service struct {
	Settings
	tools     crud.Tools
	store     Store
	now       system.Clock
	steady    system.Clock // the clock for the age of deliveries
	log       *slog.Logger
	sources   map[string]deliver.Source // by kind
	audiences []deliver.Audience
	turn      *lease.Lease
}

// New returns the service. sources makes events of the changes of a kind, by kind.
func New(s Settings, t crud.Tools, sources map[string]deliver.Source, audiences ...deliver.Audience) (*Service, error) {
	s.Workers = cmp.Or(s.Workers, 8)
	s.Pause = cmp.Or(s.Pause, 5*time.Second)
	s.KeepDone = cmp.Or(s.KeepDone, 24*time.Hour)
	s.Keep = cmp.Or(s.Keep, 720*time.Hour)
	s.Name = cmp.Or(s.Name, Operation)
	s.Share = cmp.Or(s.Share, max(1, s.Workers/2))
	s.Timeout = cmp.Or(s.Timeout, 30*time.Second)
	if s.Serves == nil {
		s.Serves = func(string) bool { return true }
	}
	d := &Service{Settings: s, tools: t, now: t.Now, steady: system.Steady(t.Now), log: t.Log, sources: sources, audiences: audiences}
	if s.Fetcher == nil {
		return d, nil
	}
	var ok bool
	if d.store, ok = t.Store.(Store); !ok {
		return nil, errors.New("deliveries need a store with a change log, history and leases")
	}
	d.turn = lease.New(lease.Config{Leases: d.store, Name: s.Name, Holder: s.Holder, Logger: t.Log, TTL: s.TTL, Trouble: d.trouble("the lease of deliveries can be neither taken nor renewed")})
	return d, nil
}

// The indexes of deliveries.
const (
	byState = "state" // of all deliveries
	byLane  = "lane"  // of pending deliveries, by key
	byPlace = "place" // of pending deliveries, sorted within the key
)

// Deliveries is the kind of deliveries.
var deliveries = &store.Kind[delivery.Delivery]{
	Name: delivery.Kind, Noun: "delivery",
	ID:  func(d delivery.Delivery) string { return d.ID },
	Org: func(d delivery.Delivery) tenant.ID { return d.OrgID },
	Indexes: []store.Index[delivery.Delivery]{
		store.Lookup(byState, func(d delivery.Delivery) string { return string(d.State) }),
		store.Lookup(byLane, whilePending(delivery.Delivery.Key)),
		store.Sorted(byPlace, whilePending(func(d delivery.Delivery) string { return d.Key() + "\x00" + d.Place })),
	},
}

func whilePending(value func(delivery.Delivery) string) func(delivery.Delivery) string {
	return func(d delivery.Delivery) string {
		if d.State != delivery.Pending {
			return ""
		}
		return value(d)
	}
}

// Registration returns the registration of the kind of deliveries.
func Registration() crud.Registration {
	return crud.Facts[delivery.Delivery]{Kind: deliveries, Sample: func(at crud.Stamp) (delivery.Delivery, error) {
		d := delivery.New(at.Org, "organisation", "api_event", "api_event", delivery.Origin{Revision: 1, At: at.Now()}, []byte(`{}`))
		d.ID = at.ID
		return d, nil
	}}.Registration()
}

// Backlog is the number of deliveries that have not reached their receivers.
type Backlog struct {
	Pending int // they are being sent, or wait
	Failed  int // they rest until an admin sends them again
}

// Backlog counts the deliveries of all services and organisations.
func (s *Service) Backlog(ctx context.Context) (b Backlog, err error) {
	err = s.tools.Store.View(ctx, tenant.Everyone(Operation), func(r store.Reader) (err error) {
		count := func(state delivery.State) (int, error) {
			return r.Count(ctx, store.Query{Kind: delivery.Kind, Index: byState, Value: string(state)})
		}
		if b.Pending, err = count(delivery.Pending); err == nil {
			b.Failed, err = count(delivery.Failed)
		}
		return err
	})
	return b, err
}

// Begin notes that events in a new store are those of the commits from now on.
func (s *Service) Begin(ctx context.Context) error { return s.turn.Begin(ctx) }

// Run makes and sends deliveries while this process holds the lease, until ctx ends or
// Quit is called.
func (s *Service) Run(ctx context.Context) error {
	return s.turn.Run(ctx, s.hold)
}

// Quit ends deliveries for good, so that another process continues.
func (s *Service) Quit(ctx context.Context) error {
	return s.turn.Quit(ctx)
}

// hold works until run ends.
func (s *Service) hold(run, held context.Context, h *lease.Holding) {
	run = store.Attribute(run, store.Attribution{Actor: Operation, Operation: Operation})
	held = store.Attribute(held, store.Attribution{Actor: Operation, Operation: Operation})
	q := &queue{lanes: map[string]*lane{}, busy: map[tenant.ID]int{}, most: s.Share}
	q.changed = sync.NewCond(&q.mu)
	defer context.AfterFunc(run, q.close)()
	var all sync.WaitGroup
	all.Go(func() { s.tell(run, h, q) })
	all.Go(func() { s.resume(run, q) })
	all.Go(func() { s.forget(run) })
	for range s.Workers {
		all.Go(func() {
			for l := q.take(); l != nil; l = q.take() {
				q.back(l, s.work(run, held, l))
			}
		})
	}
	all.Wait()
}

// trouble returns a function that logs when a failure begins (its first error) and ends
// (nil).
func (s *Service) trouble(what string) func(error) {
	var mu sync.Mutex
	wrong := false
	return func(err error) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil && !wrong:
			s.log.Warn(what, "error", err)
		case err == nil && wrong:
			s.log.Info("over: " + what)
		}
		wrong = err != nil
	}
}

// serves reports whether this service serves a lane, by the key of its deliveries.
func (s *Service) serves(org tenant.ID, key string) bool {
	audience, _, ok := strings.Cut(strings.TrimPrefix(key, string(org)+"/"), "/")
	return ok && s.Serves(audience)
}
