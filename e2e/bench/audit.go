package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/gzip/quick"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/replicated"
)

// audited is a way in which the same upserts are measured with and without an audit trail.
type audited struct {
	id, figure string
	clients    int
	detailed   bool
	aim        float64 // the minimum share of the rate without an audit trail; 0: none
	upserts    func(w *world, clients int) (c contestant, done func() error, err error)
}

// auditRows measures the cost of the audit trail: the same upserts with and without it,
// alternating.
func auditRows(ctx context.Context, b *bench) (rows []row, err error) {
	keys, err := crypto.Ephemeral()
	if err != nil {
		return nil, err
	}
	for _, a := range []audited{
		{"http/64", "over HTTP, 10 mappings, 64 clients", httpClients, false, 0.85, (*world).overHTTP},
		{"1", "use case, 10 mappings, 1 at once", 1, false, 0, (*world).used},
		{"64", "use case, 10 mappings, 64 at once", 64, false, 0, (*world).used},
		{"1/detailed", "with dumps: handler, 10 mappings, 1 at once", 1, true, 0, (*world).handled},
		{"64/detailed", "with dumps: handler, 10 mappings, 64 at once", 64, true, 0, (*world).handled},
	} {
		r, err := auditedWrites(ctx, b, a, []audit.Settings{{}, {Signer: keys, MaxBytes: 64 << 20, Detailed: a.detailed, Pack: quick.Packer()}})
		if err != nil {
			return rows, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// told is after how many writes the audit trail is brought up to date: as many as it
// records at once. The service does so ten times a second at this rate of writes.
const told = 2_000

func auditedWrites(ctx context.Context, b *bench, a audited, how []audit.Settings) (r row, err error) {
	var cs []contestant
	for _, settings := range how {
		st, err := sqlite.Open(ctx, sqlite.Config{Path: b.path("audit.db"), Logger: quiet()})
		if err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, st.Close()) }()
		w, err := newWorld(ctx, app.WithStore(st), app.WithReads(replicated.Local), app.WithAudit(settings))
		if err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, w.stop(ctx)) }()
		if err := w.seed(ctx, "corp", a.clients, 10); err != nil {
			return r, err
		}
		c, done, err := a.upserts(w, a.clients)
		if err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, done()) }()
		put, every := c.do, told/a.clients
		c.do = func(ctx context.Context, client, n int) error {
			if err := put(ctx, client, n); err != nil || client > 0 || n%every > 0 {
				return err
			}
			return w.Trail().Fold(ctx)
		}
		cs = append(cs, c)
	}
	results, err := b.race(ctx, "audit trail, "+a.figure, cs...)
	if err != nil {
		return r, err
	}
	times := results[1].over(results[0])
	r = row{id: "audit/" + a.id, figure: "SQLite, audited " + a.figure,
		value: significant(results[1].rate()), unit: "writes/s", ratios: []ratio{{times, "without a trail"}}, allocs: median(results[1].allocs)}
	if a.aim > 0 {
		r.aim = atLeast(times, a.aim, "× without a trail")
	}
	return r, nil
}

func noError() error { return nil }

// used is a contestant that upserts through the use case.
func (w *world) used(clients int) (contestant, func() error, error) {
	return w.put("corp", clients, false), noError, nil
}

// overHTTP is a contestant that upserts as clients do.
func (w *world) overHTTP(clients int) (c contestant, done func() error, err error) {
	s, err := serve(w)
	if err != nil {
		return c, nil, err
	}
	ls, err := dial(s.addr, clients)
	if err != nil {
		return c, nil, errors.Join(err, s.close())
	}
	return ls.asking("upsert", func(client, n int) []byte {
		return request("PUT", "/api/clientidps/"+name("corp", client)+"/mappings/api-5", mapping(n), "Authorization", w.token)
	}), func() error { return errors.Join(ls.close(), s.close()) }, nil
}

// handled is a contestant that upserts through the handler, without a socket: only
// answered calls have dumps.
func (w *world) handled(clients int) (contestant, func() error, error) {
	return contestant{name: "upsert", clients: clients, do: func(ctx context.Context, client, n int) error {
		r := httptest.NewRequestWithContext(ctx, http.MethodPut, "/api/clientidps/"+name("corp", client)+"/mappings/api-5", strings.NewReader(mapping(n)))
		r.Header.Set("Authorization", w.token)
		answer := httptest.NewRecorder()
		if w.ServeHTTP(answer, r); answer.Code != http.StatusOK {
			return fmt.Errorf("answer %d", answer.Code)
		}
		return nil
	}}, noError, nil
}
