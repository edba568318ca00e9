package password_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/password"
)

func TestLacks(t *testing.T) {
	for _, c := range []struct {
		policy, password, says string
	}{
		{`{}`, "sixsix", ""},
		{`{}`, "fiver", "at least 6 characters"},
		{`{}`, "ëëëëëë", ""},
		{`{}`, "", "at least 6 characters"},
		{`{}`, strings.Repeat("x", 1024), ""},
		{`{}`, strings.Repeat("x", 1025), "at most 1024 bytes"},
		{`{"title":"User password schema","type":"string","minLength":3}`, "abc", ""},
		{`{"minLength":12}`, "elevenchars", "at least 12 characters"},
		{`{"multiCase":true}`, "lower-only", "both upper and lower case letters"},
		{`{"multiCase":true}`, "UPPER-ONLY", "both upper and lower case letters"},
		{`{"multiCase":true}`, "Both-cases", ""},
		{`{"minNumeric":2}`, "only1digit", "2 or more digits"},
		{`{"minNumeric":2}`, "two2digit5", ""},
		{`{"minSpecial":1}`, "noSpecial1", "neither letters nor digits"},
		{`{"minSpecial":2}`, "a space, and", ""},
		{`{"disableSequential":true}`, "horse123", "no sequences"},
		{`{"disableSequential":true}`, "xxaBcxx", "no sequences"},
		{`{"disableSequential":true}`, "x321xxx", "no sequences"},
		{`{"disableSequential":true}`, "xCbAxxx", "no sequences"},
		{`{"disableSequential":true}`, "1212aabbab", ""},
		{`{"disableSequential":true}`, "+,-./:;<=", ""},
		{`{"disableSequential":true}`, "1357acegi", ""},
	} {
		p, err := password.Parse([]byte(c.policy))
		if err != nil {
			t.Fatal(c.policy, err)
		}
		if lacks := p.Lacks(c.password); (lacks == "") != (c.says == "") || !strings.Contains(lacks, c.says) {
			t.Errorf("%s %.20q: %q, want %q", c.policy, c.password, lacks, c.says)
		}
	}
}

func TestLacksAll(t *testing.T) {
	p := password.Policy{MinLength: 12, MinNumeric: 1, MinSpecial: 1, MultiCase: true}
	if got := p.LacksAll("password"); len(got) != 4 || got[0] != p.Lacks("password") {
		t.Errorf("%q", got)
	}
	if got := p.LacksAll("A-good-passw0rd"); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestParseRefuses(t *testing.T) {
	for text, says := range map[string]string{
		``: "unexpected end", `[]`: "array", `{"minLength":"x"}`: "minLength must not be a string", `{"minLength":-1}`: "minLength must be 0 to 128",
		`{"minNumeric":129}`: "minNumeric must be", `{"minSpecial":1.5}`: "minSpecial", `{"multiCase":"yes"}`: "multiCase",
	} {
		if _, err := password.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestExpired(t *testing.T) {
	set := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		set     time.Time
		days    int
		after   time.Duration
		expired bool
	}{
		{set, 0, 1e6 * time.Hour, false}, {set, 1, 24*time.Hour - 1, false}, {set, 1, 24 * time.Hour, true}, {time.Time{}, 1, 48 * time.Hour, false},
	} {
		if password.Expired(c.set, c.days, set.Add(c.after)) != c.expired {
			t.Errorf("%+v", c)
		}
	}
}

func TestDays(t *testing.T) {
	for _, c := range []struct {
		own       int
		groups    []int
		everybody int
		days      int
	}{{0, nil, 0, 0}, {0, nil, 90, 90}, {7, []int{3}, 90, 7}, {0, []int{30, 0, 10}, 90, 10}, {0, []int{0}, 90, 90}, {-1, []int{-5}, 90, 90}} {
		if got := password.Days(c.own, c.groups, c.everybody); got != c.days {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestKept(t *testing.T) {
	for _, c := range []struct {
		current string
		earlier []string
		n       int
		want    []string
	}{
		{"c", []string{"b", "a"}, 0, nil}, {"c", []string{"b", "a"}, 1, nil}, {"c", []string{"b", "a"}, 2, []string{"c"}},
		{"c", []string{"b", "a"}, 3, []string{"c", "b"}}, {"c", nil, 9, []string{"c"}}, {"", nil, 3, nil}, {"", []string{"a"}, 3, []string{"a"}},
		{"c", make([]string, 100), 1000, append([]string{"c"}, make([]string, password.MostKept-2)...)},
	} {
		if got := password.Kept(c.current, c.earlier, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// The check of any text does not fail or take long, and an accepted password is accepted by a
// weaker policy too.
func FuzzLacks(f *testing.F) {
	f.Add(`{"minLength":8,"multiCase":true,"minNumeric":1,"minSpecial":1,"disableSequential":true}`, "Correct 7 horses!")
	f.Add(`{"minLength":"8"}`, "\xff\xfe")
	f.Fuzz(func(t *testing.T, policy, text string) {
		p, err := password.Parse([]byte(policy))
		if err != nil || p.Lacks(text) != "" {
			return
		}
		p.MultiCase, p.DisableSequential, p.MinNumeric, p.MinSpecial = false, false, 0, 0
		if lacks := p.Lacks(text); lacks != "" {
			t.Error("a weaker policy refuses it:", lacks)
		}
	})
}
