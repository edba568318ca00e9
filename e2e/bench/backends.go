package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // driver for the bare commits
	_ "modernc.org/sqlite"             // driver for the bare commits

	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/replicated"
)

// someTime replaces the clock where reading it must not be part of the measurement.
var someTime = time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC)

// backend is a kind of store with its baseline.
type backend struct {
	name string
	// open returns a store's options for an App and the database for bare commits,
	// which is nil in memory.
	open func(context.Context, *bench) (*opened, error)
}

// opened is an empty store, and a database of the same kind next to it.
type opened struct {
	opts    []app.Option
	bare    *sql.DB // one connection; nil in memory
	closers []func() error
}

func (o *opened) close() error {
	var errs []error
	for i := len(o.closers) - 1; i >= 0; i-- {
		errs = append(errs, o.closers[i]())
	}
	return errors.Join(errs...)
}

var (
	inMemory   = backend{"memory", func(context.Context, *bench) (*opened, error) { return &opened{}, nil }}
	onSQLite   = backend{"SQLite", openSQLite}
	onPostgres = backend{"PostgreSQL", openPostgres}
	// onlyPostgres is a service that alone uses its database, and is set up so.
	onlyPostgres = backend{"PostgreSQL, one process", func(ctx context.Context, b *bench) (*opened, error) {
		o, err := openPostgres(ctx, b)
		if err == nil {
			o.opts = append(o.opts, app.WithReads(replicated.Local))
		}
		return o, err
	}}
)

// backends returns the ones that can be measured, and a row about each that cannot.
func (b *bench) backends(all ...backend) (there []backend, missing []row) {
	for _, k := range all {
		if strings.HasPrefix(k.name, onPostgres.name) && b.postgres == "" {
			missing = append(missing, row{figure: k.name, note: noPostgres})
			continue
		}
		there = append(there, k)
	}
	return there, missing
}

// onEach measures on each kind of store that can be measured.
func (b *bench) onEach(ctx context.Context, measure func(context.Context, *bench, backend) ([]row, error), all ...backend) (rows []row, err error) {
	there, missing := b.backends(all...)
	for _, k := range there {
		some, err := measure(ctx, b, k)
		rows = append(rows, some...)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", k.name, err)
		}
	}
	return append(rows, missing...), nil
}

// worldOn starts a service on an empty store.
func (b *bench) worldOn(ctx context.Context, k backend, more ...app.Option) (o *opened, w *world, done func() error, err error) {
	if o, err = k.open(ctx, b); err != nil {
		return nil, nil, nil, err
	}
	if w, err = newWorld(ctx, append(o.opts, more...)...); err != nil {
		return nil, nil, nil, errors.Join(err, o.close())
	}
	return o, w, func() error { return errors.Join(w.stop(ctx), o.close()) }, nil
}

const (
	noPostgres = "left out: no PostgreSQL server was given (-postgres)"
	noRedis    = "left out: no Redis server was given (-redis)"
)

// path returns the path of a new file in the measured folder.
func (b *bench) path(name string) string {
	b.files++
	return filepath.Join(b.dir, fmt.Sprintf("%d-%s", b.files, name))
}

// sqliteDSN opens a file with the settings that the store uses.
func sqliteDSN(path string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)" +
		"&_pragma=synchronous(full)&_pragma=cache_size(-65536)&_pragma=wal_autocheckpoint(4000)"
}

func openSQLite(ctx context.Context, b *bench) (o *opened, err error) {
	st, err := sqlite.Open(ctx, sqlite.Config{Path: b.path("gatehouse.db"), Logger: quiet()})
	if err != nil {
		return nil, err
	}
	o = &opened{opts: []app.Option{app.WithStore(st), app.WithReads(replicated.Local)}, closers: []func() error{st.Close}}
	return o.withBare("sqlite", sqliteDSN(b.path("bare.db")))
}

func openPostgres(ctx context.Context, b *bench) (o *opened, err error) {
	dsn, drop, err := b.schema(ctx)
	if err != nil {
		return nil, err
	}
	st, err := postgres.Open(ctx, postgres.Config{DSN: dsn, Logger: quiet(), Source: "bench"})
	if err != nil {
		return nil, errors.Join(err, drop())
	}
	o = &opened{opts: []app.Option{app.WithStore(st), app.WithBoard(st.Board())}, closers: []func() error{drop, st.Close}}
	return o.withBare("pgx", dsn)
}

func (o *opened) withBare(driver, dsn string) (*opened, error) {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	db.SetMaxOpenConns(1)
	o.bare, o.closers = db, append(o.closers, db.Close)
	return o, nil
}

// schema creates a schema and returns its connection string and a function that drops
// it.
func (b *bench) schema(ctx context.Context) (dsn string, drop func() error, err error) {
	b.files++
	name := fmt.Sprintf("gatehouse_bench_%d_%d", time.Now().UnixNano(), b.files)
	db, err := sql.Open("pgx", b.postgres)
	if err != nil {
		return "", nil, errors.New("-postgres: the connection string cannot be read")
	}
	if _, err := db.ExecContext(ctx, "create schema "+name); err != nil {
		return "", nil, errors.Join(err, db.Close())
	}
	drop = func() error {
		_, err := db.ExecContext(context.WithoutCancel(ctx), "drop schema "+name+" cascade")
		return errors.Join(err, db.Close())
	}
	return withSchema(b.postgres, name), drop, nil
}

// withSchema adds the search path to a connection string in either form.
func withSchema(dsn, schema string) string {
	if !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://") {
		return dsn + " search_path=" + schema
	}
	separator := "?"
	if strings.Contains(dsn, "?") {
		separator = "&"
	}
	return dsn + separator + "search_path=" + schema
}
