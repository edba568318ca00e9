package providers_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/provider"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// noKeys are keys and a registry that no test uses.
type noKeys = interface {
	dashboard.OAuthClients
	dashboard.Keys
	dashboard.Registry
	dashboard.Usage
}

// hall is a store with processes that share it, and an empty dashboard with slow answers.
type hall struct {
	noKeys
	*testing.T
	db     *memdb.DB
	keys   secret.Keys
	scope  tenant.Scope
	log    apptest.Log
	takes  time.Duration
	fails  atomic.Bool
	inside atomic.Int64 // number of active runs
	most   atomic.Int64
	runs   atomic.Int64
}

func (h *hall) Policies(ctx context.Context) ([]*doc.Node, error) {
	h.runs.Add(1)
	h.most.Store(max(h.most.Load(), h.inside.Add(1)))
	defer h.inside.Add(-1)
	if h.fails.Load() {
		return nil, fmt.Errorf("%w: closed", dashboard.ErrUnreachable)
	}
	select {
	case <-time.After(h.takes):
		return nil, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", dashboard.ErrUnreachable, ctx.Err())
	}
}

func (*hall) APIs(context.Context) ([]sync.API, error) { return nil, nil }
func (*hall) Policy(context.Context, sync.Ref) (dashboard.Policy, error) {
	return dashboard.Policy{}, dashboard.ErrGone
}
func (*hall) Create(context.Context, *doc.Node) (sync.Ref, error) {
	return sync.Ref{}, dashboard.ErrRefused
}
func (*hall) Replace(context.Context, dashboard.Policy) error { return dashboard.ErrRefused }
func (*hall) Delete(context.Context, sync.Ref) error          { return dashboard.ErrRefused }

// inHall runs a test in a synctest bubble, where time passes only while all goroutines wait.
func inHall(t *testing.T, test func(h *hall)) {
	synctest.Test(t, func(t *testing.T) {
		p := apptest.NewPortal(t)
		test(&hall{T: t, db: p.DB, keys: p.Keys, scope: p.Scope, takes: time.Second})
	})
}

// process returns a process of the portal.
func (h *hall) process(holder string, more ...func(*providers.Config)) *providers.Service {
	h.Helper()
	c := providers.Config{
		Tools: crud.Tools{Store: h.db, Now: time.Now, NewID: apptest.Numbered(holder + "-%d"), Log: slog.New(slog.NewTextHandler(&h.log, nil))},
		Keys:  h.keys, Scope: h.scope, Holder: holder, Dial: func(provider.Settings) dashboard.Dashboard { return h },
	}
	for _, set := range more {
		set(&c)
	}
	return providers.New(c)
}

// connect stores a provider.
func (h *hall) connect() table.ID {
	h.Helper()
	var p provider.Provider
	_, err := h.db.Update(h.Context(), h.scope, func(w store.Writer) (err error) {
		p, err = portal.Add(h.Context(), w, providers.Kind, crud.Stamp{ID: "one", Now: time.Now}, provider.Provider{Name: "Ours", Type: provider.TykPro, Settings: provider.Settings{URL: "http://d"}})
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	return p.ID
}

// TestOneAtATime: only one run at a time synchronises a provider, within a process and across
// processes; others wait, and then run.
func TestOneAtATime(t *testing.T) {
	inHall(t, func(h *hall) {
		id := h.connect()
		one, two := h.process("one"), h.process("two")
		done := make(chan error)
		for _, s := range []*providers.Service{one, one, two, two} {
			go func() { _, err := s.Synchronise(h.Context(), id); done <- err }()
		}
		for range 4 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if h.most.Load() != 1 || h.runs.Load() != 4 {
			t.Errorf("%d at once, %d runs", h.most.Load(), h.runs.Load())
		}
	})
}

// TestLongRunsKeepTheirTurn: a run that takes longer than a lease keeps it; when the process
// dies another one continues after the lease has ended.
func TestLongRunsKeepTheirTurn(t *testing.T) {
	inHall(t, func(h *hall) {
		id := h.connect()
		h.takes = 5 * time.Minute
		done := make(chan error)
		for _, holder := range []string{"one", "two"} {
			s := h.process(holder)
			go func() { _, err := s.Synchronise(h.Context(), id); done <- err }()
		}
		if err := <-done; err != nil || h.most.Load() != 1 {
			t.Error(err, h.most.Load())
		}
		if err := <-done; err != nil || h.most.Load() != 1 || h.runs.Load() != 2 {
			t.Error(err, h.most.Load(), h.runs.Load())
		}
		h.takes = 0
		if _, ok, err := h.db.Acquire(h.Context(), "synchronise portal:test "+id.String(), "dead", 30*time.Second); !ok || err != nil {
			t.Fatal("the lease was not given back", err)
		}
		began := time.Now()
		if _, err := h.process("three").Synchronise(h.Context(), id); err != nil || time.Since(began) < 29*time.Second || time.Since(began) > 31*time.Second {
			t.Error(err, time.Since(began))
		}
	})
}

// TestQueueIsBounded: a limited number of callers wait for a provider in one process, and
// callers that give up make room.
func TestQueueIsBounded(t *testing.T) {
	inHall(t, func(h *hall) {
		id := h.connect()
		h.takes = 9 * time.Minute
		s := h.process("one")
		ctx, cancel := context.WithCancel(h.Context())
		done, busy := make(chan error, 100), 0
		for range 30 {
			go func() { _, err := s.Synchronise(ctx, id); done <- err }()
		}
		synctest.Wait()
		for len(done) > 0 {
			if err := <-done; fault.CodeOf(err) != providers.CodeBusy || fault.KindOf(err) != fault.TooMany {
				t.Error(err)
			}
			busy++
		}
		if busy != 13 {
			t.Errorf("%d were refused", busy)
		}
		cancel()
		synctest.Wait()
		h.takes = 0
		if _, err := s.Synchronise(h.Context(), id); err != nil {
			t.Error(err)
		}
	})
}

// TestStatus: the outcome of an attempt is stored and shown, and a cancelled attempt says
// nothing about the dashboard.
func TestStatus(t *testing.T) {
	inHall(t, func(h *hall) {
		s := h.process("one")
		ops := map[string]func(body string, path map[string]string) (any, error){}
		for _, o := range s.Resource().Registration().Operations(s.Tools) {
			ops[o.ID] = caller(h.T, o, h.scope)
		}
		made, err := ops["portal-providers.create"](`{"Name":"Ours","Configuration":{"MetaData":{"URL":"http://d","Secret":"hunter2"}}}`, nil)
		if err != nil {
			t.Fatal(err)
		}
		at := map[string]string{"provider_id": made.(providers.Shown).ID.String()}
		expect := func(status, ago string) {
			t.Helper()
			shown, err := ops["portal-providers.get"]("", at)
			if err != nil {
				t.Fatal(err)
			}
			if p := shown.(providers.Shown); p.Status != status || p.LastSyncedAt != ago || p.LastSynced != ago || p.Configuration.MetaData == "" {
				t.Errorf("%+v", p)
			}
		}
		expect(provider.Unknown, "")
		ctx, cancel := context.WithTimeout(h.Context(), time.Millisecond)
		defer cancel()
		if _, err := s.Synchronise(ctx, 1); err == nil {
			t.Error("a run that was broken off has ended well")
		}
		expect(provider.Unknown, "")
		if _, err := ops["portal-providers.synchronize"]("", at); err != nil {
			t.Error(err)
		}
		time.Sleep(7*time.Minute + 5*time.Second)
		expect(provider.Up, "7 minutes 5 seconds ago")
		h.fails.Store(true)
		if _, err := ops["portal-providers.synchronize"]("", at); fault.CodeOf(err) != providers.CodeFailed ||
			!strings.HasPrefix(err.Error(), "Failed to sync provider Ours: TykPro.Sync. getting available products: fetching policies: the dashboard does not answer as it should: closed") {
			t.Error(err)
		}
		expect(provider.Down, "7 minutes 5 seconds ago")
		h.fails.Store(false)
		if _, err := ops["portal-providers.synchronize"]("", at); err != nil {
			t.Error(err)
		}
		expect(provider.Up, "0 seconds ago")
		if _, err := ops["portal-providers.delete"]("", at); err != nil {
			t.Error(err)
		}
		if _, err := s.Synchronise(h.Context(), 1); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
	})
}

// TestRefresh: all providers are synchronised at the start and at each interval, by one of the
// processes.
func TestRefresh(t *testing.T) {
	inHall(t, func(h *hall) {
		every := func(c *providers.Config) { c.Every = 10 * time.Minute }
		one := h.process("one", every)
		for _, o := range one.Resource().Registration().Operations(one.Tools) {
			if o.ID == "portal-providers.create" {
				if _, err := caller(h.T, o, h.scope)(`{"Name":"Ours","Configuration":{"MetaData":{"URL":"http://d"}}}`, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		ctx, cancel := context.WithCancel(h.Context())
		ended := make(chan error)
		start := func(s *providers.Service) { go func() { ended <- s.Run(ctx) }() }
		expect := func(after time.Duration, runs int64) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			if have := h.runs.Load(); have != runs {
				t.Errorf("%d runs, want %d", have, runs)
			}
		}
		start(one)
		expect(2*time.Second, 1)
		expect(10*time.Minute, 2)
		start(h.process("two", every)) // it synchronises at its start, even if another process has just done so
		expect(2*time.Second, 3)
		expect(59*time.Minute, 8) // in an hour, at each tick one of the two finds that the other has just done it
		h.fails.Store(true)
		expect(10*time.Minute, 9)
		if h.log.Count("a provider could not be synchronised") == 0 {
			t.Error("nothing is said about a dashboard that is away")
		}
		cancel()
		for range 2 {
			<-ended
		}
		if err := h.process("off").Run(h.Context()); err != nil {
			t.Error("without an interval nothing runs:", err)
		}
	})
}

// TestClockPutBack: providers are synchronised at each interval although the clock was put back.
func TestClockPutBack(t *testing.T) {
	inHall(t, func(h *hall) {
		var wrong atomic.Int64
		s := h.process("one", func(c *providers.Config) {
			c.Every, c.Now = 10*time.Minute, func() time.Time { return time.Now().Add(time.Duration(wrong.Load())) }
		})
		wrong.Store(int64(time.Hour))
		for _, o := range s.Resource().Registration().Operations(s.Tools) {
			if o.ID == "portal-providers.create" {
				if _, err := caller(h.T, o, h.scope)(`{"Name":"Ours","Configuration":{"MetaData":{"URL":"http://d"}}}`, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		ctx, cancel := context.WithCancel(h.Context())
		ended := make(chan error)
		go func() { ended <- s.Run(ctx) }()
		time.Sleep(2 * time.Second)
		wrong.Store(0)
		time.Sleep(25 * time.Minute)
		synctest.Wait()
		if have := h.runs.Load(); have != 3 {
			t.Errorf("%d runs", have)
		}
		cancel()
		<-ended
	})
}

// stingy is a store that fails after some units of work.
type stingy struct {
	*memdb.DB
	units int
}

func (s *stingy) Update(ctx context.Context, scope tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	if s.units--; s.units < 0 {
		return 0, store.ErrUnavailable
	}
	return s.DB.Update(ctx, scope, fn)
}

// TestLargeProvidersGoInSteps: the records of a provider are deleted in several units of work,
// and an interrupted deletion continues when it is repeated.
func TestLargeProvidersGoInSteps(t *testing.T) {
	inHall(t, func(h *hall) {
		const many, most = 2300, 500
		db := &stingy{h.db, many}
		s := h.process("one", func(c *providers.Config) { c.Store, c.Shelves = db, []providers.Shelf{plans.Shelf} })
		call := func(id, body string, path map[string]string) (any, error) {
			all := s.Resource().Registration().Operations(s.Tools)
			i := slices.IndexFunc(all, func(o operation.Operation) bool { return o.ID == id })
			return caller(h.T, all[i], h.scope)(body, path)
		}
		made, err := call("portal-providers.create", `{"Name":"Ours","Configuration":{"MetaData":{"URL":"http://d"}}}`, nil)
		if err != nil {
			t.Fatal(err)
		}
		id := made.(providers.Shown).ID
		if _, err := h.db.Update(h.Context(), h.scope, func(w store.Writer) error {
			for i := range many {
				r := sync.Record{Kind: sync.KindPlan, Ref: sync.Ref{ID: fmt.Sprint(i)}, Terms: sync.Terms{Name: fmt.Sprint("Plan ", i)}}
				if err := plans.Shelf.Store(h.Context(), w, id, nil, r, crud.Stamp{ID: fmt.Sprint(i), Now: time.Now}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		began, _ := h.db.Head(h.Context()) // it never fails
		remove := func(left int) error {
			t.Helper()
			_, err := call("portal-providers.delete", "", map[string]string{"provider_id": id.String()})
			if err := h.db.View(h.Context(), h.scope, func(r store.Reader) error {
				n, err := plans.Shelf.Count(h.Context(), r, id)
				if n != left {
					t.Errorf("%d are left, want %d", n, left)
				}
				return err
			}); err != nil {
				t.Error(err)
			}
			return err
		}
		db.units = 3
		if err := remove(many - 3*most); !errors.Is(err, store.ErrUnavailable) {
			t.Error(err)
		}
		db.units = many
		if err := remove(0); err != nil {
			t.Error(err)
		}
		end, _ := h.db.Head(h.Context())
		for c, err := range h.db.Follow(h.Context(), began) {
			if err != nil || len(c.Changes) > most+10 {
				t.Fatalf("revision %d changes %d records: %v", c.Rev, len(c.Changes), err)
			}
			if c.Rev == end {
				break
			}
		}
	})
}
