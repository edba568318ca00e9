package linear_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/replicated"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// attempts is how many rounds are recorded for a broken build to show its fault.
const attempts = 200

// TestBrokenBuildsAreRejected removes one guard at a time.
func TestBrokenBuildsAreRejected(t *testing.T) {
	for _, build := range []struct {
		name string
		open func(*testing.T) cluster
	}{
		{"reads do not wait for the copy in memory", overHastyReads},
		{"replicas do not ask how current they are", overOwnCommits(3)},
		{"a replica counts its commits once it has answered", overOwnCommits(1)},
		{"writes are decided outside the writer's turn", overBlindWrites},
		{"preconditions are ignored", overIgnoredMatch},
	} {
		t.Run(build.name, func(t *testing.T) {
			s, c := seed(t), build.open(t).start(t)
			for round := range attempts {
				history := record(t, c, s, round)
				if res, info := verdict(history); res == porcupine.Illegal {
					t.Logf("rejected in round %d", round)
					explain(t, history, info)
					return
				}
			}
			t.Errorf("accepted %d times", attempts)
		})
	}
}

func newMemory(t *testing.T) *memdb.DB {
	t.Helper()
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// lag is the delay of a slow feed: about as long as a few requests take.
const lag = 5 * time.Millisecond

// slowFeed is a store whose commits reach followers late.
type slowFeed struct{ *memdb.DB }

// Follow implements store.ChangeLog.
func (s slowFeed) Follow(ctx context.Context, after store.Revision) iter.Seq2[store.Commit, error] {
	return func(yield func(store.Commit, error) bool) {
		for c, err := range s.DB.Follow(ctx, after) {
			if err == nil {
				time.Sleep(time.Until(c.At.Add(lag)))
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// overSlowFeed is three replicas of one store that learn of each other's commits late.
func overSlowFeed(t *testing.T) cluster {
	t.Helper()
	opts := over(slowFeed{newMemory(t)}, replicated.Current)
	return cluster{replicas: [][]app.Option{opts, opts, opts}}
}

// ownCommits takes the last commit that it has answered for the last one that exists.
type ownCommits struct {
	slowFeed
	answered *atomic.Uint64
}

// Committed returns that commit: local reads wait for it.
func (s ownCommits) Committed() store.Revision { return store.Revision(s.answered.Load()) }

// Update implements store.Store.
func (s ownCommits) Update(ctx context.Context, sc tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	rev, err := s.slowFeed.Update(ctx, sc, fn)
	if err != nil {
		return rev, err
	}
	time.Sleep(lag) // meanwhile other units may be refused because of this commit
	for old := s.answered.Load(); uint64(rev) > old && !s.answered.CompareAndSwap(old, uint64(rev)); {
		old = s.answered.Load()
	}
	return rev, nil
}

// overOwnCommits is n replicas of one store that wait for their own writes only.
func overOwnCommits(n int) func(*testing.T) cluster {
	return func(t *testing.T) cluster {
		t.Helper()
		var cl cluster
		feed := slowFeed{newMemory(t)}
		for range n {
			cl.replicas = append(cl.replicas, over(ownCommits{feed, new(atomic.Uint64)}, replicated.Local))
		}
		return cl
	}
}

// hasty serves reads from its copy without waiting.
type hasty struct{ copied *replicated.Store }

// View implements store.Store, incorrectly.
func (h hasty) View(ctx context.Context, s tenant.Scope, fn func(store.Reader) error) error {
	return h.copied.ViewStale(ctx, s, fn)
}

// Update implements store.Store.
func (h hasty) Update(ctx context.Context, s tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	return h.copied.Update(ctx, s, fn)
}

func overHastyReads(t *testing.T) cluster {
	t.Helper()
	copied := replicated.New(slowFeed{newMemory(t)}, newMemory(t), replicated.Current, nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = copied.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	<-copied.Loaded()
	return cluster{replicas: [][]app.Option{{app.WithStore(hasty{copied})}}}
}

// blind runs units of work on a snapshot, and writes the result over the current state.
type blind struct{ db *memdb.DB }

// View implements store.Store.
func (b blind) View(ctx context.Context, s tenant.Scope, fn func(store.Reader) error) error {
	return b.db.View(ctx, s, fn)
}

// Update implements store.Store, incorrectly.
func (b blind) Update(ctx context.Context, s tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	w := &blindWriter{scope: s, own: map[[2]string]store.Record{}}
	err := b.db.View(ctx, s, func(r store.Reader) error {
		w.Reader = r
		return fn(w)
	})
	if err != nil {
		return 0, err
	}
	time.Sleep(time.Millisecond / 2) // simulates a network delay between decision and write
	rev, err := b.db.Update(ctx, s, func(under store.Writer) error {
		for _, write := range w.writes {
			if err := write(under); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, store.ErrTaken) { // creations keep their guard: there is nothing to overwrite
		return b.db.Update(ctx, s, fn)
	}
	return rev, err
}

// blindWriter collects writes.
type blindWriter struct {
	store.Reader
	scope  tenant.Scope
	writes []func(store.Writer) error
	own    map[[2]string]store.Record // by kind and ID
}

// Get implements store.Reader: a unit of work sees its own writes.
func (w *blindWriter) Get(ctx context.Context, kind, id string) (store.Record, error) {
	if r, ok := w.own[[2]string{kind, id}]; ok {
		return r, nil
	}
	return w.Reader.Get(ctx, kind, id)
}

// Scope implements store.Writer.
func (w *blindWriter) Scope() tenant.Scope { return w.scope }

// Put implements store.Writer.
func (w *blindWriter) Put(ctx context.Context, r store.Record) error {
	var before *store.Record
	if old, err := w.Reader.Get(ctx, r.Kind, r.ID); err == nil {
		before = &old
	}
	seen := r
	seen.Serial = store.NextSerial(before, time.Now)
	w.own[[2]string{r.Kind, r.ID}] = seen
	w.writes = append(w.writes, func(under store.Writer) error {
		if now, err := under.Get(ctx, r.Kind, r.ID); err == nil || errors.Is(err, store.ErrNotFound) {
			r.Rev = now.Rev
		}
		return under.Put(ctx, r)
	})
	return nil
}

// Delete implements store.Writer.
func (w *blindWriter) Delete(ctx context.Context, kind, id string) error {
	w.writes = append(w.writes, func(under store.Writer) error {
		if err := under.Delete(ctx, kind, id); !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return nil
	})
	return nil
}

// overIgnoredMatch removes preconditions from requests to an otherwise correct service.
func overIgnoredMatch(*testing.T) cluster {
	return cluster{replicas: [][]app.Option{nil}, wrap: func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("If-Match")
			h.ServeHTTP(w, r)
		})
	}}
}

func overBlindWrites(t *testing.T) cluster {
	t.Helper()
	return cluster{replicas: [][]app.Option{{app.WithStore(blind{newMemory(t)})}}}
}
