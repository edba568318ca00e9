// Package relay carries what commits announce from the change log of the store to a
// sink: in order, at least once, by one process of the cluster at a time.
//
// The change log is the outbox. The store keeps the position of the sink next to the
// lease of the process that delivers, so that the next holder continues from there.
// Requests never wait for any of this.
package relay

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse-io/gatehouse/app/lease"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Config is the configuration of a Relay. Fields with a default may be zero.
type Config struct {
	ChangeLog store.ChangeLog
	Leases    store.Leases
	Sink      notify.Sink
	// Signals maps changes to signals; nil: only notices are announced.
	Signals signal.Table
	Holder  string       // unique name of this process among all that share the store
	Now     system.Clock // default time.Now
	Logger  *slog.Logger // default slog.Default
	// Ready, if set, returns an error while gateways could not load what is announced:
	// nothing is delivered then. A gateway that cannot reach the service during a
	// reload stops reloading (docs/wire/gateway-nodes.md#rules-that-matter-most).
	Ready func(context.Context) error
	// Unseal decrypts sealed payloads of commands; nil: there are none.
	Unseal  func(sealed string) (plain string, err error)
	TTL     time.Duration // how long a dead process keeps its lease; 0: no other process shares the store, and 10 s
	Retry   time.Duration // pause after a failure, doubled up to twenty times as long; default 50 ms
	Timeout time.Duration // of one delivery; default 30 s
}

// Relay delivers to one sink.
type Relay struct {
	config          Config
	alone           bool // no other process shares the store
	holding         atomic.Bool
	position, ahead atomic.Uint64 // revision that was delivered; last known commit
	lease           trouble       // failures of the lease and the cursor
	changes         trouble       // failures to read commits
	gate            trouble       // reasons why gateways could not load what is announced
	sink            trouble       // failures to deliver
	back            returns       // gateways that came back

	turn *lease.Lease
}

// New returns a Relay that does nothing until Run.
func New(c Config) *Relay {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Unseal == nil {
		c.Unseal = func(string) (string, error) { return "", errors.New("there is no key") }
	}
	c.Logger = c.Logger.With("sink", c.Sink.Name())
	alone := c.TTL == 0
	c.TTL = cmp.Or(c.TTL, 10*time.Second)
	c.Retry = cmp.Or(c.Retry, 50*time.Millisecond)
	c.Timeout = cmp.Or(c.Timeout, 30*time.Second)
	r := &Relay{config: c, alone: alone, back: returns{news: make(chan struct{}, 1)}}
	r.lease = trouble{now: c.Now, log: c.Logger, what: "the lease of a sink can be neither taken nor renewed"}
	r.changes = trouble{now: c.Now, log: c.Logger, what: "what there is to announce cannot be read"}
	r.gate = trouble{now: c.Now, log: c.Logger, what: "announcements wait: gateways could not fetch what is announced"}
	r.sink = trouble{now: c.Now, log: c.Logger, what: "announcements do not get through; they wait"}
	r.turn = lease.New(lease.Config{Leases: c.Leases, Name: r.Name(), Holder: c.Holder, Logger: c.Logger, TTL: c.TTL, Retry: c.Retry, Trouble: func(err error) {
		if err != nil {
			r.lease.fail(err)
		} else {
			r.lease.over()
		}
	}})
	return r
}

// Name returns the name of the sink.
func (r *Relay) Name() string { return r.config.Sink.Name() }

// Begin notes that a sink that is new to the store gets all commits from now on.
func (r *Relay) Begin(ctx context.Context) error { return r.turn.Begin(ctx) }

// Run delivers while this process holds the lease, and competes for the lease while
// another process holds it, until ctx ends or Quit is called. It returns the error of
// ctx.
func (r *Relay) Run(ctx context.Context) error {
	watching, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer stop()
	if w, ok := r.config.Sink.(notify.Watcher); ok {
		watch.Go(func() { r.watch(watching, w) })
	}
	return r.turn.Run(ctx, r.hold)
}

// Quit ends deliveries for good and releases the lease, so that another process
// continues. It returns when no delivery is in progress, or when ctx ends.
func (r *Relay) Quit(ctx context.Context) error { return r.turn.Quit(ctx) }

// hold delivers until run ends.
func (r *Relay) hold(run, held context.Context, h *lease.Holding) {
	run, stop := context.WithCancel(run)
	defer stop()
	r.position.Store(uint64(h.Began()))
	r.ahead.Store(uint64(h.Began()))
	r.holding.Store(true)
	r.config.Logger.Debug("this process announces from now on", "after", h.Began())

	var others sync.WaitGroup
	items := make(chan item, maxBatch)
	others.Go(func() { r.read(run, h.Began(), items) })
	others.Go(func() { r.welcome(run, items) })
	for { // until run ends
		to, out := gather(run, items)
		began := time.Now()
		if run.Err() != nil {
			break
		}
		if len(out) > 0 && !r.deliver(run, held, out) {
			h.Yield() // no matter if run has ended
			break
		}
		r.back.told(began, out)
		if to > 0 {
			r.position.Store(uint64(to))
			h.Reached(to, len(out) > 0)
		}
	}
	stop()
	others.Wait()

	r.holding.Store(false)
	for _, t := range []*trouble{&r.changes, &r.gate, &r.sink} {
		t.mu.Lock()
		t.err = nil // without a log line: another process delivers now
		t.mu.Unlock()
	}
}
