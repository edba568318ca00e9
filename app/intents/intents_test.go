package intents_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/deliver"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

var about = intent.Subject{Kind: "thing", ID: "t"}

// on returns a function that fails the calls with a name.
func on(name string, err error) func(string) error {
	return func(call string) error {
		if call == name {
			return fmt.Errorf("%s: %w", call, err)
		}
		return nil
	}
}

// TestOutcomes: the result of an action whose caller waits, for each way in which its
// steps can fail, at once and after the failure is over.
func TestOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		fail, after  func(string) error
		back         bool
		taken        bool // the commit that closes the intent is refused
		want         error
		state        string
		things       string
		notes        int
		later        string // state after the failure is over; "": unchanged
		laterThings  string
		laterNotes   int
		wantConflict bool
	}{
		"all goes well":         {state: "done", things: "a=new b=new", notes: 1},
		"the first is refused":  {fail: on("put a", gateway.ErrRefused), want: gateway.ErrRefused, state: "undone", things: "a=old"},
		"the second is refused": {fail: on("put b", gateway.ErrTaken), want: gateway.ErrTaken, state: "undone", things: "a=old"},
		"the commit is refused": {taken: true, wantConflict: true, state: "undone", things: "a=old", notes: 1},
		"nothing reached":       {fail: on("put a", gateway.ErrUnreachable), want: gateway.ErrUnreachable, state: "undone", things: "a=old"},
		"the first is uncertain, not done": {fail: on("put a", gateway.ErrUncertain), want: gateway.ErrUncertain, state: "open", things: "a=old",
			later: "done", laterThings: "a=new b=new", laterNotes: 1},
		"the first is uncertain, done": {after: on("put a", gateway.ErrUncertain), want: gateway.ErrUncertain, state: "open", things: "a=new",
			later: "done", laterThings: "a=new b=new", laterNotes: 1},
		"away before the second": {fail: on("put b", gateway.ErrUnreachable), want: gateway.ErrUnreachable, state: "open", things: "a=new",
			later: "done", laterThings: "a=new b=new", laterNotes: 1},
		"to take back: the second is uncertain": {back: true, after: on("put b", gateway.ErrUncertain), want: gateway.ErrUncertain, state: "undone", things: "a=old"},
		"to take back: all is away": {back: true, want: gateway.ErrUnreachable, state: "undoing", things: "a=new",
			fail: func(call string) error {
				if call != "put a" {
					return gateway.ErrUnreachable
				}
				return nil
			}, later: "undone", laterThings: "a=old"},
		"refused, and away then": {want: gateway.ErrRefused, state: "undoing", things: "a=new",
			fail: func(call string) error {
				switch call {
				case "put b":
					return gateway.ErrRefused
				case "undo a":
					return gateway.ErrUnreachable
				}
				return nil
			}, later: "undone", laterThings: "a=old"},
		"the undo is refused": {want: gateway.ErrRefused, state: "undo_failed", things: "a=new",
			fail: func(call string) error {
				if call != "put a" {
					return gateway.ErrRefused
				}
				return nil
			}},
		"a step has a fault of its own": {fail: on("put b", fault.New(fault.Invalid, "x", "no")), wantConflict: false, want: errors.New("any"), state: "undone", things: "a=old"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.shelf.things["a"] = "old"
				if c.taken {
					w.write(note{ID: "other", Org: "acme", Text: "new"})
				}
				w.shelf.faults(c.fail, c.after)
				p := w.program("one")
				runner := p.put
				if c.back {
					runner = p.make
				}
				err := runner.Run(w.Context(), w.scope, about, &job{Value: "new", Old: map[string]string{"a": "old"}})
				switch {
				case c.wantConflict:
					if fault.KindOf(err) != fault.Conflict {
						t.Error(err)
					}
				case c.want != nil && c.want.Error() == "any":
					if fault.KindOf(err) != fault.Invalid {
						t.Error(err)
					}
				case !errors.Is(err, c.want):
					t.Error(err)
				}
				w.expect(c.state, c.things, c.notes)
				w.shelf.faults(nil, nil)
				w.start(p)
				time.Sleep(5 * time.Second)
				if c.later == "" {
					c.later, c.laterThings, c.laterNotes = c.state, c.things, c.notes
				}
				w.expect(c.later, c.laterThings, c.laterNotes)
				for _, in := range w.all() {
					if in.State.Closed() && in.Details != "" {
						t.Errorf("details stay: %+v", in)
					}
				}
			})
		})
	}
}

func (w *world) write(n note) {
	if _, err := w.db.Update(w.Context(), w.scope, func(wr store.Writer) error { return notes.Insert(w.Context(), wr, n) }); err != nil {
		w.Fatal(err)
	}
}

// died is the panic of a process that dies during a call.
type died struct{}

// TestCrash: a process dies before or after any call. Another one finishes the action,
// or undoes it.
func TestCrash(t *testing.T) {
	for _, back := range []bool{false, true} {
		for _, at := range []string{"put a", "put b"} {
			for _, when := range []string{"before", "after"} {
				t.Run(fmt.Sprint(back, " ", when, " ", at), func(t *testing.T) {
					inWorld(t, func(w *world) {
						die := func(call string) error {
							if call == at {
								panic(died{})
							}
							return nil
						}
						if when == "before" {
							w.shelf.faults(die, nil)
						} else {
							w.shelf.faults(nil, die)
						}
						p := w.program("one")
						runner, want, things, notes := p.put, "done", "a=new b=new", 1
						if back {
							runner, want, things, notes = p.make, "undone", "", 0
						}
						func() {
							defer func() {
								if _, ok := recover().(died); !ok {
									t.Error("it did not die")
								}
							}()
							_ = runner.Run(w.Context(), w.scope, about, &job{Value: "new"})
						}()
						w.shelf.faults(nil, nil)
						w.start(w.program("two"))
						time.Sleep(25 * time.Second)
						if n := len(w.all()); n != 1 || w.all()[0].State != intent.Open {
							t.Errorf("taken over too early: %+v", w.all())
						}
						time.Sleep(10 * time.Second)
						w.expect(want, things, notes)
					})
				})
			}
		}
	}
}

// TestAlone: a process that is alone with the store resumes at once.
func TestAlone(t *testing.T) {
	inWorld(t, func(w *world) {
		w.shelf.faults(func(string) error { panic(died{}) }, nil)
		func() {
			defer func() { _ = recover() }()
			_ = w.program("one").put.Run(w.Context(), w.scope, about, &job{Value: "new"})
		}()
		w.shelf.faults(nil, nil)
		p := w.program("two")
		p.Alone = true
		w.start(p)
		time.Sleep(time.Second)
		w.expect("done", "a=new b=new", 1)
	})
}

// TestTwo: of two processes only one resumes, and each intent once.
func TestTwo(t *testing.T) {
	inWorld(t, func(w *world) {
		one, two := w.program("one"), w.program("two")
		w.shelf.faults(on("put a", gateway.ErrUncertain), nil)
		for i := range 5 {
			_ = one.put.Run(w.Context(), w.scope, intent.Subject{Kind: "thing", ID: fmt.Sprint(i)}, &job{Value: fmt.Sprint("new", i)})
		}
		w.shelf.faults(nil, nil)
		before := w.shelf.called()
		w.start(one)
		w.start(two)
		time.Sleep(10 * time.Second)
		if n := w.shelf.called() - before; n != 10 || w.notes() != 5 {
			t.Errorf("%d calls, %d notes", n, w.notes())
		}
	})
}

// TestSameSubject: an action waits for an earlier one about its subject, makes an
// attempt at it if that is due, and conflicts if the earlier one does not end.
func TestSameSubject(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.program("one")
		w.shelf.faults(func(string) error { time.Sleep(time.Second); return nil }, nil)
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- p.put.Run(w.Context(), w.scope, about, &job{Value: "1"}) }()
		synctest.Wait()
		go func() { second <- p.put.Run(w.Context(), w.scope, about, &job{Value: "2"}) }()
		if a, b := <-first, <-second; a != nil || b != nil {
			t.Error(a, b)
		}
		w.expect("done done", "a=2 b=2", 2)
		w.shelf.faults(on("put a", gateway.ErrUncertain), nil)
		if err := p.put.Run(w.Context(), w.scope, about, &job{Value: "3"}); !errors.Is(err, gateway.ErrUncertain) {
			t.Error(err)
		}
		began := time.Now()
		if err := p.put.Run(w.Context(), w.scope, about, &job{Value: "4"}); fault.KindOf(err) != fault.Conflict || time.Since(began) < 5*time.Second {
			t.Error(err, time.Since(began))
		}
		w.expect("done done open", "a=2 b=2", 2)
		w.shelf.faults(nil, nil)
		if err := p.put.Run(w.Context(), w.scope, about, &job{Value: "5"}); err != nil {
			t.Error(err)
		}
		w.expect("done done done done", "a=5 b=5", 4)
	})
}

// TestNotWaitedFor: when another action about its subject comes, an open action gets
// one more attempt. If that fails, the other action does not wait if the next attempt
// is far off.
func TestNotWaitedFor(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.program("one")
		w.shelf.faults(on("put a", gateway.ErrUncertain), nil)
		if err := p.put.Run(w.Context(), w.scope, about, &job{Value: "1"}); !errors.Is(err, gateway.ErrUncertain) {
			t.Error(err)
		}
		stop := w.start(p)
		time.Sleep(time.Minute)
		stop()
		began, before := time.Now(), w.shelf.called()
		if err := p.put.Run(w.Context(), w.scope, about, &job{Value: "2"}); fault.KindOf(err) != fault.Conflict {
			t.Error(err)
		}
		if waited := time.Since(began); waited > time.Second || w.shelf.called() == before {
			t.Errorf("it waited for %v, %d calls", waited, w.shelf.called()-before)
		}
		w.shelf.faults(nil, nil)
		if err := p.put.Run(w.Context(), w.scope, about, &job{Value: "3"}); err != nil {
			t.Error(err)
		}
		w.expect("done done", "a=3 b=3", 2)
	})
}

// TestForced: a forced action replaces one whose provider never responds, also while
// another process makes an attempt at it.
func TestForced(t *testing.T) {
	for _, resumed := range []bool{false, true} {
		inWorld(t, func(w *world) {
			p := w.program("one")
			w.shelf.hang(true)
			if err := p.put.Run(w.Context(), w.scope, about, &job{Value: "1"}); err == nil {
				t.Error("done, although nothing answers")
			}
			most := 6 * time.Second // a short attempt
			if resumed {
				w.start(p)
				time.Sleep(5 * time.Second)
				most = p.Budget
			}
			began := time.Now()
			if err := p.force.Run(w.Context(), w.scope, about, &job{}); err != nil || time.Since(began) > most {
				t.Error(resumed, err, time.Since(began))
			}
			w.expect("abandoned done", "", 0)
		})
	}
}

// TestFurtherSubjects: intents about different subjects that share a further one are
// carried out one after the other. A resting intent about the shared subject is given
// up when a later one is done.
func TestFurtherSubjects(t *testing.T) {
	inWorld(t, func(w *world) {
		p, other, name := w.program("one"), intent.Subject{Kind: "thing", ID: "other"}, intent.Subject{Kind: "name", ID: "x"}
		w.shelf.faults(on("put a", gateway.ErrUncertain), nil)
		if err := p.put.Run(w.Context(), w.scope, about, &job{Value: "1"}, name); !errors.Is(err, gateway.ErrUncertain) {
			t.Error(err)
		}
		err := p.put.Run(w.Context(), w.scope, other, &job{Value: "2"}, name)
		if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "the same name is open") {
			t.Error(err)
		}
		if err := p.Settled(w.Context(), w.scope, name); fault.KindOf(err) != fault.Conflict {
			t.Error(err)
		}
		w.shelf.faults(nil, nil)
		if err := p.put.Run(w.Context(), w.scope, other, &job{Value: "3"}, name); err != nil {
			t.Error(err)
		}
		w.expect("done done", "a=3 b=3", 2)
		if err := p.Settled(w.Context(), w.scope, name); err != nil {
			t.Error(err)
		}
	})
}

// TestGone: an action with Back is undone if its caller does not wait for the result.
func TestGone(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.program("one")
		ctx, cancel := context.WithCancel(w.Context())
		defer cancel()
		w.shelf.faults(nil, func(call string) error {
			if call == "put a" {
				cancel()
			}
			return nil
		})
		if err := p.make.Run(ctx, w.scope, about, &job{Value: "1"}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		w.expect("undone", "", 0)
		ctx, leave := context.WithCancel(w.Context())
		defer leave()
		w.shelf.faults(nil, func(string) error { leave(); return nil })
		if err := p.put.Run(ctx, w.scope, about, &job{Value: "1"}); err != nil {
			t.Error(err)
		}
		w.expect("undone done", "a=1 b=1", 1)
	})
}

// TestBounds: the numbers of open and of closed intents of an organisation are bounded.
func TestBounds(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.program("one")
		for i := range intent.KeepClosed + 10 {
			if err := p.put.Run(w.Context(), w.scope, about, &job{Value: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(w.all()); n > intent.KeepClosed+1 {
			t.Errorf("%d are kept", n)
		}
		w.shelf.faults(on("put a", gateway.ErrUncertain), nil)
		for i := range intent.MaxOpen {
			_ = p.put.Run(w.Context(), w.scope, intent.Subject{Kind: "thing", ID: fmt.Sprint(i)}, &job{Value: fmt.Sprint(i)})
		}
		if err := p.put.Run(w.Context(), w.scope, about, &job{Value: "x"}); fault.KindOf(err) != fault.TooMany {
			t.Error(err)
		}
		other, _ := tenant.Of("other")
		if err := p.put.Run(w.Context(), other, about, &job{Value: "x"}); !errors.Is(err, gateway.ErrUncertain) {
			t.Error(err)
		}
	})
}

// TestFairShare: one organisation occupies some of the workers, not all.
func TestFairShare(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.program("one")
		w.shelf.faults(on("put a", gateway.ErrUncertain), nil)
		for i := range 20 {
			_ = p.put.Run(w.Context(), w.scope, intent.Subject{Kind: "thing", ID: fmt.Sprint(i)}, &job{Value: fmt.Sprint("slow", i)})
		}
		other, _ := tenant.Of("other")
		_ = p.put.Run(w.Context(), other, about, &job{Value: "quick"})
		w.shelf.faults(func(string) error {
			time.Sleep(8 * time.Second)
			return nil
		}, nil)
		w.start(p)
		time.Sleep(20 * time.Second)
		for _, in := range w.all() {
			if in.OrgID == "other" && in.State != intent.Done {
				t.Errorf("it waits: %+v", in)
			}
		}
	})
}

// TestRests: an intent rests after the last attempt.
func TestRests(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.program("one")
		w.shelf.faults(on("put b", gateway.ErrUnreachable), nil)
		_ = p.put.Run(w.Context(), w.scope, about, &job{Value: "new"})
		w.start(p)
		time.Sleep(36 * time.Hour)
		in := w.all()[0]
		if in.State != intent.Failed || in.Attempts < 90 || in.Attempts > intent.MaxAttempts || !strings.Contains(w.log.String(), "rests") {
			t.Errorf("%+v", in)
		}
	})
}

// TestEnds: a step that panics when it is resumed does not end the process, and a step
// that hangs does not keep it from stopping.
func TestEnds(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.program("one")
		w.shelf.faults(on("put a", gateway.ErrUncertain), nil)
		_ = p.put.Run(w.Context(), w.scope, about, &job{Value: "new"})
		w.shelf.faults(func(string) error { panic(died{}) }, nil)
		stop := w.start(p)
		time.Sleep(3 * time.Second)
		if in := w.all()[0]; in.State != intent.Open || in.Attempts < 2 || !strings.Contains(in.Error, "panics") {
			t.Errorf("%+v", in)
		}
		w.shelf.faults(nil, nil)
		w.shelf.hang(true)
		time.Sleep(10 * time.Second)
		began := time.Now()
		stop()
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("the end takes %s", took)
		}
		w.shelf.hang(false)
		w.start(w.program("two"))
		time.Sleep(time.Minute)
		w.expect("done", "a=new b=new", 1)
	})
}

// TestRehearsal: nothing is carried out in a dry run.
func TestRehearsal(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx, _ := store.Rehearse(w.Context(), store.Onlooker{})
		if err := w.program("one").put.Run(ctx, w.scope, about, &job{Value: "new"}); err == nil {
			t.Error("it was carried out")
		}
		w.expect("", "", 0)
	})
}

// TestOperator: a resting intent can be retried or given up, and is given up when a
// later change of its subject is done. An intent that is being carried out is not
// touched.
func TestOperator(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.program("one")
		refuse := func(call string) error {
			if call != "put a" {
				return gateway.ErrRefused
			}
			return nil
		}
		rest := func(value string) string {
			w.shelf.faults(refuse, nil)
			if err := p.put.Run(w.Context(), w.scope, about, &job{Value: value}); !errors.Is(err, gateway.ErrRefused) {
				t.Error(err)
			}
			w.shelf.faults(nil, nil)
			list, err := p.List(w.Context(), intents.ListIn{Scope: w.scope})
			if err != nil || len(list.Items) == 0 || list.Items[0].State != intent.UndoFailed {
				t.Fatal(list, err)
			}
			return list.Items[0].ID
		}
		id := rest("1")
		w.expect("undo_failed", "a=1", 0)
		if _, err := p.Retry(w.Context(), intents.TouchIn{Scope: w.scope, ID: id}); err != nil {
			t.Error(err)
		}
		stop := w.start(p)
		time.Sleep(3 * time.Second)
		w.expect("undone", "", 0)
		stop()
		id = rest("2")
		if _, err := p.Abandon(w.Context(), intents.TouchIn{Scope: w.scope, ID: id}); err != nil {
			t.Error(err)
		}
		for _, touch := range []func(context.Context, intents.TouchIn) (operation.Receipt, error){p.Retry, p.Abandon} {
			if _, err := touch(w.Context(), intents.TouchIn{Scope: w.scope, ID: id}); fault.KindOf(err) != fault.Conflict {
				t.Error(err)
			}
			other, _ := tenant.Of("other")
			if _, err := touch(w.Context(), intents.TouchIn{Scope: other, ID: id}); fault.KindOf(err) != fault.NotFound {
				t.Error(err)
			}
		}
		rest("3")
		if err := p.put.Run(w.Context(), w.scope, about, &job{Value: "4"}); err != nil {
			t.Error(err)
		}
		w.expect("undone abandoned abandoned done", "a=4 b=4", 1)
		w.shelf.faults(func(string) error { time.Sleep(time.Second); return nil }, nil)
		done := make(chan error)
		go func() { done <- p.put.Run(w.Context(), w.scope, about, &job{Value: "5"}) }()
		synctest.Wait()
		list, err := p.List(w.Context(), intents.ListIn{Scope: w.scope})
		if err != nil || len(list.Items) != 1 || list.Items[0].Busy.IsZero() {
			t.Fatal(list, err)
		}
		if _, err := p.Abandon(w.Context(), intents.TouchIn{Scope: w.scope, ID: list.Items[0].ID}); fault.CodeOf(err) != intent.CodeBusy {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestTold: bookkeeping commits are silent. The commit that closes an intent is
// attributed to its caller, and makes the events.
func TestTold(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.program("one")
		by := store.Attribution{Actor: "ada", Operation: "things.put", Request: "r"}
		ctx := store.Request(store.Attribute(w.Context(), by))
		w.shelf.faults(on("put b", gateway.ErrUnreachable), nil)
		_ = p.put.Run(ctx, w.scope, about, &job{Value: "hunter2"})
		if store.Written(ctx) {
			t.Error("the audit trail would take it for done")
		}
		w.shelf.faults(nil, nil)
		w.start(p)
		time.Sleep(5 * time.Second)
		var told []string
		source := intents.Registration(intents.Teller{Names: []string{"put"}, Of: func(done intent.Intent) []deliver.Event {
			return []deliver.Event{{Name: "put", Message: string(done.Told)}}
		}}).Events
		head, err := w.db.Head(w.Context())
		if err != nil {
			t.Fatal(err)
		}
		var before *store.Record
		for c, err := range w.db.Follow(w.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			for _, ch := range c.Changes {
				if ch.Kind != intent.Kind {
					continue
				}
				var old store.Record
				if before != nil {
					old = *before
				}
				after, err := ch.After(old, c.Rev)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(strings.Split(string(after.Doc), `"told"`)[0], "hunter2") {
					t.Errorf("details are in clear: %s", after.Doc)
				}
				events, err := source.Of(before, &after)
				if err != nil {
					t.Fatal(err)
				}
				before = &after
				told = append(told, fmt.Sprint(c.By.Operation, " ", c.By.Actor, " ", len(events)))
				if len(events) > 0 && fmt.Sprint(events[0].Message) != `{"value":"hunter2"}` {
					t.Errorf("told %v", events)
				}
			}
			if c.Rev >= head {
				break
			}
		}
		want := "intents intents 0|intents intents 0|intents intents 0|things.put ada 1"
		if have := strings.Join(told, "|"); have != want {
			t.Errorf("%s\nwant %s", have, want)
		}
	})
}
