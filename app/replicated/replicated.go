// Package replicated serves reads from a copy in memory that follows the change log of
// a primary store. Writes go to the primary, and no write depends on the copy.
package replicated

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/retry"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Primary is the store for writes.
type Primary interface {
	store.Store
	store.ChangeLog
	store.Snapshotter
	store.Historian
	store.Leases
}

// Replica is the copy, to which commits are applied one after the other.
type Replica interface {
	View(ctx context.Context, s tenant.Scope, fn func(store.Reader) error) error
	Head(ctx context.Context) (store.Revision, error)
	Load(s store.State) error
	Apply(commits ...store.Commit) error
	Wait(ctx context.Context, r store.Revision) error
}

// Mode says how up to date a read must be.
type Mode string

// The modes of reading.
const (
	// Current reads see every commit that was acknowledged by any replica before they
	// began. They cost one small query, which concurrent reads share.
	Current Mode = "current"
	// Local reads see every commit of this process at once, and those of others after
	// the usual lag. For installations where only one process writes.
	Local Mode = "local"
	// Direct reads bypass the copy.
	Direct Mode = "primary"
)

// committer is a primary that knows, without a query, the last revision that this
// process has committed. No result that a caller in this process has got is newer. With
// other primaries, Local reads are Current ones.
type committer interface{ Committed() store.Revision }

// recent is a primary that has the last commits of this process in memory.
type recent interface {
	// Recent returns those of them that directly follow a revision, without a gap.
	Recent(after store.Revision) []store.Commit
}

// Store is a store.Store whose reads use the copy in memory.
type Store struct {
	Primary
	replica Replica
	turn    sync.Mutex // held while the copy is changed
	mode    Mode
	log     *slog.Logger
	heads   heads
	loaded  chan struct{} // closed after the first snapshot
	broken  chan error    // the error if the copy can never be loaded
	once    sync.Once
	trouble atomic.Pointer[Trouble]
	// PutBack, if set, is called when the primary has fewer commits than the copy had. It is
	// called again until it succeeds.
	PutBack func(context.Context) error
}

var (
	_ store.Store = (*Store)(nil)
	_ store.Stale = (*Store)(nil)
	_ store.Sized = (*Store)(nil)
)

// Trouble says why the copy does not follow the store, and since when.
type Trouble struct {
	Since time.Time
	Err   error
}

// New returns a store that can be read once Run has loaded the copy.
func New(p Primary, r Replica, m Mode, log *slog.Logger) *Store {
	if log == nil {
		log = slog.Default()
	}
	return &Store{Primary: p, replica: r, mode: m, log: log, loaded: make(chan struct{}), broken: make(chan error, 1), heads: heads{ask: p.Head}}
}

// View implements store.Store.
func (s *Store) View(ctx context.Context, sc tenant.Scope, fn func(store.Reader) error) error {
	if s.mode == Direct {
		return s.Primary.View(ctx, sc, fn)
	}
	if sc.IsZero() {
		return store.ErrScope
	}
	if err := s.reach(ctx); err != nil {
		return err
	}
	return s.replica.View(ctx, sc, fn)
}

// reach waits until the copy is as up to date as the mode requires.
func (s *Store) reach(ctx context.Context) (err error) {
	var want store.Revision // the copy must not be older
	if c, ok := s.Primary.(committer); ok && s.mode == Local {
		want = c.Committed()
	} else if want = store.Current(ctx); want == 0 {
		if want, err = s.heads.get(ctx); err != nil {
			return err
		}
		store.NoteCurrent(ctx, want)
	}
	// Wait until the copy is at this revision or later.
	select {
	case <-s.loaded:
		if at, err := s.replica.Head(ctx); err == nil && at >= want {
			return nil
		}
	default:
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-s.loaded:
		if s.replica.Wait(waiting, want) == nil {
			return nil
		}
	case <-waiting.Done():
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return fmt.Errorf("%w: the copy in memory is behind", store.ErrUnavailable)
}

// patience is how long a read waits for the copy to catch up with the primary. Usually
// the change log takes milliseconds. If it takes this long it has failed, and an early
// error is better for the client.
const patience = 2 * time.Second

// Size implements store.Sized, if the replica does.
func (s *Store) Size(org tenant.ID) int64 {
	if sized, ok := s.replica.(store.Sized); ok {
		return sized.Size(org)
	}
	return 0
}

// ViewLastKnown implements store.Stale. A primary that hangs is treated like one that
// is unavailable. Calls to it time out after up to six seconds, so this read waits for
// them only as long as it would wait for the copy.
func (s *Store) ViewLastKnown(ctx context.Context, sc tenant.Scope, fn func(store.Reader) error) (stale bool, err error) {
	if sc.IsZero() {
		return false, store.ErrScope
	}
	if s.mode == Direct {
		if err = s.Primary.View(ctx, sc, fn); err == nil {
			return false, nil
		}
	} else {
		asking, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if err = s.reach(asking); err == nil {
			return false, s.replica.View(ctx, sc, fn)
		}
	}
	if ctx.Err() != nil {
		return false, err
	}
	return true, s.ViewStale(ctx, sc, fn)
}

// ViewStale runs fn over the last known state.
func (s *Store) ViewStale(ctx context.Context, sc tenant.Scope, fn func(store.Reader) error) error {
	select {
	case <-s.loaded:
		return s.replica.View(ctx, sc, fn)
	default:
		return fmt.Errorf("%w: nothing has been loaded yet", store.ErrUnavailable)
	}
}

// Update implements store.Store. It applies the commit to the copy, unless the copy is
// being changed already: the caller usually reads next, and waiting for Run takes
// longer than the disk. Errors are ignored here, because Run gets them too and reports
// them.
func (s *Store) Update(ctx context.Context, sc tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	rev, err := s.Primary.Update(ctx, sc, fn)
	if err != nil {
		return rev, err
	}
	store.NoteCurrent(ctx, rev)
	p, ok := s.Primary.(recent)
	if !ok || !s.turn.TryLock() {
		return rev, nil
	}
	defer s.turn.Unlock()
	select {
	case <-s.loaded:
		if at, err := s.replica.Head(ctx); err == nil && at < rev {
			_ = s.replica.Apply(p.Recent(at)...)
		}
	default:
	}
	return rev, nil
}

// apply applies the commits that the copy does not have yet.
func (s *Store) apply(ctx context.Context, commits []store.Commit) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	at, err := s.replica.Head(ctx)
	for err == nil && len(commits) > 0 && commits[0].Rev <= at {
		commits = commits[1:]
	}
	if err != nil || len(commits) == 0 {
		return err
	}
	return s.replica.Apply(commits...)
}

// How long Run waits before it follows the log again. Reads wait meanwhile, so it is
// never long.
const (
	soon = 100 * time.Millisecond
	late = 500 * time.Millisecond
)

// Run loads the copy and keeps it up to date until ctx ends.
func (s *Store) Run(ctx context.Context) error {
	pause, follows := retry.New(soon, late), false
	var telling sync.WaitGroup
	defer telling.Wait()
	for ctx.Err() == nil {
		var err error
		if !follows {
			had, _ := s.replica.Head(ctx)
			err = s.load(ctx)
			if has, wrong := s.replica.Head(ctx); err == nil && wrong == nil && has < had && s.PutBack != nil {
				s.log.Warn("the store was put back to an earlier state", "had", had, "has", has)
				telling.Go(func() { s.tell(ctx) })
			}
		}
		if err == nil {
			err = s.follow(ctx, pause)
			follows = !errors.Is(err, store.ErrExpired) && !errors.Is(err, store.ErrStale) // otherwise the copy is loaded again
		}
		if ctx.Err() == nil {
			if s.trouble.CompareAndSwap(nil, &Trouble{time.Now(), err}) {
				s.log.Warn("the copy in memory does not follow the store; it serves what it has", "error", err)
			}
			_ = pause.Wait(ctx)
		}
	}
	return ctx.Err()
}

// tell calls PutBack until it succeeds.
func (s *Store) tell(ctx context.Context) {
	for pause := retry.New(late, 10*late); ctx.Err() == nil && s.PutBack(ctx) != nil; {
		_ = pause.Wait(ctx)
	}
}

// load loads the copy from a snapshot.
func (s *Store) load(ctx context.Context) error {
	err := s.Snapshot(ctx, func(st store.State) error {
		s.turn.Lock()
		defer s.turn.Unlock()
		return s.replica.Load(st)
	})
	if errors.Is(err, store.ErrDamaged) {
		select {
		case s.broken <- err:
		default:
		}
	}
	if err == nil {
		s.trouble.Store(nil)
		s.once.Do(func() { close(s.loaded) })
	}
	return err
}

// follow applies commits until the change log fails.
func (s *Store) follow(ctx context.Context, pause *retry.Pause) error {
	at, err := s.replica.Head(ctx)
	if err != nil {
		return err
	}
	if _, err := s.Primary.Head(ctx); err != nil {
		return err
	}
	s.trouble.Store(nil)
	pause.Reset()
	for commits, err := range s.batches(ctx, at) {
		if err == nil {
			err = s.apply(ctx, commits)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// batcher is a change log that yields several commits at once.
type batcher interface {
	FollowBatches(ctx context.Context, after store.Revision) iter.Seq2[[]store.Commit, error]
}

// batches follows the change log in the largest batches that it has.
func (s *Store) batches(ctx context.Context, after store.Revision) iter.Seq2[[]store.Commit, error] {
	if b, ok := s.Primary.(batcher); ok {
		return b.FollowBatches(ctx, after)
	}
	return func(yield func([]store.Commit, error) bool) {
		for c, err := range s.Follow(ctx, after) {
			if !yield([]store.Commit{c}, err) {
				return
			}
		}
	}
}

// Trouble returns why the copy does not follow the store now, or nil.
func (s *Store) Trouble() *Trouble { return s.trouble.Load() }

// Broken yields the error if the store cannot be loaded and retries are useless.
func (s *Store) Broken() <-chan error { return s.broken }

// Loaded is closed once the copy has been loaded.
func (s *Store) Loaded() <-chan struct{} { return s.loaded }
