package sql

import (
	"context"
	"database/sql"
)

// restoredSink is the row of the cursor table that says that what is stored was put back from
// a backup, until that has been told.
const restoredSink = "(restored)"

// MarkRestored notes in a database that it was put back from a backup. Those who have followed
// the log to a later revision are not told of that by any commit.
func MarkRestored(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, `insert into cursor (sink, rev, holder, until) values ($1, 0, '', 0) on conflict do nothing`, restoredSink)
	return err
}

// Restored calls tell when what is stored was put back from a backup and tell has not succeeded
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
