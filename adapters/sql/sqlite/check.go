package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sqladapter "github.com/gatehouse-io/gatehouse/adapters/sql"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// checkTime bounds the check of the file when it is opened: if it takes longer, the file is
// opened anyway, with a warning.
const checkTime = 15 * time.Second

// maxFindings bounds the number of messages about a damaged file.
const maxFindings = 20

// wayOut tells the operator what to do about a damaged or missing database.
const wayOut = "restore a backup with `gatehouse restore FILE`"

// damage is a store.ErrDamaged with a text for the operator.
type damage string

// Error implements error.
func (d damage) Error() string { return string(d) }

// Is reports whether target is store.ErrDamaged.
func (d damage) Is(target error) bool { return target == store.ErrDamaged }

// Check checks the whole structure of a file and returns what is wrong with it. progress, if
// not nil, is called before each table is checked. The content of records is not checked:
// sqladapter.Store.Examine does that.
func Check(ctx context.Context, path string, progress func(table string, n, of int)) (findings []string, err error) {
	if err := Exists(path); err != nil {
		return nil, err
	}
	db, err := connect(path, 1, "_pragma=query_only(1)")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return inspect(ctx, db, maxFindings, progress)
}

// inspect is Check on an open database; it checks as many tables in parallel as the database
// has connections.
func inspect(ctx context.Context, db *sql.DB, most int, progress func(table string, n, of int)) (findings []string, err error) {
	tables, err := texts(ctx, db, `select name from sqlite_schema where type = 'table' order by name`)
	found, errs := make([][]string, len(tables)), make([]error, len(tables))
	room := make(chan struct{}, max(1, db.Stats().MaxOpenConnections))
	var all sync.WaitGroup
	for i, t := range tables {
		room <- struct{}{}
		if progress != nil {
			progress(t, i+1, len(tables))
		}
		all.Go(func() {
			defer func() { <-room }()
			found[i], errs[i] = texts(ctx, db, fmt.Sprintf(`pragma integrity_check('%s')`, strings.ReplaceAll(t, "'", "''")))
			if broken(errs[i]) && ctx.Err() == nil {
				found[i], errs[i] = append(found[i], errs[i].Error()), nil
			}
		})
	}
	all.Wait()
	for i, t := range tables {
		for _, f := range found[i] {
			if f != "ok" && len(findings) < most {
				findings = append(findings, t+": "+f)
			}
		}
	}
	if err = cmp.Or(err, cmp.Or(errs...)); broken(err) {
		return append(findings, err.Error()), nil
	}
	return findings, err
}

// texts runs a query that returns one column of texts.
func texts(ctx context.Context, db *sql.DB, query string) (out []string, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return out, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// sound refuses a damaged file. It takes at most checkTime and conns connections.
func sound(ctx context.Context, path string, conns int, log *slog.Logger) (err error) {
	db, err := connect(path, conns, "_pragma=query_only(1)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	looking, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	began, at := time.Now(), ""
	findings, err := inspect(looking, db, 1, func(table string, n, of int) {
		at = fmt.Sprintf("%s, %d of %d tables", table, n, of)
		if time.Since(began) > time.Second {
			log.Info("checking the database file", "at", at)
		}
	})
	switch {
	case len(findings) > 0:
		return damage(fmt.Sprintf("the database file is damaged (%s): %s; `gatehouse check` says more", findings[0], wayOut))
	case ctx.Err() == nil && looking.Err() != nil:
		log.Warn("the check of the database file was cut short; `gatehouse check` looks at all of it, also while the service runs", "after", checkTime, "at", at)
		return nil
	}
	return err
}

// checkAfter is how long a start serves from a file, unchanged since it was closed, before the
// file is checked: reads of the start have priority.
const checkAfter = 10 * time.Second

// checks is the check of a file that is already served from.
type checks struct {
	end   func() // waits for the check; nil: there is none
	found atomic.Pointer[error]
}

// begin refuses a damaged file. A file in the state in which it was closed is checked later:
// damage found then stops all writes.
func (c *checks) begin(ctx context.Context, path string, asLeft bool, cfg Config) error {
	log := cfg.Logger
	if !asLeft {
		return sound(ctx, path, runtime.GOMAXPROCS(0), log)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	c.end = func() { cancel(); <-done }
	go func() {
		defer close(done)
		select {
		case <-ctx.Done():
			return
		case <-time.After(cmp.Or(cfg.later, checkAfter)):
		}
		switch err := sound(ctx, path, 1, log); {
		case errors.Is(err, store.ErrDamaged):
			c.found.Store(&err)
			log.Error("nothing is written any more", "error", err)
		case err != nil && ctx.Err() == nil:
			log.Warn("the database file could not be checked; `gatehouse check` does it, also while the service runs", "error", err)
		}
	}()
	return nil
}

// made is the word in the lock file that says that a database existed beside it.
const made = "made"

// present refuses to start with an empty database where there was one before: its file is
// missing or has lost all its content.
func present(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.Size() > 0 || err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if text, err := os.ReadFile(path + lockSuffix); err == nil && strings.Contains(string(text), made) {
		return damage(fmt.Sprintf("the database file is missing or empty, and it was not at the last start: %s, or delete %s to start with an empty one",
			wayOut, path+lockSuffix))
	}
	if wal, err := os.Stat(path + "-wal"); err == nil && wal.Size() > 0 {
		return damage(fmt.Sprintf("the database file is missing or empty, while its log %s is there: %s, or delete the log to start with an empty one",
			path+"-wal", wayOut))
	}
	return nil
}

// Exists returns an error if there is no database file at a path: opening it would create an
// empty one.
func Exists(path string) error {
	if err := present(path); err != nil {
		return err
	}
	_, err := os.Stat(path)
	return err
}

// complete refuses a file that lacks acknowledged changes: SQLite treats a log that is missing,
// or damaged in the middle, as one that ends there. complete writes nothing, so that the log
// can be put back.
func complete(ctx context.Context, path string, db *sql.DB) error {
	acknowledged := noted(path) // before reading the file, to which another process may be writing
	if acknowledged == 0 {
		return nil
	}
	var head store.Revision
	tables, err := texts(ctx, db, `select name from sqlite_schema where name = 'change_log'`)
	if err == nil && len(tables) > 0 {
		head, err = sqladapter.HeadOf(ctx, db)
	}
	if err == nil && head < acknowledged {
		err = damage(fmt.Sprintf("the database file is at revision %d, and changes up to %d have been acknowledged: its log %s is missing or damaged, or the file is an older copy: put back what was there, %s, or delete %s to go on without these changes",
			head, acknowledged, path+"-wal", wayOut, path+lockSuffix))
	}
	return err
}

// Holds reports whether a file contains a record of a kind, or of any kind if kind is "". A
// file that does not exist or has no tables yet contains nothing.
func Holds(ctx context.Context, path, kind string) (bool, error) {
	return ask(ctx, path, `select exists (select 1 from record where kind = $1 or $1 = '')`, kind)
}

// Sealed reports whether any record of a file is encrypted.
func Sealed(ctx context.Context, path string) (bool, error) {
	return ask(ctx, path, `select exists (select 1 from record where substr(doc, 1, 1) in ($1, cast($1 as blob)))`, string(secret.Mark))
}

// ask runs a yes-or-no query on the records of a file.
func ask(ctx context.Context, path, question, arg string) (yes bool, err error) {
	if err := present(path); err != nil {
		return false, err
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return false, nil //nolint:nilerr // opening it says what is wrong with it, if anything is
	}
	db, err := connect(path, 1, "_pragma=query_only(1)")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tables, err := texts(ctx, db, `select name from sqlite_schema where name = 'record'`)
	if err == nil && len(tables) > 0 {
		err = db.QueryRowContext(ctx, question, arg).Scan(&yes)
	}
	if broken(err) {
		return false, damage(fmt.Sprintf("the database file is damaged (%s): %s; `gatehouse check` says more", err, wayOut))
	}
	return yes, err
}
