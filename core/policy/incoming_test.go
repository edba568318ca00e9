package policy_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/policy"
)

func incoming(t *testing.T, text string) policy.Incoming {
	t.Helper()
	in, err := policy.NewIncoming([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// An incoming policy keeps its identifiers and its times.
func TestIncomingNew(t *testing.T) {
	const own = "5f1a0c5d8e3b2a1f00000007"
	for _, c := range []struct {
		text             string
		names            []string
		id, policyID     string
		created, updated string
	}{
		{`{"name":"p"}`, nil, id, id, "", ""},
		{`{"name":"p","_id":"` + own + `","id":"gold"}`, []string{"gold", own}, own, "gold", "", ""},
		{`{"name":"p","_id":"Gold"}`, []string{"gold"}, id, "Gold", "", ""},
		{`{"name":"p","_id":"Gold","id":"g"}`, []string{"g", "gold"}, id, "g", "", ""},
		{`{"name":"p","date_created":"2020-01-02T03:04:05Z","last_updated":"77"}`, nil, id, id, "2020-01-02T03:04:05Z", "77"},
		{`{"name":"p","date_created":"yesterday","last_updated":""}`, nil, id, id, "", ""},
	} {
		in := incoming(t, c.text)
		p, err := in.New(id, "org", now, rules)
		if err != nil || p.ID() != c.id || p.PolicyID() != c.policyID || !slices.Equal(in.Names, c.names) {
			t.Errorf("%s: %s %s %v %v", c.text, p.ID(), p.PolicyID(), in.Names, err)
			continue
		}
		n, _ := p.Node()
		if got := n.Get("date_created").Text(); c.created != "" && got != c.created || c.created == "" && !p.Created().Equal(now) {
			t.Errorf("%s: created %s", c.text, got)
		}
		if got := n.Get("last_updated").Text(); c.updated != "" && got != c.updated || got == "" {
			t.Errorf("%s: updated %s", c.text, got)
		}
	}
	for _, text := range []string{`[]`, `{`} {
		if _, err := policy.NewIncoming([]byte(text)); err == nil {
			t.Error(text, "is read")
		}
	}
	if _, err := incoming(t, `{"name":""}`).New(id, "org", now, rules); err == nil {
		t.Error("a policy without a name is made")
	}
}

// A policy that equals the stored one is the same, including the time of the last change. A
// different one has the time of this change, or its own time.
func TestIncomingOver(t *testing.T) {
	const text = `{"name":"p","id":"gold","rate":5}`
	old := make1(t, text)
	later := now.Add(time.Hour)
	for body, want := range map[string]string{
		text:                                  "same",
		`{"rate":5,"id":"gold","name":"p"}`:   "same",
		`{"name":"p","id":"gold","rate":6}`:   "1767326645",
		`{"name":"q","last_updated":"77"}`:    "77",
		`{"name":"","id":"gold","rate":5}`:    "refused",
		`{"name":"p","rate":5,"_id":"other"}`: "1767326645", // becomes its id
	} {
		p, err := incoming(t, body).Over(old, later, rules)
		got := "refused"
		if err == nil {
			n, _ := p.Node()
			if got = n.Get("last_updated").Text(); p.Same(old) {
				got = "same"
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

func TestCheckIncoming(t *testing.T) {
	for text, want := range map[string]int{`{"_id":"x","name":"p"}`: 0, `{"_id":7}`: 1, `{"rate":"1"}`: 1, `{"rate":"1","name":7}`: 2} {
		n := doctest.Node(t, text)
		if got := policy.CheckIncoming(n); len(got) != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
