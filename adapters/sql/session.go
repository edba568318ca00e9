package sql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
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

// Command is one statement of several that are sent together.
type Command struct {
	Text string
	Args []any
	Into *int64 // takes the one number that it returns; nil: it returns nothing
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

// later carries a statement out at once or, where each would be a round trip, together with
// the next one, whose error is then that of the first that was refused.
func (s *session) later(ctx context.Context, text string, args ...any) error {
	if s.pipeline == nil {
		return s.exec(ctx, text, args...)
	}
	s.commands = append(s.commands, Command{Text: text, Args: args})
	return nil
}

// flush sends what waits, and some commands after it, and returns how many of all were
// carried out: those before the one that was refused.
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

// close gives the connection up for good, transaction and all.
func (s *session) close() {
	for _, st := range s.stmts {
		_ = st.Close()
	}
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = s.conn.Close()
}
