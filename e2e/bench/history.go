package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/replicated"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// historyRows measures the cost of the change log. The aim compares the store with a
// direct write of the same records into the same tables, without a log row: all other
// work of the store for a write counts against the log there. The second ratio is to
// the store itself on a database without a log, which leaves out computing the
// difference.
func historyRows(ctx context.Context, b *bench) (rows []row, err error) {
	for _, m := range []struct{ mappings, clients int }{{10, 1}, {10, 64}, {10_000, 1}, {10_000, 64}} {
		r, err := historyOf(ctx, b, m.mappings, m.clients)
		if err != nil {
			return rows, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func historyOf(ctx context.Context, b *bench, mappings, clients int) (r row, err error) {
	hand, done, err := newUnlogged(ctx, b, clients, mappings)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, done()) }()
	cs := []contestant{hand.contestant(clients)}
	for _, forget := range []bool{false, true} {
		w, done, err := writeOnly(ctx, b, forget)
		if err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, done()) }()
		if err := w.seed(ctx, "corp", clients, mappings); err != nil {
			return r, err
		}
		cs = append(cs, w.edit("corp", clients))
	}
	results, err := b.race(ctx, fmt.Sprintf("history, %d mappings, %d clients", mappings, clients), cs...)
	if err != nil {
		return r, err
	}
	times := results[1].over(results[0])
	return row{id: fmt.Sprintf("history/%d/%d", mappings, clients),
		figure: fmt.Sprintf("SQLite, groups of up to %d, records of %s mappings", clients, grouped(int64(mappings))),
		value:  significant(results[1].rate()), unit: "writes/s",
		ratios: []ratio{{times, "by hand without the log"}, {results[1].over(results[2]), "the store over a database that drops the log"}},
		aim:    atLeast(times, 0.75, "× by hand without the log"), allocs: median(results[1].allocs)}, nil
}

// writeOnly returns a control plane on SQLite without a copy in memory, which would
// follow the log and slow down the writers. With forget, the database stores only the
// last revision of the log.
func writeOnly(ctx context.Context, b *bench, forget bool) (*world, func() error, error) {
	path := b.path("history.db")
	st, err := sqlite.Open(ctx, sqlite.Config{Path: path, Logger: quiet()})
	if err != nil {
		return nil, nil, err
	}
	if forget {
		if err := dropLog(ctx, path); err != nil {
			return nil, nil, errors.Join(err, st.Close())
		}
	}
	w, err := newWorld(ctx, app.WithStore(st), app.WithReads(replicated.Direct))
	if err != nil {
		return nil, nil, errors.Join(err, st.Close())
	}
	return w, func() error { return errors.Join(w.stop(ctx), st.Close()) }, nil
}

// dropLog replaces the log by a view that stores one number.
func dropLog(ctx context.Context, path string) (err error) {
	db, err := sql.Open("sqlite", sqliteDSN(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, `
		drop table change_log;
		create table log_head (last integer not null);
		insert into log_head (last) values (0);
		create view change_log as select last, last as first, 0 as at, '[]' as body from log_head;
		create trigger log_drop instead of insert on change_log begin update log_head set last = new.last; end`)
	return err
}

// unlogged writes records as the store does, with group commit, but without history.
type unlogged struct {
	db   *sql.DB
	recs []registry.IdP // by client
	mu   sync.Mutex
	wait []*change
	busy bool
	rev  int64
}

// change is one record to be written by a transaction.
type change struct {
	doc, meta []byte
	id        string
	done      chan error
}

func newUnlogged(ctx context.Context, b *bench, clients, mappings int) (*unlogged, func() error, error) {
	path := b.path("unlogged.db")
	if _, err := sqlite.Migrate(ctx, path); err != nil {
		return nil, nil, err
	}
	db, err := sql.Open("sqlite", sqliteDSN(path)+"&_txlock=immediate")
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	u := &unlogged{db: db}
	for i := range clients {
		p, err := provider(name("corp", i), mappings)
		if err != nil {
			return nil, nil, errors.Join(err, db.Close())
		}
		p.ID = fmt.Sprintf("%024x", i)
		u.recs = append(u.recs, p)
	}
	return u, db.Close, nil
}

func (u *unlogged) contestant(clients int) contestant {
	return contestant{name: "without the log", clients: clients, do: func(ctx context.Context, client, n int) (err error) {
		p, err := u.recs[client].WithMapping("api-5", registry.NewMapping([2]string{"read", fmt.Sprintf("policy-%08d", n)}), time.Now())
		if err != nil {
			return err
		}
		u.recs[client] = p
		c := &change{id: p.ID, done: make(chan error, 1)}
		if c.doc, err = p.AppendJSON(nil); err != nil {
			return err
		}
		keys := []store.Key{{Index: "client_idp_id", Value: p.ClientIdPID, Unique: true}}
		if c.meta, err = json.Marshal(map[string]any{"k": keys}); err != nil {
			return err
		}
		return u.write(ctx, c)
	}}
}

// write joins the transaction that forms while another one is running.
func (u *unlogged) write(ctx context.Context, c *change) error {
	u.mu.Lock()
	u.wait = append(u.wait, c)
	lead := !u.busy
	u.busy = true
	u.mu.Unlock()
	if lead {
		u.lead(ctx)
	}
	return <-c.done
}

// lead commits the collected records, then lets another goroutine lead.
func (u *unlogged) lead(ctx context.Context) {
	u.mu.Lock()
	group := u.wait
	u.wait = nil
	u.mu.Unlock()
	err := u.commit(ctx, group)
	for _, c := range group {
		c.done <- err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.busy = len(u.wait) > 0; u.busy {
		go u.lead(ctx)
	}
}

func (u *unlogged) commit(ctx context.Context, group []*change) (err error) {
	txn, err := u.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = txn.Rollback() }()
	for _, n := range []int{64, 16, 4, 1} {
		for ; len(group) >= n; group = group[n:] {
			if _, err := txn.ExecContext(ctx, upsertText(n), u.args(group[:n])...); err != nil {
				return err
			}
		}
	}
	return txn.Commit()
}

func (u *unlogged) args(group []*change) (args []any) {
	for _, c := range group {
		u.rev++
		args = append(args, registry.Kind, "5f1a0c5d8e3b2a1f00000001", c.id, u.rev, string(c.doc), string(c.meta))
	}
	return args
}

// upsertText returns the store's statement that writes n records.
func upsertText(n int) string {
	values := strings.TrimSuffix(strings.Repeat("(?,?,?,?,?,?),", n), ",")
	return "insert into record (kind, org, id, rev, doc, meta) values " + values +
		" on conflict (kind, org, id) do update set rev = excluded.rev, doc = excluded.doc, meta = excluded.meta"
}
