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

// headOf returns the revision of the last commit. The log always keeps it.
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

// FollowBatches is Follow, with as many commits at a time as there are: a copy
// applies those of a group at once.
func (s *Store) FollowBatches(ctx context.Context, after store.Revision) iter.Seq2[[]store.Commit, error] {
	return func(yield func([]store.Commit, error) bool) {
		timer := time.NewTimer(s.Poll)
		defer timer.Stop()
		us := s.recent.join(after)
		defer s.recent.leave(us)
		look, heard := true, uint64(0)
		for ctx.Err() == nil {
			s.recent.mu.Lock()
			news, hints := s.recent.changed, s.recent.hints // news ends when there may be something new
			s.recent.mu.Unlock()
			commits, gap := s.recent.since(after)
			// The database is asked when others may have committed. Commits of this process alone
			// would cost each follower a query.
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

// Recent returns the commits of this process that follow a revision, as far as they
// are in memory and nothing is missing between them.
func (s *Store) Recent(after store.Revision) []store.Commit {
	commits, _ := s.recent.since(after)
	return commits
}

// window is how many commits are read from the log at once.
const window = 1000

// next returns the commits that follow a revision in the log; none when there are none yet.
func (s *Store) next(ctx context.Context, after store.Revision) ([]store.Commit, error) {
	head, err := headOf(ctx, s.Readers)
	if err != nil || head == after {
		return nil, err
	}
	if head < after { // the database is not the one that was followed
		return nil, store.ErrExpired
	}
	commits, err := s.readLog(ctx, s.Readers, `select first, last, body from change_log where last > $1 and last <= $2 order by last`,
		int64(after), int64(after+window))
	if errors.Is(err, store.ErrDamaged) && len(commits) == 0 { // followers cannot pass this row: they load a snapshot
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
		floor, err := number(ctx, q, `select coalesce(min(first), 1) - 1 from change_log`) // deletions are forgotten with the log
		if err != nil {
			return err
		}
		deleted := map[string]store.Revision{} // when a record of each kind was last deleted
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

// everything yields all records, in no order. They are read ahead in the order in which
// the table has them, and made of what was read on all cores.
func (r *reader) everything(ctx context.Context) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		pages, room := make(chan *page, runtime.GOMAXPROCS(0)), make(chan struct{}, runtime.GOMAXPROCS(0))
		var all sync.WaitGroup
		defer all.Wait() // the transaction must not end before
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

// table reads all rows of records. It hands over each full window of them and returns the rest.
func (r *reader) table(ctx context.Context, hand func([]row) error) (rest []row, err error) {
	var short []row // their documents may be in parts, which the transaction can be asked for when the others are read
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

// page is some records that are being made.
type page struct {
	made    chan struct{} // closed when they are
	records []store.Record
	err     error // why there is no page after it
}

// recent keeps the last commits of this process, so that its followers need
// neither the database nor a patch; and it wakes them.
type recent struct {
	mu        sync.Mutex
	commits   map[store.Revision]store.Commit
	oldest    store.Revision
	newest    store.Revision
	bytes     int
	hints     uint64         // how often others may have committed
	ends      bool           // this process commits; a hint may be of that commit
	told      store.Revision // what hints were of meanwhile
	changed   chan struct{}
	followers map[*follower]bool
}

// follower is one who follows the log, and how far it has got.
type follower struct{ at store.Revision }

// Bounds of what recent keeps. A large commit is often followed by others at once, which
// have waited for it: what a follower is about to take stays within recentMost. To read
// it from the log takes seconds, for which all who read its copy wait.
const (
	recentCommits = 4096
	recentBytes   = 32 << 20
	recentMost    = 72 << 20 // most of it is shared with the records
)

func (r *recent) init() {
	r.commits, r.changed, r.followers = map[store.Revision]store.Commit{}, make(chan struct{}), map[*follower]bool{}
}

// join notes one who follows from a revision on.
func (r *recent) join(after store.Revision) *follower {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := &follower{after}
	r.followers[f] = true
	return f
}

// took notes how far a follower has got.
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

// trim drops the oldest commits while there are too many. The lock is held.
func (r *recent) trim() {
	for ; len(r.commits) > 1 && (r.bytes > recentBytes || len(r.commits) > recentCommits); r.oldest++ {
		c, ok := r.commits[r.oldest]
		if !ok {
			continue
		}
		if r.bytes <= recentMost {
			for f := range r.followers {
				if f.at+1 == r.oldest { // it takes this one next; a follower that is further behind reads the log anyway
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

// ring wakes followers. The lock is held.
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

// hint makes followers look into the database, unless all up to last is known; 0: it is
// not known what there is.
func (r *recent) hint(last store.Revision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case last > 0 && last <= r.newest:
	case last > 0 && r.ends: // the database tells of a commit before it answers who made it
		r.told = max(r.told, last)
	default:
		r.hints++
		r.ring()
	}
}

// ending notes that this process commits, until what it returns is called.
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

// since returns the unbroken run of commits that follow a revision, and whether there
// are later ones behind a gap.
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
