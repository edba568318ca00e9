package sql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

const headText = `select coalesce(max(last), 0) from change_log`

// headOf returns the revision of the last commit, which the log always keeps.
func headOf(ctx context.Context, q querier) (store.Revision, error) {
	n, err := number(ctx, q, headText)
	return store.Revision(n), err
}

// HeadOf returns the revision of the last commit in a migrated database.
func HeadOf(ctx context.Context, db *sql.DB) (store.Revision, error) { return headOf(ctx, db) }

// Head implements store.ChangeLog.
func (s *Store) Head(ctx context.Context) (store.Revision, error) {
	head, err := headOf(ctx, s.Readers)
	return head, s.reading(err)
}

// Follow implements store.ChangeLog.
func (s *Store) Follow(ctx context.Context, after store.Revision) iter.Seq2[store.Commit, error] {
	return func(yield func(store.Commit, error) bool) {
		for commits, err := range s.FollowBatches(ctx, after) {
			if err != nil {
				yield(store.Commit{}, err)
				return
			}
			for _, c := range commits {
				if !yield(c, nil) {
					return
				}
			}
		}
	}
}

// FollowBatches is Follow with several commits at a time, as many as there are: a copy in memory
// applies them at once.
func (s *Store) FollowBatches(ctx context.Context, after store.Revision) iter.Seq2[[]store.Commit, error] {
	return func(yield func([]store.Commit, error) bool) {
		timer := time.NewTimer(s.Poll)
		defer timer.Stop()
		us := s.recent.join(after)
		defer s.recent.leave(us)
		look, heard := true, uint64(0)
		for ctx.Err() == nil {
			s.recent.mu.Lock()
			news, hints := s.recent.changed, s.recent.hints // news is closed when there may be new commits
			s.recent.mu.Unlock()
			commits, gap := s.recent.since(after)
			// The log is only queried when other processes may have committed. Otherwise each
			// commit of this process would cost each follower a query.
			if len(commits) == 0 && (look || gap || hints != heard) {
				look, heard = false, hints
				timer.Reset(s.Poll)
				var err error
				if commits, err = s.next(ctx, after); err != nil {
					if ctx.Err() == nil {
						yield(nil, s.reading(err))
					}
					return
				}
			}
			if n := len(commits); n > 0 {
				after = commits[n-1].Rev
				s.recent.took(us, after)
				if !yield(commits, nil) {
					return
				}
				continue
			}
			select {
			case <-ctx.Done():
			case <-s.ctx.Done():
				yield(nil, store.ErrClosed)
				return
			case <-news:
			case <-timer.C:
				look = true
			}
		}
	}
}

// Recent returns the commits of this process after a revision, as far as they are in memory
// without gaps.
func (s *Store) Recent(after store.Revision) []store.Commit {
	commits, _ := s.recent.since(after)
	return commits
}

// window is how many commits are read from the log at once.
const window = 1000

// next returns the commits after a revision in the log, or none when there are none yet.
func (s *Store) next(ctx context.Context, after store.Revision) ([]store.Commit, error) {
	head, err := headOf(ctx, s.Readers)
	if err != nil || head == after {
		return nil, err
	}
	if head < after { // the database is not the one that the caller followed
		return nil, store.ErrExpired
	}
	commits, err := s.readLog(ctx, s.Readers, `select first, last, body from change_log where last > $1 and last <= $2 order by last`,
		int64(after), int64(after+window))
	if errors.Is(err, store.ErrDamaged) && len(commits) == 0 { // followers cannot pass this row: they have to load a snapshot
		s.Logger.Error("the change log is damaged; who follows it starts over from a snapshot", "after", after, "error", err)
		return nil, fmt.Errorf("%w: %w", store.ErrExpired, err)
	}
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return nil, err
	}
	for len(commits) > 0 && commits[0].Rev <= after {
		commits = commits[1:]
	}
	if len(commits) == 0 || commits[0].Rev != after+1 {
		return nil, store.ErrExpired
	}
	return commits, nil
}

// Snapshot implements store.Snapshotter.
func (s *Store) Snapshot(ctx context.Context, load func(store.State) error) error {
	return s.snapshot(ctx, func(q querier) error {
		head, err := headOf(ctx, q)
		if err != nil {
			return err
		}
		floor, err := number(ctx, q, `select coalesce(min(first), 1) - 1 from change_log`) // deletions are removed together with the log
		if err != nil {
			return err
		}
		deleted := map[string]store.Revision{} // the last deletion of each kind
		if err := each(ctx, q, func(scan func(...any) error) error {
			var kind string
			var rev int64
			err := scan(&kind, &rev)
			deleted[kind] = store.Revision(rev)
			return err
		}, `select kind, max(rev) from gone group by kind`); err != nil {
			return err
		}
		r := &reader{s: s, q: q, scope: tenant.Everyone("snapshot")}
		return load(store.State{At: head, Touched: deleted, Floor: store.Revision(floor), Records: r.everything(ctx)})
	})
}

// everything yields all records, unordered. They are read ahead in the order of the table, and
// decoded on all cores.
func (r *reader) everything(ctx context.Context) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		pages, room := make(chan *page, runtime.GOMAXPROCS(0)), make(chan struct{}, runtime.GOMAXPROCS(0))
		var all sync.WaitGroup
		defer all.Wait() // the transaction must not end earlier
		defer cancel()
		hand := func(rows []row, err error) error {
			p := &page{made: make(chan struct{}), err: err}
			room <- struct{}{}
			all.Go(func() {
				defer func() { <-room }()
				p.records = make([]store.Record, 0, len(rows))
				for _, w := range rows {
					p.records = append(p.records, r.s.record(w).Shared())
				}
				close(p.made)
			})
			select {
			case pages <- p:
			case <-ctx.Done():
			}
			return ctx.Err()
		}
		all.Go(func() {
			defer close(pages)
			rest, err := r.table(ctx, func(rows []row) error { return hand(rows, nil) })
			_ = hand(rest, err)
		})
		for p := range pages {
			<-p.made
			for _, rec := range p.records {
				if !yield(rec, nil) {
					return
				}
			}
			if p.err != nil {
				yield(store.Record{}, p.err)
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(store.Record{}, err)
		}
	}
}

// table reads all rows of records. It calls hand with each full batch of rows and returns the
// rest.
func (r *reader) table(ctx context.Context, hand func([]row) error) (rest []row, err error) {
	var short []row // documents in parts: the transaction can be queried for them only after the other rows are read
	err = each(ctx, r.q, func(scan func(...any) error) error {
		var w row
		if err := scan(&w.kind, &w.org, &w.id, &w.rev, &w.doc, &w.meta); err != nil {
			return err
		}
		if len(w.doc) <= mostContents {
			short = append(short, w)
		} else {
			rest = append(rest, w)
		}
		if len(rest) < window {
			return nil
		}
		full := rest
		rest = make([]row, 0, window)
		return hand(full)
	}, `select kind, org, id, rev, doc, meta from record`)
	for i := range short {
		if err == nil {
			err = r.join(ctx, &short[i])
		}
	}
	return append(rest, short...), err
}

// page is a batch of records that are being decoded.
type page struct {
	made    chan struct{} // closed when they are
	records []store.Record
	err     error // the error after which no page follows
}

// recent caches the last commits of this process, so that its followers need not query the
// database. It also wakes the followers.
type recent struct {
	mu        sync.Mutex
	commits   map[store.Revision]store.Commit
	oldest    store.Revision
	newest    store.Revision
	bytes     int
	hints     uint64         // how often other processes may have committed
	ends      bool           // this process is committing: a hint may be about its own commit
	told      store.Revision // the latest revision hinted at in the meantime
	changed   chan struct{}
	followers map[*follower]bool
}

// follower is a follower of the log, with the last revision that it received.
type follower struct{ at store.Revision }

// Bounds of the cache in recent. A large commit is often followed by others at once, which have
// waited for it. Commits that a follower needs next are kept up to recentMost: reading a commit
// from the log takes seconds, for which all readers of the follower's copy wait.
const (
	recentCommits = 4096
	recentBytes   = 32 << 20
	recentMost    = 72 << 20 // most of it is shared with the records
)

func (r *recent) init() {
	r.commits, r.changed, r.followers = map[store.Revision]store.Commit{}, make(chan struct{}), map[*follower]bool{}
}

// join adds a follower that starts after a revision.
func (r *recent) join(after store.Revision) *follower {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := &follower{after}
	r.followers[f] = true
	return f
}

// took records how far a follower has got.
func (r *recent) took(f *follower, at store.Revision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.at = at
	r.trim()
}

func (r *recent) leave(f *follower) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.followers, f)
	r.trim()
}

// trim drops the oldest commits while there are too many. The caller holds the lock.
func (r *recent) trim() {
	for ; len(r.commits) > 1 && (r.bytes > recentBytes || len(r.commits) > recentCommits); r.oldest++ {
		c, ok := r.commits[r.oldest]
		if !ok {
			continue
		}
		if r.bytes <= recentMost {
			for f := range r.followers {
				if f.at+1 == r.oldest { // the follower needs this commit next; followers further behind read the log anyway
					return
				}
			}
		}
		r.bytes -= c.Weight()
		delete(r.commits, r.oldest)
	}
}

func (r *recent) add(commits []store.Commit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range commits {
		if len(r.commits) == 0 {
			r.oldest = c.Rev
		}
		r.commits[c.Rev] = c
		r.bytes += c.Weight()
		r.newest = c.Rev
	}
	r.trim()
	r.ring()
}

// ring wakes followers. The caller holds the lock.
func (r *recent) ring() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// forget drops the commits up to a revision.
func (r *recent) forget(upTo store.Revision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for rev, c := range r.commits {
		if rev <= upTo {
			r.bytes -= c.Weight()
			delete(r.commits, rev)
		}
	}
	r.oldest = max(r.oldest, upTo+1)
}

// hint makes followers query the database, unless they know all commits up to last; 0: the last
// revision is unknown.
func (r *recent) hint(last store.Revision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case last > 0 && last <= r.newest:
	case last > 0 && r.ends: // the database notifies before the commit returns
		r.told = max(r.told, last)
	default:
		r.hints++
		r.ring()
	}
}

// ending marks that this process is committing, until the returned function is called.
func (r *recent) ending() (ended func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends = true
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ends = false
		if r.told > r.newest {
			r.hints++
			r.ring()
		}
		r.told = 0
	}
}

// since returns the commits after a revision up to the first gap, and whether later commits
// follow the gap.
func (r *recent) since(after store.Revision) (out []store.Commit, gap bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for rev := after + 1; len(out) < window; rev++ {
		c, ok := r.commits[rev]
		if !ok {
			break
		}
		out = append(out, c)
	}
	return out, len(out) == 0 && r.newest > after
}
