// Package sqlite opens a store in a SQLite file: durable, embedded, for one service
// process, which holds a lock. Other processes may open the file beside that process, to
// read it and for short writes.
package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	sqladapter "github.com/gatehouse-io/gatehouse/adapters/sql"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Config says where the file is.
type Config struct {
	Path   string        // created when missing
	Beside bool          // open the file beside a process that serves from it, without the lock
	Now    system.Clock  // nil: time.Now
	Poll   time.Duration // how often to poll for commits of other processes; 0: 100 ms
	Hold   time.Duration // how long one unit of work may hold the writer; 0: store.DefaultHold
	Logger *slog.Logger
	// Sealing encrypts what is stored; the zero Sealing encrypts nothing.
	Sealing sqladapter.Sealing
	prepare bool          // prepare every unit of work, for tests
	pages   int           // maximum size of the file, for tests; 0: unlimited
	later   time.Duration // when an unchanged file is checked, for tests; 0: checkAfter
}

// Store is a store in a SQLite file.
type Store struct {
	*sqladapter.Store
	readers, writers *sql.DB
	lock             *held        // nil: opened beside
	back             *checkpoints // nil: Open has not finished
	checks           checks
	path             string
	at               place
}

var dialect = sqladapter.Dialect{
	Name: "sqlite",
	// 512 pages are 2 MB: writers do not wait long for them.
	Shrink: "pragma incremental_vacuum(512)",
	Free:   "pragma freelist_count",
	Local:  true,
	Begin:  "begin immediate",
	Now:    "cast(unixepoch('subsec') * 1000 as integer)",
	// PROTOCOL is the error of a reader that lost a race too often.
	Again:  func(err error) bool { c := code(err); return c == sqlite3.SQLITE_BUSY || c == sqlite3.SQLITE_PROTOCOL },
	Taken:  func(err error) bool { return code(err) == sqlite3.SQLITE_CONSTRAINT },
	Lost:   func(err error) bool { c := code(err); return c == sqlite3.SQLITE_CANTOPEN || c == sqlite3.SQLITE_IOERR },
	Full:   func(err error) bool { return code(err) == sqlite3.SQLITE_FULL },
	Broken: broken,
}

// broken reports whether the file is damaged, or not a database.
func broken(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_CORRUPT || c == sqlite3.SQLITE_NOTADB
}

// code returns the primary result code of a SQLite error, or 0.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// Open opens the file, creates or updates its schema and starts the store. Call Close to
// end it. Unless Beside is set, Open returns ErrInUse for a file that another process
// serves from. It returns store.ErrDamaged for a damaged file. A file with the size and the
// time at which Close left it is checked a little later, while it is served from: damage
// found then stops all writes.
func Open(ctx context.Context, c Config) (s *Store, err error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	s = &Store{}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("open %s: %w", c.Path, err), s.release())
			s = nil
		}
	}()
	path, err := resolve(c.Path)
	if err != nil {
		return s, err
	}
	if err := onlyName(path); err != nil {
		return s, err
	}
	if !c.Beside {
		f, err := lock(path)
		if err != nil {
			return s, err
		}
		s.lock = &held{path: path, file: f}
	}
	if err := guardFiles(path, c.Logger); err != nil {
		return s, err
	}
	return s, s.start(ctx, path, c)
}

// start opens the connections to an existing file.
func (s *Store) start(ctx context.Context, path string, c Config) (err error) {
	s.path = path
	asLeft := untouched(path) // before a connection creates a log
	limit := ""
	if c.pages > 0 {
		limit = fmt.Sprintf("&_pragma=max_page_count(%d)", c.pages)
	}
	if !c.Beside {
		limit += "&" + leftAlone
	}
	if s.writers, err = s.at.connect(path, 1, "_txlock=immediate"+limit); err != nil {
		return err
	}
	if !c.Beside {
		_ = s.writers.PingContext(ctx) // the check reports errors; this connection stays open, because closing the last one writes the log back
		if err := s.checks.begin(ctx, path, asLeft, c); err != nil {
			return err
		}
	}
	if err := complete(ctx, path, s.writers); err != nil {
		return err
	}
	if _, err := sqladapter.Migrate(ctx, s.writers, dialect); err != nil {
		return err
	}
	if s.lock != nil {
		head, err := sqladapter.HeadOf(ctx, s.writers)
		if err != nil {
			return err
		}
		sign(s.lock.file, head)
		if err := yielding(ctx, s.writers, c.Logger); err != nil {
			return err
		}
	}
	if s.readers, err = s.at.connect(path, max(4, runtime.NumCPU()), "_pragma=query_only(1)"); err != nil {
		return err
	}
	opened, err := os.Stat(path)
	if err != nil {
		return err
	}
	s.at.file.Store(&opened)
	cfg := sqladapter.Config{Readers: s.readers, Writers: s.writers, Dialect: dialect, Alone: s.Alone(), Now: c.Now, Poll: c.Poll, Hold: c.Hold, Beside: c.prepare,
		Present: s.present, Sealing: c.Sealing, Logger: c.Logger}
	if c.Beside {
		s.Store = sqladapter.New(cfg)
		return nil
	}
	cfg.Note = func(head store.Revision) { s.lock.note(head) }
	s.Store = sqladapter.New(cfg)
	db, err := s.at.connect(path, 1, "")
	if err != nil {
		return err
	}
	s.back = &checkpoints{db: db, path: path + "-wal", inTurn: s.InTurn, log: c.Logger}
	s.back.start()
	return nil
}

// present returns an error if the file is no longer the one that was opened, or is damaged,
// or if another process serves from it.
func (s *Store) present() error {
	if found := s.checks.found.Load(); found != nil {
		return *found
	}
	if err := s.at.there(s.path); err != nil || s.lock == nil {
		return err
	}
	return s.lock.keep()
}

// place is the file at a path when it was opened; nil before that.
type place struct{ file atomic.Pointer[os.FileInfo] }

// there returns an error if a path no longer leads to the file.
func (p *place) there(path string) error {
	file := p.file.Load()
	if file == nil {
		return nil
	}
	switch now, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", store.ErrGone, err)
	case err != nil:
		return fmt.Errorf("%w: %w", store.ErrHidden, err)
	case !os.SameFile(now, *file):
		return fmt.Errorf("%w: %s", store.ErrReplaced, path)
	}
	return nil
}

// connector opens connections while their path leads to the file that was opened first. A
// connection to a file that replaced it would share its write-ahead log, and ruin both.
type connector struct {
	driver        driver.Driver
	path, pragmas string
	at            *place
}

// Connect implements driver.Connector.
func (c *connector) Connect(context.Context) (driver.Conn, error) {
	if err := c.at.there(c.path); err != nil {
		return nil, err
	}
	pragmas := c.pragmas
	if info, err := os.Stat(c.path); err == nil && info.Size() == 0 {
		pragmas = "_pragma=auto_vacuum(incremental)&" + pragmas // setting this writes to the file, so read connections would fail when the disk is full
	}
	return c.driver.Open("file:" + (&url.URL{Path: c.path}).EscapedPath() + "?mode=rw&_pragma=busy_timeout(10000)&" + pragmas)
}

// Driver implements driver.Connector.
func (c *connector) Driver() driver.Driver { return c.driver }

// Reseal calls Reseal of the embedded Store. Afterwards it rebuilds the file, since free
// pages may contain old unencrypted texts.
func (s *Store) Reseal(ctx context.Context, progress func(done int)) (n int, err error) {
	if n, err = s.Store.Reseal(ctx, progress); err != nil || n == 0 {
		return n, err
	}
	db, err := connect(s.path, 1, "_pragma=temp_store(file)&_pragma=auto_vacuum(incremental)") // temporary files: the rebuilt file does not fit into memory
	if err != nil {
		return n, err
	}
	for _, statement := range []string{`vacuum`, `pragma wal_checkpoint(truncate)`} {
		if _, err = db.ExecContext(ctx, statement); err != nil {
			break
		}
	}
	return n, errors.Join(err, db.Close())
}

// Alone reports whether this process is the one that serves from the file: any other
// process that served from it has ended.
func (s *Store) Alone() bool { return s.lock != nil }

// release closes what Open has opened. The lock is released last.
func (s *Store) release() error {
	var errs []error
	if s.checks.end != nil {
		s.checks.end()
	}
	if s.back != nil {
		if s.back.stop != nil { // a running checkpoint ends first
			s.back.stop()
			<-s.back.done
		}
		errs = append(errs, s.back.db.Close())
	}
	for _, db := range []*sql.DB{s.readers, s.writers} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if s.lock != nil {
		if s.back != nil && s.checks.found.Load() == nil && errors.Join(errs...) == nil {
			leave(s.lock.file, s.path)
		}
		if err := s.lock.file.Close(); !errors.Is(err, os.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Migrate brings the schema of a file up to date and returns every step.
func Migrate(ctx context.Context, path string) ([]sqladapter.Step, error) {
	if err := onlyName(path); err != nil {
		return nil, err
	}
	if err := guardFiles(path, slog.Default()); err != nil {
		return nil, err
	}
	db, err := connect(path, 1, "_txlock=immediate")
	if err != nil {
		return nil, err
	}
	steps, err := sqladapter.Migrate(ctx, db, dialect)
	return steps, errors.Join(err, db.Close())
}

// leftAlone turns off SQLite's own checkpoints, since type checkpoints runs them.
const leftAlone = "_pragma=wal_autocheckpoint(0)"

// connect opens a pool on an existing file: a deleted file must not come back empty. In WAL
// mode with synchronous FULL a commit is on the disk when it returns, and readers never
// wait for the writer. A new database can give pages back, and the write-ahead log is
// truncated after it has grown. Statement journals are in memory: a temporary folder that
// is full, or missing, would look like a full disk. The page cache is small, because reads
// come from the copy in memory and SQLite allocates and frees each page separately: at a
// start that takes as long as reading the pages.
func connect(path string, conns int, more string) (*sql.DB, error) {
	return new(place).connect(path, conns, more)
}

func (p *place) connect(path string, conns int, more string) (*sql.DB, error) {
	pragmas := "_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=cache_size(-1024)&_pragma=journal_size_limit(67108864)&_pragma=temp_store(memory)&" + more
	if !strings.Contains(more, leftAlone) {
		pragmas += "&_pragma=wal_autocheckpoint(4000)"
	}
	named, err := sql.Open("sqlite", "") // returns the registered driver
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(&connector{named.Driver(), path, pragmas, p})
	if err := named.Close(); err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// Close ends the store, closes the file and releases the lock.
func (s *Store) Close() error { return errors.Join(s.Store.Close(), s.release()) }
