package analytics

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/analytics/view"
)

// The rollup is built in steps of this many blocks, so that other writes can happen in
// between. It reaches back as far as queries may.
const (
	perRoll  = 4
	rollSpan = 64 // days that one step covers
	rollBack = (view.MaxDays/rollSpan + 2) * rollSpan
)

// span is a range of days of an organisation that is rolled up together.
type span struct {
	org   string
	first int64
}

// Roll implements analytics.Sink.
func (w *Writer) Roll(ctx context.Context, before time.Time) (n int64, more bool, err error) {
	p, kept := w.places[&Usage]
	if !kept {
		return 0, false, nil
	}
	end := before.Unix() / daySeconds
	if len(w.spans) == 0 {
		if w.spans, err = w.toRoll(ctx, p, end); err != nil || len(w.spans) == 0 {
			return 0, false, err
		}
	}
	if n, err = w.rollSpan(ctx, p, w.spans[0], end); err == nil && n < perRoll { // the span is done
		w.spans = w.spans[1:]
	}
	return n, len(w.spans) > 0, err
}

// toRoll returns the spans to roll up, the latest days first.
func (w *Writer) toRoll(ctx context.Context, p Place, end int64) (out []span, err error) {
	last := end / rollSpan * rollSpan
	oldest, err := p.oldest(ctx, last-rollBack, end)
	if err != nil || len(oldest) == 0 { // a database without counters gets no rollup table
		return nil, err
	}
	w.mu.Lock()
	_, err = w.layout(ctx, &rollup, rollup.Name)
	w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	orgs := make([]string, 0, len(oldest))
	for org := range oldest {
		orgs = append(orgs, org)
	}
	slices.Sort(orgs)
	for at := last; at >= last-rollBack; at -= rollSpan {
		for _, org := range orgs {
			if at+rollSpan > oldest[org] {
				out = append(out, span{org, at})
			}
		}
	}
	return out, nil
}

// oldest returns the first day of each organisation with counters between two days.
func (p Place) oldest(ctx context.Context, from, to int64) (out map[string]int64, err error) {
	tables, err := p.sources(ctx, from, to)
	if err != nil || len(tables) == 0 {
		return nil, err
	}
	s := &statement{d: p.Dialect}
	where := ` where "dimension" = '' and "timestamp" >= ` + s.number(from*daySeconds) + ` and "timestamp" < ` + s.number(to*daySeconds)
	parts := make([]string, len(tables))
	for i, name := range tables {
		parts[i] = `select "org_id", "timestamp" from ` + Quote(name) + where
	}
	rows, err := p.Readers.QueryContext(ctx, `select "org_id", min("timestamp") from (`+nested(parts)+`) as x where "org_id" <> '' group by "org_id"`, s.args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	out = map[string]int64{}
	for rows.Next() {
		var org string
		var first int64
		if err := rows.Scan(&org, &first); err != nil {
			return nil, err
		}
		out[org] = first / daySeconds
	}
	return out, rows.Err()
}

// sources returns the tables that may have counters between two days.
func (p Place) sources(ctx context.Context, from, to int64) ([]string, error) {
	tables, err := p.tables(ctx, Usage, view.Period{From: time.Unix(from*daySeconds, 0).UTC(), To: time.Unix(to*daySeconds, 0).UTC()})
	return without(tables, rollup.Name), err
}

// rollSpan rebuilds missing or outdated blocks of a span, at most as many as one step may,
// larger blocks from smaller ones.
func (w *Writer) rollSpan(ctx context.Context, p Place, s span, end int64) (n int64, err error) {
	tables, err := p.sources(ctx, s.first, s.first+rollSpan)
	if err != nil {
		return 0, err
	}
	m, err := totals(ctx, p, s.org, tables, s.first, s.first+rollSpan)
	if err != nil {
		return 0, err
	}
	for level, days := range sizes {
		for at := s.first; at < s.first+rollSpan && n < perRoll; at += days {
			b := block{days, at}
			if b.end() > end || m.agree(b) || level > 0 && !m.whole(b, sizes[level-1]) {
				continue
			}
			from := tables
			if level > 0 {
				from = nil
			}
			made, err := w.rollBlock(ctx, s.org, b, from)
			if err != nil {
				return n, err
			}
			if made {
				m.blocks[b] = m.sum(b)
				n++
			}
		}
	}
	return n, nil
}

// whole reports whether all smaller blocks of a larger one are up to date.
func (m marks) whole(b block, of int64) bool {
	for at := b.first; at < b.end(); at += of {
		if !m.agree(block{of, at}) {
			return false
		}
	}
	return true
}

// rollBlock rebuilds a block, from counters or, without tables, from the smaller blocks.
// Another program may be writing its counters at the same time, those of APIs and their total
// one after the other: if the two do not count the same calls, no block is made.
func (w *Writer) rollBlock(ctx context.Context, org string, b block, tables []string) (made bool, err error) {
	tx, err := w.begin(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }() // after a commit this does nothing
	s := &statement{d: w.d}
	own := ` from "` + rollup.Name + `" where "org_id" = ` + s.text(org) + ` and "days" = ` + s.number(b.days) + ` and "timestamp" = ` + s.number(b.first*daySeconds)
	if _, err := tx.ExecContext(ctx, "delete"+own, s.args...); err != nil {
		return false, err
	}
	text, args := rolling(w.d, org, b, tables)
	if _, err := tx.ExecContext(ctx, text, args...); err != nil {
		return false, err
	}
	var apis, all mark
	for dimension, m := range map[string]*mark{view.APIs: &apis, "": &all} {
		if err := tx.QueryRowContext(ctx, "select "+marked+own+" and \"dimension\" = '"+dimension+"'", s.args...).Scan(&m.hits, &m.errors, &m.latency, &m.requestTime); err != nil {
			return false, err
		}
	}
	if apis != all {
		return false, nil
	}
	return true, tx.Commit()
}

// rolling returns the statement that makes a block. It is a single statement, so that the
// counters of APIs and their total come from the same moment.
func rolling(d Dialect, org string, b block, tables []string) (string, []any) {
	s := &statement{d: d}
	names := make([]string, len(rolled))
	for i, c := range rolled {
		names[i] = Quote(c.Name)
	}
	all := strings.Join(names, ", ")
	where := ` where "org_id" = ` + s.text(org) + ` and "timestamp" >= ` + s.number(b.first*daySeconds) + ` and "timestamp" < ` + s.number(b.end()*daySeconds)
	if tables == nil {
		tables = []string{rollup.Name}
		where += ` and "days" = ` + s.number(sizes[slices.Index(sizes[:], b.days)-1])
	}
	from := func(condition string) string {
		parts := make([]string, len(tables))
		for i, name := range tables {
			parts[i] = `select "dimension_value", ` + all + " from " + Quote(name) + where + condition
		}
		return " from (" + nested(parts) + ") as x"
	}
	var sums []string
	for _, c := range rolled {
		name := Quote(c.Name)
		switch {
		case strings.HasPrefix(c.Name, "counter_min_"):
			name = "min(" + name + ")"
		case c.Type == Text, c.Type == Time, strings.HasPrefix(c.Name, "counter_max_"):
			name = "max(" + name + ")"
		default:
			name = "coalesce(sum(" + name + "), 0)"
		}
		sums = append(sums, name)
	}
	joined := strings.Join(sums, ", ")
	head := "insert into " + Quote(rollup.Name) + ` ("org_id", "dimension", "dimension_value", "days", "timestamp", ` + all + ") "
	key := func(dimension, value string) string {
		return "select " + s.text(org) + ", '" + dimension + "', " + value + ", " + strconv.FormatInt(b.days, 10) + ", " + s.number(b.first*daySeconds) + ", "
	}
	return head + key(view.APIs, `coalesce("dimension_value", '')`) + joined + from(` and "dimension" = '`+view.APIs+`' and "counter_hits" > 0`) + ` group by coalesce("dimension_value", '')` +
		" union all " + key("", "'total'") + joined + from(` and "dimension" = '' and "dimension_value" = 'total'`), s.args
}
