// Package sql keeps resources in a relational database. One constant schema holds every kind;
// concurrent units of work share one transaction; the change log is one of its tables. The
// sub-packages open it on PostgreSQL and on SQLite.
package sql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/retry"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Dialect is how databases differ.
type Dialect struct {
	Name  string // folder of its migrations
	Local bool   // a file on this machine: statements need no deadline
	Begin string // starts a writing transaction
	Lock  string // the first statement of every write, so that writers of all processes take turns; "" if Begin does it
	// TryLock is Lock without waiting: it returns 1 if the lock was free. Pipeline needs it.
	TryLock string
	// Bound returns a statement that makes the database end the transaction without a new
	// statement for that duration: a frozen or disconnected process would block all writers. nil:
	// no other process waits.
	Bound func(time.Duration) string
	Read  *sql.TxOptions   // makes a transaction a consistent snapshot
	Text  bool             // text columns accept no bytes
	Now   string           // SQL for the current time in Unix milliseconds
	Again func(error) bool // whether the transaction lost a race and may run again
	Taken func(error) bool // whether a unique constraint was violated
	Lost  func(error) bool // whether the database cannot be reached
	// Shrink gives some free pages back to the file system, and Free counts the remaining ones;
	// "" if the database does that itself.
	Shrink, Free string
	Full         func(error) bool // whether there is no space to write
	// Pipeline sends statements together, on a connection of the driver, and returns how many
	// were executed: all, or the ones before the refused one. nil: a statement costs no round
	// trip.
	Pipeline func(ctx context.Context, conn any, commands []Command) (done int, err error)
	// Broken reports whether the database itself is damaged.
	Broken func(error) bool
}

// Config describes a Store.
type Config struct {
	Readers *sql.DB // for snapshots
	Writers *sql.DB // for the one writing connection; may be the same
	Dialect Dialect
	Alone   bool // no other process serves from the database, so leases can be kept in memory
	Now     system.Clock
	Poll    time.Duration // how often a follower polls without a hint; 0: 100 ms
	Timeout time.Duration // for one group of units of work; 0: enough for a unit that uses all of Hold
	Hold    time.Duration // how long one unit of work may hold the writer; 0: store.DefaultHold
	Beside  bool          // prepare every unit of work outside the writer, not only large ones
	// Sealing encrypts documents and the change log; the zero Sealing encrypts nothing.
	Sealing Sealing
	// Present returns an error if the database is no longer the one that was opened; nil: it
	// cannot vanish.
	Present func() error
	// Note receives the last revision of each transaction before any caller gets its answer, so
	// that the revision can also be stored outside the database; nil: it is not.
	Note func(store.Revision)
	// Listen blocks until ctx ends. It calls hint when another process may have committed, with
	// the last revision; 0: unknown. nil: the store only polls.
	Listen func(ctx context.Context, hint func(store.Revision)) error
	Logger *slog.Logger
}

// Store is a store.Store over database/sql.
type Store struct {
	Config
	writer    *writer
	recent    recent
	size      logSize
	granted   grants
	damages   damages
	sweeper   sweeper
	youngest  youngest
	trouble   trouble
	committed atomic.Uint64
	ctx       context.Context
	stop      context.CancelFunc
	done      sync.WaitGroup
}

var (
	_ store.Store       = (*Store)(nil)
	_ store.ChangeLog   = (*Store)(nil)
	_ store.Snapshotter = (*Store)(nil)
	_ store.Historian   = (*Store)(nil)
	_ store.Leases      = (*Store)(nil)
	_ store.Inspector   = (*Store)(nil)
)

// New returns a Store over a migrated database. Close ends it; it does not close the databases.
func New(c Config) *Store {
	if c.Poll == 0 {
		c.Poll = 100 * time.Millisecond
	}
	if c.Hold == 0 {
		c.Hold = store.DefaultHold
	}
	if c.Timeout == 0 {
		c.Timeout = 2*c.Hold + 5*time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	s := &Store{Config: c, damages: damages{met: map[address]string{}},
		sweeper: sweeper{now: make(chan struct{}, 1), ahead: map[string]bool{}}}
	s.recent.init()
	s.writer = &writer{s: s, hot: newHot(), queue: queue{lanes: map[tenant.ID]*lane{}}}
	s.writer.idle.L = &s.writer.mu
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.done.Go(s.sweeps)
	if c.Listen != nil {
		s.done.Go(s.listen)
	}
	return s
}

// Close waits for the units of work that have been submitted; later ones fail with ErrClosed.
func (s *Store) Close() error {
	s.stop()
	w := s.writer
	w.mu.Lock()
	w.closed = true
	for w.busy {
		w.idle.Wait()
	}
	w.drop()
	w.mu.Unlock()
	s.done.Wait()
	return nil
}

// Committed returns the last revision that this process has committed, or has refused a write
// for. It is set before a caller gets its answer.
func (s *Store) Committed() store.Revision { return store.Revision(s.committed.Load()) }

// listen restarts Listen when it fails; in the meantime followers poll.
func (s *Store) listen() {
	pause := retry.New(250*time.Millisecond, 5*time.Second)
	for s.ctx.Err() == nil {
		err := s.Listen(s.ctx, func(last store.Revision) {
			pause.Reset()
			s.recent.hint(last)
		})
		if s.ctx.Err() != nil {
			return
		}
		s.Logger.Debug("listening for commits ended; polling until it is back", "error", err)
		_ = pause.Wait(s.ctx)
	}
}

// View implements store.Store.
func (s *Store) View(ctx context.Context, sc tenant.Scope, fn func(store.Reader) error) error {
	if sc.IsZero() {
		return store.ErrScope
	}
	return s.snapshot(ctx, func(q querier) error { return fn(&reader{s: s, q: q, scope: sc}) })
}

// snapshot runs fn in a read-only transaction.
func (s *Store) snapshot(ctx context.Context, fn func(querier) error) error {
	txn, err := s.Readers.BeginTx(ctx, s.Dialect.Read)
	if err != nil {
		return s.reading(err)
	}
	defer func() { _ = txn.Rollback() }()
	if s.Dialect.Local { // drivers of servers cache statements themselves
		err = fn(remembering{txn, map[string]*sql.Stmt{}})
	} else {
		err = fn(txn)
	}
	if err != nil && ctx.Err() != nil { // after ctx has ended, errors of the driver are arbitrary
		return ctx.Err()
	}
	return s.reading(err)
}

// reading is explain for reads. It does not report a full disk: a read finds one only where the
// database sorts, or where its workers share rows; writes may still have space.
func (s *Store) reading(err error) error {
	if s.Dialect.Full(err) {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	return s.explain(err)
}

// explain marks errors that mean that the database cannot be reached, is full or is damaged.
func (s *Store) explain(err error) error {
	switch {
	case err == nil, errors.Is(err, store.ErrUnavailable):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case s.Dialect.Full(err): // first, because a full disk can also cost connections
		return fmt.Errorf("%w: %w", store.ErrFull, err)
	case s.Dialect.Lost(err):
		if gone := s.present(); gone != nil {
			return gone
		}
		if s.Dialect.Local {
			return fmt.Errorf("%w: %w", store.ErrFile, err)
		}
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	case s.Dialect.Again(err): // after all its retries
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	case s.Dialect.Broken(err): // the database itself is damaged
		return fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	return err
}

// querier runs statements, in a transaction or outside any.
type querier interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// remembering is a transaction that caches prepared statements: a large unit of work runs the
// same statement thousands of times.
type remembering struct {
	*sql.Tx
	stmts map[string]*sql.Stmt
}

// QueryContext implements querier.
func (r remembering) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	st, ok := r.stmts[text]
	if !ok {
		var err error
		if st, err = r.PrepareContext(ctx, text); err != nil {
			return nil, err
		}
		r.stmts[text] = st
	}
	return st.QueryContext(ctx, args...)
}

// number runs a query that returns one number.
func number(ctx context.Context, q querier, text string, args ...any) (n int64, err error) {
	rows, err := q.QueryContext(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(&n); err != nil {
			return 0, err
		}
	}
	return n, rows.Err()
}
