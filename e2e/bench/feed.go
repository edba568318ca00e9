package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
)

// The feed that is pulled: by gatewayNodes nodes at once, with feedRecords identity
// providers of feedMappings mappings each.
const (
	gatewayNodes = 50
	feedRecords  = 10
	feedMappings = 1_000
)

// feedRows measures how fast nodes get a large feed.
func feedRows(ctx context.Context, b *bench) (rows []row, err error) {
	w, err := newWorld(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.stop(ctx)) }()
	if err := w.seed(ctx, "corp", feedRecords, feedMappings); err != nil {
		return nil, err
	}
	packed, err := w.packedFeed()
	if err != nil {
		return nil, err
	}
	bare, doneBare, err := newWave(bareHandler(packed, "Content-Encoding", "gzip"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, doneBare()) }()
	ours, doneOurs, err := newWave(w)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, doneOurs()) }()
	change := w.put("corp", 1, false)
	results, err := b.race(ctx, "feed", bare, ours, contestant{name: "feed after a change", do: func(ctx context.Context, _, n int) error {
		return errors.Join(change.do(ctx, 0, n), ours.do(ctx, 0, n))
	}})
	if err != nil {
		return nil, err
	}
	return feedTable(results, gatewayNodes*float64(len(packed))/1e6), nil
}

// packedFeed returns the compressed feed as sent to a node.
func (w *world) packedFeed() ([]byte, error) {
	r := httptest.NewRequest("GET", "/system/clientidps", nil)
	r.Header.Set("Authorization", nodeSecret)
	r.Header.Set("Accept-Encoding", "gzip")
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	if rec.Code != 200 || rec.Header().Get("Content-Encoding") != "gzip" {
		return nil, fmt.Errorf("feed: answer %d, encoding %q", rec.Code, rec.Header().Get("Content-Encoding"))
	}
	return io.ReadAll(rec.Body)
}

// feedTable turns waves into rows; megabytes is the size of one wave.
func feedTable(results []series, megabytes float64) (rows []row) {
	bare := results[0]
	for i, figure := range []string{"the bare handler with the same bytes", "all nodes, same revision", "all nodes, right after a change, which counts"} {
		s := results[i]
		r := row{figure: figure + ": until the last has it", value: milliseconds(s.each()), unit: "ms", allocs: median(s.allocs)}
		if i > 0 {
			r.ratios = []ratio{{s.over(bare), "rate of the bare handler"}}
		}
		rows = append(rows, r, row{figure: figure + ": compressed bytes", value: significant(s.rate() * megabytes), unit: "MB/s"})
	}
	return rows
}

// newWave returns a contestant that pulls the feed with all nodes at once, each on its
// own connection.
func newWave(h http.Handler) (contestant, func() error, error) {
	s, err := serve(h)
	if err != nil {
		return contestant{}, nil, err
	}
	ls, err := dial(s.addr, gatewayNodes)
	if err != nil {
		return contestant{}, nil, errors.Join(err, s.close())
	}
	done := func() error { return errors.Join(ls.close(), s.close()) }
	get := request("GET", "/system/clientidps", "", "Authorization", nodeSecret, "Accept-Encoding", "gzip", "x-tyk-nodeid", "node")
	return contestant{name: "feed", do: func(context.Context, int, int) error {
		errs := make([]error, len(ls))
		var all sync.WaitGroup
		for i, l := range ls {
			all.Go(func() { _, errs[i] = l.ask(get) })
		}
		all.Wait()
		return errors.Join(errs...)
	}}, done, nil
}
