package analytics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/analytics/view"
)

// rollup is the table with the counters of APIs summed over several days, so that a query
// for a year reads tens of rows of each API instead of thousands
// (docs/wire/analytics.md#rollup). Each block also has a row with the total of the same
// days. A block is used only while that row equals the sum of the original counters, so that
// any program may write or delete counters.
var rollup = Table{Name: "gatehouse_rollup", Columns: slices.Concat(columns(Text, "org_id dimension dimension_value"), columns(Integer, "days timestamp"), rolled),
	Indexes: [][]string{{"org_id", "dimension", "days", "timestamp"}}}

// rolled are the counters in the rollup.
var rolled = slices.Concat(
	columns(Text, "counter_human_identifier"),
	columns(Integer, `counter_hits counter_success counter_error counter_max_upstream_latency counter_min_upstream_latency counter_total_upstream_latency
		counter_max_latency counter_min_latency counter_total_latency`),
	columns(Number, "counter_total_request_time"),
	columns(Time, "counter_last_time"))

// sizes are the possible lengths of a block in days, ascending; a block begins on a day
// since 1970 that is a multiple of its length.
var sizes = [...]int64{1, 4, 16, 64}

const daySeconds = 24 * 3600

// mark is the checksum of a total: blocks with equal marks count the same calls.
type mark struct{ hits, errors, latency, requestTime float64 }

// marked is the SQL for the columns of a mark.
const marked = `cast(coalesce(sum("counter_hits"), 0) as double precision), cast(coalesce(sum("counter_error"), 0) as double precision),
	cast(coalesce(sum("counter_total_latency"), 0) as double precision), cast(coalesce(sum("counter_total_request_time"), 0) as double precision)`

// block is a range of days in a rollup.
type block struct{ days, first int64 } // first since 1970

// end returns the day after the last one.
func (b block) end() int64 { return b.first + b.days }

// marks are the marks of an organisation's totals.
type marks struct {
	days   map[int64]mark // of the counters, by day
	blocks map[block]mark // of the rollup
}

// sum returns the mark of the counters of a block's days.
func (m marks) sum(b block) (out mark) {
	for day := b.first; day < b.end(); day++ {
		d := m.days[day]
		out = mark{out.hits + d.hits, out.errors + d.errors, out.latency + d.latency, out.requestTime + d.requestTime}
	}
	return out
}

// agree reports whether a block equals the counters of its days.
func (m marks) agree(b block) bool {
	have, there := m.blocks[b]
	return there && have == m.sum(b)
}

// totals reads the marks from day from up to day to.
func totals(ctx context.Context, p Place, org string, tables []string, from, to int64) (m marks, err error) {
	m = marks{days: map[int64]mark{}, blocks: map[block]mark{}}
	s := &statement{d: p.Dialect}
	where := ` where "org_id" = ` + s.text(org) + ` and "dimension" = '' and "timestamp" >= ` + s.number(from*daySeconds) + ` and "timestamp" < ` + s.number(to*daySeconds)
	parts := make([]string, len(tables))
	for i, name := range tables {
		parts[i] = `select "timestamp" / 86400 as day, "counter_hits", "counter_error", "counter_total_latency", "counter_total_request_time" from ` + Quote(name) + where + ` and "dimension_value" = 'total'`
	}
	read := func(text string, add func(block, mark)) (err error) {
		rows, err := p.Readers.QueryContext(ctx, text, s.args...)
		if err != nil {
			return fmt.Errorf("analytics: %w", err)
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		for rows.Next() {
			var b block
			var v mark
			if err := rows.Scan(&b.days, &b.first, &v.hits, &v.errors, &v.latency, &v.requestTime); err != nil {
				return err
			}
			add(b, v)
		}
		return rows.Err()
	}
	if len(parts) > 0 {
		err = read("select 1, day, "+marked+" from ("+nested(parts)+") as x group by day", func(b block, v mark) { m.days[b.first] = v })
	}
	return m, errors.Join(err, read(`select "days", "timestamp" / 86400, `+marked+" from "+Quote(rollup.Name)+where+` group by "days", "timestamp"`, func(b block, v mark) { m.blocks[b] = v }))
}

// cover divides a period into blocks of the rollup and the gaps between them.
type cover struct {
	blocks []block
	gaps   []view.Period
}

// leastDays is the length of a period, in days, from which a query uses the rollup; mostGaps
// is the maximum number of gaps.
const (
	leastDays = 8
	mostGaps  = 16
)

// covering searches for blocks that equal the counters of their days. Without any block the
// period is one gap.
func (s *Store) covering(ctx context.Context, org string, q view.Query, tables []string) (c cover, err error) {
	whole := cover{gaps: []view.Period{q.Period}}
	from, to := (q.Period.From.Unix()+daySeconds-1)/daySeconds, q.Period.To.Unix()/daySeconds // whole days
	// The rollup can answer the query.
	has := q.Table == view.Usage && q.Dimension == view.APIs && q.Form == view.Plain && q.Res == view.Whole && !q.Records
	if !has || q.Period.Days() < leastDays || !slices.Contains(tables, rollup.Name) || to <= from {
		return whole, nil
	}
	m, err := totals(ctx, s.Counters, org, without(tables, rollup.Name), from, to)
	if err != nil {
		return c, err
	}
	at := q.Period.From
	for day := from; day < to; {
		var b block // the largest block that begins on this day and agrees
		for _, days := range slices.Backward(sizes[:]) {
			if b = (block{days, day}); day%days == 0 && b.end() <= to && m.agree(b) {
				break
			}
			b = block{}
		}
		if b == (block{}) {
			day++
			continue
		}
		if begin := time.Unix(b.first*daySeconds, 0).UTC(); begin.After(at) {
			c.gaps = append(c.gaps, between(q.Period, at, begin))
		}
		c.blocks = append(c.blocks, b)
		day = b.end()
		at = time.Unix(day*daySeconds, 0).UTC()
	}
	if at.Before(q.Period.To) {
		c.gaps = append(c.gaps, between(q.Period, at, q.Period.To))
	}
	if len(c.gaps) > mostGaps {
		return whole, nil
	}
	return c, nil
}

// between returns the part of a period from from to to.
func between(p view.Period, from, to time.Time) view.Period {
	p.From, p.To = from, to
	return p
}

func without(list []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(n string) bool { return n == name })
}
