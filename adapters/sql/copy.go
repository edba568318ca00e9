package sql

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// tables are the tables in a backup: every table of both dialects, except the list of live
// nodes and the migrations, which the target has itself.
var tables = map[string][]string{
	"record":     {"kind", "org", "id", "rev", "doc", "meta"},
	"record_key": {"kind", "name", "value", "org", "id", "uniq", "sorted"},
	"record_ref": {"org", "to_kind", "to_id", "kind", "id"},
	"change_log": {"last", "first", "at", "body"},
	recordParts:  {"kind", "org", "id", "n", "body"},
	logParts:     {"last", "n", "body"},
	longTexts:    {"name", "state", "at", "size", "kind", "org", "id", "last"},
	longParts:    {"name", "n", "body"},
	"gone":       {"kind", "org", "id", "rev"},
	"cursor":     {"sink", "rev", "holder", "until"},
}

// Content is a summary of a database: rows by table, and its last revision. Two databases
// with the same content were copied completely.
type Content struct {
	Head store.Revision
	Rows map[string]int64
}

// Equal reports whether two contents are the same.
func (c Content) Equal(d Content) bool {
	same := c.Head == d.Head && len(c.Rows) == len(d.Rows)
	for table, n := range c.Rows {
		same = same && d.Rows[table] == n
	}
	return same
}

// ContentOf summarises a migrated database, without a Store.
func ContentOf(ctx context.Context, db *sql.DB) (Content, error) { return content(ctx, db) }

func content(ctx context.Context, q querier) (c Content, err error) {
	c.Rows = map[string]int64{}
	if c.Head, err = headOf(ctx, q); err != nil {
		return c, err
	}
	for table := range tables {
		if c.Rows[table], err = number(ctx, q, `select count(*) from `+table); err != nil {
			return c, err
		}
	}
	return c, nil
}

// CopyTo copies a consistent snapshot of all tables into a migrated, empty database of any
// dialect, in one transaction of that database. The store can be written to in the meantime.
func (s *Store) CopyTo(ctx context.Context, to *sql.DB) (c Content, err error) {
	err = s.snapshot(ctx, func(q querier) error {
		c, err = copyAll(ctx, q, to, false, nil)
		return err
	})
	return c, err
}

// ErrServed means that a service is running on the database.
var ErrServed = errors.New("a service works on this database: stop all services first; one that was killed counts for ten seconds more")

// CopyFrom replaces everything in the store with the content of another migrated database, in
// one transaction, in turn with other writers. Without replace the store must be empty. While
// a service holds a lease there, CopyFrom fails with ErrServed: in-memory copies of a later
// revision would mix with the new content.
func (s *Store) CopyFrom(ctx context.Context, from *sql.DB, replace bool) (c Content, err error) {
	have, err := ContentOf(ctx, s.Writers)
	if err != nil {
		return c, s.explain(err)
	}
	if have.Head > 0 && !replace {
		return c, store.ErrTaken
	}
	txn, err := from.BeginTx(ctx, nil)
	if err != nil {
		return c, err
	}
	defer func() { _ = txn.Rollback() }()
	c, err = copyAll(ctx, txn, s.Writers, s.Dialect.Text, func(ctx context.Context, t *sql.Tx) error {
		if s.Dialect.Lock != "" {
			if _, err := t.ExecContext(ctx, s.Dialect.Lock); err != nil {
				return err
			}
		}
		var held bool
		if err := t.QueryRowContext(ctx, `select exists (select 1 from cursor where holder <> '' and until > `+s.Dialect.Now+`)`).Scan(&held); err != nil || held {
			return cmp.Or(err, ErrServed)
		}
		for table := range tables {
			if _, err := t.ExecContext(ctx, `delete from `+table); err != nil {
				return err
			}
		}
		return nil
	})
	return c, s.explain(err)
}

// copyAll copies every table in one transaction of the target. text says that the target's
// columns accept only text.
func copyAll(ctx context.Context, q querier, to *sql.DB, text bool, before func(context.Context, *sql.Tx) error) (c Content, err error) {
	if c, err = content(ctx, q); err != nil {
		return c, err
	}
	txn, err := to.BeginTx(ctx, nil)
	if err != nil {
		return c, err
	}
	defer func() { _ = txn.Rollback() }()
	if before != nil {
		if err := before(ctx, txn); err != nil {
			return c, err
		}
	}
	for table, columns := range tables {
		if err := copyTable(ctx, q, txn, text, table, columns); err != nil {
			return c, fmt.Errorf("copy %s: %w", table, err)
		}
	}
	now, err := content(ctx, txn)
	if err == nil && !now.Equal(c) {
		err = fmt.Errorf("the copy has revision %d and rows %v, not revision %d and rows %v", now.Head, now.Rows, c.Head, c.Rows)
	}
	if err != nil {
		return c, err
	}
	return c, txn.Commit()
}

// copyTable copies the rows of one table, one at a time, so that no table is held in memory.
func copyTable(ctx context.Context, q querier, to *sql.Tx, text bool, table string, columns []string) error {
	marks := make([]string, len(columns))
	row, at := make([]any, len(columns)), make([]any, len(columns))
	for i := range columns {
		marks[i], at[i] = fmt.Sprintf("$%d", i+1), &row[i]
	}
	insert, err := to.PrepareContext(ctx, fmt.Sprintf(`insert into %s (%s) values (%s)`, table, strings.Join(columns, ", "), strings.Join(marks, ", ")))
	if err != nil {
		return err
	}
	defer func() { _ = insert.Close() }()
	rows, err := q.QueryContext(ctx, `select `+strings.Join(columns, ", ")+` from `+table)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(at...); err != nil {
			return err
		}
		for i, v := range row {
			b, ok := v.([]byte)
			switch {
			case !ok || !text || table == recordParts || table == logParts || table == longParts:
			case sealedBytes(b) != nil && b[1] < ' ':
				row[i] = asText(b)
			default:
				row[i] = string(b)
			}
		}
		if _, err := insert.ExecContext(ctx, row...); err != nil {
			return err
		}
	}
	return rows.Err()
}
