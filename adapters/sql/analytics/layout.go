package analytics

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// layout is the columns of an existing table. Another program may have created it,
// without the columns that some of its releases lack.
type layout struct {
	table      *Table
	columns    []Column
	statements map[int]*sql.Stmt // insert statements, by number of rows
}

// unlearn clears the cached layouts.
func (w *Writer) unlearn() {
	for _, l := range w.known {
		for _, st := range l.statements {
			_ = st.Close() // an error of Close does not matter
		}
	}
	clear(w.known)
}

// layout returns the columns of a table, and creates the table if it does not exist.
func (w *Writer) layout(ctx context.Context, t *Table, name string) (*layout, error) {
	if l, ok := w.known[name]; ok {
		return l, nil
	}
	there, err := w.look(ctx, name)
	if err != nil && ctx.Err() == nil {
		for _, statement := range t.Create(w.d, name) {
			if _, err = w.db.ExecContext(ctx, statement); err != nil {
				break // another process may have created it first
			}
		}
		there, err = w.look(ctx, name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	l := &layout{table: t, statements: map[int]*sql.Stmt{}}
	for _, c := range t.Columns {
		if there[strings.ToLower(c.Name)] {
			l.columns = append(l.columns, c)
		}
	}
	w.known[name] = l
	return l, nil
}

// look reads the columns of a table, in lower case.
func (w *Writer) look(ctx context.Context, name string) (map[string]bool, error) {
	rows, err := w.db.QueryContext(ctx, "select * from "+Quote(name)+" where 1 = 0")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	out := map[string]bool{}
	for _, n := range names {
		out[strings.ToLower(n)] = true
	}
	if err == nil {
		err = rows.Err()
	}
	return out, err
}

// statement returns the statement that inserts n rows. Counters are added to existing
// rows.
func (l *layout) statement(d Dialect, name string, rows int) string {
	names := make([]string, len(l.columns))
	for i, c := range l.columns {
		names[i] = Quote(c.Name)
	}
	values := make([]string, rows)
	for row := range values {
		params := make([]string, len(names))
		for i := range params {
			params[i] = d.value(row*len(names) + i + 1)
		}
		values[row] = "(" + strings.Join(params, ", ") + ")"
	}
	out := "insert into " + Quote(name) + " as old (" + strings.Join(names, ", ") + ") values " + strings.Join(values, ", ")
	if l.table.Key == "" {
		return out
	}
	var sets []string
	for _, c := range l.columns {
		if rule := merged(l.table, c.Name); rule != "" {
			sets = append(sets, Quote(c.Name)+" = "+rule)
		}
	}
	return out + " on conflict (" + Quote(l.table.Key) + ") do update set " + strings.Join(sets, ", ")
}

// merged returns the SQL for a column when counters are added to an existing row; ""
// means that the column keeps its value, as the columns of the key do.
func merged(t *Table, column string) string {
	old, add := "coalesce(old."+column+", 0)", "excluded."+column
	sum := old + " + " + add
	both := func(choose string) string { // if one side has counted nothing, the value of the other
		return "case when excluded.counter_hits = 0 then old." + column + " when old.counter_hits = 0 then " + add +
			" when " + add + choose + old + " then " + add + " else " + old + " end"
	}
	mean := func(of string) string {
		return "case when old.counter_hits + excluded.counter_hits = 0 then 0 else 1.0 * (coalesce(old." + of + ", 0) + excluded." + of + ") / (old.counter_hits + excluded.counter_hits) end"
	}
	switch {
	case column == "counter_latency", column == "counter_upstream_latency":
		return mean(strings.Replace(column, "counter_", "counter_total_", 1))
	case column == "counter_request_time":
		if t.Name == Uptime.Name {
			return "" // as in the original field: the value of the first batch
		}
		return mean("counter_total_request_time")
	case strings.HasPrefix(column, "counter_max_"):
		return both(" > ")
	case strings.HasPrefix(column, "counter_min_"):
		return both(" < ")
	case column == "counter_last_time":
		return "case when excluded.counter_hits = 0 then old." + column + " else " + add + " end"
	case t.Name == volume.Name && column != t.Key, strings.HasPrefix(column, "code_"), strings.HasPrefix(column, "counter_total_"):
		return sum
	}
	switch strings.TrimPrefix(column, "counter_") {
	case "hits", "success", "error", "open_connections", "closed_connections", "bytes_in", "bytes_out":
		return sum
	}
	return ""
}

// row returns the values for a record, or for counters.
func row[T any, V ~func(*T) any](l *layout, d Dialect, of *T, values map[string]V) []any {
	out := make([]any, len(l.columns))
	for i, c := range l.columns {
		v := values[c.Name](of)
		if at, ok := v.(time.Time); ok {
			v = d.Time(at)
		}
		out[i] = v
	}
	return out
}
