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
		s.recent.cut(head)
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
