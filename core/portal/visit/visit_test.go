package visit_test

import (
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/visit"
)

var now = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// TestSession states when a session ends, and when its use is noted.
func TestSession(t *testing.T) {
	rules := visit.Rules{Life: 10 * time.Hour, Idle: time.Hour}
	for name, c := range map[string]struct {
		age, idle   time.Duration
		over, stale bool
	}{
		"new":            {},
		"used just now":  {age: 9 * time.Hour, idle: 4 * time.Minute},
		"used a bit ago": {age: 9 * time.Hour, idle: 5 * time.Minute, stale: true},
		"idle":           {age: 2 * time.Hour, idle: time.Hour, over: true, stale: true},
		"old":            {age: 10 * time.Hour, over: true},
	} {
		s := visit.Session{Created: now.Add(-c.age), Seen: now.Add(-c.idle)}
		if s.Over(rules, now) != c.over || s.Stale(rules, now) != c.stale {
			t.Errorf("%s: %t %t", name, s.Over(rules, now), s.Stale(rules, now))
		}
	}
	all := []visit.Session{{ID: "over", Created: now.Add(-11 * time.Hour), Seen: now}}
	for i := range visit.Most {
		all = append(all, visit.Session{ID: string(rune('a' + i)), Created: now.Add(-time.Duration(i) * time.Minute), Seen: now})
	}
	if out := visit.Excess(all, rules, now); len(out) != 2 || out[0].ID != "over" || out[1].ID != string(rune('a'+visit.Most-1)) {
		t.Errorf("%+v", out)
	}
	if out := visit.Excess(all[:visit.Most], rules, now); len(out) != 1 {
		t.Errorf("%+v", out)
	}
}

// TestClockPutBack: sessions and codes made while the clock was years ahead expire once it is put back.
func TestClockPutBack(t *testing.T) {
	rules := visit.Rules{Life: 10 * time.Hour, Idle: time.Hour}
	for _, c := range []struct {
		created, seen time.Duration // in the future
		over          bool
	}{
		{}, {created: time.Hour, seen: time.Hour}, {seen: time.Hour}, {seen: time.Hour + 1, over: true}, {created: 10*time.Hour + 1, over: true},
		{created: 50000 * time.Hour, seen: 50000 * time.Hour, over: true},
	} {
		if (visit.Session{Created: now.Add(c.created), Seen: now.Add(c.seen)}).Over(rules, now) != c.over {
			t.Errorf("%+v", c)
		}
	}
	for _, p := range []visit.Purpose{visit.Reset, visit.Invite} {
		if visit.NewCode("1", "digest", p, account.User{}, now.Add(24*time.Hour)).Over(now) || !visit.NewCode("1", "digest", p, account.User{}, now.Add(50000*time.Hour)).Over(now) {
			t.Error(p)
		}
	}
}

// TestCode states how long codes can be used, and for which users: every purpose in every
// state.
func TestCode(t *testing.T) {
	active, inactive := account.User{Active: true, Provider: account.OwnPassword}, account.User{Provider: account.OwnPassword}
	elsewhere := account.User{Active: true, Provider: "github"}
	for purpose, c := range map[visit.Purpose]struct {
		life                        time.Duration
		active, inactive, elsewhere bool
	}{
		visit.Reset:  {24 * time.Hour, true, false, false},
		visit.Invite: {7 * 24 * time.Hour, false, true, false},
	} {
		code := visit.NewCode("1", "digest", purpose, active, now)
		if code.Over(now.Add(c.life-1)) || !code.Over(now.Add(c.life)) {
			t.Errorf("%s: %v", purpose, code.Expires)
		}
		if code.Fits(active) != c.active || code.Fits(inactive) != c.inactive || code.Fits(elsewhere) != c.elsewhere {
			t.Errorf("%s: %t %t %t", purpose, code.Fits(active), code.Fits(inactive), code.Fits(elsewhere))
		}
	}
}
