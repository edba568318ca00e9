package gateway_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/gzip"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/gateway"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	port "github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// cut is a store that a test can make unreachable. Then it returns what it knew last,
// if anything.
type cut struct {
	*memdb.DB
	known *memdb.DB
	off   bool
}

func (c *cut) View(ctx context.Context, sc tenant.Scope, fn func(store.Reader) error) error {
	if c.off {
		return store.ErrUnavailable
	}
	return c.DB.View(ctx, sc, fn)
}

func (c *cut) ViewLastKnown(ctx context.Context, sc tenant.Scope, fn func(store.Reader) error) (stale bool, err error) {
	if !c.off {
		return false, c.DB.View(ctx, sc, fn)
	}
	if c.known == nil {
		return true, store.ErrUnavailable
	}
	return true, c.known.View(ctx, sc, fn)
}

// TestCutOff: a process that cannot reach the store serves the feeds that it knows. If
// another process has announced a change meanwhile, the gateways that called this one
// must still learn of it.
func TestCutOff(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w, copied := newWorld(t), newWorld(t) // with equal commits
	c := &cut{DB: w.db, known: copied.db}
	n := gateway.New(gateway.Config{Store: c, Tokens: tokens{}, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
		Board: gateway.NewMemory(), Coding: &gzip.Coding{}, Sources: []port.Source{*apis.Feed(false)}})
	told := func(what string, want int) {
		t.Helper()
		before, err := w.db.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // nodes are told once
			n.Settle(t.Context())
		}
		after, err := w.db.Head(t.Context())
		if err != nil || int(after-before) != want {
			t.Errorf("%s: %d commits, want %d, %v", what, after-before, want, err)
		}
	}
	for _, w := range []*world{w, copied} {
		w.put(api("o", 1, "", ""))
	}
	told("nothing has happened", 0)

	c.off = true
	fetch(t, n, "apis")
	told("the store is away", 0)
	c.off = false
	told("nothing has changed meanwhile", 0)

	c.off = true
	w.put(api("o", 1, `,"name":"new"`, ""))
	if got := fetch(t, n, "apis"); len(got) != 1 || string(got[0]) != served("o", 1, "") {
		t.Fatalf("%s", got)
	}
	told("the store is away", 0)
	c.off = false
	told("another process has changed an API", 1)
	var commands []string
	err := w.db.View(t.Context(), tenant.Everyone("test"), func(r store.Reader) error {
		for rec, err := range r.Scan(t.Context(), store.Query{Kind: signal.NoticeKind}) {
			if err != nil {
				return err
			}
			commands = append(commands, rec.ID)
		}
		return nil
	})
	slices.Sort(commands)
	if err != nil || !slices.Equal(commands, []string{"ClientIdPChanged:", "GroupReload:"}) {
		t.Error(commands, err)
	}

	c.off, c.known = true, nil // like a process that has just started
	for _, o := range n.Operations() {
		if o.ID == "system.apis" {
			if _, err := o.Do(t.Context(), &operation.Call{Spec: &o.Spec}); err == nil || fault.KindOf(err) == fault.Denied {
				t.Error(err)
			}
		}
	}
	c.off = false
	told("nodes have just been told", 0)
	now = now.Add(time.Minute)
	told("a node got no feed", 1)
}
