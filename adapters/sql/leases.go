package sql

import (
	"context"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// longestLease is longer than every lease. A lease that ends later was taken before the clock of
// the database was put back; it would block others until the clock has caught up.
const longestLease = 2 * time.Minute

// Acquire implements store.Leases.
func (s *Store) Acquire(ctx context.Context, sink, holder string, ttl time.Duration) (store.Revision, bool, error) {
	if s.Alone {
		now, g := s.Now(), &s.granted
		g.mu.Lock()
		defer g.mu.Unlock()
		h, taken := g.held[sink]
		switch {
		case taken && h.holder != holder && now.Before(h.until):
			return 0, false, nil
		case !taken || h.holder != holder: // the holder changes: the cursor says how far the sink has got
			var err error
			if h.at, _, err = s.brief(ctx, `insert into cursor (sink, rev, holder, until) values ($1, (select coalesce(max(last), 0) from change_log), '', 0)
				on conflict (sink) do update set holder = '', until = 0 returning rev`, sink); err != nil {
				return 0, false, err
			}
		}
		if g.held == nil {
			g.held = map[string]grant{}
		}
		g.held[sink] = grant{holder, now.Add(ttl), h.at}
		return h.at, true, nil
	}
	now := s.Dialect.Now
	at, ok, err := s.brief(ctx, `update cursor set holder = $1, until = `+now+` + $2
		where sink = $3 and (holder = $4 or holder = '' or until < `+now+` or until > `+now+` + $5) returning rev`,
		holder, ttl.Milliseconds(), sink, holder, longestLease.Milliseconds())
	if ok || err != nil {
		return at, ok, err
	}
	return s.brief(ctx, `insert into cursor (sink, rev, holder, until) values ($1, (select coalesce(max(last), 0) from change_log), $2, `+now+` + $3)
		on conflict do nothing returning rev`, sink, holder, ttl.Milliseconds())
}

// Advance implements store.Leases.
func (s *Store) Advance(ctx context.Context, sink, holder string, to store.Revision) error {
	owner := holder
	if s.Alone {
		s.granted.mu.Lock()
		h, taken := s.granted.held[sink]
		s.granted.mu.Unlock()
		if !taken || h.holder != holder {
			return store.ErrStale
		}
		owner = ""
	}
	at, ok, err := s.brief(ctx, `update cursor set rev = case when rev < $1 then $2 else rev end where sink = $3 and holder = $4 returning rev`,
		int64(to), int64(to), sink, owner)
	if err == nil && !ok {
		return store.ErrStale
	}
	if err == nil && s.Alone {
		s.granted.mu.Lock()
		defer s.granted.mu.Unlock()
		if h, taken := s.granted.held[sink]; taken {
			h.at = max(h.at, at)
			s.granted.held[sink] = h
		}
	}
	return err
}

// Release implements store.Leases.
func (s *Store) Release(ctx context.Context, sink, holder string) error {
	if s.Alone {
		s.granted.mu.Lock()
		defer s.granted.mu.Unlock()
		if h, taken := s.granted.held[sink]; taken && h.holder == holder {
			delete(s.granted.held, sink)
		}
		return nil
	}
	_, _, err := s.brief(ctx, `update cursor set holder = '', until = 0 where sink = $1 and holder = $2 returning rev`, sink, holder)
	return err
}

// brief runs a statement that returns the revision of one cursor, if it matches one. Servers run
// it concurrently with the writer: a lease has to be renewed in time even while a long unit of
// work runs.
func (s *Store) brief(ctx context.Context, text string, args ...any) (at store.Revision, ok bool, err error) {
	run := func(ctx context.Context, q querier) error {
		rows, err := q.QueryContext(ctx, text, args...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		if ok = rows.Next(); ok {
			err = rows.Scan(&at)
		}
		for rows.Next() { // the statement takes effect only when its rows have been read
			continue
		}
		if err == nil {
			err = rows.Err()
		}
		return err
	}
	if s.Dialect.Local {
		err = s.do(ctx, func(ctx context.Context, ses *session) error { return run(ctx, ses) })
	} else {
		err = s.explain(run(ctx, s.Writers))
	}
	return at, ok && err == nil, err
}

// grants are the leases of a store that a single process uses. They end with the process, so
// that the next process need not wait for them to expire.
type grants struct {
	mu   sync.Mutex
	held map[string]grant
}

type grant struct {
	holder string
	until  time.Time
	at     store.Revision // how far the sink has got
}
