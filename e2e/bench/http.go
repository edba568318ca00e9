package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
)

// httpRows measures the whole chain compared with a handler that does nothing.
func httpRows(ctx context.Context, b *bench) (rows []row, err error) {
	return b.onEach(ctx, httpOn, inMemory, onSQLite, onPostgres, onlyPostgres)
}

// httpClients is how many clients write and read at once.
const httpClients = 64

func httpOn(ctx context.Context, b *bench, k backend) (rows []row, err error) {
	_, w, done, err := b.worldOn(ctx, k)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := w.seed(ctx, "corp", httpClients, 10); err != nil {
		return nil, err
	}
	body, err := w.sample()
	if err != nil {
		return nil, err
	}
	cs, hangUp, err := w.httpContestants(bareHandler(body))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, hangUp()) }()
	results, err := b.race(ctx, "http, "+k.name, cs...)
	if err != nil {
		return nil, err
	}
	return httpTable(k, results), nil
}

// sample returns the answer to a GET.
func (w *world) sample() ([]byte, error) {
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, w.get())
	if rec.Code != http.StatusOK {
		return nil, fmt.Errorf("GET: answer %d", rec.Code)
	}
	return bytes.Clone(rec.Body.Bytes()), nil
}

func (w *world) get() *http.Request {
	r := httptest.NewRequest("GET", "/api/clientidps/corp-0", nil)
	r.Header.Set("Authorization", w.token)
	return r
}

// httpContestants returns pairs of the bare handler and the service, in the order of
// httpTable.
func (w *world) httpContestants(bare http.Handler) (cs []contestant, done func() error, err error) {
	var closers []func() error
	done = func() error {
		var errs []error
		for _, c := range closers {
			errs = append(errs, c())
		}
		return errors.Join(errs...)
	}
	read := func(client, _ int) []byte {
		return request("GET", "/api/clientidps/"+name("corp", client), "", "Authorization", w.token)
	}
	write := func(client, n int) []byte {
		return request("PUT", "/api/clientidps/"+name("corp", client)+"/mappings/api-5", mapping(n), "Authorization", w.token)
	}
	for _, m := range []struct {
		what    string
		clients int
		make    func(client, n int) []byte
	}{{"GET", httpClients, read}, {"GET", 1, read}, {"PUT", httpClients, write}, {"PUT", 1, write}} {
		for _, h := range []http.Handler{bare, w} {
			s, err := serve(h)
			if err != nil {
				return nil, nil, errors.Join(err, done())
			}
			closers = append(closers, s.close)
			ls, err := dial(s.addr, m.clients)
			if err != nil {
				return nil, nil, errors.Join(err, done())
			}
			closers = append(closers, ls.close)
			cs = append(cs, ls.asking(m.what, m.make))
		}
	}
	return append(cs, direct("bare handler", bare, w.get()), direct("handler", w, w.get())), done, nil
}

// httpTable turns pairs of results into rows.
func httpTable(k backend, results []series) (rows []row) {
	for i, m := range []struct {
		id, figure, unit string
		bounds           map[string]float64 // by backend
	}{
		{"get/64", "GET, 64 clients", "requests/s", map[string]float64{onSQLite.name: 0.6, onPostgres.name: 0.6, onlyPostgres.name: 0.6}},
		{"get/1", "GET, 1 client", "requests/s", nil},
		{"put/64", "upsert, 64 clients", "requests/s", map[string]float64{onSQLite.name: 0.35, onPostgres.name: 0.2}},
		{"put/1", "upsert, 1 client", "requests/s", map[string]float64{onSQLite.name: 0.225}},
		{"get/handler", "GET through the handler, no network", "µs", nil},
	} {
		bare, ours := results[2*i], results[2*i+1]
		times := ours.over(bare)
		r := row{id: "http/" + k.name + "/" + m.id, figure: k.name + ": " + m.figure, value: significant(ours.rate()), unit: m.unit,
			ratios: []ratio{{times, "bare net/http handler"}}, allocs: median(ours.allocs)}
		if m.unit == "µs" {
			r.value = significant(1e6 / ours.rate())
			r.ratios[0].of = "rate of the bare handler"
		}
		if bound := m.bounds[k.name]; bound > 0 {
			r.aim = atLeast(times, bound, "× bare handler")
		}
		rows = append(rows, r)
	}
	return rows
}
