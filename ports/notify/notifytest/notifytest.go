// Package notifytest is the test suite that every notify.Sink passes.
package notifytest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Rig is a sink under test and the place where its announcements arrive.
type Rig struct {
	Sink     notify.Sink
	Received func() []signal.Signal // what has arrived so far, in order
	Down     func()                 // makes the receiver unreachable
	Up       func()                 // returns once the receiver accepts announcements again
}

// patience bounds every wait of the suite.
const patience = 30 * time.Second

// Run runs the suite; newRig is called once or twice per test and cleans up
// after itself.
func Run(t *testing.T, newRig func(testing.TB) Rig) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Rig)
	}{
		{"Order", order}, {"Repetition", repetition}, {"Outage", outage}, {"Idle restart", idleRestart},
		{"Empty", empty}, {"Cancelled", cancelled}, {"Hurry", hurry}, {"Odd payloads", odd},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, newRig(t)) })
	}
	t.Run("Name", func(t *testing.T) {
		if a, b := newRig(t).Sink.Name(), newRig(t).Sink.Name(); a == "" || a != b {
			t.Errorf("names are %q and %q: the cursor would be lost", a, b)
		}
	})
}

// order: announcements arrive in the order they were delivered, within a batch
// and across batches.
func order(t *testing.T, r Rig) {
	var want []notify.Announcement
	for rev, n := range []int{1, 3, 250, 1, 40} {
		as := batch(store.Revision(rev+1), n)
		must(t, r.Sink.Deliver(t.Context(), as))
		want = append(want, as...)
	}
	r.expect(t, want)
}

// repetition: a repeated batch does no harm.
func repetition(t *testing.T, r Rig) {
	first, second := batch(1, 3), batch(2, 2)
	for range 3 {
		must(t, r.Sink.Deliver(t.Context(), first))
	}
	must(t, r.Sink.Deliver(t.Context(), second))
	r.expect(t, slices.Concat(first, second))
}

// outage: Deliver returns an error while the receiver is unreachable. Afterwards the same sink
// delivers the same batch.
func outage(t *testing.T, r Rig) {
	before, during, after := batch(1, 2), batch(2, 3), batch(3, 1)
	must(t, r.Sink.Deliver(t.Context(), before))
	r.expect(t, before)
	r.Down()
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		if err := r.Sink.Deliver(ctx, during); err == nil || ctx.Err() != nil {
			t.Errorf("without a receiver Deliver returned %v, context: %v", err, ctx.Err())
		}
		cancel()
	}
	r.Up()
	r.insist(t, during)
	must(t, r.Sink.Deliver(t.Context(), after))
	r.expect(t, slices.Concat(before, during, after))
}

// idleRestart: a receiver that restarts between two deliveries gets the second one.
func idleRestart(t *testing.T, r Rig) {
	before, after := batch(1, 2), batch(2, 2)
	must(t, r.Sink.Deliver(t.Context(), before))
	r.expect(t, before)
	r.Down()
	r.Up()
	r.insist(t, after)
	r.expect(t, slices.Concat(before, after))
}

// empty: Deliver without announcements sends nothing.
func empty(t *testing.T, r Rig) {
	must(t, r.Sink.Deliver(t.Context(), nil))
	must(t, r.Sink.Deliver(t.Context(), []notify.Announcement{}))
	last := batch(1, 1)
	must(t, r.Sink.Deliver(t.Context(), last))
	r.expect(t, last)
}

// cancelled: Deliver returns when its context ends, and later deliveries work.
func cancelled(t *testing.T, r Rig) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	as := batch(1, 2)
	if err := r.Sink.Deliver(ctx, as); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context Deliver returned %v", err)
	}
	r.insist(t, as)
	r.expect(t, as)
}

// hurry: Deliver keeps its deadline when the receiver is unreachable.
func hurry(t *testing.T, r Rig) {
	r.Down()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- r.Sink.Deliver(ctx, batch(1, 1)) }()
	select {
	case err := <-done:
		if err == nil {
			t.Error("without a receiver Deliver returned no error")
		}
	case <-time.After(patience / 3):
		t.Errorf("Deliver takes more than %s with a deadline of 100 ms", patience/3)
	}
	r.Up()
	as := batch(2, 1)
	r.insist(t, as)
}

// odd: no payload is refused or changed, and none blocks the announcements after it.
func odd(t *testing.T, r Rig) {
	var as []notify.Announcement
	for i, payload := range []string{"", " ", `"`, "a\r\nb", "{\"a\":1}", "ümläut 😀 \u2028", "\x00\x01", "<&>", strings.Repeat("long ", 20_000), "end"} {
		as = append(as, notify.Announcement{Rev: 1, Index: i, Signal: signal.Signal{Command: signal.ClientIdPChanged, Payload: payload}})
	}
	must(t, r.Sink.Deliver(t.Context(), as))
	r.expect(t, as)
}

// batch makes n announcements of one revision. No other batch has the same signals.
func batch(rev store.Revision, n int) []notify.Announcement {
	out := make([]notify.Announcement, n)
	for i := range out {
		out[i] = notify.Announcement{Rev: rev, Index: i, Signal: signal.Signal{
			Command: signal.ClientIdPChanged, Payload: fmt.Sprintf("idp-%d-%d", rev, i),
		}}
	}
	return out
}

// insist repeats Deliver until it succeeds, as a relay does.
func (r Rig) insist(t *testing.T, as []notify.Announcement) {
	t.Helper()
	err := r.Sink.Deliver(t.Context(), as)
	for end := time.After(patience); err != nil; err = r.Sink.Deliver(t.Context(), as) {
		select {
		case <-end:
			t.Fatalf("nothing gets through any more: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// expect waits until the last of want has arrived, and compares all announcements without
// repeats.
func (r Rig) expect(t *testing.T, want []notify.Announcement) {
	t.Helper()
	have := r.Received()
	for end := time.After(patience); !slices.Contains(have, want[len(want)-1].Signal); have = r.Received() {
		select {
		case <-end:
			t.Fatalf("the last of %d announcements never arrived; %d did", len(want), len(firsts(have)))
		case <-time.After(time.Millisecond):
		}
	}
	have = firsts(have)
	for i := range max(len(have), len(want)) {
		if i >= len(have) || i >= len(want) || have[i] != want[i].Signal {
			t.Fatalf("%d announcements arrived, want %d; the first difference is at %d:\nhave %.200v\nwant %.200v",
				len(have), len(want), i, have[min(i, len(have)):], want[min(i, len(want)):])
		}
	}
}

// firsts drops repeats.
func firsts(all []signal.Signal) (out []signal.Signal) {
	seen := map[signal.Signal]bool{}
	for _, s := range all {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
