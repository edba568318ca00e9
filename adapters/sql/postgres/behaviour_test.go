package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
	"github.com/gatehouse-io/gatehouse/ports/presence"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

func insert(ctx context.Context, s store.Store, id string) error {
	scope, err := tenant.Of("a")
	if err != nil {
		return err
	}
	_, err = s.Update(ctx, scope, func(w store.Writer) error {
		return w.Put(ctx, store.Record{Org: "a", Kind: "thing", ID: id, Doc: []byte(`{}`)})
	})
	return err
}

// first returns the next commit after a revision and how long it took.
func first(t *testing.T, s store.ChangeLog, after store.Revision) (store.Commit, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	began := time.Now()
	for c, err := range s.Follow(ctx, after) {
		if err != nil {
			t.Fatal(err)
		}
		return c, time.Since(began)
	}
	t.Fatal("no commit")
	return store.Commit{}, 0
}

// A follower learns of another process's commit by a hint, or by polling when hints are lost.
func TestHintsAreOnlyHints(t *testing.T) {
	dsn := harness.Database(t)
	open := func(poll time.Duration) *postgres.Store {
		s, err := postgres.Open(t.Context(), postgres.Config{DSN: dsn, Poll: poll, Conns: 4})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	writer, hinted, polling := open(time.Hour), open(time.Hour), open(20*time.Millisecond)
	if err := insert(t.Context(), writer, "1"); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*postgres.Store{hinted, polling} {
		first(t, s, 0)
	}
	wrote := make(chan error, 1)
	go func() { time.Sleep(50 * time.Millisecond); wrote <- insert(t.Context(), writer, "2") }()
	if c, took := first(t, hinted, 1); c.Rev != 2 || took > 20*time.Second {
		t.Errorf("hinted: revision %d after %s", c.Rev, took)
	}
	if err := <-wrote; err != nil {
		t.Fatal(err)
	}
	harness.Exec(t, dsn, `drop trigger change_log_hint on change_log`)
	go func() { time.Sleep(50 * time.Millisecond); wrote <- insert(t.Context(), writer, "3") }()
	if c, took := first(t, polling, 2); c.Rev != 3 || took > 20*time.Second {
		t.Errorf("polling: revision %d after %s", c.Rev, took)
	}
	if err := <-wrote; err != nil {
		t.Fatal(err)
	}
}

// While the server is away all operations report that; afterwards they succeed, and no acknowledged
// write is missing.
func TestServerAway(t *testing.T) {
	server := harness.NewPostgres(t)
	s := open(t, server.DSN())
	if err := insert(t.Context(), s, "before"); err != nil {
		t.Fatal(err)
	}
	server.Stop(t)
	if err := insert(t.Context(), s, "during"); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("write: %v", err)
	}
	if _, err := s.Head(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("head: %v", err)
	}
	server.Start(t)
	deadline := time.Now().Add(20 * time.Second)
	for insert(t.Context(), s, "after") != nil {
		if time.Now().After(deadline) {
			t.Fatal("no write after the server is back")
		}
		time.Sleep(20 * time.Millisecond)
	}
	scope, _ := tenant.Of("a")
	if err := s.View(t.Context(), scope, func(r store.Reader) error {
		_, err1 := r.Get(t.Context(), "thing", "before")
		_, err2 := r.Get(t.Context(), "thing", "after")
		return errors.Join(err1, err2)
	}); err != nil {
		t.Error(err)
	}
}

// A server restart leaves dead connections behind: the writer's and the pool's. The first write
// afterwards succeeds all the same, once, and so do the first read and the first lease.
func TestFirstWriteAfterARestart(t *testing.T) {
	server := harness.NewPostgres(t)
	s := open(t, server.DSN())
	scope, err := tenant.Of("a")
	if err != nil {
		t.Fatal(err)
	}
	lease := func() error {
		_, _, err := s.Acquire(t.Context(), "sink", "holder", time.Minute)
		return err
	}
	read := func() error {
		return s.View(t.Context(), scope, func(r store.Reader) error {
			_, err := r.Get(t.Context(), "thing", "warm")
			return err
		})
	}
	if err := errors.Join(insert(t.Context(), s, "warm"), lease(), read()); err != nil {
		t.Fatal(err)
	}
	for round, first := range []func() error{
		func() error { return insert(t.Context(), s, "after") },
		lease, read,
		func() error { return insert(t.Context(), s, "again") },
	} {
		server.Stop(t)
		server.Start(t)
		if err := first(); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
	}
	if head, err := s.Head(t.Context()); err != nil || head != 3 {
		t.Errorf("head %d, %v: every write counts once", head, err)
	}
}

// Replicas record the presence of the same node without overwriting each other.
func TestBoard(t *testing.T) {
	dsn := harness.Database(t)
	var boards []presence.Board
	for i := range 2 {
		s, err := postgres.Open(t.Context(), postgres.Config{DSN: dsn, Source: fmt.Sprint(i), Conns: 2})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		boards = append(boards, s.Board())
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	note := func(b presence.Board, n presence.Node) {
		t.Helper()
		if err := b.Note(t.Context(), []presence.Node{n}); err != nil {
			t.Fatal(err)
		}
	}
	note(boards[0], presence.Node{ID: "n", Hostname: "h", FirstSeen: now, LastSeen: now, LastBeat: now, Feeds: map[string]store.Revision{"a": 3}})
	note(boards[1], presence.Node{ID: "n", FirstSeen: now.Add(time.Second), LastSeen: now.Add(time.Second), Feeds: map[string]store.Revision{"b": 4}})
	note(boards[1], presence.Node{ID: "old", LastSeen: now.Add(-time.Hour)})
	got, err := boards[0].Nodes(t.Context(), now.Add(-time.Minute))
	if err != nil || len(got) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if n := got[0]; !n.FirstSeen.Equal(now) || !n.LastSeen.Equal(now.Add(time.Second)) || !n.LastBeat.Equal(now) || n.Feeds["a"] != 3 || n.Feeds["b"] != 4 {
		t.Errorf("%+v", n)
	}
	if err := boards[0].Forget(t.Context(), "n"); err != nil {
		t.Fatal(err)
	}
	if got, err := boards[1].Nodes(t.Context(), now.Add(-time.Minute)); err != nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestBoardForgets: rows of killed gateways, and of earlier starts of replicas, are deleted.
func TestBoardForgets(t *testing.T) {
	dsn := harness.Database(t)
	now := time.Now()
	for start := range 3 {
		s, err := postgres.Open(t.Context(), postgres.Config{DSN: dsn, Source: fmt.Sprint(start), Conns: 2})
		if err != nil {
			t.Fatal(err)
		}
		at := now.Add(time.Duration(start-2) * 2 * time.Hour)
		var nodes []presence.Node
		for i := range 100 {
			nodes = append(nodes, presence.Node{ID: fmt.Sprintf("%d/%d", start, i), LastSeen: at})
		}
		nodes = append(nodes, presence.Node{ID: "twice", Hostname: "new", LastSeen: at}, presence.Node{ID: "twice", Hostname: "old", LastSeen: at.Add(-time.Second)})
		if err := s.Board().Note(t.Context(), nodes); err != nil {
			t.Fatal(err)
		}
		got, err := s.Board().Nodes(t.Context(), time.Time{})
		if err != nil || len(got) != 101 || got[100].Hostname != "new" {
			t.Errorf("start %d: %d nodes, %v", start, len(got), err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBoardForgetsAfterALeap: old rows are also deleted when the clock was years ahead, and is put
// back.
func TestBoardForgetsAfterALeap(t *testing.T) {
	b, now := open(t, harness.Database(t)).Board(), time.Now()
	for _, n := range []presence.Node{{ID: "ahead", LastSeen: now.AddDate(10, 0, 0)}, {ID: "old", LastSeen: now.Add(-2 * time.Hour)}, {ID: "new", LastSeen: now}} {
		if err := b.Note(t.Context(), []presence.Node{n}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := b.Nodes(t.Context(), time.Time{})
	if err != nil || len(got) != 2 || got[0].ID != "ahead" || got[1].ID != "new" {
		t.Errorf("%+v, %v", got, err)
	}
}
