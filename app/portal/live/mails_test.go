package live_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/visit"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestAskedBeforeACrash states that a requested mail is made by exactly one of the next
// processes.
func TestAskedBeforeACrash(t *testing.T) {
	w := open(t, nil)
	w.developer("ada@example.com", account.Member, 1)
	w.must("portal-live.forgot", nil, nil, `{"Email":"ada@example.com"}`)
	w.must("portal-live.forgot", nil, nil, `{"Email":"none@example.com"}`)
	ctx, end := context.WithCancel(t.Context()) // the process that stored the request never ran
	var processes sync.WaitGroup
	for range 3 {
		next := live.New(w.s.Config, w.p.Tools)
		processes.Go(func() { _ = next.Run(ctx) })
	}
	l := w.letter(1)
	end()
	processes.Wait()
	if l.To != "ada@example.com" || l.Purpose != visit.Reset || len(w.letters) != 1 {
		t.Errorf("%+v", w.letters)
	}
	w.must("portal-live.reset", nil, nil, `{"Code":"`+l.Code+`","Password":"another"}`)
}

// TestQueue states that letters are stored in the unit of work of their codes if the portal
// sends its own mails, and are sent as plain ones otherwise.
func TestQueue(t *testing.T) {
	for _, own := range []bool{true, false} {
		w := open(t, nil)
		w.developer("ada@example.com", account.Member, 1)
		var mu sync.Mutex
		var queued []live.Letter
		w.s.Queue = func(_ context.Context, _ store.Writer, l live.Letter) (bool, error) {
			mu.Lock()
			defer mu.Unlock()
			queued = append(queued, l)
			return own, nil
		}
		w.run()
		w.must("portal-invitations.create", nil, nil, `{"Email":"grace@example.com","First":"Grace","Last":"Hopper","OrganisationID":1}`)
		w.must("portal-live.forgot", nil, nil, `{"Email":"ada@example.com"}`)
		made := func() []live.Letter {
			mu.Lock()
			defer mu.Unlock()
			return queued
		}
		for range 10_000 {
			if len(made()) == 2 {
				break
			}
			time.Sleep(2 * time.Millisecond)
		}
		if all := made(); len(all) != 2 || all[0].To != "grace@example.com" || all[0].Last != "Hopper" || all[0].Team == "" || all[0].Code == "" || all[1].To != "ada@example.com" || all[0].ID == all[1].ID {
			t.Fatalf("%+v", all)
		}
		if !own {
			w.letter(2)
		}
		w.mu.Lock()
		if n := len(w.letters); own && n > 0 {
			t.Errorf("%d plain letters", n)
		}
		w.mu.Unlock()
	}
}

// TestBound states that a session can be bound to the network in which it began, if the
// settings say so.
func TestBound(t *testing.T) {
	for _, bound := range []bool{false, true} {
		w := open(t, nil)
		w.s.Bound = bound
		ada := w.developer("ada@example.com", account.Member, 1)
		w.must("portal-live.session", ada, nil, "")
		w.remote = "198.51.100.7:9"
		if _, err := w.call("portal-live.session", ada, nil, ""); (fault.KindOf(err) == fault.Unauthenticated) != bound || (err != nil) != bound {
			t.Errorf("bound %t, from elsewhere: %v", bound, err)
		}
		w.remote = "192.0.2.1:4711"
		w.must("portal-live.session", ada, nil, "")
		b := *ada
		v := w.must("portal-live.password", &b, nil, `{"CurrentPassword":"secret","Password":"another"}`).(operation.Visit[live.Opened])
		b.token, b.proof = v.Cookies[0].Value, v.Value.CSRFToken
		w.must("portal-live.session", &b, nil, "")
	}
}
