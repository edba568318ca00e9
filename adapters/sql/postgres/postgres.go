// Package postgres opens a store in a PostgreSQL database, shared by any number
// of service processes.
package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	sqladapter "github.com/gatehouse-io/gatehouse/adapters/sql"
	"github.com/gatehouse-io/gatehouse/ports/retry"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Config says where the database is.
type Config struct {
	DSN    string        // URL or key=value form
	Now    system.Clock  // nil: time.Now
	Poll   time.Duration // how often to poll without a hint; 0: 100 ms
	Conns  int           // connections for reading; 0: 16
	Idle   int           // idle connections that stay open; 0: all
	Life   time.Duration // maximum age of a connection; 0: unlimited
	Hold   time.Duration // how long one unit of work may hold the writer; 0: store.DefaultHold
	Source string        // names this process among the replicas
	Logger *slog.Logger
	// Retries is how many times a start retries, each time after RetryDelay, while the server
	// cannot be reached.
	Retries    int
	RetryDelay time.Duration
	// Sealing encrypts what is stored; the zero Sealing encrypts nothing.
	Sealing sqladapter.Sealing
	prepare bool            // prepare every unit of work, for tests
	dial    pgconn.DialFunc // for tests; nil: the driver's own
	timeout time.Duration   // of a transaction, for tests; 0: the default
}

// Store is a store in a PostgreSQL database.
type Store struct {
	*sqladapter.Store
	db    *sql.DB
	board *sqladapter.Board
}

// turn is the key of the advisory lock for writers: one for each schema.
const turn = "1196446024, hashtext(current_schema())"

var dialect = sqladapter.Dialect{
	Name: "postgres",
	Text: true,
	// The server's default may be another level, at which the transaction would have its snapshot
	// before it has its turn.
	Begin: "begin isolation level read committed",
	// One writer at a time for the whole database: revisions have no gaps and follow the
	// order of commits.
	Lock:    "select pg_advisory_xact_lock(" + turn + ")",
	TryLock: "select cast(cast(pg_try_advisory_xact_lock(" + turn + ") as int) as bigint)",
	Bound: func(d time.Duration) string {
		return fmt.Sprintf("set local idle_in_transaction_session_timeout = %d", d.Milliseconds())
	},
	Read:   &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true},
	Now:    "cast(extract(epoch from clock_timestamp()) * 1000 as bigint)",
	Again:  func(err error) bool { c := state(err); return c == "40001" || c == "40P01" },
	Taken:  func(err error) bool { return state(err) == "23505" },
	Lost:   lost,
	Full:   func(err error) bool { return state(err) == "53100" },
	Broken: func(err error) bool { c := state(err); return c == "XX001" || c == "XX002" },

	Pipeline: pipeline,
}

// pipeline sends statements in one round trip. After a statement that it refuses, the server
// executes no others.
func pipeline(ctx context.Context, conn any, commands []sqladapter.Command) (done int, err error) {
	batch := &pgx.Batch{}
	for _, s := range commands {
		batch.Queue(s.Text, s.Args...)
	}
	answers := conn.(*stdlib.Conn).Conn().SendBatch(ctx, batch)
	for _, s := range commands {
		if s.Into != nil {
			err = answers.QueryRow().Scan(s.Into)
		} else {
			_, err = answers.Exec()
		}
		if err != nil {
			_ = answers.Close() // the same error was returned before
			return done, err
		}
		done++
	}
	return done, answers.Close()
}

func state(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// lost reports whether the server cannot be reached, is shutting down or is out of
// connections.
func lost(err error) bool {
	if c := state(err); c != "" {
		return c[:2] == "57" || c[:2] == "08" || c[:2] == "53" || c == "25P03" // the last: idle-in-transaction timeout
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, sql.ErrConnDone) || errors.Is(err, driver.ErrBadConn) || pgconn.Timeout(err) ||
		err != nil && strings.HasSuffix(err.Error(), "conn closed") // the driver has no typed error for it, even when a commit finds it
}

// parse reads a connection string.
func parse(dsn string) (*pgx.ConnConfig, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("postgres: the connection string cannot be read (not shown: it may hold a password); in a URL, write special characters of the password as %40 for @, %3A for :, %2F for /, %23 for # and %25 for %, and among key=value pairs put it in single quotes")
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = 5 * time.Second
	}
	return cfg, nil
}

// Migrate brings the schema of a database up to date and returns every step.
func Migrate(ctx context.Context, dsn string) ([]sqladapter.Step, error) {
	cfg, err := parse(dsn)
	if err != nil {
		return nil, err
	}
	db := stdlib.OpenDB(*cfg)
	steps, err := sqladapter.Migrate(ctx, db, dialect)
	return steps, errors.Join(err, db.Close())
}

// rest is how long a connection may be idle and still be used without a check. A database
// restart leaves dead connections behind, and a write on one would fail although the database
// is back.
const rest = 100 * time.Millisecond

func rested(_ context.Context, p stdlib.ShouldPingParams) bool { return p.IdleDuration > rest }

// Open connects, creates or updates the schema and starts the store. Call Close to end it.
func Open(ctx context.Context, c Config) (*Store, error) {
	cfg, err := parse(c.DSN)
	if err != nil {
		return nil, err
	}
	if c.dial != nil {
		cfg.DialFunc = c.dial
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Conns == 0 {
		c.Conns = 16
	}
	db := stdlib.OpenDB(*cfg, stdlib.OptionShouldPing(rested))
	db.SetMaxOpenConns(c.Conns + 1)
	db.SetMaxIdleConns(cmp.Or(c.Idle, c.Conns+1))
	db.SetConnMaxLifetime(c.Life)
	if err := begin(ctx, db, c); err != nil {
		return nil, errors.Join(fmt.Errorf("postgres: %w", err), db.Close())
	}
	s := &Store{db: db, board: sqladapter.NewBoard(db, c.Source)}
	s.Store = sqladapter.New(sqladapter.Config{Readers: db, Writers: db, Dialect: dialect, Now: c.Now, Poll: c.Poll, Hold: c.Hold, Timeout: c.timeout, Beside: c.prepare, Sealing: c.Sealing, Logger: c.Logger,
		Listen: func(ctx context.Context, hint func(store.Revision)) error { return listen(ctx, cfg, hint) }})
	return s, nil
}

// beginFor is how long a start retries while the server is reachable but cannot accept it
// yet.
const beginFor = 30 * time.Second

// begin updates the schema. It retries for beginFor while the server is starting up or busy
// with many clients, and as configured while the server cannot be reached. It does not retry
// if the server does not know the database or user.
func begin(ctx context.Context, db *sql.DB, c Config) error {
	end := time.Now().Add(beginFor) // for the attempts; a migration itself is not limited
	pause := retry.New(250*time.Millisecond, 4*time.Second)
	for left := c.Retries; ; {
		_, err := sqladapter.Migrate(ctx, db, dialect)
		// It is starting up, has no free connection, or took too long.
		slow := state(err) == "57P03" || state(err) == "53300" || pgconn.Timeout(err)
		wait := pause.Wait
		switch {
		case slow && time.Now().Before(end):
		case lost(err) && left > 0:
			left--
			wait = func(ctx context.Context) error { return retry.Sleep(ctx, c.RetryDelay) }
		default:
			return err
		}
		if c.Logger != nil {
			c.Logger.Warn("the database does not answer yet; trying again", "error", err)
		}
		if wait(ctx) != nil {
			return err
		}
	}
}

// listen waits, on a connection of its own, for notifications of the database.
func listen(ctx context.Context, cfg *pgx.ConnConfig, hint func(store.Revision)) error {
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "listen gatehouse_commit"); err != nil {
		return err
	}
	hint(0)
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		last, _ := strconv.ParseUint(n.Payload, 10, 63) // databases of earlier versions send no revision
		hint(store.Revision(last))
	}
}

// Board returns the board where replicas of a cluster record the presence of gateways.
func (s *Store) Board() *sqladapter.Board { return s.board }

// Close ends the store and its connections.
func (s *Store) Close() error { return errors.Join(s.Store.Close(), s.db.Close()) }

// Plain returns connections to a database that holds tables and no store. It connects
// when it is first asked.
func Plain(dsn string, conns int) (*sql.DB, error) {
	cfg, err := parse(dsn)
	if err != nil {
		return nil, err
	}
	db := stdlib.OpenDB(*cfg, stdlib.OptionShouldPing(rested))
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}
