package relay_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/relay"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

var errAway = errors.New("away")

// world is a store that can be unavailable, a sink that can refuse, and the log. Tests
// run in a bubble whose time passes only while all goroutines wait.
type world struct {
	*testing.T
	db      *memdb.DB
	changes *changeLog
	sink    *sink
	log     apptest.Log
}

// inWorld runs a test in a synctest bubble.
func inWorld(t *testing.T, test func(w *world)) {
	apptest.InBubble(t, func(t *testing.T, db *memdb.DB) {
		test(&world{T: t, db: db, changes: &changeLog{DB: db}, sink: &sink{}})
	})
}

// relay returns a new relay.
func (w *world) relay(holder string, more ...func(*relay.Config)) *relay.Relay {
	c := relay.Config{ChangeLog: w.changes, Leases: &leases{DB: w.db}, Sink: w.sink, Signals: signal.Table{
		registry.Kind: signal.Always(signal.ClientIdPChanged, "client_idp_id"), "policy": signal.Always(signal.PolicyChanged, "id")}, Holder: holder, Now: time.Now,
		Logger: slog.New(slog.NewTextHandler(&w.log, nil))}
	for _, set := range more {
		set(&c)
	}
	return relay.New(c)
}

// start runs a relay; stop ends it and waits for its end.
func (w *world) start(holder string, more ...func(*relay.Config)) (r *relay.Relay, stop func()) {
	r = w.relay(holder, more...)
	return r, w.run(r)
}

func (w *world) run(r *relay.Relay) (stop func()) {
	ctx, cancel := context.WithCancel(w.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := r.Run(ctx); !errors.Is(err, context.Canceled) {
			w.Errorf("Run returned %v", err)
		}
	}()
	stop = func() { cancel(); <-done }
	w.Cleanup(stop)
	synctest.Wait()
	return stop
}

// commit writes records of a kind in one unit of work.
func (w *world) commit(kind string, aliases ...string) {
	w.Helper()
	scope, err := tenant.Of("5f1a0c5d8e3b2a1f00000001")
	if err != nil {
		w.Fatal(err)
	}
	_, err = w.db.Update(w.Context(), scope, func(wr store.Writer) error {
		for _, alias := range aliases {
			before, err := wr.Get(w.Context(), kind, "id-"+alias)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			if err := wr.Put(w.Context(), store.Record{Org: scope.Org(), Kind: kind, ID: "id-" + alias, Rev: before.Rev,
				Doc: []byte(`{"at":"` + time.Now().String() + `"}`), Keys: []store.Key{{Index: "client_idp_id", Value: alias, Unique: true}}}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
}

// change commits one identity provider.
func (w *world) change(alias string) { w.Helper(); w.commit(registry.Kind, alias) }

// expect compares the deliveries to the sink, once all goroutines are blocked.
func (w *world) expect(want ...string) {
	w.Helper()
	synctest.Wait()
	if have := w.sink.told(); !slices.Equal(have, want) {
		w.Fatalf("told %v, want %v", have, want)
	}
}

// changeLog is a change log that can be unavailable.
type changeLog struct {
	*memdb.DB
	away   flag // Head fails
	broken flag // Follow fails
}

func (f *changeLog) Head(ctx context.Context) (store.Revision, error) {
	if f.away.get() {
		return 0, errAway
	}
	return f.DB.Head(ctx)
}

func (f *changeLog) Follow(ctx context.Context, after store.Revision) iter.Seq2[store.Commit, error] {
	return func(yield func(store.Commit, error) bool) {
		for c, err := range f.DB.Follow(ctx, after) {
			if f.broken.get() {
				yield(store.Commit{}, errAway)
				return
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// leases is the leases as one process sees them.
type leases struct {
	*memdb.DB
	away      flag // every call fails
	dead      flag // the process does not reach the store any more, and does not notice it
	lost      flag // renewing fails
	acquired  counter
	advanced  counter
	lastSaved counter
}

func (l *leases) Acquire(ctx context.Context, sink, holder string, ttl time.Duration) (store.Revision, bool, error) {
	l.acquired.add(1)
	switch {
	case l.away.get():
		return 0, false, errAway
	case l.dead.get():
		<-ctx.Done()
		return 0, false, ctx.Err()
	case l.lost.get():
		return 0, false, nil
	}
	return l.DB.Acquire(ctx, sink, holder, ttl)
}

func (l *leases) Advance(ctx context.Context, sink, holder string, to store.Revision) error {
	l.advanced.add(1)
	switch {
	case l.away.get():
		return errAway
	case l.dead.get():
		<-ctx.Done()
		return ctx.Err()
	}
	l.lastSaved.set(int(to))
	return l.DB.Advance(ctx, sink, holder, to)
}

func (l *leases) Release(ctx context.Context, sink, holder string) error {
	if l.dead.get() {
		return errAway
	}
	return l.DB.Release(ctx, sink, holder)
}

// sink records deliveries and the times of attempts.
type sink struct {
	refuse flag // every delivery fails
	stuck  flag // every delivery lasts until its context ends
	slow   flag // every delivery takes half a second, whatever its context says

	mu       sync.Mutex
	got      []string
	attempts []time.Time
	batches  int
}

func (*sink) Name() string { return "test" }

func (s *sink) Deliver(ctx context.Context, as []notify.Announcement) error {
	s.mu.Lock()
	s.attempts = append(s.attempts, time.Now())
	s.mu.Unlock()
	switch {
	case s.refuse.get():
		return fmt.Errorf("attempt at %s: %w", time.Now(), errAway)
	case s.stuck.get():
		<-ctx.Done()
		return ctx.Err()
	case s.slow.get():
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches++
	for _, a := range as {
		s.got = append(s.got, strings.TrimSuffix(fmt.Sprintf("%d.%d %s %s", a.Rev, a.Index, a.Signal.Command, a.Signal.Payload), " "))
	}
	return nil
}

func (s *sink) told() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

// asked returns the times of the attempts to deliver.
func (s *sink) asked() []time.Time {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.attempts)
}

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) add(n int) { c.mu.Lock(); defer c.mu.Unlock(); c.n += n }
func (c *counter) set(n int) { c.mu.Lock(); defer c.mu.Unlock(); c.n = n }
func (c *counter) get() int  { c.mu.Lock(); defer c.mu.Unlock(); return c.n }

type flag struct{ counter }

func (f *flag) set(on bool) {
	if on {
		f.counter.set(1)
	} else {
		f.counter.set(0)
	}
}
func (f *flag) get() bool { return f.counter.get() == 1 }
