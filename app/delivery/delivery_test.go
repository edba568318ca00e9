package delivery_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	core "github.com/gatehouse-io/gatehouse/core/delivery"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestDelivered: creations, changes and deletions become events for the listeners, in
// order, with the documents of that time.
func TestDelivered(t *testing.T) {
	inWorld(t, func(w *world) {
		w.write("acme", "0", "before anybody listens")
		d, _ := w.start()
		w.write("acme", "1", "a")
		w.write("acme", "1", "b")
		w.write("acme", "1", "c")
		w.write("other", "1", "nobody listens")
		w.update("acme", func(ctx context.Context, wr store.Writer) error {
			_, err := notes.Delete(ctx, wr, "1", nil)
			return err
		})
		synctest.Wait()
		w.expect("acme.example/a", "+a", "again", "a>b", "b>c")
		w.expect("/a", "+a", "again", "a>b", "b>c")
		done := w.list(d, core.Done)
		if len(done) != 4 || len(w.list(d, "")) != 4 || done[0].Body != `{"by":"ada","message":"+a","org":"acme"}` || done[0].Status != 200 || done[0].Attempts != 1 {
			t.Errorf("%+v", done)
		}
		got := w.receiver.got[0]
		want := core.Headers(done[0].ID, time.Now(), "0123456789abcdef", got.Body)
		want["Content-Type"], want["X-Key"] = "application/json", "hunter2"
		if fmt.Sprint(got.Header) != fmt.Sprint(want) || got.Method != "POST" || !got.StatusOnly || got.Trusted {
			t.Errorf("%+v", got)
		}
	})
}

// TestMethods: a GET request has no body, and the signature covers what is sent.
func TestMethods(t *testing.T) {
	inWorld(t, func(w *world) {
		w.audience.lanes["acme"] = []string{"get"}
		w.receiver.status = func(fetch.Request) int { return 0 }
		d, _ := w.start()
		began := time.Now()
		w.write("acme", "1", "a")
		synctest.Wait()
		got := w.receiver.got[0]
		if got.Method != "GET" || got.Body != nil || got.Header["Content-Type"] != "" || got.Header["X-Tyk-Signature"] != core.Headers("", began, "0123456789abcdef", nil)["X-Tyk-Signature"] {
			t.Errorf("%+v", got)
		}
		time.Sleep(30*time.Second + time.Millisecond) // a target that sets a timeout of an hour gets 30 s
		synctest.Wait()
		if p := w.list(d, core.Pending); p[0].Attempts != 1 || p[0].Error == "" || p[0].Status != 0 {
			t.Errorf("%+v", p)
		}
	})
}

// TestRefused: the lane waits while a delivery is retried. Then the delivery rests and
// can be sent again. Other lanes and organisations do not wait.
func TestRefused(t *testing.T) {
	inWorld(t, func(w *world) {
		w.audience.lanes = map[string][]string{"acme": {"a", "b"}, "other": {"a"}}
		refuse := true
		w.receiver.status = func(r fetch.Request) int {
			if refuse && strings.HasSuffix(r.URL, "acme.example/a") && strings.Contains(string(r.Body), "+1") {
				return 503
			}
			return 204
		}
		d, _ := w.start()
		w.write("acme", "1", "1")
		w.write("other", "1", "1")
		synctest.Wait()
		w.expect("acme.example/a", "+1")
		w.expect("acme.example/b", "+1", "again")
		w.expect("other.example/a", "+1", "again")
		if p := w.list(d, core.Pending); len(p) != 2 || p[0].Attempts != 1 || p[0].Status != 503 || p[1].Attempts != 0 {
			t.Errorf("%+v", p)
		}
		behind := func(want delivery.Backlog) {
			t.Helper()
			if b, err := d.Backlog(w.Context()); err != nil || b != want {
				t.Errorf("%+v, %v", b, err)
			}
		}
		behind(delivery.Backlog{Pending: 2})
		time.Sleep(14 * time.Second) // 1+2+4 s and a little more by chance; the last attempt begins after 15 s at the earliest
		w.expect("acme.example/a", "+1", "+1", "+1", "+1")
		time.Sleep(5 * time.Second)
		w.expect("acme.example/a", "+1", "+1", "+1", "+1", "+1", "again")
		failed := w.list(d, core.Failed)
		if len(failed) != 1 || failed[0].Attempts != 5 || failed[0].Error != "the receiver answered 503" || failed[0].Ended.IsZero() || !failed[0].Next.IsZero() {
			t.Errorf("%+v", failed)
		}
		behind(delivery.Backlog{Failed: 1})
		if strings.Contains(w.log.String(), "hunter2") || !strings.Contains(w.log.String(), failed[0].ID) {
			t.Errorf("log:\n%s", w.log.String())
		}
		time.Sleep(time.Hour)
		refuse = false
		if _, err := d.Resend(w.Context(), delivery.ResendIn{ID: failed[0].ID}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.expect("acme.example/a", "+1", "+1", "+1", "+1", "+1", "again", "+1")
		if len(w.list(d, core.Done)) != 6 {
			t.Errorf("%+v", w.list(d, ""))
		}
		var ids []string
		for _, r := range w.receiver.got {
			if strings.HasSuffix(r.URL, "acme.example/a") && strings.Contains(string(r.Body), "+1") {
				ids = append(ids, r.Header["Webhook-Id"])
			}
		}
		for _, id := range ids {
			if id != failed[0].ID {
				t.Errorf("attempts are known as %q", ids)
			}
		}
	})
}

// TestGone: a delivery whose receiver was removed rests at once.
func TestGone(t *testing.T) {
	inWorld(t, func(w *world) {
		d, _ := w.start()
		w.audience.gone = true
		w.write("acme", "1", "1")
		synctest.Wait()
		w.expect("/a")
		if f := w.list(d, core.Failed); len(f) != 2 || f[0].Attempts != 0 || f[0].Error == "" {
			t.Errorf("%+v", f)
		}
	})
}

// TestRestart: what a process did not send or finish, another one does, in order. An
// attempt in progress at the end is finished if that takes less than a second.
func TestRestart(t *testing.T) {
	inWorld(t, func(w *world) {
		w.receiver.status = func(fetch.Request) int { return 0 }
		_, stop := w.start()
		w.write("acme", "1", "1")
		synctest.Wait()
		began := time.Now()
		stop()
		if took := time.Since(began); took != time.Second {
			t.Errorf("the end took %s", took)
		}
		w.write("acme", "1", "2") // while no process runs
		w.receiver.mu.Lock()
		w.receiver.status, w.receiver.got = nil, nil
		w.receiver.mu.Unlock()
		d, _ := w.start(func(s *delivery.Settings) { s.Holder = "two" })
		time.Sleep(time.Second)
		w.expect("/a", "+1", "again", "1>2")
		if done := w.list(d, core.Done); len(done) != 3 || done[0].Attempts != 1 {
			t.Errorf("%+v", done)
		}
	})
}

// late is a receiver that accepts a delivery just when its sender has given up.
type late struct{ *receiver }

func (l late) Fetch(ctx context.Context, req fetch.Request) (fetch.Answer, error) {
	_, _ = l.receiver.Fetch(ctx, req)
	return fetch.Answer{Status: 200}, nil
}

// TestTakenAtTheEnd: a delivery that was accepted after the process had to stop is not
// sent again.
func TestTakenAtTheEnd(t *testing.T) {
	inWorld(t, func(w *world) {
		w.receiver.status = func(fetch.Request) int { return 0 } // no response before ctx ends
		_, stop := w.start(func(s *delivery.Settings) { s.Fetcher = late{w.receiver} })
		w.write("acme", "1", "1")
		synctest.Wait()
		stop()
		w.receiver.mu.Lock()
		w.receiver.status = nil
		w.receiver.mu.Unlock()
		w.start(func(s *delivery.Settings) { s.Holder = "two" })
		time.Sleep(time.Second)
		w.expect("/a", "+1", "again")
	})
}

// TestUnwritten: while the store accepts no writes, a successful delivery is not sent
// again.
func TestUnwritten(t *testing.T) {
	inWorld(t, func(w *world) {
		taken := make(chan struct{})
		w.receiver.status = func(fetch.Request) int {
			if w.full.CompareAndSwap(false, true) {
				close(taken)
			}
			return 200
		}
		d, _ := w.start()
		w.write("acme", "1", "1")
		<-taken
		time.Sleep(time.Minute)
		w.expect("/a", "+1", "again")
		if n := strings.Count(w.log.String(), "cannot be written down"); n < 2 {
			t.Errorf("it is told %d times", n)
		}
		w.receiver.mu.Lock()
		w.receiver.status = nil
		w.receiver.mu.Unlock()
		w.full.Store(false)
		w.write("acme", "1", "2")
		time.Sleep(time.Minute)
		w.expect("/a", "+1", "again", "1>2")
		if done := w.list(d, core.Done); len(done) != 3 {
			t.Errorf("%+v", done)
		}
	})
}

// TestNovice: a receiver that was added while no process ran gets no earlier events.
func TestNovice(t *testing.T) {
	inWorld(t, func(w *world) {
		_, stop := w.start()
		stop()
		w.write("acme", "1", "1")
		time.Sleep(time.Minute)
		w.audience.since = time.Now()
		w.write("acme", "1", "2")
		w.start()
		time.Sleep(time.Second)
		w.expect("/a", "1>2")
	})
}

// TestClocksDiffer: a receiver that is known to have existed gets the event of a
// change, although the clock of the process that made the change is behind.
func TestClocksDiffer(t *testing.T) {
	inWorld(t, func(w *world) {
		_, stop := w.start()
		stop()
		w.write("acme", "1", "1")
		w.write("acme", "1", "2")
		w.audience.since, w.audience.seen = time.Now().Add(time.Hour), 2
		w.start()
		time.Sleep(time.Second)
		w.expect("/a", "1>2")
	})
}

// TestTwo: of two processes only one sends.
func TestTwo(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(func(s *delivery.Settings) { s.TTL = 1500 * time.Millisecond })
		two, _ := w.start(func(s *delivery.Settings) { s.TTL, s.Holder = 1500*time.Millisecond, "two" })
		for i := range 20 {
			w.write("acme", fmt.Sprint(i), "x")
		}
		synctest.Wait()
		if n := len(w.receiver.told("/a")); n != 40 {
			t.Errorf("%d deliveries", n)
		}
		if err := two.Quit(w.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestFull: further deliveries to a receiver that is far behind rest at once, and are
// listed.
func TestFull(t *testing.T) {
	inWorld(t, func(w *world) {
		w.receiver.status = func(fetch.Request) int { return 500 }
		d, _ := w.start(func(s *delivery.Settings) { s.Pause = time.Hour })
		for part := range core.MaxPending / 2 / 1000 {
			w.update("acme", func(ctx context.Context, wr store.Writer) error {
				for i := range 1000 {
					if err := notes.Insert(ctx, wr, note{ID: fmt.Sprint(part, "-", i), Org: "acme"}); err != nil {
						return err
					}
				}
				return nil
			})
		}
		synctest.Wait()
		w.write("acme", "last", "x")
		synctest.Wait()
		if p, f := w.list(d, core.Pending), w.list(d, core.Failed); len(p) != core.MaxPending || len(f) != 2 || f[0].Error == "" {
			t.Errorf("%d pending, %d rest", len(p), len(f))
		}
	})
}

// TestFair: at most half of the workers serve one organisation.
func TestFair(t *testing.T) {
	inWorld(t, func(w *world) {
		w.audience.lanes = map[string][]string{"acme": {"a", "b", "c", "d", "e", "f", "g", "h"}, "other": {"a"}}
		w.receiver.status = func(r fetch.Request) int {
			if strings.Contains(r.URL, "acme") {
				return 0
			}
			return 200
		}
		w.start(func(s *delivery.Settings) { s.Workers = 4 })
		w.write("acme", "1", "1")
		synctest.Wait()
		if w.receiver.most != 2 {
			t.Errorf("%d at once", w.receiver.most)
		}
		w.write("other", "1", "1")
		synctest.Wait()
		w.expect("other.example/a", "+1", "again")
	})
}

// TestForget: ended deliveries are deleted by age, and the latest of each lane stay.
func TestForget(t *testing.T) {
	inWorld(t, func(w *world) {
		d, _ := w.start(func(s *delivery.Settings) { s.KeepDone = time.Hour; s.Keep = 2 * time.Hour })
		w.receiver.status = func(r fetch.Request) int {
			if strings.Contains(string(r.Body), "again") {
				return 500
			}
			return 200
		}
		w.write("acme", "1", "1")
		time.Sleep(59 * time.Minute)
		if n := len(w.list(d, "")); n != 2 {
			t.Errorf("%d after 59 minutes", n)
		}
		time.Sleep(3 * time.Minute)
		if l := w.list(d, ""); len(l) != 1 || l[0].State != core.Failed {
			t.Errorf("after an hour: %+v", l)
		}
		time.Sleep(time.Hour)
		if n := len(w.list(d, "")); n != 0 {
			t.Errorf("%d after two hours", n)
		}
		w.receiver.status = nil
		w.update("acme", func(ctx context.Context, wr store.Writer) error {
			for i := range core.KeepDone {
				if err := notes.Insert(ctx, wr, note{ID: fmt.Sprint("n", i), Org: "acme", Text: fmt.Sprint(i)}); err != nil {
					return err
				}
			}
			return nil
		})
		time.Sleep(2 * time.Minute)
		if l := w.list(d, core.Done); len(l) != core.KeepDone || !strings.Contains(l[0].Body, fmt.Sprintf("+%d", core.KeepDone/2)) {
			t.Errorf("%d are left, first %+v", len(l), l[0])
		}
	})
}

// TestOutliveALeap: a clock that is years ahead for some hours makes no delivery too
// old.
func TestOutliveALeap(t *testing.T) {
	base := time.Now() // in a bubble there is no monotonic reading
	inWorld(t, func(w *world) {
		began := time.Now()
		clock := apptest.Leaping{Base: func() time.Time { return base.Add(time.Since(began)) }}
		w.now = clock.Now
		d, _ := w.start()
		w.write("acme", "1", "1")
		for _, ahead := range []time.Duration{0, 90000 * time.Hour, 0} {
			clock.Set(ahead)
			time.Sleep(5 * time.Hour)
			if n := len(w.list(d, core.Done)); n != 2 {
				t.Errorf("%d are left after five hours with a clock that is %v ahead", n, ahead)
			}
		}
	})
}

// TestPruned: commits that were pruned before their events were made do not stop the
// others.
func TestPruned(t *testing.T) {
	inWorld(t, func(w *world) {
		_, stop := w.start()
		time.Sleep(2 * time.Second)
		stop()
		for i := range 5 {
			w.write("acme", fmt.Sprint(i), "x")
		}
		if _, err := w.db.Prune(w.Context(), store.Retention{Bytes: 1}); err != nil {
			t.Fatal(err)
		}
		w.start(func(s *delivery.Settings) { s.Holder = "two" })
		time.Sleep(time.Minute)
		w.write("acme", "new", "new")
		synctest.Wait()
		if have := w.receiver.told("/a"); len(have) < 2 || have[len(have)-2] != "+new" || !strings.Contains(w.log.String(), "pruned") {
			t.Errorf("%q\n%s", have, w.log.String())
		}
	})
}

// TestStorePutBack: events are made of changes after the store was restored from a
// backup.
func TestStorePutBack(t *testing.T) {
	inWorld(t, func(w *world) {
		_, stop := w.start()
		for i := range 5 {
			w.write("acme", fmt.Sprint(i), "x")
		}
		time.Sleep(2 * time.Second)
		stop()
		if err := w.db.Load(store.State{At: 1, Records: func(func(store.Record, error) bool) {}}); err != nil {
			t.Fatal(err)
		}
		w.start(func(s *delivery.Settings) { s.Holder = "two" })
		time.Sleep(time.Minute)
		w.write("acme", "new", "new")
		time.Sleep(time.Second)
		if have := w.receiver.told("/a"); have[len(have)-2] != "+new" || !strings.Contains(w.log.String(), "put back") {
			t.Errorf("%q\n%s", have, w.log.String())
		}
	})
}

// TestOff: without a fetcher no deliveries are made, and the operations still respond.
func TestOff(t *testing.T) {
	inWorld(t, func(w *world) {
		d, _ := w.start(func(s *delivery.Settings) { s.Fetcher = nil })
		w.write("acme", "1", "1")
		synctest.Wait()
		if n := len(w.list(d, "")); n != 0 {
			t.Error(n)
		}
		if err := d.Quit(w.Context()); err != nil {
			t.Error(err)
		}
		if _, err := d.Get(w.Context(), delivery.GetIn{ID: "x"}); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
	})
	if _, err := delivery.New(delivery.Settings{Fetcher: &receiver{}}, crud.Tools{Store: bare{}, Log: slog.Default(), Now: time.Now}, nil); err == nil {
		t.Error("a store without a change log will do")
	}
}

// bare is a store without the further interfaces.
type bare struct{ store.Store }

// TestRemoved: a delivery that is deleted while it is sent, for example by the purge of
// an organisation, stays deleted.
func TestRemoved(t *testing.T) {
	inWorld(t, func(w *world) {
		w.receiver.status = func(fetch.Request) int { return 0 }
		d, _ := w.start()
		w.write("acme", "1", "1")
		synctest.Wait()
		scope, _ := tenant.Of("acme")
		for _, v := range w.list(d, "") {
			if _, err := w.db.Update(w.Context(), scope, func(wr store.Writer) error { return wr.Delete(w.Context(), core.Kind, v.ID) }); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		if n := len(w.list(d, "")); n != 0 {
			t.Errorf("%d deliveries are back", n)
		}
		w.expect("/a", "+1")
	})
}

// TestList: filters, order, pages.
func TestList(t *testing.T) {
	inWorld(t, func(w *world) {
		w.audience.lanes = map[string][]string{"acme": {"a", "b"}, "other": {"a"}}
		d, _ := w.start()
		for i := range 6 {
			w.write("acme", fmt.Sprint(i), fmt.Sprint(i))
		}
		w.write("other", "1", "1")
		synctest.Wait()
		count := func(in delivery.ListIn) (int, int) {
			page, err := d.List(w.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			return len(page.Items), page.Pages
		}
		all := operation.Paging{P: "-1"}
		for i, c := range []struct {
			in    delivery.ListIn
			n     int
			pages int
		}{
			{delivery.ListIn{}, 10, 3}, {delivery.ListIn{Paging: operation.Paging{P: "3"}}, 6, 3}, {delivery.ListIn{Paging: all}, 26, 1}, {delivery.ListIn{Org: "other", Paging: all}, 2, 1},
			{delivery.ListIn{Lane: "b", Paging: all}, 12, 1}, {delivery.ListIn{State: "done", Org: "acme", Lane: "a", Paging: all}, 12, 1}, {delivery.ListIn{State: "failed"}, 0, 1},
		} {
			if n, pages := count(c.in); n != c.n || pages != c.pages {
				t.Errorf("%d: %d of %d pages", i, n, pages)
			}
		}
		if _, err := d.List(w.Context(), delivery.ListIn{State: "lost"}); fault.KindOf(err) != fault.Invalid {
			t.Error(err)
		}
	})
}

// TestServes: services with different names share the queue. Each sends its own
// deliveries, and does not touch or delete those of other services.
func TestServes(t *testing.T) {
	inWorld(t, func(w *world) {
		first := func(s *delivery.Settings) { s.Serves = func(audience string) bool { return audience == "test" } }
		second := func(s *delivery.Settings) {
			s.Name, s.Serves, s.KeepDone = "others", func(audience string) bool { return audience == "other" }, time.Nanosecond
		}
		own, other := w.audience, &audience{name: "other", lanes: map[string][]string{"acme": {"b"}}}
		d, stopFirst := w.start(first)
		w.audience = other
		_, stopSecond := w.start(second)
		w.receiver.status = func(r fetch.Request) int {
			if strings.HasSuffix(r.URL, "/b") {
				return 500
			}
			return 200
		}
		w.write("acme", "1", "1")
		synctest.Wait()
		stopSecond()
		w.audience = own
		stopFirst()
		w.start(first)
		w.expect("/a", "+1", "again")
		w.expect("/b", "+1")
		if p := w.list(d, core.Pending); len(p) != 2 || p[0].Audience != "other" || len(w.list(d, core.Failed)) != 0 {
			t.Errorf("%+v", w.list(d, ""))
		}
		w.receiver.status = nil
		w.audience = other
		d, _ = w.start(second)
		time.Sleep(time.Hour)
		w.expect("/b", "+1", "+1", "again")
		if done := w.list(d, core.Done); len(done) != 2 || done[0].Audience != "test" {
			t.Errorf("%+v", done)
		}
	})
}
