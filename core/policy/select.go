package policy

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
	"unique"

	"github.com/gatehouse-io/gatehouse/core/doc"
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

// Listed is the values of a policy that lists filter and sort by. It holds no text of the
// policy, and values that many policies share are in memory once: with 100,000 policies,
// scattered memory makes the processor wait.
type Listed struct {
	id, name string // the name in lower case
	created  time.Time
	apis     []Handle
	traits   unique.Handle[traits]
}

// Handle is the interned identifier of an API.
type Handle = unique.Handle[string]

// traits are values that many policies share.
type traits struct {
	state     State
	active    bool
	authTypes doc.Texts
}

// Listed returns the values that lists use.
func (p Policy) Listed() Listed {
	l := Listed{id: p.ID(), name: strings.ToLower(p.Name()), created: p.Created(), apis: make([]Handle, len(p.APIs())),
		traits: unique.Make(traits{p.State(), p.Active(), doc.Intern(Plain(p.AuthTypes()))})}
	for i, id := range p.APIs() {
		l.apis[i] = unique.Make(id)
	}
	return l
}

// ID returns the database ID.
func (l *Listed) ID() string { return l.id }

// Sought returns a pointer to the text that Filter.Text is searched in, in lower case.
func (l *Listed) Sought() *string { return &l.name }

// APIs returns the identifiers of the APIs to which it gives access. Treat them as read-only.
func (l *Listed) APIs() []Handle { return l.apis }

// Admits returns a function that reports whether a policy matches the filter, except for its
// authentication methods.
func (f Filter) Admits() func(*Listed) bool {
	text, apis := strings.ToLower(f.Text), make(map[Handle]bool, len(f.APIs))
	for _, id := range f.APIs {
		apis[unique.Make(id)] = true
	}
	return func(l *Listed) bool {
		t := l.traits.Value()
		return strings.Contains(l.name, text) && (f.State == "" || f.State == t.state) && (!f.ActiveOnly || t.active) &&
			(len(apis) == 0 || slices.ContainsFunc(l.apis, func(id Handle) bool { return apis[id] }))
	}
}

// Takes returns a function that reports whether a policy has one of the wanted authentication
// methods: among the current methods of its APIs, or those in its document, which reads show.
// It is not safe for concurrent use.
func (f Filter) Takes(api func(id Handle) (takes, exists bool)) func(*Listed) bool {
	if len(f.AuthTypes) == 0 {
		return func(*Listed) bool { return true }
	}
	wanted := doc.Overlap(Plain(f.AuthTypes))
	return func(l *Listed) bool {
		for _, id := range l.apis {
			if takes, _ := api(id); takes {
				return true
			}
		}
		return wanted(l.traits.Value().authTypes)
	}
}

// VisibleThrough reports whether a policy is visible to a viewer of some APIs: one API of the
// policy is visible, or none of them exists.
func VisibleThrough[ID any](apis []ID, api func(id ID) (visible, exists bool)) bool {
	none := true
	for _, id := range apis {
		visible, exists := api(id)
		if visible {
			return true
		}
		none = none && !exists
	}
	return none
}

// Plain returns methods of authentication in a uniform spelling: basic has two names.
func Plain(methods []string) []string {
	out := slices.Clone(methods)
	for i, m := range out {
		if m == "ba" {
			out[i] = "basic"
		}
	}
	return out
}

// orders are the comparisons by which a list can be sorted.
var orders = map[string]func(a, b *Listed) int{
	"":             func(*Listed, *Listed) int { return 0 },
	"date_created": func(a, b *Listed) int { return a.created.Compare(b.created) },
	"name":         func(a, b *Listed) int { return cmp.Compare(a.name, b.name) },
	"state":        func(a, b *Listed) int { return cmp.Compare(a.traits.Value().state, b.traits.Value().state) },
}

// Orders returns the names of the sort keys of a list.
func Orders() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(orders)), func(name string) bool { return name == "" })
}

// Order returns the comparison for a sort parameter such as -name. Equal policies are sorted
// by ID, and so are all policies without a parameter.
func Order(sort string) (func(a, b *Listed) int, error) {
	name, down := strings.CutPrefix(sort, "-")
	by, ok := orders[name]
	if !ok || down && name == "" {
		return nil, fault.New(fault.Invalid, Kind+".sort", "sort must be one of date_created, name, state, with - in front for descending").At("sort")
	}
	return func(a, b *Listed) int {
		if down {
			a, b = b, a
		}
		if order := by(a, b); order != 0 {
			return order
		}
		return cmp.Compare(a.id, b.id)
	}, nil
}
