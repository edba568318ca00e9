package intent_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/intent"
)

// TestStates: the result of every event in every state; "": refused.
func TestStates(t *testing.T) {
	const o, u, f, uf, d, un, a = intent.Open, intent.Undoing, intent.Failed, intent.UndoFailed, intent.Done, intent.Undone, intent.Abandoned
	want := map[intent.State][6]intent.State{
		//   Succeed Refuse Return Exhaust Retry GiveUp
		o:  {d, un, u, f, o, a},
		u:  {un, uf, "", uf, u, a},
		f:  {"", "", "", "", o, a},
		uf: {"", "", "", "", u, a},
		d:  {}, un: {}, a: {},
	}
	at := time.Unix(1767323045, 0).UTC()
	for _, s := range intent.States {
		row, ok := want[s]
		if !ok {
			t.Errorf("no row for %s", s)
		}
		if n := btoi(s.Active()) + btoi(s.Rests()) + btoi(s.Closed()); n != 1 {
			t.Errorf("%s is active %v, rests %v, closed %v", s, s.Active(), s.Rests(), s.Closed())
		}
		for i, e := range intent.Events {
			in := intent.Begin("1", "acme", "keys.update", intent.Subject{Kind: "key", ID: "k"}, intent.By{}, at).Held("p", at.Add(time.Minute))
			in.State, in.Details, in.Undo, in.Attempts = s, "sealed", 2, 7
			got, err := in.On(e, at.Add(time.Second), "why")
			if row[i] == "" {
				if fault.KindOf(err) != fault.Conflict || got.State != s {
					t.Errorf("%s on %s: %s, %v", s, e, got.State, err)
				}
				continue
			}
			if err != nil || got.State != row[i] || got.Error != "why" {
				t.Errorf("%s on %s: %+v, %v", s, e, got, err)
			}
			if held := got.Holder != ""; held != got.State.Active() {
				t.Errorf("%s on %s: held %v", s, e, held)
			}
			if kept := got.Details != "" && got.Undo == 2; kept == got.State.Closed() {
				t.Errorf("%s on %s: details %q, %d to undo", s, e, got.Details, got.Undo)
			}
			if ended := !got.Ended.IsZero(); ended == got.State.Active() || got.Next.IsZero() == got.State.Active() {
				t.Errorf("%s on %s: ended %s, next %s", s, e, got.Ended, got.Next)
			}
			if e == intent.Retry && (got.Attempts != 0 || got.Since != at.Add(time.Second)) {
				t.Errorf("%s on %s: %+v", s, e, got)
			}
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestLater: attempts are limited in number and age; then the intent fails.
func TestLater(t *testing.T) {
	at := time.Unix(1767323045, 0).UTC()
	in := intent.Begin("1", "acme", "keys.update", intent.Subject{}, intent.By{}, at)
	for range intent.MaxAttempts - 1 {
		in = in.Held("p", at.Add(time.Minute)).Later(at, strings.Repeat("ü", 200), time.Second)
	}
	if in.State != intent.Open || in.Next != at.Add(time.Second) || in.Holder != "" || len(in.Error) != 300 {
		t.Errorf("%+v", in)
	}
	if last := in.Later(at, "away", time.Second); last.State != intent.Failed || last.Ended != at || last.Error != "away" {
		t.Errorf("%+v", last)
	}
	in.State = intent.Undoing
	if last := in.Later(at, "away", time.Second); last.State != intent.UndoFailed {
		t.Errorf("%+v", last)
	}
	old := intent.Begin("1", "acme", "keys.update", intent.Subject{}, intent.By{}, at)
	if late := old.Later(at.Add(intent.MaxAge), "away", time.Second); late.State != intent.Failed {
		t.Errorf("%+v", late)
	}
}

// TestHeld: an intent belongs to its holder until that process has stopped.
func TestHeld(t *testing.T) {
	at := time.Unix(1767323045, 0).UTC()
	in := intent.Begin("1", "acme", "keys.update", intent.Subject{}, intent.By{}, at)
	held := in.Held("p", at.Add(time.Minute))
	if !in.Due(at) || in.Busy(at) || in.Free(at) != nil || in.Due(at.Add(-1)) {
		t.Error("a new intent is not due")
	}
	if held.Due(at) || !held.Busy(at) || fault.KindOf(held.Free(at)) != fault.Conflict {
		t.Error("a held intent is free")
	}
	if end := at.Add(time.Minute); !held.Due(end) || held.Busy(end) || held.Free(end) != nil {
		t.Error("an intent stays with a process that has stopped")
	}
	held.State = intent.Failed
	if held.Due(at.Add(time.Hour)) || held.Busy(at) {
		t.Error("an intent that rests is due")
	}
}

// TestClockPutBack: a time set by a wrong clock delays an intent no longer than one set by a
// correct clock.
func TestClockPutBack(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	in := intent.Begin("1", "org", "keys.update", intent.Subject{Kind: "key", ID: "k"}, intent.By{}, at)
	for name, wrong := range map[string]intent.Intent{
		"begun": in, "failed": in.Later(at, "away", intent.MaxPause), "held": in.Held("one", at.Add(30*time.Second)),
	} {
		if before := at.Add(-time.Hour); !wrong.Due(before) || wrong.Busy(before) || wrong.Free(before) != nil {
			t.Errorf("%s: it waits for an hour", name)
		}
	}
	if in.Later(at, "away", intent.Pause(intent.MaxAttempts, 1)).Due(at) {
		t.Error("the longest pause is none")
	}
}

// TestPause: pauses double, up to a maximum, plus a random quarter.
func TestPause(t *testing.T) {
	for attempts, want := range map[int]time.Duration{0: time.Second, 1: time.Second, 2: 2 * time.Second, 10: 512 * time.Second, 11: intent.MaxPause, 99: intent.MaxPause} {
		if got := intent.Pause(attempts, 0); got != want {
			t.Errorf("%d: %s", attempts, got)
		}
		if got := intent.Pause(attempts, 7); got != want+want/4 {
			t.Errorf("%d: %s", attempts, got)
		}
	}
}

// TestSubjects: an intent holds its subject and all others, each once.
func TestSubjects(t *testing.T) {
	a, b := intent.Subject{Kind: "key", ID: "a"}, intent.Subject{Kind: "key", ID: "b"}
	for name, c := range map[string]struct {
		in   intent.Intent
		want []intent.Subject
	}{
		"one":             {intent.Intent{Subject: a}, []intent.Subject{a}},
		"several":         {intent.Intent{Subject: a, Also: []intent.Subject{b, a, b}}, []intent.Subject{a, b}},
		"another kind":    {intent.Intent{Subject: a, Also: []intent.Subject{{Kind: "certificate", ID: "a"}}}, []intent.Subject{a, {Kind: "certificate", ID: "a"}}},
		"without subject": {intent.Intent{Subject: intent.Subject{Kind: "key"}, Also: []intent.Subject{b}}, []intent.Subject{b}},
		"none":            {intent.Intent{}, nil},
	} {
		if got := c.in.Subjects(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
