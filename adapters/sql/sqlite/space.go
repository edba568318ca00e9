package sqlite

import (
	"context"
	"database/sql"
	"log/slog"
)

// rewritable is the size in bytes up to which a file is rebuilt at start, which takes
// one or two seconds for each 100 MB.
const rewritable = 256 << 20

// yielding makes an old file able to give pages back to the file system, by rebuilding
// it once. In a larger file free pages are reused, but stay part of the file.
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
	if _, err := db.ExecContext(ctx, "pragma auto_vacuum(incremental); vacuum"); err != nil && log != nil { // the disk may be full, which must not prevent the start
		log.Warn("the file of the database could not be made anew; it reuses free space and does not give it back", "error", err)
	}
	return ctx.Err()
}
