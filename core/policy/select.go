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

// Listed is what lists look at of a policy. It holds no text of the policy, and what many
// policies have is in memory once: of 100,000 the processor waits for all that is
// somewhere else.
type Listed struct {
	id, name string // the name in lower case
	created  time.Time
	apis     []Handle
	traits   unique.Handle[traits]
}

// Handle stands for the identifier of an API.
type Handle = unique.Handle[string]

// traits is what many policies have in common.
type traits struct {
	state     State
	active    bool
	authTypes doc.Texts
}

// Listed returns what lists look at.
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

// Sought returns where the text is in which Filter.Text is looked for, in lower case.
func (l *Listed) Sought() *string { return &l.name }

// APIs returns the identifiers of the APIs it gives access to. Treat them as
// read-only.
func (l *Listed) APIs() []Handle { return l.apis }

// Admits returns a test of whether a policy belongs into the list as far as its
// APIs' authentication methods have no say.
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

// Takes returns a test of whether a policy has one of the authentication methods
// that are wanted: those of its APIs as they are now, and those that its document
// names, which reads show. The test is for one goroutine.
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

// VisibleThrough reports whether a policy may be seen by those who see some APIs: one
// of its own, or none of its own exists.
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

// Plain returns methods of authentication in one spelling: basic has two names.
func Plain(methods []string) []string {
	out := slices.Clone(methods)
	for i, m := range out {
		if m == "ba" {
			out[i] = "basic"
		}
	}
	return out
}

// orders compares policies by what a list can be sorted by.
var orders = map[string]func(a, b *Listed) int{
	"":             func(*Listed, *Listed) int { return 0 },
	"date_created": func(a, b *Listed) int { return a.created.Compare(b.created) },
	"name":         func(a, b *Listed) int { return cmp.Compare(a.name, b.name) },
	"state":        func(a, b *Listed) int { return cmp.Compare(a.traits.Value().state, b.traits.Value().state) },
}

// Orders names what a list can be sorted by.
func Orders() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(orders)), func(name string) bool { return name == "" })
}

// Order returns the comparison for a sort parameter such as -name. Equal
// policies, and all of them when it is empty, are in order of ID.
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
