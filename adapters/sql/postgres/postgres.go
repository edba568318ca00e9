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
	Poll   time.Duration // how often to look without a hint; 0: 100 ms
	Conns  int           // connections for reading; 0: 16
	Idle   int           // connections that stay open while nothing is asked; 0: all
	Life   time.Duration // how long a connection is used; 0: as long as it lasts
	Hold   time.Duration // how long one unit of work may hold the writer; 0: store.DefaultHold
	Source string        // names this process among the replicas
	Logger *slog.Logger
	// Retries is how many times a start tries again, after RetryDelay each, while the server
	// cannot be reached.
	Retries    int
	RetryDelay time.Duration
	// Sealing encrypts what is stored; the zero Sealing does not.
	Sealing sqladapter.Sealing
	prepare bool            // every unit of work, for tests
	dial    pgconn.DialFunc // for tests; nil: the driver's own
	timeout time.Duration   // of a transaction, for tests; 0: the default
}

// Store is a store in a PostgreSQL database.
type Store struct {
	*sqladapter.Store
	db    *sql.DB
	board *sqladapter.Board
}

// turn names the advisory lock of those who write: one for each schema.
const turn = "1196446024, hashtext(current_schema())"

var dialect = sqladapter.Dialect{
	Name:  "postgres",
	Text:  true,
	Begin: "begin",
	// One writer at a time in the whole cluster: revisions come out gapless and
	// in the order of commits.
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

// pipeline sends statements in one round trip. The server carries none out after one that
// it refuses.
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
			_ = answers.Close() // says the same again
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

// lost reports whether the server is away, shutting down or out of connections.
func lost(err error) bool {
	if c := state(err); c != "" {
		return c[:2] == "57" || c[:2] == "08" || c[:2] == "53" || c == "25P03" // the last: nothing came for too long
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, sql.ErrConnDone) || errors.Is(err, driver.ErrBadConn) || pgconn.Timeout(err) ||
		err != nil && strings.HasSuffix(err.Error(), "conn closed") // the driver has no other word for it, also where a commit finds it
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

// rest is how long a connection may lie idle and still be used unasked. A database
// that has restarted meanwhile leaves dead ones behind, and a write that meets one is
// refused although the database is there again.
const rest = 100 * time.Millisecond

func rested(_ context.Context, p stdlib.ShouldPingParams) bool { return p.IdleDuration > rest }

// Open connects, creates or updates the schema and starts the store. Close ends it.
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

// beginFor is how long a start tries again while the server is there and too slow to take it.
const beginFor = 30 * time.Second

// begin updates the schema. A server that starts, or that many processes ask at once, gets
// time; one that cannot be reached gets what the configuration gives it, and one that
// knows no such database or user gets none.
func begin(ctx context.Context, db *sql.DB, c Config) error {
	end := time.Now().Add(beginFor) // of the attempts; a migration takes as long as it must
	pause := retry.New(250*time.Millisecond, 4*time.Second)
	for left := c.Retries; ; {
		_, err := sqladapter.Migrate(ctx, db, dialect)
		// It starts, has no connection left, or took too long.
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

// listen waits for the hints that the database gives on a connection of its own.
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
		last, _ := strconv.ParseUint(n.Payload, 10, 63) // databases of earlier versions do not tell it
		hint(store.Revision(last))
	}
}

// Board returns where the replicas of a cluster note the presence of gateways.
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
