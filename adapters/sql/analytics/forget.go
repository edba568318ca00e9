package analytics

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/analytics/aggregate"
	"github.com/gatehouse-io/gatehouse/ports/analytics"
)

// Rows are deleted in steps of this many rows, so that other writes can happen in
// between.
const perStep = 1000

var perStepText = strconv.Itoa(perStep)

// For how long the names of released claims are kept, for a process that was halted, and
// how many of the latest unreadable entries are kept.
const (
	knownFor   = 24 * time.Hour
	keepAsides = "1000"
)

// Forget implements analytics.Sink.
func (w *Writer) Forget(ctx context.Context, keep analytics.Retention) (n int64, more bool, err error) {
	f := &forgetting{Writer: w, ctx: ctx}
	if f.existing, err = w.existing(ctx); err != nil {
		return 0, false, err
	}
	open, err := json.Marshal(append([]string{}, keep.Open...))
	if err != nil {
		return 0, false, err
	}
	f.step(&claims, `at < $1 and not (`+w.d.in("name", "$2")+`)`, keep.Now.Add(-knownFor).Unix(), string(open))
	f.step(&asides, `at <= (select at from gatehouse_asides order by at desc limit 1 offset `+keepAsides+`)`)
	if until := f.callsUntil(keep); !until.IsZero() {
		for _, t := range []*Table{&Calls, &GraphCalls, &MCPCalls} {
			at := "timestamp"
			if t != &Calls {
				at = prefix + at
			}
			f.shards(t, until)
			f.step(t, at+` < $1`, w.d.Time(until))
		}
		if !f.more {
			f.step(&volume, `hour < $1`, until.Unix()/3600)
		}
	}
	if keep.Counters > 0 {
		until := keep.Now.Add(-keep.Counters)
		for _, t := range []*Table{&Usage, &GraphUsage, &MCPUsage, &Uptime} {
			f.shards(t, until)
			for _, dimension := range aggregate.Dimensions {
				f.step(t, `dimension = $1 and timestamp < $2`, dimension, until.Unix())
			}
		}
		f.step(&rollup, `timestamp < $1`, until.Unix())
	}
	return f.n, f.more, f.err
}

// forgetting is the state of one round of deletions. After an error it does nothing
// more.
type forgetting struct {
	*Writer
	ctx      context.Context
	existing []string // existing tables
	n        int64
	more     bool
	err      error
}

// existing lists the tables of the database.
func (w *Writer) existing(ctx context.Context) (out []string, err error) {
	rows, err := w.db.QueryContext(ctx, w.d.names)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, rows.Err()
}

// step deletes some rows of an unsharded table, if the table exists and this Writer
// writes it.
func (f *forgetting) step(t *Table, where string, args ...any) {
	_, kept := f.places[t]
	own := t == &claims || t == &asides || t == &volume || t == &rollup
	if f.err != nil || !kept && !own || !slices.Contains(f.existing, t.Name) {
		return
	}
	table := Quote(t.Name)
	result, err := f.db.ExecContext(f.ctx, "delete from "+table+" where "+f.d.row+" in (select "+f.d.row+" from "+table+" where "+where+" limit "+perStepText+")", args...)
	if err != nil {
		f.err = err
		return
	}
	n, err := result.RowsAffected()
	f.n, f.err = f.n+n, err
	f.more = f.more || n >= perStep
}

// shards drops the daily tables whose days have ended before a time.
func (f *forgetting) shards(t *Table, until time.Time) {
	if _, kept := f.places[t]; !kept {
		return
	}
	for _, name := range f.existing {
		day, err := time.Parse("20060102", strings.TrimPrefix(name, t.Name+"_"))
		if f.err != nil || err != nil || day.AddDate(0, 0, 1).After(until) {
			continue
		}
		if _, f.err = f.db.ExecContext(f.ctx, "drop table "+Quote(name)); f.err == nil {
			f.n++
			f.gone.Store(true)
		}
	}
}

// callsUntil returns the time before which calls are deleted: because of their age, or
// because of their total size, which is counted by hour. It is zero when all calls are
// kept.
func (f *forgetting) callsUntil(keep analytics.Retention) (until time.Time) {
	if _, kept := f.places[&Calls]; !kept {
		return until
	}
	if keep.Calls > 0 {
		until = keep.Now.Add(-keep.Calls)
	}
	hour := int64(-1)
	if keep.Bytes > 0 && f.err == nil && slices.Contains(f.existing, volume.Name) {
		f.err = f.db.QueryRowContext(f.ctx, `select coalesce(max(hour), -1) from (select hour, sum(bytes) over (order by hour desc) as kept from gatehouse_volume) as hours where kept > $1`,
			keep.Bytes).Scan(&hour)
	}
	if end := time.Unix((hour+1)*3600, 0); hour >= 0 && end.After(until) {
		until = end
	}
	if f.places[&Calls].Sharded {
		until = until.UTC().Truncate(24 * time.Hour) // daily tables are dropped as a whole
	}
	return until
}
