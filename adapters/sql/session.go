package sql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// session is a connection with its prepared statements.
type session struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	texts map[textKey]string
	local bool // see batches

	pipeline func(ctx context.Context, conn any, commands []Command) (done int, err error) // see Dialect
	commands []Command                                                                     // to be sent with the next statement
}

// Command is one of several statements that are sent together.
type Command struct {
	Text string
	Args []any
	Into *int64 // receives the number that it returns; nil: it returns nothing
}

func newSession(ctx context.Context, db *sql.DB, d Dialect) (*session, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &session{conn: conn, stmts: map[string]*sql.Stmt{}, texts: map[textKey]string{}, local: d.Local, pipeline: d.Pipeline}, nil
}

func (s *session) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	if st, ok := s.stmts[text]; ok {
		return st, nil
	}
	st, err := s.conn.PrepareContext(ctx, text)
	if err == nil {
		s.stmts[text] = st
	}
	return st, err
}

// QueryContext implements querier.
func (s *session) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if _, err := s.flush(ctx); err != nil {
		return nil, err
	}
	st, err := s.prepare(ctx, text) //nolint:sqlclosecheck // kept for the next time; close closes it
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, args...)
}

func (s *session) exec(ctx context.Context, text string, args ...any) error {
	if _, err := s.flush(ctx); err != nil {
		return err
	}
	st, err := s.prepare(ctx, text) //nolint:sqlclosecheck // as in QueryContext
	if err != nil {
		return err
	}
	_, err = st.ExecContext(ctx, args...)
	return err
}

// change is exec, and returns how many rows the statement has changed.
func (s *session) change(ctx context.Context, text string, args ...any) (int64, error) {
	if _, err := s.flush(ctx); err != nil {
		return 0, err
	}
	st, err := s.prepare(ctx, text) //nolint:sqlclosecheck // as in QueryContext
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// later executes a statement at once or, where each statement would be a round trip,
// together with the next one. An error then is that of the first statement that was
// refused.
func (s *session) later(ctx context.Context, text string, args ...any) error {
	if s.pipeline == nil {
		return s.exec(ctx, text, args...)
	}
	s.commands = append(s.commands, Command{Text: text, Args: args})
	return nil
}

// flush sends the pending statements, and more after them, and returns how many of all were
// executed: the ones before the refused one.
func (s *session) flush(ctx context.Context, more ...Command) (done int, err error) {
	commands := append(s.commands, more...)
	if s.commands = nil; len(commands) == 0 {
		return 0, nil
	}
	raw := s.conn.Raw(func(conn any) error {
		done, err = s.pipeline(ctx, conn, commands)
		return nil
	})
	return done, errors.Join(err, raw)
}

// close closes the connection, and with it its transaction.
func (s *session) close() {
	for _, st := range s.stmts {
		_ = st.Close()
	}
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = s.conn.Close()
}

// statement is a statement over many rows.
type statement struct {
	head, tail string
	rows       [][]any
}

// batches are the numbers of rows a statement of a local database may have: few numbers, so
// that each statement is prepared once, and small ones, because the driver compares each
// argument with each placeholder, which takes longer than the statement.
var batches = []int{16, 4, 1}

// A server takes rows as one array per column: one statement, which is prepared once, and
// one round trip for as many rows as these bounds allow.
const (
	mostRows  = 2048
	mostBytes = 1 << 20
)

// send executes a statement for all of its rows. It stops between two batches when the
// group has held the writer for too long.
func (g *group) send(st *statement) error {
	for rows := st.rows; len(rows) > 0; {
		var n int
		var args []any
		if g.ses.local {
			n = batches[slices.IndexFunc(batches, func(n int) bool { return n <= len(rows) })]
			args = slices.Concat(rows[:n]...)
		} else if n = fitting(rows); n == 1 {
			args = rows[0]
		} else {
			args = columns(rows[:n])
		}
		if err := g.late(); err != nil {
			return err
		}
		if err := g.ses.later(g.ctx, g.ses.text(st, n), args...); err != nil {
			return err
		}
		if rows = rows[n:]; len(rows) > 0 { // the rest stays small
			if _, err := g.ses.flush(g.ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// fitting returns how many of the rows fit into one statement.
func fitting(rows [][]any) (n int) {
	for size := 0; n < min(len(rows), mostRows); n++ {
		for _, v := range rows[n] {
			text, _ := v.(string)
			size += len(text)
		}
		if n > 0 && size > mostBytes {
			return n
		}
	}
	return n
}

// columns converts rows to one slice for each column.
func columns(rows [][]any) []any {
	out := make([]any, len(rows[0]))
	for i, v := range rows[0] {
		switch v.(type) {
		case string:
			out[i] = column[string](rows, i)
		case int64:
			out[i] = column[int64](rows, i)
		default:
			out[i] = column[int](rows, i)
		}
	}
	return out
}

// column panics when a row has a value of another type than the first.
func column[T any](rows [][]any, i int) []T {
	out := make([]T, len(rows))
	for n, row := range rows {
		out[n] = row[i].(T)
	}
	return out
}

// textKey identifies a cached statement text.
type textKey struct {
	head string
	rows int
}

func (s *session) text(st *statement, n int) string {
	if !s.local {
		n = min(n, 2) // one row, or several
	}
	k := textKey{st.head, n}
	if t, ok := s.texts[k]; ok {
		return t
	}
	if s.local || n == 1 {
		s.texts[k] = st.text(n, s.local)
	} else {
		s.texts[k] = st.lists()
	}
	return s.texts[k]
}

// lists returns the statement with an array parameter for each column.
func (st *statement) lists() string {
	var lists []string
	for i, v := range st.rows[0] {
		of := "integer[]"
		switch v.(type) {
		case string:
			of = "text[]"
		case int64:
			of = "bigint[]"
		}
		lists = append(lists, fmt.Sprintf("$%d::%s", i+1, of))
	}
	rows := "select * from unnest(" + strings.Join(lists, ", ") + ")"
	if head, ok := strings.CutSuffix(st.head, "(values "); ok {
		return head + "(" + rows + st.tail
	}
	return strings.TrimSuffix(st.head, "values ") + rows + st.tail
}

// text returns the statement for n rows, with or without numbers of arguments.
func (st *statement) text(n int, local bool) string {
	var b strings.Builder
	b.WriteString(st.head)
	width := len(st.rows[0])
	for row := range n {
		if row > 0 {
			b.WriteByte(',')
		}
		for col := range width {
			sep := ','
			if col == 0 {
				sep = '('
			}
			if local {
				b.WriteByte(byte(sep))
				b.WriteByte('?')
				continue
			}
			fmt.Fprintf(&b, "%c$%d", sep, row*width+col+1)
		}
		b.WriteByte(')')
	}
	b.WriteString(st.tail)
	return b.String()
}
