package analytics

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse-io/gatehouse/core/analytics/aggregate"
	"github.com/gatehouse-io/gatehouse/core/analytics/record"
	"github.com/gatehouse-io/gatehouse/ports/analytics"
)

// Writer stores pieces in one database, which has all tables or some of them. It implements
// analytics.Sink.
type Writer struct {
	db     *sql.DB
	d      Dialect
	places map[*Table]Place   // the tables of this database
	mu     sync.Mutex         // guards the fields below, and serialises storing
	known  map[string]*layout // by name of an existing table
	gone   atomic.Bool        // some of the known tables may have been dropped
	spans  []span             // for Roll: the remaining spans
}

var _ analytics.Sink = (*Writer)(nil)

// Writers returns a Writer for each of the databases.
func (s *Store) Writers() (out []*Writer) {
	for _, part := range []struct {
		Place
		tables []*Table
	}{{s.Counters, []*Table{&Usage, &GraphUsage, &MCPUsage}}, {s.Records, []*Table{&Calls, &GraphCalls, &MCPCalls}}, {s.Uptime, []*Table{&Uptime}}} {
		if !part.There() {
			continue
		}
		var w *Writer
		for _, o := range out {
			if o.db == part.Writers {
				w = o
			}
		}
		if w == nil {
			w = &Writer{db: part.Writers, d: part.Dialect, places: map[*Table]Place{}, known: map[string]*layout{}}
			out = append(out, w)
		}
		for _, t := range part.tables {
			w.places[t] = part.Place
		}
	}
	return out
}

// The collector's own tables. done is how far a claim has been stored.
var (
	claims = Table{Name: "gatehouse_claims", Key: "name", Columns: append(columns(Text, "name"), columns(Integer, "done at")...)}
	asides = Table{Name: "gatehouse_asides", Columns: append(columns(Text, "claim reason entry"), columns(Integer, "position bytes at")...), Indexes: [][]string{{"at"}}}
	volume = Table{Name: "gatehouse_volume", Key: "hour", Columns: columns(Integer, "hour calls bytes")}
)

// Name implements analytics.Sink.
func (w *Writer) Name() string {
	var names []string
	for _, t := range Tables {
		for kept := range w.places {
			if kept.Name == t.Name {
				names = append(names, t.Name)
			}
		}
	}
	return strings.Join(names, " ")
}

// Done implements analytics.Sink.
func (w *Writer) Done(ctx context.Context, c analytics.Claim) (done int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.layout(ctx, &claims, claims.Name); err != nil {
		return 0, err
	}
	err = w.db.QueryRowContext(ctx, `select done from gatehouse_claims where name = $1`, c.Claim).Scan(&done)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return done, err
}

// longest is how long the database waits for the next statement of a transaction.
const longest = time.Minute

// begin begins a transaction. The transaction of a frozen or disconnected process would block the
// process that continues with the same claim.
func (w *Writer) begin(ctx context.Context) (*sql.Tx, error) {
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil || w.d.bound == nil {
		return tx, err
	}
	if _, err := tx.ExecContext(ctx, w.d.bound(longest)); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return tx, nil
}

// batch is the rows for one table.
type batch struct {
	table *Table
	name  string
	rows  [][]any
	*layout
}

// Store implements analytics.Sink.
func (w *Writer) Store(ctx context.Context, p analytics.Piece) (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone.Swap(false) {
		w.unlearn()
	}
	defer func() {
		if err != nil { // tables may have been dropped
			w.unlearn()
		}
	}()
	if _, err := w.layout(ctx, &claims, claims.Name); err != nil {
		return err
	}
	batches, err := w.batches(ctx, p)
	if err != nil {
		return err
	}
	for _, b := range batches {
		if err := w.prepare(ctx, b); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
	}
	tx, err := w.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	// Advance the claim, if it is where the piece begins.
	statement, args := `insert into gatehouse_claims (name, done, at) values ($1, $2, $3) on conflict (name) do nothing`, []any{p.Claim.Claim, p.To, p.At.Unix()}
	if p.From > 0 {
		statement, args = `update gatehouse_claims set done = $2, at = $3 where name = $1 and done = $4`, append(args, p.From)
	}
	result, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	switch n, err := result.RowsAffected(); {
	case err != nil:
		return err
	case n != 1:
		return analytics.ErrStale
	}
	for _, b := range batches {
		if err := b.insert(ctx, w.d, tx); err != nil {
			if code := w.d.refused(err); code != "" {
				err = fmt.Errorf("%w (%s)", analytics.ErrRefused, code)
			}
			return fmt.Errorf("%s: %w", b.name, err)
		}
	}
	return tx.Commit()
}

// batches groups the rows of a piece by table, and creates missing tables.
func (w *Writer) batches(ctx context.Context, p analytics.Piece) ([]*batch, error) {
	var order []*batch
	byName := map[string]*batch{}
	add := func(t *Table, day time.Time, values func(*layout) []any) error {
		name := t.Name
		if place, kept := w.places[t]; kept && place.Sharded {
			name = t.Shard(day.UTC())
		}
		b, ok := byName[name]
		if !ok {
			l, err := w.layout(ctx, t, name)
			if err != nil {
				return err
			}
			b = &batch{table: t, name: name, layout: l}
			byName[name] = b
			order = append(order, b)
		}
		b.rows = append(b.rows, values(b.layout))
		return nil
	}
	hours := map[int64]*[2]int64{}
	for i := range p.Records {
		r := &p.Records[i]
		for _, t := range tablesOf(r) {
			if _, kept := w.places[t]; !kept {
				continue
			}
			if err := add(t, r.TimeStamp, func(l *layout) []any { return row(l, w.d, r, callValues) }); err != nil {
				return nil, err
			}
			hour := r.TimeStamp.Unix() / 3600
			if hours[hour] == nil {
				hours[hour] = &[2]int64{}
			}
			hours[hour][0]++
			hours[hour][1] += size(r)
		}
	}
	for i := range p.Counts {
		c := &p.Counts[i]
		t := counterTables[c.Table]
		if _, kept := w.places[t]; kept {
			if err := add(t, time.Unix(c.Bucket, 0), func(l *layout) []any { return row(l, w.d, c, counterValues) }); err != nil {
				return nil, err
			}
		}
	}
	for hour, sums := range hours {
		if err := add(&volume, time.Time{}, func(*layout) []any { return []any{hour, sums[0], sums[1]} }); err != nil {
			return nil, err
		}
	}
	for _, a := range p.Asides[:min(len(p.Asides), maxAsides)] {
		row := []any{p.Claim.Claim, record.Text(a.Reason, maxReason), fmt.Sprintf("%x", a.Entry), a.Position, a.Bytes, p.At.UnixNano()}
		if err := add(&asides, time.Time{}, func(*layout) []any { return row }); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// Bounds for the entries that could not be read and are kept.
const (
	maxAsides = 100 // of one piece
	maxReason = 500 // bytes
)

// counterTables are the tables of counters.
var counterTables = map[aggregate.Table]*Table{aggregate.Requests: &Usage, aggregate.GraphQL: &GraphUsage, aggregate.MCP: &MCPUsage, aggregate.Uptime: &Uptime}

// tablesOf returns the tables that get a row for a record.
func tablesOf(r *record.Record) []*Table {
	switch {
	case r.MCP.Is:
		return []*Table{&MCPCalls}
	case r.GraphQL.Is:
		return []*Table{&Calls, &GraphCalls}
	}
	return []*Table{&Calls}
}

// size returns the approximate size of a record in bytes.
func size(r *record.Record) int64 {
	n := 400
	for _, s := range []string{r.Method, r.Host, r.Path, r.RawPath, r.OriginalPath, r.ListenPath, r.UserAgent, r.IPAddress, r.APIName, r.APIID, r.OrgID, r.APIKey, r.Alias, r.RawRequest, r.RawResponse, r.APISchema} {
		n += len(s)
	}
	for _, tag := range r.Tags {
		n += len(tag) + 3
	}
	return int64(n)
}

// prepare prepares the insert statements of a batch. Parsing a statement takes longer than
// running it, so they are cached.
func (w *Writer) prepare(ctx context.Context, b *batch) error {
	for n, rest := w.d.rows, len(b.rows); n > 0; n /= 2 {
		if rest < n {
			continue
		}
		rest %= n
		if b.statements[n] != nil {
			continue
		}
		st, err := w.db.PrepareContext(ctx, b.statement(w.d, b.name, n)) //nolint:sqlclosecheck // kept for the next time; unlearn closes it
		if err != nil {
			return err
		}
		b.statements[n] = st
	}
	return nil
}

// insert inserts the rows: many per statement at first, then ever smaller numbers for the rest.
func (b *batch) insert(ctx context.Context, d Dialect, tx *sql.Tx) error {
	rows := b.rows
	for n := d.rows; n > 0; n /= 2 {
		for ; len(rows) >= n; rows = rows[n:] {
			args := make([]any, 0, n*len(b.columns))
			for _, row := range rows[:n] {
				args = append(args, row...)
			}
			if _, err := tx.StmtContext(ctx, b.statements[n]).ExecContext(ctx, args...); err != nil { //nolint:sqlclosecheck // ends with the transaction
				return err
			}
		}
	}
	return nil
}
