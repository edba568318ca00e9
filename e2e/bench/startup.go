package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"time"

	sqladapter "github.com/gatehouse-io/gatehouse/adapters/sql"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/replicated"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// startupRows measures how long a service with many records takes to be ready.
func startupRows(ctx context.Context, b *bench) ([]row, error) {
	records := 100_000
	if b.short {
		records = 10_000
	}
	path := b.path("large.db")
	if err := b.fill(ctx, path, records, sqladapter.Sealing{}); err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	var bare, ours, heap, ratios []float64
	for n := range min(b.rounds, 5) {
		read, err := readAll(ctx, path, records)
		if err != nil {
			return nil, err
		}
		start, megabytes, err := startOn(ctx, path, sqladapter.Sealing{})
		if err != nil {
			return nil, err
		}
		bare, ours, heap = append(bare, read.Seconds()), append(ours, start.Seconds()), append(heap, megabytes)
		ratios = append(ratios, start.Seconds()/read.Seconds())
		b.say("  startup: round %d of %d", n+1, min(b.rounds, 5))
	}
	size := grouped(int64(records)) + " records, SQLite: "
	return []row{
		{figure: size + "bare select of all rows", value: significant(1e3 * median(bare)), unit: "ms"},
		{id: "startup", figure: size + "from start to ready", value: significant(1e3 * median(ours)), unit: "ms",
			ratios: []ratio{{median(ratios), "time of the bare select"}}, aim: atMost(1e3*median(ours), 1_200, "ms")},
		{figure: size + "heap when ready", value: significant(median(heap)), unit: "MB"},
	}, nil
}

// unitSize is how many records are stored at once.
const unitSize = 1_000

// fill stores records with ten mappings each, in units of work of a thousand.
func (b *bench) fill(ctx context.Context, path string, records int, sealing sqladapter.Sealing) (err error) {
	st, err := sqlite.Open(ctx, sqlite.Config{Path: path, Sealing: sealing, Logger: quiet()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	for from := 0; from < records; from += unitSize {
		if err := storeUnit(ctx, st, from, min(from+unitSize, records)); err != nil {
			return err
		}
	}
	b.say("  startup: %d records stored", records)
	return nil
}

func storeUnit(ctx context.Context, st store.Store, from, to int) error {
	template, err := provider("corp", 10)
	if err != nil {
		return err
	}
	scope, err := tenant.Of(template.OrgID)
	if err != nil {
		return err
	}
	_, err = st.Update(ctx, scope, func(w store.Writer) error {
		for i := from; i < to; i++ {
			p := template
			p.ID, p.ClientIdPID = fmt.Sprintf("%024x", i), name("corp", i)
			if err := idps.Insert(ctx, w, p); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// readAll only reads every row of the records.
func readAll(ctx context.Context, path string, records int) (took time.Duration, err error) {
	runtime.GC()
	began := time.Now()
	db, err := sql.Open("sqlite", sqliteDSN(path))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.QueryContext(ctx, "select kind, org, id, rev, doc, meta from record")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var kind, org, id, doc, meta string
	var rev int64
	n := 0
	for rows.Next() {
		if err := rows.Scan(&kind, &org, &id, &rev, &doc, &meta); err != nil {
			return 0, err
		}
		n++
	}
	took = time.Since(began)
	if n < records { // the upgrade stores a record of its own
		err = fmt.Errorf("%d rows instead of %d", n, records)
	}
	return took, errors.Join(err, rows.Err())
}

// startOn starts a service on a file and returns the time until it was ready, and its
// heap in megabytes then.
func startOn(ctx context.Context, path string, sealing sqladapter.Sealing) (took time.Duration, megabytes float64, err error) {
	before := heapInUse()
	began := time.Now()
	st, err := sqlite.Open(ctx, sqlite.Config{Path: path, Sealing: sealing, Logger: quiet()})
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	a, err := app.New(app.WithLogger(quiet()), app.WithStore(st), app.WithReads(replicated.Local))
	if err != nil {
		return 0, 0, err
	}
	if err := a.Start(ctx); err != nil {
		return 0, 0, err
	}
	if _, err := a.Upgrade(ctx); err != nil { // the service is ready after it
		return 0, 0, err
	}
	took = time.Since(began)
	megabytes = float64(heapInUse()-before) / 1e6
	return took, megabytes, a.Stop(context.WithoutCancel(ctx))
}

// heapInUse returns the bytes of reachable heap.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // collects objects that the first run made finalisable
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
