package analyticstest

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/sql/analytics"
)

// place is the key of one row of counters.
type place struct {
	table, org, api, dimension, value string
	hour                              int64
}

type counts struct {
	hits, success, errors, time, latency, upstream, most, least, mostUp, leastUp int64
	name                                                                         string
	last                                                                         time.Time
	codes                                                                        [12]int64 // as codeColumns
}

func (c *counts) add(r Record, name string) {
	if c.hits == 0 {
		c.least, c.leastUp = r.Latency, r.Upstream
	}
	c.hits, c.time, c.latency, c.upstream = c.hits+1, c.time+r.Latency, c.latency+r.Latency, c.upstream+r.Upstream
	c.most, c.mostUp = max(c.most, r.Latency), max(c.mostUp, r.Upstream)
	c.least, c.leastUp = min(c.least, r.Latency), min(c.leastUp, r.Upstream)
	if c.name = name; r.At.After(c.last) {
		c.last = r.At
	}
	switch {
	case r.Code >= 200 && r.Code < 300:
		c.success++
	case r.Code >= 400:
		c.errors++
		code := strconv.Itoa(r.Code)
		i := slices.Index(codeColumns, "code_"+code)
		if i < 0 {
			i = slices.Index(codeColumns, "code_"+code[:1]+"x")
		}
		c.codes[i]++
	}
}

// Fill creates the tables and fills them with records: calls, and their counters. It works
// hour by hour, so that only the counters of one hour are in memory.
func Fill(ctx context.Context, s *analytics.Store, records []Record) error {
	w := &filler{ctx: ctx, made: map[string]func() error{}}
	order := make([]int32, len(records))
	for i := range order {
		order[i] = int32(i) //nolint:gosec // there are not that many
	}
	slices.SortFunc(order, func(a, b int32) int { return records[a].At.Compare(records[b].At) })
	hour := map[place]*counts{}
	for n, i := range order {
		r := &records[i]
		if err := w.call(s.Records, *r); err != nil {
			return err
		}
		hourly(hour, r)
		if n+1 < len(order) && records[order[n+1]].At.Truncate(time.Hour).Equal(r.At.Truncate(time.Hour)) {
			continue
		}
		for at, c := range hour {
			if err := w.counters(s.Counters, at, c); err != nil {
				return err
			}
		}
		clear(hour)
	}
	return w.flush()
}

// hourly adds a record to the counters of its hour.
func hourly(all map[place]*counts, r *Record) {
	table, api := analytics.Usage.Name, ""
	switch r.Sort {
	case GraphQL:
		table, api = analytics.GraphUsage.Name, r.API
	case MCP:
		table, api = analytics.MCPUsage.Name, r.API
	}
	for dimension, values := range r.values() {
		for _, v := range values {
			at := place{table, r.Org, api, dimension, v, r.At.Truncate(time.Hour).Unix()}
			c := all[at]
			if c == nil {
				c = &counts{}
				all[at] = c
			}
			name := ""
			if dimension == "apiid" {
				name = r.Name
			}
			c.add(*r, name)
		}
	}
}

// filler collects rows with the same columns.
type filler struct {
	ctx     context.Context
	made    map[string]func() error // by table: creates its indexes, at the end
	batches map[string]*batch
	day     string // the day of these batches
}

type batch struct {
	place   analytics.Place
	columns []string
	rows    int
	args    []any
}

// put adds a row to the table for a time, and creates the table if needed.
func (w *filler) put(p analytics.Place, t analytics.Table, at time.Time, columns []string, values []any) error {
	name := t.Name
	if p.Sharded {
		name = t.Shard(at)
	}
	if w.made[name] == nil {
		statements := t.Create(p.Dialect, name)
		if _, err := p.Writers.ExecContext(w.ctx, statements[0]); err != nil {
			return err
		}
		w.made[name] = func() error {
			for _, index := range statements[1:] {
				if _, err := p.Writers.ExecContext(w.ctx, index); err != nil {
					return err
				}
			}
			return nil
		}
	}
	if day := at.Format(time.DateOnly); p.Sharded && day != w.day {
		if err := w.insertAll(); err != nil {
			return err
		}
		w.day = day
	}
	if w.batches == nil {
		w.batches = map[string]*batch{}
	}
	b := w.batches[name]
	if b == nil {
		b = &batch{place: p, columns: columns}
		w.batches[name] = b
	}
	b.args = append(b.args, values...)
	if b.rows++; len(b.args)+len(columns) > 30_000 {
		return w.insert(name, b)
	}
	return nil
}

// insert writes a batch in one transaction: row by row on SQLite, whose driver searches for
// each parameter among all of a statement, and as one statement on other databases.
func (w *filler) insert(name string, b *batch) (err error) {
	tx, err := b.place.Writers.BeginTx(w.ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit this does nothing
	at := b.rows
	if b.place.Dialect.Name == analytics.SQLite.Name {
		at = 1
	}
	quoted := make([]string, len(b.columns))
	for i, c := range b.columns {
		quoted[i] = analytics.Quote(c)
	}
	lines, n := make([]string, at), 0
	for i := range lines {
		params := make([]string, len(b.columns))
		for j := range params {
			n++
			params[j] = b.place.Dialect.Param(n)
		}
		lines[i] = "(" + strings.Join(params, ",") + ")"
	}
	st, err := tx.PrepareContext(w.ctx, "insert into "+analytics.Quote(name)+" ("+strings.Join(quoted, ",")+") values "+strings.Join(lines, ","))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	for n := at * len(b.columns); len(b.args) > 0; b.args = b.args[n:] {
		if _, err := st.ExecContext(w.ctx, b.args[:n]...); err != nil {
			return err
		}
	}
	b.args, b.rows = nil, 0
	return tx.Commit()
}

// insertAll writes all batches.
func (w *filler) insertAll() error {
	for name, b := range w.batches {
		if b.rows > 0 {
			if err := w.insert(name, b); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	clear(w.batches)
	return nil
}

func (w *filler) flush() error {
	if err := w.insertAll(); err != nil {
		return err
	}
	for name, index := range w.made {
		if err := index(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

var callColumns = strings.Fields(`method host path rawpath contentlength useragent day month year hour responsecode apikey timestamp apiversion api_name apiid orgid oauthid
	requesttime latency_total latency_upstream rawrequest rawresponse ipaddress geo_country_iso_code tags alias trackpath`)

func (w *filler) call(p analytics.Place, r Record) error {
	table, columns := analytics.Calls, callColumns
	own := append([]string{}, r.Tags...)
	if r.Sort == GraphQL {
		own = append(own, "tyk-graph-analytics")
	}
	marks, _ := json.Marshal(append(own, "key-"+r.Key, "org-"+r.Org, "api-"+r.API)) // encoding texts never fails
	values := []any{"GET", "up.example", r.Path, r.Path, int64(-1), "=cmd|' /C calc'!A0", int64(r.At.Day()), int64(r.At.Month()), int64(r.At.Year()), int64(r.At.Hour()), int64(r.Code), r.Key,
		p.Dialect.Time(r.At), r.Version, r.Name, r.API, r.Org, r.Client, r.Latency, r.Latency, r.Upstream, "", "", "192.0.2.1", r.Country, string(marks), "", r.Tracked}
	if r.Sort != MCP {
		if err := w.put(p, table, r.At, columns, values); err != nil || r.Sort == REST {
			return err
		}
	}
	columns = slices.Clone(columns)
	for i := range columns {
		columns[i] = "analytics_" + columns[i]
	}
	if r.Sort == GraphQL {
		return w.put(p, analytics.GraphCalls, r.At, append(columns, "operation_type"), append(values, r.Operation))
	}
	return w.put(p, analytics.MCPCalls, r.At, append(columns, "jsonrpc_method", "primitive_type", "primitive_name"), append(values, r.Method, r.Primitive, r.Called))
}

var codeColumns = strings.Fields("code_400 code_401 code_403 code_404 code_429 code_4x code_500 code_501 code_502 code_503 code_504 code_5x")

var counterColumns = append(strings.Fields(`id org_id timestamp dimension dimension_value counter_identifier counter_human_identifier counter_hits counter_success counter_error
	counter_request_time counter_total_request_time counter_total_latency counter_total_upstream_latency counter_latency counter_upstream_latency
	counter_max_latency counter_min_latency counter_max_upstream_latency counter_min_upstream_latency counter_last_time`), codeColumns...)

func (w *filler) counters(p analytics.Place, at place, c *counts) error {
	owner := at.org
	if at.api != "" {
		owner = at.api
	}
	average := func(sum int64) float64 { return float64(sum) / float64(c.hits) }
	values := []any{hex.EncodeToString(fmt.Append(nil, at.hour, owner, at.dimension, at.value, at.org)), at.org, at.hour, at.dimension, at.value, at.value, c.name, c.hits, c.success, c.errors,
		average(c.time), float64(c.time), c.latency, c.upstream, average(c.latency), average(c.upstream), c.most, c.least, c.mostUp, c.leastUp, p.Dialect.Time(c.last)}
	for _, n := range c.codes {
		values = append(values, n)
	}
	table, columns := analytics.Usage, counterColumns
	for _, t := range analytics.Tables {
		if t.Name == at.table {
			table = t
		}
	}
	if at.api != "" {
		columns, values = append(slices.Clone(columns), "api_id"), append(values, at.api)
	}
	return w.put(p, table, time.Unix(at.hour, 0).UTC(), columns, values)
}
