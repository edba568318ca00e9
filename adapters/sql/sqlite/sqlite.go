// Package sqlite opens a store in a SQLite file: durable, embedded, for one
// service process. Other processes may read it, and write to it briefly.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"runtime"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	sqladapter "github.com/gatehouse-io/gatehouse/adapters/sql"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Config says where the file is.
type Config struct {
	Path   string        // created when missing
	Now    system.Clock  // nil: time.Now
	Poll   time.Duration // how often to look for what other processes wrote; 0: 100 ms
	Logger *slog.Logger
}

// Store is a store in a SQLite file.
type Store struct {
	*sqladapter.Store
	readers, writers *sql.DB
}

var dialect = sqladapter.Dialect{
	Name:  "sqlite",
	Local: true,
	Begin: "begin immediate",
	Now:   "cast(unixepoch('subsec') * 1000 as integer)",
	Again: func(err error) bool { return code(err) == sqlite3.SQLITE_BUSY },
	Taken: func(err error) bool { return code(err) == sqlite3.SQLITE_CONSTRAINT },
	Lost:  func(err error) bool { return code(err) == sqlite3.SQLITE_CANTOPEN },
}

// code returns the primary result code of a SQLite error, or 0.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// Open opens the file, creates or updates its schema and starts the store.
// Close ends it.
func Open(ctx context.Context, c Config) (*Store, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &Store{}
	var err error
	if s.writers, err = connect(c.Path, 1, "_txlock=immediate"); err != nil {
		return nil, err
	}
	if _, err := sqladapter.Migrate(ctx, s.writers, dialect); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", c.Path, err), s.writers.Close())
	}
	if s.readers, err = connect(c.Path, max(4, runtime.NumCPU()), "_pragma=query_only(1)"); err != nil {
		return nil, errors.Join(err, s.writers.Close())
	}
	s.Store = sqladapter.New(sqladapter.Config{Readers: s.readers, Writers: s.writers, Dialect: dialect, Now: c.Now, Poll: c.Poll, Logger: c.Logger})
	return s, nil
}

// Migrate brings the schema of a file up to date and returns every step.
func Migrate(ctx context.Context, path string) ([]sqladapter.Step, error) {
	db, err := connect(path, 1, "_txlock=immediate")
	if err != nil {
		return nil, err
	}
	steps, err := sqladapter.Migrate(ctx, db, dialect)
	return steps, errors.Join(err, db.Close())
}

// connect opens a pool. In WAL mode with synchronous FULL a commit has reached
// the disk when it returns, and readers never wait for the writer.
func connect(path string, conns int, more string) (*sql.DB, error) {
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)" +
		"&_pragma=cache_size(-65536)&_pragma=wal_autocheckpoint(4000)&" + more
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// Close ends the store and closes the file.
func (s *Store) Close() error {
	return errors.Join(s.Store.Close(), s.readers.Close(), s.writers.Close())
}
