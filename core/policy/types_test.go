package policy_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/shape/shapetest"
)

// TestNothingWrongReachesGateways tries a wrong value and a misspelt name at every place of a
// policy: neither is written, and a record with one is left out.
func TestNothingWrongReachesGateways(t *testing.T) {
	n := 0
	for c := range shapetest.Wrong(policy.Table) {
		n++
		leftOut(t, c)
		if !owned[c.Path] && !whole(t, c.Text) {
			refused(t, c)
		}
	}
	for c := range shapetest.Misspelt(policy.Table) {
		n++
		leftOut(t, c)
		refused(t, c)
	}
	if n < 1500 {
		t.Errorf("only %d documents", n)
	}
	for c := range shapetest.Right(policy.Table) {
		n, err := doc.ParseNode([]byte(c.Text))
		if problems := policy.Table.Check(n); err != nil || problems != nil {
			t.Errorf("%s: %v %v", c.Text, err, problems)
		}
	}
}

func leftOut(t *testing.T, c shapetest.Case) {
	t.Helper()
	if c.Path == "" || strings.HasPrefix(c.Path, "access_rights_array") {
		return // not a record, or not for gateways
	}
	p, err := policy.Load([]byte(c.Text))
	if err != nil {
		t.Fatal(c.Text, err)
	}
	_, problems := p.Entry()
	if !slices.ContainsFunc(problems, func(p shape.Problem) bool { return p.Path == c.Path }) {
		t.Errorf("%s is served: %v", c.Text, problems)
	}
}

func refused(t *testing.T, c shapetest.Case) {
	t.Helper()
	d, err := policy.NewDraft([]byte(c.Text))
	if err == nil {
		_, err = policy.New(id, "org", now, d, rules)
	}
	f, ok := errors.AsType[*fault.Error](err)
	if err == nil || ok && (f.Kind != fault.Invalid || f.Field != c.Path && c.Path != "name") {
		t.Errorf("%s: %v, want a fault at %s", c.Text, err, c.Path)
	}
}

// TestFreeMembers lists where a policy may hold any JSON: gateways store it unchanged and do
// not read it. The table gives the reason at each place.
func TestFreeMembers(t *testing.T) {
	var free []string
	policy.Table.Walk(func(at shape.Place, of shape.Type) {
		if of.Free() {
			free = append(free, at.String())
		}
	})
	if !slices.Equal(free, []string{"meta_data.{}"}) {
		t.Error(free)
	}
}

// whole reports whether the only problem of a text is the spelling of its whole numbers, which
// drafts correct.
func whole(t *testing.T, text string) bool {
	t.Helper()
	n := doctest.Node(t, text)
	policy.Table.Whole(n)
	return policy.Table.Check(n) == nil
}
