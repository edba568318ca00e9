package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	sqladapter "github.com/gatehouse-io/gatehouse/adapters/sql"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/replicated"
)

// sealingRows measures the cost of encryption at rest: the same writes and the same
// start with and without it, alternating.
func sealingRows(ctx context.Context, b *bench) (rows []row, err error) {
	documents, err := crypto.NewDocuments("a secret of the bench")
	if err != nil {
		return nil, err
	}
	how := []sqladapter.Sealing{{}, {Documents: documents}}
	for _, m := range []struct{ mappings, clients int }{{10, 1}, {10, 64}, {10_000, 1}} {
		r, err := sealedWrites(ctx, b, how, m.mappings, m.clients)
		if err != nil {
			return rows, err
		}
		rows = append(rows, r)
	}
	r, err := sealedStart(ctx, b, how)
	return append(rows, r), err
}

func sealedWrites(ctx context.Context, b *bench, how []sqladapter.Sealing, mappings, clients int) (r row, err error) {
	var cs []contestant
	for _, sealing := range how {
		st, err := sqlite.Open(ctx, sqlite.Config{Path: b.path("sealing.db"), Sealing: sealing, Logger: quiet()})
		if err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, st.Close()) }()
		w, err := newWorld(ctx, app.WithStore(st), app.WithReads(replicated.Local))
		if err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, w.stop(ctx)) }()
		if err := w.seed(ctx, "corp", clients, mappings); err != nil {
			return r, err
		}
		cs = append(cs, w.put("corp", clients, false))
	}
	results, err := b.race(ctx, fmt.Sprintf("encryption, %d mappings, %d clients", mappings, clients), cs...)
	if err != nil {
		return r, err
	}
	times := results[1].over(results[0])
	return row{id: fmt.Sprintf("sealing/%d/%d", mappings, clients), figure: fmt.Sprintf("SQLite, encrypted: use case, %s mappings, %d at once", grouped(int64(mappings)), clients),
		value: significant(results[1].rate()), unit: "writes/s", ratios: []ratio{{times, "in clear"}}, aim: atLeast(times, 0.8, "× in clear"), allocs: median(results[1].allocs)}, nil
}

// sealedStart measures the time from start to ready with files of the same records.
func sealedStart(ctx context.Context, b *bench, how []sqladapter.Sealing) (r row, err error) {
	records := 20_000
	var paths []string
	for _, sealing := range how {
		path := b.path("sealed.db")
		if err := b.fill(ctx, path, records, sealing); err != nil {
			return r, err
		}
		paths = append(paths, path)
	}
	var sealed, ratios []float64
	for range min(b.rounds, 5) {
		var took [2]float64
		for i, path := range paths {
			start, _, err := startOn(ctx, path, how[i])
			if err != nil {
				return r, err
			}
			took[i] = start.Seconds()
		}
		sealed, ratios = append(sealed, took[1]), append(ratios, took[1]/took[0])
	}
	return row{id: "sealing/start", figure: grouped(int64(records)) + " records, SQLite, encrypted: from start to ready", value: significant(1e3 * median(sealed)), unit: "ms",
		ratios: []ratio{{median(ratios), "time in clear"}}}, nil
}
