package sqlite

import (
	"context"
	"database/sql"
	"log/slog"
	"os"
	"time"
)

// When the write-ahead log is written back into the database, in pages of 4 KiB.
const (
	backWhen  = 4000 // pages that are not written back yet
	backRest  = 500  // few enough that writers may wait for them
	backTry   = 4    // how many attempts to get down to backRest
	backEvery = 50 * time.Millisecond
)

// checkpoints runs checkpoints of the write-ahead log concurrently with the writer. By
// default, SQLite runs them as part of a commit, which then takes ten times as long as
// others. Only the last pages are written in turn with the writer: after a complete
// checkpoint the log restarts at its beginning, and does not grow.
type checkpoints struct {
	db     *sql.DB // one connection
	path   string  // of the log
	inTurn func(context.Context, func(context.Context) error) error
	log    *slog.Logger
	stop   context.CancelFunc
	done   chan struct{}
}

func (c *checkpoints) start() {
	var ctx context.Context
	ctx, c.stop = context.WithCancel(context.Background())
	c.done = make(chan struct{})
	go func() {
		defer close(c.done)
		tick := time.NewTicker(backEvery)
		defer tick.Stop()
		var seen time.Time
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			info, err := os.Stat(c.path)
			if err != nil || info.ModTime().Equal(seen) {
				continue // nothing has been written
			}
			seen = info.ModTime()
			if err := c.shrink(ctx); err != nil && ctx.Err() == nil {
				c.log.Debug("the write-ahead log is written back later", "error", err)
			}
		}
	}()
}

// shrink runs a checkpoint if the log has grown.
func (c *checkpoints) shrink(ctx context.Context) error {
	left, err := c.run(ctx, "noop")
	if err != nil || left < backWhen {
		return err
	}
	for range backTry {
		if _, err := c.run(ctx, "passive"); err != nil {
			return err
		}
		// Pages that a reader still needs cannot be written back, however often it is
		// tried.
		if left, err = c.run(ctx, "noop"); err != nil || left <= backRest {
			break
		}
	}
	if err != nil || left > backRest {
		return err
	}
	return c.inTurn(ctx, func(ctx context.Context) error {
		_, err := c.run(ctx, "passive")
		return err
	})
}

// run runs a checkpoint and returns how many pages are left.
func (c *checkpoints) run(ctx context.Context, mode string) (left int, err error) {
	var busy, all, back int
	err = c.db.QueryRowContext(ctx, "pragma wal_checkpoint("+mode+")").Scan(&busy, &all, &back)
	return all - back, err
}
