package intents_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// shelf is another system: things are put there and taken away one by one.
type shelf struct {
	mu     sync.Mutex
	things map[string]string
	calls  int
	fail   func(call string) error // called before a call takes effect
	after  func(call string) error // called after it took effect
	hangs  bool                    // until the caller gives up
}

func (s *shelf) call(ctx context.Context, what string, fn func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	s.calls++
	fail, after, hangs := s.fail, s.after, s.hangs
	s.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	if fail != nil {
		if err := fail(what); err != nil {
			return err
		}
	}
	s.mu.Lock()
	fn()
	s.mu.Unlock()
	if after != nil {
		return after(what)
	}
	return nil
}

func (s *shelf) hang(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangs = on
}

func (s *shelf) called() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

func (s *shelf) state() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for k, v := range s.things {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func (s *shelf) faults(fail, after func(call string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail, s.after = fail, after
}

// job puts two things on the shelf, and a note into our store.
type job struct {
	Value string            `json:"value"`
	Old   map[string]string `json:"old"`
}

// note is a record in our store.
type note struct {
	ID   string    `json:"id"`
	Org  tenant.ID `json:"org_id"`
	Text string    `json:"text"`
}

var notes = &store.Kind[note]{Name: "note", Noun: "note", ID: func(n note) string { return n.ID }, Org: func(n note) tenant.ID { return n.Org },
	Indexes: []store.Index[note]{store.Unique("text", "text", func(n note) string { return n.Text })}}

// world is a store, a shelf, and programs that use both.
type world struct {
	*testing.T
	db    *memdb.DB
	shelf *shelf
	keys  secret.Keys
	log   bytes.Buffer
	ids   int
	scope tenant.Scope
}

func inWorld(t *testing.T, fn func(*world)) {
	synctest.Test(t, func(t *testing.T) {
		db, err := memdb.New(time.Now)
		if err != nil {
			t.Fatal(err)
		}
		keys, err := crypto.Ephemeral()
		if err != nil {
			t.Fatal(err)
		}
		w := &world{T: t, db: db, keys: keys, shelf: &shelf{things: map[string]string{}}}
		w.scope, _ = tenant.Of("acme")
		fn(w)
	})
}

// program is one process.
type program struct {
	*intents.Service
	put   intents.Runner[job]
	make  intents.Runner[job]
	force intents.Runner[job] // with Over
}

// program returns a process that does not run yet.
func (w *world) program(holder string) program {
	tools := crud.Tools{Store: w.db, Now: time.Now, Log: slog.New(slog.NewTextHandler(&w.log, nil)), PageSize: 10,
		NewID: func() string { w.ids++; return fmt.Sprintf("%024d", w.ids) }}
	p := program{Service: intents.New(intents.Settings{Holder: holder, TTL: 1500 * time.Millisecond}, tools, w.keys)}
	plan := func(back bool) func(tenant.ID, *job) intents.Plan {
		return func(org tenant.ID, d *job) intents.Plan {
			step := func(name string) intents.Step {
				return intents.Step{Name: name,
					Do: func(ctx context.Context) error {
						return w.shelf.call(ctx, "put "+name, func() { w.shelf.things[name] = d.Value })
					},
					Undo: func(ctx context.Context) error {
						return w.shelf.call(ctx, "undo "+name, func() {
							if old, ok := d.Old[name]; ok {
								w.shelf.things[name] = old
							} else {
								delete(w.shelf.things, name)
							}
						})
					}}
			}
			return intents.Plan{Steps: []intents.Step{step("a"), step("b")}, Back: back,
				Close: func(ctx context.Context, wr store.Writer) error {
					return notes.Insert(ctx, wr, note{ID: d.Value, Org: org, Text: d.Value})
				},
				Told: func() any { return map[string]string{"value": d.Value} }}
		}
	}
	p.put = intents.Add(p.Service, intents.Action[job]{Name: "things.put", Plan: plan(false)})
	p.make = intents.Add(p.Service, intents.Action[job]{Name: "things.make", Plan: plan(true)})
	p.force = intents.Add(p.Service, intents.Action[job]{Name: "things.force", Plan: func(tenant.ID, *job) intents.Plan { return intents.Plan{Over: true} }})
	return p
}

// start runs a program until the returned function is called.
func (w *world) start(p program) func() {
	ctx, cancel := context.WithCancel(w.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = p.Run(ctx) }()
	stop := sync.OnceFunc(func() { cancel(); <-done })
	w.Cleanup(stop)
	return stop
}

// all returns all intents, in order.
func (w *world) all() (out []intent.Intent) {
	w.Helper()
	if err := w.db.View(w.Context(), tenant.Everyone("test"), func(r store.Reader) error {
		for v, err := range intents.Kind().Find(w.Context(), r, store.Query{}) {
			if err != nil {
				return err
			}
			out = append(out, v.Value)
		}
		return nil
	}); err != nil {
		w.Fatal(err)
	}
	return out
}

func (w *world) expect(states string, things string, notes int) {
	w.Helper()
	var have []string
	for _, in := range w.all() {
		have = append(have, string(in.State))
	}
	if s := strings.Join(have, " "); s != states {
		w.Errorf("intents are %q, want %q\n%+v", s, states, w.all())
	}
	if s := w.shelf.state(); s != things {
		w.Errorf("the shelf has %q, want %q", s, things)
	}
	if n := w.notes(); n != notes {
		w.Errorf("there are %d notes, want %d", n, notes)
	}
}

func (w *world) notes() (n int) {
	_ = w.db.View(w.Context(), tenant.Everyone("test"), func(r store.Reader) (err error) {
		n, err = r.Count(w.Context(), store.Query{Kind: "note"})
		return err
	})
	return n
}
