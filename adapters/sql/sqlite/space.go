package sqlite

import (
	"context"
	"database/sql"
	"log/slog"
)

// rewritable is the size up to which a file is made anew at start, which takes a second
// or two for each 100 MB.
const rewritable = 256 << 20

// yielding makes a file able to give pages back that was made when files could not: it
// is made anew, once. In a larger file free pages are used again, and stay its own.
func yielding(ctx context.Context, db *sql.DB, log *slog.Logger) error {
	var mode, pages, size int64
	for query, into := range map[string]*int64{"pragma auto_vacuum": &mode, "pragma page_count": &pages, "pragma page_size": &size} {
		if err := db.QueryRowContext(ctx, query).Scan(into); err != nil {
			return err
		}
	}
	if mode != 0 {
		return nil
	}
	if pages*size > rewritable {
		if log != nil {
			log.Info("the file of the database reuses free space, and does not give it back until it is made anew: stop the service and run 'pragma auto_vacuum = incremental; vacuum' on it")
		}
		return nil
	}
	if _, err := db.ExecContext(ctx, "pragma auto_vacuum(incremental); vacuum"); err != nil && log != nil { // the disk may be full: that is no reason not to start
		log.Warn("the file of the database could not be made anew; it reuses free space and does not give it back", "error", err)
	}
	return ctx.Err()
}
