package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/replicated"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// latencyRows measures the delay after which other processes see a write.
func latencyRows(ctx context.Context, b *bench) (rows []row, err error) {
	if b.postgres == "" {
		rows = append(rows, row{figure: "visible on a replica", note: noPostgres})
	} else if rows, err = replicaRows(ctx, b); err != nil {
		return rows, err
	}
	if b.redis == "" {
		return append(rows, row{figure: "notification", note: noRedis}), nil
	}
	there, missing := b.backends(onSQLite, onPostgres)
	for _, k := range there {
		some, err := announceRows(ctx, b, k)
		rows = append(rows, some...)
		if err != nil {
			return rows, fmt.Errorf("notification, %s: %w", k.name, err)
		}
	}
	return append(rows, missing...), nil
}

// samples returns the number of measured writes.
func (b *bench) samples() int {
	if b.short {
		return 100
	}
	return 1_000
}

// patience is the timeout for one write.
const patience = 30 * time.Second

// delays are in seconds.
type delays []float64

func (d *delays) add(took time.Duration) { *d = append(*d, max(0, took.Seconds())) }

// table turns delays into two rows, median and 99th percentile.
func (d delays) table(figure string, bare delays, of string) []row {
	out := make([]row, 0, 2)
	for _, q := range []struct {
		name       string
		ours, base float64
	}{{"median", median(d), median(bare)}, {"p99", percentile(d, 0.99), percentile(bare, 0.99)}} {
		r := row{figure: figure + ", " + q.name, value: significant(1e3 * q.ours), unit: "ms"}
		if of != "" {
			r.ratios = []ratio{{q.ours / q.base, q.name + " of " + of}}
		}
		out = append(out, r)
	}
	return out
}

// cluster is three replicas on one PostgreSQL database: one for writes, one with
// current reads, and one that reads its copy.
type cluster struct {
	writer, current, local *world
	bare                   *opened
	closers                []func() error
}

func (c *cluster) close() error {
	return (&opened{closers: c.closers}).close()
}

func newCluster(ctx context.Context, b *bench) (c *cluster, err error) {
	dsn, drop, err := b.schema(ctx)
	if err != nil {
		return nil, err
	}
	c = &cluster{closers: []func() error{drop}, bare: &opened{}}
	for _, r := range []struct {
		at    **world
		reads replicated.Mode
	}{{&c.writer, replicated.Current}, {&c.current, replicated.Current}, {&c.local, replicated.Local}} {
		if *r.at, err = c.replica(ctx, dsn, r.reads); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	if _, err := c.bare.withBare("pgx", dsn); err != nil {
		return nil, errors.Join(err, c.close())
	}
	c.closers = append(c.closers, c.bare.close)
	return c, c.writer.seed(ctx, "corp", 1, 10)
}

func (c *cluster) replica(ctx context.Context, dsn string, reads replicated.Mode) (*world, error) {
	source := crypto.NewUUID()
	st, err := postgres.Open(ctx, postgres.Config{DSN: dsn, Source: source, Logger: quiet()})
	if err != nil {
		return nil, err
	}
	c.closers = append(c.closers, st.Close)
	keys, err := crypto.NewKeys("secret-of-the-benchmark-for-access-keys")
	if err != nil {
		return nil, err
	}
	w, err := newWorld(ctx, app.WithStore(st), app.WithBoard(st.Board()), app.WithReads(reads), app.WithKeys(keys))
	if err == nil {
		c.closers = append(c.closers, func() error { return w.stop(ctx) })
	}
	return w, err
}

// replicaRows writes on one replica and reads on the others.
func replicaRows(ctx context.Context, b *bench) (rows []row, err error) {
	c, err := newCluster(ctx, b)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	var bare, current, local delays
	put := c.writer.put("corp", 1, false)
	for n := range 2 * b.samples() {
		began := time.Now()
		var one int
		if err := c.bare.bare.QueryRowContext(ctx, "select 1").Scan(&one); err != nil {
			return nil, err
		}
		bare.add(time.Since(began))
		if err := put.do(ctx, 0, n); err != nil {
			return nil, err
		}
		if n%2 == 0 {
			err = c.current.await(ctx, n, 1, &current)
		} else {
			err = c.local.await(ctx, n, 1<<30, &local)
		}
		if err != nil {
			return nil, err
		}
	}
	const of = "a bare round trip"
	rows = bare.table("PostgreSQL: bare round trip", nil, "")
	rows = append(rows, current.table("PostgreSQL: commit to the end of the first read on another replica, which has it (reads: current)", bare, of)...)
	return append(rows, local.table("PostgreSQL: commit to visible on a replica that only follows (reads: local)", bare, of)...), nil
}

// await reads until the n-th upsert is visible, at most reads times, and records the
// time.
func (w *world) await(ctx context.Context, n, reads int, took *delays) error {
	began := time.Now()
	for range reads {
		out, err := w.call(ctx, "clientidps.mappings.get", map[string]string{"id": "corp-0", "apiId": "api-5"}, "")
		if err != nil {
			return err
		}
		if policyOf(out) == fmt.Sprintf("policy-%08d", n) {
			took.add(time.Since(began))
			return nil
		}
		if time.Since(began) > patience {
			break
		}
	}
	return errors.New("a replica answered with an older state than the one that was acknowledged")
}

// policyOf returns the policy in the answer to a GET of a mapping.
func policyOf(answer any) string {
	e, ok := answer.(operation.Entity[registry.Mapping])
	if !ok {
		return ""
	}
	policy, _ := e.Value.Policy("read")
	return policy
}
