// Package serve is the standalone program: it makes a running service of settings. It
// chooses the adapters and passes them to the same API that programs use which embed
// the App.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	sqladapter "github.com/gatehouse-io/gatehouse/adapters/sql"
	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/replicated"
)

// closers are closed in reverse order.
type closers []io.Closer

// Close closes all.
func (cs closers) Close() error {
	var errs []error
	for i := len(cs) - 1; i >= 0; i-- {
		errs = append(errs, cs[i].Close())
	}
	return errors.Join(errs...)
}

// closerFunc is a function that closes something.
type closerFunc func() error

// Close implements io.Closer.
func (f closerFunc) Close() error { return f() }

// openStore opens the store in storage.main and migrates it. Only one process serves
// from a SQLite file; beside says that this process does not serve.
func openStore(ctx context.Context, s config.Settings, log *slog.Logger, source string, beside bool, sealing sqladapter.Sealing) ([]app.Option, io.Closer, error) {
	reads := app.WithReads(replicated.Mode(s.Reads))
	switch s.Storage.Type {
	case config.Memory:
		log.Warn("storage.main.type is memory: everything is lost when the service ends")
		return nil, closers{}, nil
	case config.Postgres:
		st, err := postgres.Open(ctx, postgres.Config{DSN: s.Storage.ConnectionString.Reveal(), Source: source, Hold: s.Limits.WriteTime, Sealing: sealing, Logger: log,
			Retries: s.Storage.Retries, RetryDelay: s.Storage.RetryDelay, Conns: max(s.Storage.Pool.Most-1, 0), Idle: s.Storage.Pool.Idle, Life: s.Storage.Pool.Life})
		if err != nil {
			return nil, nil, ofStorage(s.Storage, err)
		}
		return []app.Option{app.WithStore(st), app.WithBoard(st.Board()), reads}, st, nil
	}
	path, err := sqlitePath(s)
	if err != nil {
		return nil, nil, err
	}
	st, err := sqlite.Open(ctx, sqlite.Config{Path: path, Beside: beside, Hold: s.Limits.WriteTime, Sealing: sealing, Logger: log})
	if err != nil {
		return nil, nil, ofStorage(s.Storage, err)
	}
	if s.Reads == config.ReadsCurrent && st.Alone() { // its own state is always the current one
		reads = app.WithReads(replicated.Local)
	}
	return []app.Option{app.WithStore(st), reads}, st, nil
}

// ofStorage adds the name of the setting of the store to an error.
func ofStorage(s config.Storage, err error) error {
	if err == nil || errors.Is(err, sqlite.ErrInUse) { // the setting is right
		return err
	}
	return fmt.Errorf("%s: %w", s.Setting(), err)
}

// sqliteFile returns the path of a SQLite file in a setting: a plain path or a file:
// URL.
func sqliteFile(address string) string {
	path, _, _ := strings.Cut(strings.TrimPrefix(address, "file:"), "?")
	return path
}

// sqlitePath returns the path of the store, and creates its folders.
func sqlitePath(s config.Settings) (string, error) {
	path := sqliteFile(s.SQLiteFile())
	if err := os.MkdirAll(s.HomeDir, 0o700); err != nil {
		return "", fmt.Errorf("home_dir: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", ofStorage(s.Storage, err)
	}
	return path, nil
}

// stored returns an error if the store does not exist. Opening it would create an empty
// one, and a backup of that, for example, would look valid.
func stored(s config.Settings) error {
	if s.Storage.Type != config.SQLite {
		return nil
	}
	path := sqliteFile(s.SQLiteFile())
	if !errors.Is(sqlite.Exists(path), fs.ErrNotExist) {
		return nil // opening it returns any other error, with the name of the setting
	}
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	return fmt.Errorf("there is no store at %s: home_dir and storage.main.connection_string say where it is", path)
}

// Migrate brings the configured database up to date and returns all steps; those that
// were applied now are marked.
func Migrate(ctx context.Context, s config.Settings, log *slog.Logger) ([]sqladapter.Step, error) {
	switch s.Storage.Type {
	case config.Memory:
		return nil, errors.New("storage.main.type is memory: there is nothing to migrate")
	case config.Postgres:
		steps, err := postgres.Migrate(ctx, s.Storage.ConnectionString.Reveal())
		return steps, ofStorage(s.Storage, err)
	}
	path, err := sqlitePath(s)
	if err != nil {
		return nil, err
	}
	log.Debug("migrating", "store", s.Storage.Type)
	steps, err := sqlite.Migrate(ctx, path)
	if err != nil {
		err = ofStorage(s.Storage, fmt.Errorf("%s: %w", path, err))
	}
	return steps, err
}
