package session_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/session"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestOver(t *testing.T) {
	s := session.Session{Expires: now}
	for _, c := range []struct {
		at   time.Time
		over bool
	}{{now.Add(-1), false}, {now, true}, {now.Add(1), true}} {
		if s.Over(c.at) != c.over {
			t.Error(c.at)
		}
	}
	if !s.Ended().Over(now.Add(-time.Hour)) {
		t.Error("an ended session holds")
	}
}

// TestClockPutBack: sessions and codes made while the clock was years ahead expire once it is put back.
func TestClockPutBack(t *testing.T) {
	for name, c := range map[string]struct {
		over func(ago time.Duration) bool // of a session or code that was made by a clock that was ahead by this duration
		life time.Duration
	}{
		"session": {func(ago time.Duration) bool {
			return session.Session{Created: now.Add(ago), Expires: now.Add(ago + time.Hour)}.Over(now)
		}, time.Hour},
		"nonce": {func(ago time.Duration) bool {
			return session.Nonce{Expires: now.Add(ago + session.NonceLife)}.Over(now)
		}, session.NonceLife},
		"reset": {func(ago time.Duration) bool {
			return session.NewReset("r", "d", forgetful(), now.Add(ago)).Over(now)
		}, session.ResetLife},
	} {
		if c.over(0) || c.over(c.life) {
			t.Errorf("%s: one of a clock that is ahead by no more than its life is over", name)
		}
		if !c.over(c.life+1) || !c.over(10*365*24*time.Hour) {
			t.Errorf("%s: one of a clock that was years ahead holds", name)
		}
	}
}

func TestProven(t *testing.T) {
	for _, c := range []struct {
		sent   string
		values []string
		proven bool
	}{
		{"a", []string{"a"}, true}, {"b", []string{"a", "b"}, true}, {"c", []string{"a", "b"}, false},
		{"", []string{""}, false}, {"", nil, false}, {"a", nil, false}, {"aa", []string{"a"}, false},
	} {
		if session.Proven(c.sent, c.values) != c.proven {
			t.Errorf("%+v", c)
		}
	}
}

func TestExcess(t *testing.T) {
	var all []session.Session
	for i := range session.Most + 3 {
		all = append(all, session.Session{ID: fmt.Sprint(i), Created: now.Add(time.Duration(-i) * time.Minute), Expires: now.Add(time.Hour)})
	}
	all[2].Expires = now // is over, and is not one of those to end
	out := session.Excess(all, now, false)
	if len(out) != 3 || out[0].ID != fmt.Sprint(session.Most+2) {
		t.Error("not the oldest three:", out)
	}
	if len(session.Excess(all, now, true)) != len(all)-1 {
		t.Error("not all that hold")
	}
	if session.Excess(all[:session.Most-1], now, false) != nil {
		t.Error("a session ended although there is room")
	}
}

// TestAttempts: a name waits when it has used up its attempts, and no longer than one window,
// however often it tries meanwhile.
func TestAttempts(t *testing.T) {
	a := session.Attempts{Limit: 3, Window: time.Minute, Room: 10}
	for i := range 3 {
		if a.Take(now.Add(time.Duration(i)*time.Second), "ada") != 0 {
			t.Fatal("waits at attempt", i)
		}
	}
	for i := range 57 {
		if wait := a.Take(now.Add(time.Duration(3+i)*time.Second), "ada"); wait != time.Duration(57-i)*time.Second {
			t.Fatal(i, wait)
		}
	}
	if a.Take(now.Add(time.Minute), "ada") != 0 {
		t.Error("waits for longer than a window")
	}
	if a.Take(now, "bob") != 0 || a.Take(now.Add(time.Minute), "bob") != 0 {
		t.Error("another name waits")
	}
}

// TestRemaining: a response that took less than the least time is delayed until that time.
func TestRemaining(t *testing.T) {
	for spent, want := range map[time.Duration]time.Duration{0: 300, 20: 280, 299: 1, 300: 0, 5000: 0, -1000: 300} {
		if have := session.Remaining(spent, 300); have != want {
			t.Errorf("after %d: %d, want %d", spent, have, want)
		}
	}
}

func TestGiveBack(t *testing.T) {
	a := session.Attempts{Limit: 2, Window: time.Minute, Room: 10}
	a.Take(now, "ada")
	for range 10 { // a right attempt does not count, and does not reset the count
		if a.Take(now, "ada") != 0 {
			t.Fatal("waits after right attempts")
		}
		a.GiveBack("ada")
	}
	a.Take(now, "ada")
	if a.Take(now, "ada") == 0 {
		t.Error("wrong attempts were forgotten")
	}
	a.GiveBack("nobody")
	if a.Take(now, "bob"); a.Len() != 2 {
		t.Error(a.Len())
	}
	if a.GiveBack("bob"); a.Len() != 1 {
		t.Error("a name without attempts is remembered")
	}
	if (&session.Attempts{}).Take(now, "ada") != 0 {
		t.Error("0 is no limit")
	}
}

// TestManyNames: names that an attacker makes up use a bounded amount of memory, and do not
// remove a name that waits.
func TestManyNames(t *testing.T) {
	a := session.Attempts{Limit: 3, Window: time.Minute, Room: 1000}
	for range 3 {
		a.Take(now, "ada")
	}
	for i := range 100_000 {
		a.Take(now, fmt.Sprint(i))
	}
	if a.Len() > 1000 {
		t.Error(a.Len(), "names")
	}
	if a.Take(now, "ada") == 0 {
		t.Error("the limit of a name was lifted by others")
	}
}

// TestManyNamesThatWait: while more names wait than there is room for, those that have waited
// longest are forgotten, and no other.
func TestManyNamesThatWait(t *testing.T) {
	const room = 1000
	a := session.Attempts{Limit: 1, Window: time.Hour, Room: room}
	for i := range 10 * room {
		at := now.Add(time.Duration(i) * time.Millisecond)
		a.Take(at, fmt.Sprint(i))
		for _, ago := range []int{1, room / 2, room*9/10 - 1} {
			if i >= ago && a.Take(at, fmt.Sprint(i-ago)) == 0 {
				t.Fatalf("the name %d names ago need not wait", ago)
			}
		}
	}
	if a.Len() > room {
		t.Error(a.Len(), "names")
	}
}

// TestAgent: the User-Agent of a browser is cut, and no character of it can move the text
// around it.
func TestAgent(t *testing.T) {
	for said, kept := range map[string]string{
		"":                               "",
		"Mozilla/5.0 (X11)":              "Mozilla/5.0 (X11)",
		"a\r\nb\x00\x1b[31mc":            "ab[31mc",
		"\u202egnp.exe\u200b\ufeff":      "gnp.exe",
		"\xff\xfeok":                     "ok",
		strings.Repeat("ü", 1000):        strings.Repeat("ü", 250),
		"\u2028<script>run()</script>  ": "<script>run()</script>  ",
	} {
		if got := session.Agent(said); got != kept {
			t.Errorf("%q is kept as %q", said, got)
		}
	}
}
