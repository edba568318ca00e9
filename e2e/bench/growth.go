package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// sizes are the numbers of mappings of the measured records.
var sizes = []int{10, 1_000, 10_000}

// constant is the minimum share of the ratio at 10 mappings that larger records must
// keep, so that the cost is proportional to the bytes.
const constant = 0.7

// growthRows measures an upsert into a large record, compared with a bare write of the
// same number of bytes.
func growthRows(ctx context.Context, b *bench) (rows []row, err error) {
	return b.onEach(ctx, growthOn, onSQLite, onPostgres)
}

func growthOn(ctx context.Context, b *bench, k backend) (rows []row, err error) {
	o, w, done, err := b.worldOn(ctx, k)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	var cs []contestant
	for _, n := range sizes {
		prefix := fmt.Sprintf("corp%d", n)
		if err := w.seed(ctx, prefix, 1, n); err != nil {
			return nil, err
		}
		cs = append(cs, w.put(prefix, 1, false))
		for _, differs := range []string{everyMapping, oneMapping} {
			c, err := bareCommit(ctx, o.bare, n, differs)
			if err != nil {
				return nil, err
			}
			cs = append(cs, c)
		}
	}
	results, err := b.race(ctx, "growth, "+k.name, cs...)
	if err != nil {
		return nil, err
	}
	return growthTable(k, results), nil
}

// growthTable turns results into rows: for each size the upsert, the bare commit of all
// bytes, and the one with a small difference.
func growthTable(k backend, results []series) (rows []row) {
	small := results[0].over(results[1])
	for i, n := range sizes {
		s, whole, least := results[3*i], results[3*i+1], results[3*i+2]
		times := s.over(whole)
		r := row{id: fmt.Sprintf("growth/%s/%d", k.name, n), figure: fmt.Sprintf("%s: upsert, %s mappings", k.name, grouped(int64(n))),
			value: milliseconds(s.each()), unit: "ms", allocs: median(s.allocs),
			ratios: []ratio{{times, "rate of a bare commit of the same bytes"}, {s.over(least), "rate of one that changes one mapping in them"}}}
		if i > 0 {
			r.aim = atLeast(times/small, constant, "× ratio at 10")
			r.ratios = append(r.ratios, ratio{times / small, "ratio at 10"})
		}
		rows = append(rows, r)
	}
	return rows
}

func milliseconds(d time.Duration) string { return significant(float64(d) / float64(time.Millisecond)) }
