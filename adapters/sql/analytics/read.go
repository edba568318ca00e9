package analytics

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/analytics/view"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

var errScope = errors.New("analytics are those of one organisation")

// home returns the table for a query, and its database.
func (s *Store) home(q view.Query) (Place, Table) {
	if q.Records {
		return s.Records, map[view.Table]Table{view.Usage: Calls, view.Graph: GraphCalls, view.MCP: MCPCalls}[q.Table]
	}
	switch q.Table {
	case view.MCP:
		return s.Counters, MCPUsage
	case view.Graph:
		return s.Counters, GraphUsage
	case view.Uptime:
		return s.Uptime, Uptime
	}
	return s.Counters, Usage
}

// tables returns the tables that exist for a period, daily or not, with the rollup of counters. The
// day of a daily table is in its writer's time zone, so that the tables of adjacent days may
// contain some of the rows.
func (p Place) tables(ctx context.Context, t Table, period view.Period) (out []string, err error) {
	if !p.There() {
		return nil, nil
	}
	rows, err := p.Readers.QueryContext(ctx, p.Dialect.names)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	first, last := t.Shard(period.From.UTC().AddDate(0, 0, -1)), t.Shard(period.To.UTC().AddDate(0, 0, 1))
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		if name == t.Name || t.Name == Usage.Name && name == rollup.Name || len(name) == len(first) && name >= first && name <= last && strings.HasPrefix(name, t.Name+"_") {
			out = append(out, name)
		}
	}
	return out, rows.Err()
}

// Oldest implements the port. With daily tables, the first table that has a call determines it.
func (s *Store) Oldest(ctx context.Context, q view.Query) (oldest time.Time, kept bool, err error) {
	place, table := s.home(q)
	if !place.There() {
		return oldest, false, nil
	}
	names, err := place.tables(ctx, table, view.Period{To: time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		return oldest, true, err
	}
	at := "timestamp"
	if table.Name != Calls.Name {
		at = prefix + at
	}
	slices.Sort(names)
	for _, name := range names {
		var first any
		err := place.Readers.QueryRowContext(ctx, "select "+Quote(at)+" from "+Quote(name)+" where "+Quote(at)+" is not null order by "+Quote(at)+" limit 1").Scan(&first)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return oldest, true, fmt.Errorf("analytics: %w", err)
		}
		if t, ok := instant(first); ok && (oldest.IsZero() || t.Before(oldest)) {
			oldest = t
		}
		if name != table.Name {
			break
		}
	}
	return oldest, true, nil
}

// Count implements the port.
func (s *Store) Count(ctx context.Context, scope tenant.Scope, q view.Query) ([]view.Row, int, error) {
	if scope.Org() == "" {
		return nil, 0, errScope
	}
	place, table := s.home(q)
	names, err := place.tables(ctx, table, q.Period)
	if err != nil || len(names) == 0 {
		return nil, 0, err
	}
	c, err := s.covering(ctx, string(scope.Org()), q, names)
	if err != nil {
		return nil, 0, err
	}
	q.Untracked = s.TrackAll
	query, args := count(place.Dialect, scope.Org(), q, without(names, rollup.Name), c)
	return paged(ctx, place.Readers, query, args, q.Offset, func(rows *sql.Rows) (r view.Row, total int, err error) {
		var t int64
		var name text
		var last any
		err = rows.Scan(&t, &r.Value, &r.API, &name, &r.Hits, &r.Success, &r.Error, &r.RequestTime, &r.Latency, &r.Upstream,
			&r.MaxLatency, &r.MinLatency, &r.MaxUpstream, &r.MinUpstream, &last, &total)
		r.Name, r.LastHit = string(name), moment(last, time.RFC3339)
		setTime(&r, q.Res, t)
		return r, total, err
	})
}

// asked is a database or a transaction.
type asked interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// paged reads the rows of a statement whose last two parameters are limit and offset. Each row
// contains the total number of rows; if the page is empty, paged reads the first row for the total.
func paged[T any](ctx context.Context, db asked, text string, args []any, offset int, scan func(*sql.Rows) (T, int, error)) (out []T, total int, err error) {
	read := func(args []any, keep bool) (err error) {
		rows, err := db.QueryContext(ctx, text, args...)
		if err != nil {
			return fmt.Errorf("analytics: %w", err)
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		for rows.Next() {
			v, n, err := scan(rows)
			if err != nil {
				return err
			}
			if total = n; keep {
				out = append(out, v)
			}
		}
		return rows.Err()
	}
	if err := read(args, true); err != nil || len(out) > 0 || offset == 0 {
		return out, total, err
	}
	args[len(args)-2], args[len(args)-1] = int64(1), int64(0)
	return nil, total, read(args, false)
}

// setTime sets the time of a row from the value that statement.time computes.
func setTime(r *view.Row, res view.Resolution, t int64) {
	var at time.Time
	switch res {
	case view.Hour:
		at = time.Unix(t*3600, 0).UTC()
		r.Hour = at.Hour()
	case view.Day:
		at = time.Unix(t*86400, 0).UTC()
	case view.Month:
		r.Year, r.Month = int(t/100), int(t%100)
		return
	default:
		return
	}
	r.Year, r.Month, r.Day = at.Year(), int(at.Month()), at.Day()
}

// moment formats a time from a database for the wire; a time that cannot be read becomes the zero
// time.
func moment(v any, as string) string {
	t, _ := instant(v)
	return t.UTC().Format(as)
}

// instant parses a time from a database.
func instant(v any) (time.Time, bool) {
	if t, ok := v.(time.Time); ok {
		return t, true
	}
	written, _ := v.(string)
	for _, form := range []string{stamp, time.RFC3339Nano, "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999 -0700 MST"} {
		if at, err := time.Parse(form, written); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

var callColumns = strings.Fields(`method host path rawpath contentlength useragent day month year hour responsecode apikey timestamp apiversion api_name apiid orgid oauthid
	requesttime latency_total latency_upstream rawrequest rawresponse ipaddress geo_country_iso_code tags alias trackpath`)

// List implements the port.
func (s *Store) List(ctx context.Context, scope tenant.Scope, q view.CallQuery) ([]view.Call, int, error) {
	if scope.Org() == "" {
		return nil, 0, errScope
	}
	names, err := s.Records.tables(ctx, Calls, q.Period)
	if err != nil || len(names) == 0 {
		return nil, 0, err
	}
	// Both statements must see the same calls.
	tx, err := s.Records.Readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: s.Records.Dialect.snapshot})
	if err != nil {
		return nil, 0, fmt.Errorf("analytics: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	list, total, err := s.calls(ctx, tx, scope, q, names, false)
	if err != nil {
		return nil, 0, err
	}
	// The calls up to the last one that has messages, as long as there is room, are read once
	// more, with them.
	last, left := 0, int64(q.Messages)
	for i, c := range list {
		if left -= c.size; left < 0 {
			break
		}
		if c.size > 0 {
			last = i + 1
		}
	}
	out := make([]view.Call, 0, len(list))
	if last > 0 {
		q.AtMost = last
		full, _, err := s.calls(ctx, tx, scope, q, names, true)
		if err != nil {
			return nil, 0, err
		}
		for _, c := range full {
			out = append(out, c.Call)
		}
	}
	for _, c := range list[last:] {
		c.LeftOut = c.size > 0 && q.Messages > 0
		out = append(out, c.Call)
	}
	return out, total, nil
}

// sized is a call with the size of its messages, which may not have been read yet.
type sized struct {
	view.Call
	size int64
}

func (s *Store) calls(ctx context.Context, tx *sql.Tx, scope tenant.Scope, q view.CallQuery, tables []string, messages bool) ([]sized, int, error) {
	query, args := listing(s.Records.Dialect, scope.Org(), q, tables, messages)
	return paged(ctx, tx, query, args, q.Offset, func(rows *sql.Rows) (c sized, total int, err error) {
		var at, track any
		var tags text
		err = rows.Scan((*text)(&c.Method), (*text)(&c.Host), (*text)(&c.Path), (*text)(&c.RawPath), (*number)(&c.ContentLength), (*text)(&c.UserAgent), (*number)(&c.Day), (*number)(&c.Month),
			(*number)(&c.Year), (*number)(&c.Hour), (*number)(&c.ResponseCode), (*text)(&c.APIKey), &at, (*text)(&c.APIVersion), (*text)(&c.APIName), (*text)(&c.APIID), (*text)(&c.OrgID),
			(*text)(&c.OAuthID), (*number)(&c.RequestTime), (*number)(&c.Latency.Total), (*number)(&c.Latency.Upstream), (*text)(&c.RawRequest), (*text)(&c.RawResponse), (*text)(&c.IPAddress),
			(*text)(&c.Country), &tags, (*text)(&c.Alias), &track, &c.size, &total)
		c.TimeStamp, c.TrackPath, c.Tags = moment(at, time.RFC3339Nano), track == true || track == int64(1), []string{}
		_ = json.Unmarshal([]byte(tags), &c.Tags) // if it is not a list, there are no tags
		return c, total, err
	})
}

// text and number scan columns that may be null.
type (
	text   string
	number int64
)

// Scan implements sql.Scanner.
func (t *text) Scan(v any) error {
	switch v := v.(type) {
	case string:
		*t = text(v)
	case []byte:
		*t = text(v)
	}
	return nil
}

// Scan implements sql.Scanner.
func (n *number) Scan(v any) error {
	if v, ok := v.(int64); ok {
		*n = number(v)
	}
	return nil
}
