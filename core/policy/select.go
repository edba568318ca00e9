package policy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Filter selects policies of a list; its conditions combine with AND, the values
// of one condition with OR (docs/wire/policies.md#search).
type Filter struct {
	Text       string // part of the name, in any case
	State      State  // "" for any
	ActiveOnly bool
	APIs       []string
	AuthTypes  []string
}

// Admits reports whether the policy belongs into the list. authTypes returns the
// authentication methods of its APIs.
func (f Filter) Admits(p Policy, authTypes func(Policy) []string) bool {
	return strings.Contains(strings.ToLower(p.Name()), strings.ToLower(f.Text)) &&
		(f.State == "" || f.State == p.State()) &&
		(!f.ActiveOnly || p.Active()) &&
		overlap(f.APIs, p.APIs) &&
		overlap(plain(f.AuthTypes), func() []string { return plain(authTypes(p)) })
}

// plain returns methods of authentication in one spelling: basic has two names.
func plain(methods []string) []string {
	out := slices.Clone(methods)
	for i, m := range out {
		if m == "ba" {
			out[i] = "basic"
		}
	}
	return out
}

func overlap(wanted []string, have func() []string) bool {
	if len(wanted) == 0 {
		return true
	}
	list := have()
	return slices.ContainsFunc(wanted, func(w string) bool { return slices.Contains(list, w) })
}

// orders compares policies by what a list can be sorted by.
var orders = map[string]func(a, b Policy) int{
	"":             func(Policy, Policy) int { return 0 },
	"date_created": func(a, b Policy) int { return a.Created().Compare(b.Created()) },
	"name":         func(a, b Policy) int { return cmp.Compare(strings.ToLower(a.Name()), strings.ToLower(b.Name())) },
	"state":        func(a, b Policy) int { return cmp.Compare(a.State(), b.State()) },
}

// Order returns the comparison for a sort parameter such as -name. Equal
// policies, and all of them when it is empty, are in order of ID.
func Order(sort string) (func(a, b Policy) int, error) {
	name, down := strings.CutPrefix(sort, "-")
	by, ok := orders[name]
	if !ok || down && name == "" {
		return nil, fault.New(fault.Invalid, Kind+".sort", "sort must be one of date_created, name, state, with - in front for descending").At("sort")
	}
	return func(a, b Policy) int {
		order := cmp.Or(by(a, b), cmp.Compare(a.ID(), b.ID()))
		if down {
			return -order
		}
		return order
	}, nil
}
