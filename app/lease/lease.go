// Package lease gives work to one process of a cluster at a time: the one that holds a
// lease in the store. The progress of the work is stored with the lease, so that the
// next holder continues from there.
package lease

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/retry"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Takeover is the TTL for a store that several processes share: when the holder has
// died, another process continues within two seconds.
const Takeover = 1500 * time.Millisecond

// compete is how often a process without the lease asks for it, at most.
const compete = time.Second

// finish is how long work in progress may take after Quit or the end of ctx: if it were
// cut short, the next process would repeat it.
const finish = time.Second

// Config is the configuration of a Lease. Fields with a default may be zero.
type Config struct {
	Leases store.Leases
	Name   string        // of the work: the same after each restart
	Holder string        // unique name of this process among all that share the store
	Logger *slog.Logger  // default slog.Default
	TTL    time.Duration // how long a dead process keeps its lease; default 10 s
	Retry  time.Duration // pause after a failure, doubled up to a hundred times as long; default 50 ms
	// Trouble, if set, is called with the error when the lease can be neither taken nor
	// renewed, and with nil when it can again.
	Trouble func(error)
}

// Lease is the right to do some work. Begin, Run and Quit of a nil Lease do nothing.
type Lease struct {
	config   Config
	quitting context.Context // ends with Quit
	quit     context.CancelFunc
	mu       sync.Mutex
	running  chan struct{} // closed when Run has returned; nil before it begins
}

// New returns a Lease that does nothing until Run.
func New(c Config) *Lease {
	c.TTL = cmp.Or(c.TTL, 10*time.Second)
	c.Retry = cmp.Or(c.Retry, 50*time.Millisecond)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Trouble == nil {
		c.Trouble = func(error) {}
	}
	l := &Lease{config: c}
	l.quitting, l.quit = context.WithCancel(context.Background())
	return l
}

// Begin notes in the store where work begins that has no cursor yet: after the last
// commit. Run would note it later and leave out the commits until then, so a service
// calls Begin before it accepts calls.
func (l *Lease) Begin(ctx context.Context) error {
	if l == nil {
		return nil
	}
	_, _, err := l.config.Leases.Acquire(ctx, l.config.Name, l.config.Holder, l.config.TTL)
	return err
}

// Work is called while a process holds the lease. run ends when the work must begin
// nothing new; held ends when work in progress must stop as well.
type Work func(run, held context.Context, h *Holding)

// Run works while this process holds the lease, and competes for the lease while
// another process holds it, until ctx ends or Quit is called. It returns the error of
// ctx.
func (l *Lease) Run(ctx context.Context, work Work) error {
	if l == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{})
	defer close(done)
	l.mu.Lock()
	l.running = done
	l.mu.Unlock()
	defer context.AfterFunc(l.quitting, cancel)()
	pause := retry.New(l.config.Retry, 100*l.config.Retry)
	for ctx.Err() == nil && l.quitting.Err() == nil {
		h, err := l.acquire(ctx)
		switch {
		case ctx.Err() != nil && err != nil:
		case err != nil:
			l.config.Trouble(err)
			_ = pause.Wait(ctx)
		case h == nil:
			l.config.Trouble(nil)
			pause.Reset()
			_ = retry.Sleep(ctx, l.interval())
		default:
			l.config.Trouble(nil)
			l.hold(ctx, h, work)
			rest := l.config.Retry
			if h.yielded {
				rest = max(rest, 2*l.interval())
			}
			_ = retry.Sleep(ctx, rest)
		}
	}
	return ctx.Err()
}

// interval is how often a process without the lease asks for it.
func (l *Lease) interval() time.Duration { return min(l.config.TTL/perTTL, compete) }

// Quit ends the work for good and releases the lease, so that another process
// continues. It returns when the work has stopped, or when ctx ends.
func (l *Lease) Quit(ctx context.Context) error {
	if l == nil {
		return nil
	}
	l.quit()
	l.mu.Lock()
	running := l.running
	l.mu.Unlock()
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

// hold works until ctx ends or the lease is lost.
func (l *Lease) hold(ctx context.Context, h *Holding, work Work) {
	held, lose := context.WithCancel(context.WithoutCancel(ctx)) // ends when the lease is lost
	defer lose()
	run, stop := context.WithCancel(held) // ends when the lease is lost or ctx ends
	defer stop()
	defer context.AfterFunc(ctx, func() {
		stop()
		time.AfterFunc(finish, lose)
	})()
	// The lease is renewed until the work has ended, which may take longer than the
	// TTL: otherwise two processes would work at the same time.
	keeping, end := context.WithCancel(context.WithoutCancel(ctx))
	var keeper sync.WaitGroup
	keeper.Go(func() { h.keep(keeping, func() { lose(); end() }) })
	work(run, held, h)
	end()
	keeper.Wait()
	h.mu.Lock()
	lost := h.gone
	h.mu.Unlock()
	if lost {
		l.config.Logger.Warn("another process may work by now; this one competes again", "lease", l.config.Name)
		return
	}
	// So that another process can continue exactly where this one stopped.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.config.TTL/3)
	defer cancel()
	if err := errors.Join(h.save(ending), l.config.Leases.Release(ending, l.config.Name, l.config.Holder)); err != nil {
		l.config.Logger.Warn("a lease could not be given back; it expires by itself", "lease", l.config.Name, "error", err)
	}
}
