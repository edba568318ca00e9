package sync

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/policy"
)

// Problem is an error about one record or policy. It does not affect others.
type Problem struct {
	Record string // key of the record, or ""
	Policy Ref
	Fault  *fault.Error
}

// Codes of the faults in problems.
const (
	CodeAPI    = "portal_sync.api"    // an API that does not exist, or is not allowed in portals
	CodeShared = "portal_sync.shared" // two records refer to one policy
)

// Want returns the wanted state of both sides. Applying Want again changes nothing.
//
// A field that the portal has changed since both sides agreed is copied to the policy; every
// other field is copied from the policy.
func Want(have State) (State, []Problem) {
	w := claimed(have)
	w.want = State{APIs: have.APIs, Tags: have.Tags}
	for i := range have.Records {
		if r, keep := w.record(i); keep {
			w.want.Records = append(w.want.Records, r)
		}
	}
	// Of the policies without a record, those that a deleted product has left behind are deleted.
	// The others are imported in order.
	for i, p := range w.policies {
		if w.owner[i] != unowned {
			continue
		}
		switch at, known := w.cids[p.Mark]; {
		case p.Mark != "" && known && have.Records[at].Deleted:
			w.policies[i] = nil
		case p.Mark == "" && p.Kind != KindNone && !p.Stale:
			w.want.Records = append(w.want.Records, linked(Record{Kind: p.Kind}, p, 0))
		}
	}
	for _, p := range w.policies {
		if p != nil {
			w.want.Policies = append(w.want.Policies, *p)
		}
	}
	w.want.Policies = append(w.want.Policies, w.made...)
	return w.want, w.problems
}

// index looks up policies by each of their identifiers.
type index struct{ object, custom map[string]int }

func newIndex(list []Policy) index {
	x := index{make(map[string]int, len(list)), make(map[string]int, len(list))}
	for i, p := range list {
		if _, ok := x.object[p.ObjectID]; !ok && p.ObjectID != "" {
			x.object[p.ObjectID] = i
		}
		if _, ok := x.custom[p.ID]; !ok && p.ID != "" {
			x.custom[p.ID] = i
		}
	}
	return x
}

const unowned = -1

// wanter computes the wanted state.
type wanter struct {
	have     State
	want     State
	index    index
	owner    []int          // by policy: the record that has it, or unowned
	claims   []int          // by record: its policy, or unowned
	policies []*Policy      // by policy: its wanted state; nil: deleted
	made     []Policy       // policies to create
	cids     map[string]int // records by CID
	names    map[string]bool
	called   map[string][]int // policies by name, and by name without a number of at least 2
	numbered map[string][]int
	next     map[string]int // by name: the first number that may be free
	problems []Problem
}

// claimed returns the wanter of a state with the policy of each record: the one with its _id,
// or otherwise the one with its custom identifier, because a policy may have been created
// again. A record that has had no policy gets one from an interrupted write. Deleted records
// come last.
func claimed(have State) *wanter {
	w := &wanter{
		have: have, index: newIndex(have.Policies), owner: make([]int, len(have.Policies)), claims: make([]int, len(have.Records)),
		policies: make([]*Policy, len(have.Policies)), cids: make(map[string]int, len(have.Records)), names: make(map[string]bool, len(have.Policies)),
		called: make(map[string][]int, len(have.Policies)), numbered: map[string][]int{}, next: map[string]int{},
	}

	for i := range w.have.Policies {
		p := w.have.Policies[i]
		w.owner[i], w.policies[i] = unowned, &p
		w.names[p.Terms.Name] = true
		w.called[p.Terms.Name] = append(w.called[p.Terms.Name], i)
		if stem, number, ok := cutLast(p.Terms.Name); ok && number > 1 {
			w.numbered[stem] = append(w.numbered[stem], i)
		}
	}
	for i, r := range w.have.Records {
		w.claims[i], w.cids[r.CID] = unowned, i
	}
	object := func(deleted bool) {
		for i, r := range w.have.Records {
			if at, ok := w.index.object[r.Ref.ObjectID]; ok && r.Agreed != nil && r.Deleted == deleted {
				w.take(i, at)
			}
		}
	}
	object(false)
	for i, r := range w.have.Records {
		_, there := w.index.object[r.Ref.ObjectID]
		if at, ok := w.index.custom[r.Ref.ID]; ok && !there && r.Agreed != nil && !r.Deleted {
			w.take(i, at)
		}
	}
	object(true)
	for _, deleted := range []bool{false, true} {
		for i, r := range w.have.Records {
			if r.Agreed == nil && r.Deleted == deleted {
				if at := w.earlier(&r, w.free(w.called, r.Terms.Name)); at != unowned {
					w.take(i, at)
				}
			}
		}
	}
	return w
}

// take assigns a policy to a record, unless another record has it or its kind has changed.
func (w *wanter) take(record, at int) {
	r, p := &w.have.Records[record], &w.have.Policies[at]
	switch {
	case p.Kind != r.Kind && !r.Deleted: // the record is hidden until its policy has its kind again
	case w.owner[at] != unowned:
		w.problem(r, p.Ref, CodeShared, "another record of the portal has the policy %s; delete one of the two", p.Name())
	case p.Mark != "" && p.Mark != r.CID: // another product has left it behind
	default:
		w.owner[at], w.claims[record] = record, at
	}
}

func (w *wanter) problem(r *Record, p Ref, code, format string, args ...any) {
	w.problems = append(w.problems, Problem{r.Key(), p, fault.New(fault.Invalid, code, format, args...)})
}

// record returns the wanted state of a record, and whether the record stays.
func (w *wanter) record(i int) (Record, bool) {
	r, at := w.have.Records[i], w.claims[i]
	event := Wanted // what has happened to a record with the policy at, or without a policy
	switch {
	case r.Deleted:
		event = Removed
	case at != unowned:
		event = Found
	case r.Agreed != nil, r.Kind == KindProduct && len(r.Terms.APIs) == 0:
		event = Missed
	}
	move := Next(r.Life(), event)
	r.Hidden = move.To == Hidden || move.To == HiddenDraft
	switch {
	case event == Removed:
		if at != unowned {
			w.policies[at] = nil
		}
		return r, false // its other policies are deleted with those without a record
	case event == Found:
		return w.merge(r, at), true
	case move.Effect == Make && w.offers(&r):
		return w.makes(r, 1, r.Terms.Name), true
	}
	return r, true
}

// merge merges a record and its policy.
func (w *wanter) merge(r Record, at int) Record {
	p, base := w.policies[at], r.Agreed
	if base == nil {
		t := p.Terms // from an interrupted attempt
		base, r.Generation = &t, max(r.Generation, 1)
	}
	mine, agreed := r.Terms, base.Clone()
	r.Terms = r.Terms.Clone()
	r.Ref, p.Mark = p.Ref, ""
	for _, f := range byKind[r.Kind] {
		if f.Direction == Both && f.read != nil && !f.same(&mine, &agreed) {
			f.copy(&p.Terms, &mine)
		} else if f.read != nil {
			f.copy(&r.Terms, &p.Terms)
		}
	}
	if r.Kind == KindProduct {
		if slices.Equal(mine.APIs, agreed.APIs) {
			r.Terms.APIs = slices.Clone(p.Terms.APIs)
		} else if w.offers(&r) {
			if w.access(&r, p) == Succeed {
				return w.succeed(r, at)
			}
		}
	}
	// The methods in a policy may be older than those of its APIs. The dashboard's users may have
	// chosen them, so they stay.
	if methods := w.have.APIs.methods(r.Terms.APIs); len(methods) > 0 {
		r.Terms.AuthTypes = methods
	}
	t := p.Terms.Clone()
	r.Agreed = &t
	return r
}

// access gives a policy the APIs that an administrator has chosen for the product.
func (w *wanter) access(r *Record, p *Policy) Effect {
	methods := w.have.APIs.methods(r.Terms.APIs)
	event := FilledOther
	switch {
	case len(r.Terms.APIs) == 0:
		event = Emptied
	case slices.Equal(policy.Plain(methods), policy.Plain(p.Terms.AuthTypes)):
		event = Filled
	}
	life := Active
	if p.Terms.Draft {
		life = Draft
	}
	move := Next(life, event)
	if move.Effect == Succeed {
		return Succeed
	}
	p.Terms.APIs, p.Terms.Draft = slices.Clone(r.Terms.APIs), move.To == Draft
	if event == FilledOther {
		p.Terms.AuthTypes = methods
	}
	r.Terms.AuthTypes, r.Terms.Draft = slices.Clone(p.Terms.AuthTypes), p.Terms.Draft
	return move.Effect
}

// succeed leaves a draft behind, unchanged except for the mark, and gives the product another
// policy: keys of the old one stay invalid.
func (w *wanter) succeed(r Record, at int) Record {
	*w.policies[at] = w.have.Policies[at]
	w.policies[at].Mark = r.CID
	base := r.Terms.Name // without the number of an earlier successor
	if stem, number, ok := cutLast(base); ok && r.Generation > 1 && number > 1 {
		base = stem
	}
	named := slices.Concat(w.free(w.called, r.Terms.Name), w.free(w.called, base), w.free(w.numbered, base))
	slices.Sort(named)
	if at := w.earlier(&r, named); at != unowned {
		w.owner[at] = w.cids[r.CID]
		return linked(r, w.policies[at], r.Generation+1)
	}
	name := r.Terms.Name // if it is taken, with the first free number
	for n := max(2, w.next[base]); w.names[name]; n++ {
		name = base + " " + strconv.Itoa(n)
		w.next[base] = n + 1 // names are only added
	}
	return w.makes(r, r.Generation+1, name)
}

// free returns the policies with a name that have no record. A policy with a record keeps it,
// so it is removed from the list for good.
func (w *wanter) free(of map[string][]int, name string) []int {
	list, known := of[name]
	if !known {
		return nil
	}
	of[name] = slices.DeleteFunc(list, func(i int) bool { return w.owner[i] != unowned })
	return of[name]
}

// earlier returns the policy that an interrupted write has created for a record, or unowned.
// It has no record, and it equals the policy to be created except for its name. named are the
// policies with a possible name, in order.
func (w *wanter) earlier(r *Record, named []int) int {
	want := w.terms(r)
	if r.Kind == KindProduct && len(want.APIs) == 0 {
		return unowned // no policy is created for it
	}
	for _, i := range named {
		p := &w.have.Policies[i]
		if w.owner[i] == unowned && p.Kind == r.Kind && p.Mark == "" {
			if want.Name = p.Terms.Name; same(r.Kind, &want, &p.Terms) {
				return i
			}
		}
	}
	return unowned
}

// terms returns the values of a policy to be created for a record, except for a number in its
// name.
func (w *wanter) terms(r *Record) Terms {
	t := r.Terms.Clone()
	t.Tags, t.Draft = slices.Clone(w.have.Tags), false
	if r.Kind == KindProduct {
		t.AuthTypes = w.have.APIs.methods(t.APIs)
	}
	return t
}

// makes returns a record with a policy to be created.
func (w *wanter) makes(r Record, generation int, name string) Record {
	t := w.terms(&r)
	t.Name = name
	p := Policy{For: r.CID, Kind: r.Kind, Terms: t}
	w.names[name] = true
	w.made = append(w.made, p)
	return linked(r, &p, generation)
}

// linked returns a record that agrees with a policy.
func linked(r Record, p *Policy, generation int) Record {
	t := p.Terms.Clone()
	r.Ref, r.Terms, r.Agreed, r.Generation, r.Hidden = p.Ref, p.Terms.Clone(), &t, generation, false
	return r
}

// cutLast splits a number off the end of a name.
func cutLast(name string) (base string, number int, ok bool) {
	i := strings.LastIndexByte(name, ' ')
	if i < 0 {
		return name, 0, false
	}
	number, err := strconv.Atoi(name[i+1:])
	return name[:i], number, err == nil
}

// offers reports whether a product can have its wanted APIs.
func (w *wanter) offers(r *Record) bool {
	if r.Kind != KindProduct {
		return true
	}
	for _, id := range r.Terms.APIs {
		if a, ok := w.have.APIs[id]; !ok || a.Proxy {
			w.problem(r, r.Ref, CodeAPI, "the API %s does not exist at the dashboard: take it off the product", id)
			return false
		}
	}
	return true
}
