package sql

import (
	"context"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// How many commits one transaction of Prune deletes at most, and how many pages one gives back, so
// that writers do not wait long.
const (
	pruneRows  = 256
	pruneBytes = 8 << 20
)

// logSize caches the size of the log, so that only new rows have to be added.
type logSize struct {
	sync.Mutex
	upTo  int64 // the revisions included in bytes
	bytes int64
}

// Prune implements store.Historian. When the log exceeds its size, it is pruned to a tenth below,
// so that not every commit has to prune.
func (s *Store) Prune(ctx context.Context, keep store.Retention) (total int, err error) {
	s.size.Lock()
	defer s.size.Unlock()
	over := int64(0) // how many bytes of the log must be deleted
	if keep.Bytes != 0 {
		err := s.addUp(ctx)
		if err == nil && s.size.bytes > keep.Bytes && !s.Dialect.Local { // other processes may have pruned: count again before anything is deleted
			s.size.upTo, s.size.bytes = 0, 0
			err = s.addUp(ctx)
		}
		if err != nil {
			return 0, s.explain(err)
		}
		if s.size.bytes > keep.Bytes {
			over = s.size.bytes - keep.Bytes + keep.Bytes/10
		}
	}
	for {
		var n int
		var freed int64
		err := s.do(ctx, func(ctx context.Context, ses *session) (err error) {
			n, freed, err = s.prune(ctx, ses, keep, over)
			return err
		})
		if err != nil {
			return total, err
		}
		if n == 0 {
			break
		}
		total, over = total+n, over-freed
		s.size.bytes -= freed
	}
	if total == 0 {
		return 0, nil
	}
	if err := s.sweep(ctx, sweepAge); err != nil {
		return total, s.explain(err)
	}
	return total, s.shrink(ctx)
}

// addUp adds new rows to the size of the log.
func (s *Store) addUp(ctx context.Context) error {
	head, err := headOf(ctx, s.Readers)
	if err != nil {
		return err
	}
	var total int64
	for from, size := range map[string]string{"change_log where": "octet_length(body)", logParts + " where": "octet_length(body)", longTexts + " where state = 1 and last > 0 and": "size"} {
		more, err := number(ctx, s.Readers, `select cast(coalesce(sum(`+size+`), 0) as bigint) from `+from+` last > $1 and last <= $2`,
			s.size.upTo, int64(head))
		if err != nil {
			return err
		}
		total += more
	}
	s.size.upTo, s.size.bytes = int64(head), s.size.bytes+total
	return nil
}

// prune deletes the oldest rows of the log: rows that are too old, and more until over bytes are
// deleted. It returns the number of commits and bytes.
func (s *Store) prune(ctx context.Context, ses *session, keep store.Retention, over int64) (n int, freed int64, err error) {
	head, err := headOf(ctx, ses)
	if err != nil {
		return 0, 0, err
	}
	now := s.Now()
	leapt, err := leaptAt(ctx, ses, now, keep.Since)
	if err != nil {
		return 0, 0, err
	}
	rows, err := ses.QueryContext(ctx, `select first, last, at, octet_length(body) + (select coalesce(sum(octet_length(p.body)), 0) from log_part p where p.last = l.last)
		+ (select coalesce(sum(t.size), 0) from long_text t where t.last = l.last and t.last > 0 and t.state = 1)
		from change_log l order by last limit $1`, pruneRows)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = rows.Close() }()
	var cut int64
	for rows.Next() && freed < pruneBytes {
		var first, last, at, size int64
		if err := rows.Scan(&first, &last, &at, &size); err != nil {
			return 0, 0, err
		}
		leapt = leapt && at > now.UnixNano()
		old := !keep.Since.IsZero() && at < keep.Since.UnixNano() || leapt
		if last == int64(head) || !old && freed >= over {
			break
		}
		cut, n, freed = last, n+int(last-first+1), freed+size
	}
	if err := rows.Err(); err != nil || n == 0 {
		return 0, 0, err
	}
	if err := rows.Close(); err != nil {
		return 0, 0, err
	}
	s.recent.forget(store.Revision(cut))
	for _, table := range []string{"change_log", logParts} {
		if err := ses.exec(ctx, `delete from `+table+` where last <= $1`, cut); err != nil {
			return 0, 0, err
		}
	}
	if err := ses.exec(ctx, `update long_text set state = 2 where last > 0 and last <= $1 and state = 1`, cut); err != nil {
		return 0, 0, err
	}
	return n, freed, ses.exec(ctx, `delete from gone where rev <= $1`, cut)
}

// leaptAt reports whether the log begins with commits dated in the future (the clock has been put
// back since) and the first commit after them is older than since. Then the commits dated in the
// future are old as well.
func leaptAt(ctx context.Context, ses *session, now, since time.Time) (bool, error) {
	if since.IsZero() {
		return false, nil
	}
	first, err := number(ctx, ses, `select coalesce((select at from change_log order by last limit 1), 0)`)
	if err != nil || first <= now.UnixNano() {
		return false, err
	}
	next, err := number(ctx, ses, `select coalesce((select at from change_log where at <= $1 order by last limit 1), $1)`, now.UnixNano())
	return next < since.UnixNano(), err
}

// shrink gives the space of deleted rows back to the file system, a little at a time, where the
// database does not do that itself.
func (s *Store) shrink(ctx context.Context) error {
	if s.Dialect.Shrink == "" {
		return nil
	}
	for before := int64(-1); ; {
		free, err := number(ctx, s.Readers, s.Dialect.Free)
		if err != nil || free == 0 || free == before {
			return s.explain(err)
		}
		before = free
		if err := s.do(ctx, func(ctx context.Context, ses *session) error {
			step := func(func(...any) error) error { return nil } // each row of the result is one page given back
			return each(ctx, ses, step, s.Dialect.Shrink)
		}); err != nil {
			return err
		}
	}
}
