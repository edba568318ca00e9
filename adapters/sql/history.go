package sql

import (
	"context"
	"database/sql"
	"errors"
	"iter"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// History implements store.Historian. Every change refers to the previous change of its
// record, so that writes need not maintain an index.
func (s *Store) History(ctx context.Context, sc tenant.Scope, kind, id string) iter.Seq2[store.Commit, error] {
	return func(yield func(store.Commit, error) bool) {
		if sc.IsZero() {
			yield(store.Commit{}, store.ErrScope)
			return
		}
		a, rev, err := s.latest(ctx, sc, kind, id)
		for rev > 0 && err == nil {
			var c store.Commit
			if c, err = s.commitAt(ctx, rev, a); err == nil {
				if !yield(c, nil) {
					return
				}
				rev = max(c.Changes[0].Prev, c.Changes[0].Past)
			}
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			yield(store.Commit{}, s.explain(err))
		}
	}
}

// latest returns the last commit that changed a record, which may be deleted.
func (s *Store) latest(ctx context.Context, sc tenant.Scope, kind, id string) (a address, rev store.Revision, err error) {
	for _, table := range []string{"record", "gone"} {
		text, args := `select org, rev from `+table+` where kind = $1 and id = $2`, []any{kind, id}
		if !sc.All() {
			text, args = text+` and org = $3`, append(args, string(sc.Org()))
		}
		err = s.Readers.QueryRowContext(ctx, text, args...).Scan(&a.org, &rev)
		if !errors.Is(err, sql.ErrNoRows) {
			return address{a.org, kind, id}, rev, err
		}
	}
	return a, 0, nil
}

// commitAt returns a commit with the change of one record only, or ErrNotFound when the
// commit has been pruned.
func (s *Store) commitAt(ctx context.Context, rev store.Revision, a address) (store.Commit, error) {
	commits, err := s.readLog(ctx, s.Readers, `select first, last, body from change_log where last >= $1 order by last limit 1`, int64(rev))
	for _, c := range commits {
		for _, ch := range c.Changes {
			if c.Rev == rev && ch.Org == a.org && ch.Kind == a.kind && ch.ID == a.id {
				c.Changes = []store.Change{ch}
				return c, nil
			}
		}
	}
	return store.Commit{}, errors.Join(err, store.ErrNotFound)
}

// Oldest implements store.Historian.
func (s *Store) Oldest(ctx context.Context) (store.Revision, error) {
	rev, err := number(ctx, s.Readers, `select coalesce(min(first), 0) from change_log`)
	return store.Revision(rev), s.explain(err)
}
