package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/replicated"
)

// auditRows measures what the audit trail costs: the same upserts with and without it,
// turn by turn.
func auditRows(ctx context.Context, b *bench) (rows []row, err error) {
	keys, err := crypto.Ephemeral()
	if err != nil {
		return nil, err
	}
	for _, clients := range []int{1, 64} {
		for _, detailed := range []bool{false, true} {
			r, err := auditedWrites(ctx, b, []audit.Settings{{}, {Signer: keys, MaxBytes: 64 << 20, Detailed: detailed}}, clients)
			if err != nil {
				return rows, err
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// told is after how many writes the trail is brought up to date: as many as it tells at
// once. The service does so once a second, when more than that have been made; what a
// turn leaves is told in the next one.
const told = 2_000

func auditedWrites(ctx context.Context, b *bench, how []audit.Settings, clients int) (r row, err error) {
	detailed := how[1].Detailed
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
		if err := w.seed(ctx, "corp", clients, 10); err != nil {
			return r, err
		}
		c := w.put("corp", clients, false)
		if detailed {
			c = w.handled("corp", clients)
		}
		put, every := c.do, told/clients
		c.do = func(ctx context.Context, client, n int) error {
			if err := put(ctx, client, n); err != nil || client > 0 || n%every > 0 {
				return err
			}
			return w.Trail().Fold(ctx)
		}
		cs = append(cs, c)
	}
	results, err := b.race(ctx, fmt.Sprintf("audit trail, %d clients, detailed: %t", clients, detailed), cs...)
	if err != nil {
		return r, err
	}
	times := results[1].over(results[0])
	r = row{id: fmt.Sprintf("audit/%d", clients), figure: fmt.Sprintf("SQLite, audited: use case, 10 mappings, %d at once", clients),
		value: significant(results[1].rate()), unit: "writes/s", ratios: []ratio{{times, "without a trail"}}, allocs: median(results[1].allocs)}
	if detailed {
		r.id, r.figure = r.id+"/detailed", fmt.Sprintf("SQLite, audited with dumps: handler, 10 mappings, %d at once", clients)
	} else if clients == 64 {
		r.aim = atLeast(times, 0.85, "× without a trail")
	}
	return r, nil
}

// handled is a contestant that upserts through the handler, without a socket: only calls
// that are answered have dumps.
func (w *world) handled(prefix string, clients int) contestant {
	return contestant{name: "upsert", clients: clients, do: func(ctx context.Context, client, n int) error {
		r := httptest.NewRequestWithContext(ctx, http.MethodPut, "/api/clientidps/"+name(prefix, client)+"/mappings/api-5", strings.NewReader(mapping(n)))
		r.Header.Set("Authorization", w.token)
		answer := httptest.NewRecorder()
		if w.ServeHTTP(answer, r); answer.Code != http.StatusOK {
			return fmt.Errorf("answer %d", answer.Code)
		}
		return nil
	}}
}
