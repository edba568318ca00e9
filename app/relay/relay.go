// Package relay carries what commits announce from the change log of the store to a
// sink: in order, at least once, by one process of the cluster at a time.
//
// The change log is the outbox. How far a sink has been told is kept in the store, next
// to the lease that says which process tells it; a process that takes over goes on
// from there. Requests never wait for any of this.
package relay

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/retry"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Config is what a Relay is made of. Fields with a default may be zero.
type Config struct {
	ChangeLog store.ChangeLog
	Leases    store.Leases
	Sink      notify.Sink
	// Signals is what changes announce; nil: nothing but notices do.
	Signals signal.Table
	Holder  string       // names this process among all that share the store
	Now     system.Clock // default time.Now
	Logger  *slog.Logger // default slog.Default
	// Ready, if set, says whether gateways will find what was announced:
	// nothing is delivered while it returns an error. A gateway that cannot reach
	// the service during a reload stops reloading (docs/wire/gateway-nodes.md#rules-that-matter-most).
	Ready func(context.Context) error
	// Unseal decrypts the payload of commands that are kept encrypted; nil: there are none.
	Unseal  func(sealed string) (plain string, err error)
	TTL     time.Duration // how long a dead process keeps its lease; default 10 s
	Retry   time.Duration // pause after a failure, doubled up to a hundred times as long; default 50 ms
	Timeout time.Duration // of one delivery; default 30 s
}

// Relay tells one sink.
type Relay struct {
	config          Config
	holding         atomic.Bool
	position, ahead atomic.Uint64 // told up to; last commit known
	lease           trouble       // with the lease and the cursor
	changes         trouble       // with reading commits
	gate            trouble       // with answering gateways
	sink            trouble       // with telling

	quitting context.Context // ends with Quit
	quit     context.CancelFunc
	mu       sync.Mutex
	running  chan struct{} // closed when Run has returned; nil before it begins
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
	c.TTL = cmp.Or(c.TTL, 10*time.Second)
	c.Retry = cmp.Or(c.Retry, 50*time.Millisecond)
	c.Timeout = cmp.Or(c.Timeout, 30*time.Second)
	r := &Relay{config: c}
	r.quitting, r.quit = context.WithCancel(context.Background())
	r.lease = trouble{now: c.Now, log: c.Logger, what: "the lease of a sink can be neither taken nor renewed"}
	r.changes = trouble{now: c.Now, log: c.Logger, what: "what there is to announce cannot be read"}
	r.gate = trouble{now: c.Now, log: c.Logger, what: "announcements wait: gateways could not fetch what is announced"}
	r.sink = trouble{now: c.Now, log: c.Logger, what: "announcements do not get through; they wait"}
	return r
}

// Name returns the name of the sink.
func (r *Relay) Name() string { return r.config.Sink.Name() }

// Takeover is the TTL for a store that several processes share: another process goes
// on within two seconds when the one that announced has died.
const Takeover = 1500 * time.Millisecond

// compete is how often a process without the lease asks for it, at most.
const compete = time.Second

// Run delivers while this process holds the lease, and competes for it while
// another does, until ctx ends or Quit is called. It returns the error of ctx.
func (r *Relay) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{})
	defer close(done)
	r.mu.Lock()
	r.running = done
	r.mu.Unlock()
	defer context.AfterFunc(r.quitting, cancel)()
	pause := r.pause()
	for ctx.Err() == nil && r.quitting.Err() == nil {
		l, err := r.acquire(ctx)
		switch {
		case ctx.Err() != nil && err != nil:
		case err != nil:
			r.lease.fail(err)
			_ = pause.Wait(ctx)
		case l == nil:
			r.lease.over()
			pause.Reset()
			_ = retry.Sleep(ctx, min(r.config.TTL/perTTL, compete))
		default:
			r.lease.over()
			r.hold(ctx, l)
			_ = retry.Sleep(ctx, r.config.Retry)
		}
	}
	return ctx.Err()
}

// Quit ends announcements for good, and the lease with them, so that another
// process goes on. It returns when nothing is being told any more, or when ctx ends.
func (r *Relay) Quit(ctx context.Context) error {
	r.quit()
	r.mu.Lock()
	running := r.running
	r.mu.Unlock()
	if running == nil {
		return nil
	}
	select {
	case <-running:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// finish is how long a delivery in flight may take after the end was asked for:
// cut short, it would come again from the next process.
const finish = time.Second

// hold delivers until ctx ends or the lease is lost.
func (r *Relay) hold(ctx context.Context, l *holding) {
	held, lose := context.WithCancel(context.WithoutCancel(ctx)) // for what must stop when the lease is lost
	defer lose()
	run, stop := context.WithCancel(held) // for what must stop when ctx ends as well
	defer stop()
	defer context.AfterFunc(ctx, func() {
		stop()
		time.AfterFunc(finish, lose)
	})()
	r.position.Store(uint64(l.saved))
	r.ahead.Store(uint64(l.saved))
	r.holding.Store(true)
	r.config.Logger.Debug("this process announces from now on", "after", l.saved)

	var others sync.WaitGroup
	items := make(chan item, maxBatch)
	others.Go(func() { l.keep(run, lose) })
	others.Go(func() { r.read(run, l.saved, items) })
	if w, ok := r.config.Sink.(notify.Watcher); ok {
		others.Go(func() { r.watch(run, w, items) })
	}
	r.carry(run, held, l, items)
	stop()
	others.Wait()

	r.holding.Store(false)
	for _, t := range []*trouble{&r.changes, &r.gate, &r.sink} {
		t.forget()
	}
	if l.lost() {
		r.config.Logger.Warn("another process may announce by now; this one competes again")
		return
	}
	l.giveBack(context.WithoutCancel(ctx))
}
