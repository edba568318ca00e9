package sql

import (
	"context"
	"database/sql"
)

// restoredSink is the row of the cursor table that marks a database as restored from a backup,
// until Restored has succeeded.
const restoredSink = "(restored)"

// MarkRestored marks a database as restored from a backup. Followers that have read the log to
// a later revision get no commit that would tell them.
func MarkRestored(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, `insert into cursor (sink, rev, holder, until) values ($1, 0, '', 0) on conflict do nothing`, restoredSink)
	return err
}

// Restored calls tell if the database was restored from a backup and tell has not succeeded
// since.
func (s *Store) Restored(ctx context.Context, tell func(context.Context) error) error {
	marks, err := number(ctx, s.Readers, `select count(*) from cursor where sink = $1`, restoredSink)
	if err != nil || marks == 0 {
		return s.explain(err)
	}
	if err := tell(ctx); err != nil {
		return err
	}
	return s.do(ctx, func(ctx context.Context, ses *session) error {
		return ses.exec(ctx, `delete from cursor where sink = $1`, restoredSink)
	})
}
