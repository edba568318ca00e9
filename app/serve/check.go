package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Checked counts what a check has read, and the damage.
type Checked struct{ Records, Commits, Damaged int }

// examiner is a store that can be checked.
type examiner interface {
	Examine(ctx context.Context, record func(store.Record), log func(*store.Damage)) error
}

// Check checks the configured store: the file as a whole, each record, and each row of
// the change log. It also calls the configured gateways, and asks Redis whether the
// collector has noticed another program that reads the lists of the gateways. Damage
// and other findings go to out, one per line; the progress goes to the log. A service
// may run meanwhile.
func Check(ctx context.Context, s config.Settings, log *slog.Logger, version string, out io.Writer) (c Checked, err error) {
	if s.Storage.Type == config.Memory {
		return c, errors.New("storage.main.type is memory: there is nothing to check")
	}
	if s.Storage.Type == config.SQLite {
		if err := stored(s); err != nil {
			return c, err
		}
		path, err := sqlitePath(s)
		if err != nil {
			return c, err
		}
		findings, err := sqlite.Check(ctx, path, func(table string, n, of int) { log.Info("checking the file", "table", table, "n", n, "of", of) })
		for _, f := range findings {
			fmt.Fprintln(out, "damaged: the file:", f)
		}
		if c.Damaged = len(findings); err != nil || c.Damaged > 0 {
			return c, err // the records of a broken file cannot be trusted
		}
	}
	comp, err := Beside(ctx, s, log, version)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, comp.Close()) }()
	comp.showGateways(ctx, out)
	showReaders(ctx, s, log, out)
	e, ok := comp.primary.(examiner)
	if !ok {
		return c, nil
	}
	bad := func(d store.Damage) {
		c.Damaged++
		fmt.Fprintf(out, "damaged: %s %s of organisation %q: %s\n", d.Kind, d.ID, d.Org, d.Reason)
	}
	return c, e.Examine(ctx, func(rec store.Record) {
		if c.Records++; c.Records%checkStep == 0 {
			log.Info("checking", "records", c.Records)
		}
		if err := comp.Readable(rec); err != nil {
			bad(store.Damage{Org: rec.Org, Kind: rec.Kind, ID: rec.ID, Reason: err.Error()})
		}
	}, func(d *store.Damage) {
		if c.Commits++; c.Commits%checkStep == 0 {
			log.Info("checking the change log", "rows", c.Commits)
		}
		if d != nil {
			bad(*d)
		}
	})
}

// checkStep is the number of records after which a check logs its progress.
const checkStep = 20000
