package sql

import (
	"context"
	"database/sql"
	"database/sql/driver"
)

// session is a connection with its prepared statements.
type session struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	texts map[textKey]string
	local bool // see localBatches
}

func newSession(ctx context.Context, db *sql.DB) (*session, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &session{conn: conn, stmts: map[string]*sql.Stmt{}, texts: map[textKey]string{}}, nil
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

func (s *session) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	st, err := s.prepare(ctx, text) //nolint:sqlclosecheck // kept for the next time; close closes it
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, args...)
}

func (s *session) exec(ctx context.Context, text string, args ...any) error {
	st, err := s.prepare(ctx, text) //nolint:sqlclosecheck // as in query
	if err != nil {
		return err
	}
	_, err = st.ExecContext(ctx, args...)
	return err
}

// change is exec, and returns how many rows the statement has changed.
func (s *session) change(ctx context.Context, text string, args ...any) (int64, error) {
	st, err := s.prepare(ctx, text) //nolint:sqlclosecheck // as in query
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// close gives the connection up for good, transaction and all.
func (s *session) close() {
	for _, st := range s.stmts {
		_ = st.Close()
	}
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = s.conn.Close()
}
