package opa_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

// TestCoverage: lines that any trial has evaluated are distinguished from other lines, in both
// versions of Rego.
func TestCoverage(t *testing.T) {
	const older = `package dashboard_users

# Nobody deletes.
deny["no"] {
	input.request.method == "DELETE"
	some i
	not input.user.active
	[1, 2][i] == 3
}

default patch_request = set()

patch_request = {{"a": 1}} { input.request.method == "GET"; input.user.email_address == "nobody" }

helper {
	true
}
`
	const newer = `package dashboard_users

import rego.v1

deny contains "no" if {
	input.request.method == "GET"
	writes
}

writes if {
	some x in ["a",
		"b"]
	x == "c"
}
`
	at := func(pairs ...int) []rules.Lines {
		out := []rules.Lines{}
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, rules.Lines{From: pairs[i], To: pairs[i+1]})
		}
		return out
	}
	for _, c := range []struct {
		name, text string
		calls      []string
		want       rules.Coverage
	}{
		{"before anything was tried", older, nil, rules.Coverage{Lines: 8, Covered: at(), Missed: at(4, 5, 7, 8, 11, 11, 13, 13, 15, 16)}},
		{"a call", older, []string{"apis.get"}, rules.Coverage{Lines: 8, Ran: 1, Covered: at(11, 11), Missed: at(4, 5, 7, 8, 13, 13, 15, 16)}},
		{"two calls", older, []string{"apis.get", "apis.delete"}, rules.Coverage{Lines: 8, Ran: 3, Covered: at(5, 5, 7, 7, 11, 11), Missed: at(4, 4, 8, 8, 13, 13, 15, 16)}},
		{"newer", newer, []string{"apis.get"}, rules.Coverage{Lines: 5, Ran: 3, Covered: at(6, 7, 13, 13), Missed: at(5, 5, 10, 10)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, err := engine(t, opa.Config{}).Read(t.Context(), "org", c.text)
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range c.calls {
				if _, err := k.Try(t.Context(), call(t, things, id, "/api/apis/1", nil), false); err != nil {
					t.Fatal(err)
				}
			}
			if got := k.Coverage(); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// TestCoverageIsBounded: the cost grows linearly with the length of a text, and the largest
// text reports 1,000 stretches.
func TestCoverageIsBounded(t *testing.T) {
	covers := func(rules int) (rules.Coverage, float64) {
		k, err := engine(t, opa.Config{}).Read(t.Context(), "org", "package dashboard_users\ndeny[\"x\"] { false }\n"+strings.Repeat("f = 1\n\n", rules))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.Try(t.Context(), call(t, things, "apis.get", "/api/apis/1", nil), false); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		got := k.Coverage()
		return got, time.Since(start).Seconds()
	}
	const most = 50 // ten times as many rules: factor 10 if the cost is linear, 100 if it is quadratic
	for try := 0; ; try++ {
		_, few := covers(1_500)
		got, many := covers(15_000)
		if len(got.Missed) != 1000 || got.Lines < 10_000 {
			t.Errorf("%d lines, %d stretches", got.Lines, len(got.Missed))
		}
		if many/few <= most {
			break
		}
		if try == 3 { // other load may have disturbed the earlier tries
			t.Errorf("ten times as many rules take %.0f times as long, %d at most are wanted", many/few, most)
			break
		}
	}
}
