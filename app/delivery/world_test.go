package delivery_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	core "github.com/gatehouse-io/gatehouse/core/delivery"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/deliver"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// note is a kind of records whose changes are events.
type note struct {
	ID   string    `json:"id"`
	Org  tenant.ID `json:"org_id"`
	Text string    `json:"text"`
}

var notes = &store.Kind[note]{Name: "note", Noun: "note", ID: func(n note) string { return n.ID }, Org: func(n note) tenant.ID { return n.Org }}

var registration = crud.Facts[note]{Kind: notes, Events: &crud.Events[note]{Names: []string{"written", "torn"}, Of: func(before, after *note) []deliver.Event {
	switch {
	case after == nil:
		return []deliver.Event{{Name: "torn", Message: before.Text}}
	case before == nil:
		return []deliver.Event{{Name: "written", Message: "+" + after.Text}, {Name: "written", Message: "again"}}
	}
	return []deliver.Event{{Name: "written", Message: before.Text + ">" + after.Text}}
}}}.Registration()

// audience has receivers for each organisation, until gone is set.
type audience struct {
	name  string
	mu    sync.Mutex
	lanes map[string][]string // by organisation
	gone  bool
	since time.Time // when the receivers were added
	seen  store.Revision
}

func (a *audience) Name() string { return cmp.Or(a.name, "test") }

func (a *audience) Lanes(_ context.Context, _ store.Reader, org tenant.ID, event string) (out []deliver.Lane, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if event != "written" {
		return nil, nil
	}
	for _, name := range a.lanes[string(org)] {
		out = append(out, deliver.Lane{Name: name, Since: a.since, Seen: a.seen})
	}
	return out, nil
}

func (*audience) Body(e deliver.Event) ([]byte, error) {
	return json.Marshal(map[string]any{"org": e.Org, "by": e.By, "message": e.Message})
}

func (a *audience) Target(_ context.Context, _ store.Reader, org tenant.ID, lane string) (deliver.Target, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.gone {
		return deliver.Target{}, fault.New(fault.NotFound, "gone", "gone")
	}
	to := deliver.Target{URL: "https://" + string(org) + ".example/" + lane, Header: map[string]string{"x-key": "hunter2", "webhook-id": "forged"}, Secret: "0123456789abcdef"}
	if lane == "get" {
		to.Method, to.Timeout = "GET", time.Hour
	}
	return to, nil
}

// receiver records what it gets, and refuses it if the test wants it.
type receiver struct {
	mu      sync.Mutex
	got     []fetch.Request
	status  func(r fetch.Request) int // 0: no response before ctx ends
	working int
	most    int // maximum of concurrent requests
}

func (r *receiver) Fetch(ctx context.Context, req fetch.Request) (fetch.Answer, error) {
	r.mu.Lock()
	r.working++
	r.most = max(r.most, r.working)
	r.got = append(r.got, req)
	status := 200
	if r.status != nil {
		status = r.status(req)
	}
	r.mu.Unlock()
	defer func() { r.mu.Lock(); r.working--; r.mu.Unlock() }()
	if status == 0 {
		<-ctx.Done()
		return fetch.Answer{}, fmt.Errorf("acme.example: %w", fetch.ErrUnreachable)
	}
	return fetch.Answer{Status: status}, nil
}

// told returns the messages that a path got, in order.
func (r *receiver) told(path string) (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, req := range r.got {
		if strings.HasSuffix(req.URL, path) {
			var body struct{ Message string }
			_ = json.Unmarshal(req.Body, &body)
			out = append(out, body.Message)
		}
	}
	return out
}

// world is a store, a receiver and an audience, in a synctest bubble.
type world struct {
	*testing.T
	now      func() time.Time
	db       *memdb.DB
	receiver *receiver
	audience *audience
	log      strings.Builder
	full     atomic.Bool // the store accepts no writes
}

// disk is a store whose disk may be full.
type disk struct{ apptest.Disk }

// Follow reports, as databases do, that the log ends before the revision to follow.
func (d disk) Follow(ctx context.Context, after store.Revision) iter.Seq2[store.Commit, error] {
	if head, err := d.Head(ctx); err == nil && head < after {
		return func(yield func(store.Commit, error) bool) { yield(store.Commit{}, store.ErrExpired) }
	}
	return d.DB.Follow(ctx, after)
}

func inWorld(t *testing.T, test func(w *world)) {
	apptest.InBubble(t, func(t *testing.T, db *memdb.DB) {
		test(&world{T: t, now: time.Now, db: db, receiver: &receiver{}, audience: &audience{lanes: map[string][]string{"acme": {"a"}}}})
	})
}

func (w *world) service(more ...func(*delivery.Settings)) *delivery.Service {
	w.Helper()
	s := delivery.Settings{Fetcher: w.receiver, Pause: time.Second, Holder: "one"}
	for _, set := range more {
		set(&s)
	}
	d, err := delivery.New(s, crud.Tools{Store: disk{apptest.Disk{DB: w.db, Full: &w.full}}, Now: w.now, Log: slog.New(slog.NewTextHandler(&w.log, nil)), PageSize: 10}, crud.Kinds{registration}.Events(), w.audience)
	if err != nil {
		w.Fatal(err)
	}
	return d
}

// start runs a service; stop ends it and waits.
func (w *world) start(more ...func(*delivery.Settings)) (d *delivery.Service, stop func()) {
	w.Helper()
	d = w.service(more...)
	ctx, cancel := context.WithCancel(w.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = d.Run(ctx) }()
	stop = func() { cancel(); <-done }
	w.Cleanup(stop)
	synctest.Wait()
	return d, stop
}

func (w *world) update(org string, fn func(ctx context.Context, wr store.Writer) error) {
	w.Helper()
	scope, err := tenant.Of(tenant.ID(org))
	if err != nil {
		w.Fatal(err)
	}
	ctx := store.Attribute(w.Context(), store.Attribution{Actor: "ada", Operation: "notes.write"})
	if _, err := w.db.Update(ctx, scope, func(wr store.Writer) error { return fn(ctx, wr) }); err != nil {
		w.Fatal(err)
	}
}

// write creates or changes a note.
func (w *world) write(org, id, text string) {
	w.Helper()
	w.update(org, func(ctx context.Context, wr store.Writer) error {
		_, err := notes.Edit(ctx, wr, id, nil, func(n note) (note, error) { n.Text = text; return n, nil })
		if fault.KindOf(err) == fault.NotFound {
			return notes.Insert(ctx, wr, note{ID: id, Org: tenant.ID(org), Text: text})
		}
		return err
	})
}

// list returns the deliveries that the operation lists, the oldest first.
func (w *world) list(d *delivery.Service, state core.State) []delivery.View {
	w.Helper()
	page, err := d.List(w.Context(), delivery.ListIn{Paging: operation.Paging{P: "-1"}, State: string(state)})
	if err != nil {
		w.Fatal(err)
	}
	slices.Reverse(page.Items)
	return page.Items
}

func (w *world) expect(path string, want ...string) {
	w.Helper()
	if have := w.receiver.told(path); !slices.Equal(have, want) {
		w.Errorf("%s was told %q; want %q\n%s", path, have, want, w.log.String())
	}
}
