package sql

import (
	"fmt"
	"slices"
	"strings"
)

// statement is a statement over many rows.
type statement struct {
	head, tail string
	rows       [][]any
}

// batches are the numbers of rows a statement of the local database may have: few, so
// that each is prepared once, and small, because its driver compares each argument with
// each place for one, which takes longer than the statement.
var batches = []int{16, 4, 1}

// A server takes rows as one list for each column: one statement, which is prepared once,
// and one round trip for as many rows as these bounds allow.
const (
	mostRows  = 2048
	mostBytes = 1 << 20
)

// send carries a statement out for all of its rows. It stops between two batches
// when the group has held the writer for too long.
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
		if rows = rows[n:]; len(rows) > 0 { // what waits stays small
			if _, err := g.ses.flush(g.ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// fitting is how many of some rows a statement takes.
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

// columns turns rows into one list for each column.
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

// textKey names a statement text that has been made before.
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

// lists returns the statement for a list of values for each column.
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
