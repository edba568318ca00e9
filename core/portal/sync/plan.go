package sync

import (
	"reflect"
	"slices"
)

// Action is the action of a step.
type Action uint8

// The actions, in the order in which they are done for a record: writes to the dashboard come
// first, so that the record shows the remaining work until it is done.
const (
	Replace Action = iota // change a policy
	Create                // create a policy
	Remove                // delete a policy
	Store                 // store a record of the portal
	Forget                // delete a record of the portal
)

// String returns the name of the action in reports.
func (a Action) String() string {
	return [...]string{"replace", "create", "delete", "store", "forget"}[a]
}

// Step is one write. If it fails, the later steps of the same record are skipped.
type Step struct {
	Action Action
	For    string  // key of the record
	Policy Policy  // to write or to delete
	Before Policy  // the replaced policy, as it was read
	Record Record  // to store or to forget
	Seen   *Record // the record as it was read; nil: there was none
}

// Remote reports whether the step writes to the dashboard.
func (s Step) Remote() bool { return s.Action < Store }

// Plan returns the steps that lead from one state to another, in the order of the records.
func Plan(have, want State) []Step {
	p := planner{place: map[string]int{}, buckets: map[string]*[Forget + 1][]Step{}}
	for _, r := range slices.Concat(have.Records, want.Records) {
		p.see(r.Key())
	}
	was, is, claims := byKey(have.Policies, Policy.key), byKey(want.Policies, Policy.key), claimed(have)
	for i, q := range have.Policies {
		owner := q.Mark
		if at := claims.owner[i]; at != unowned {
			owner = have.Records[at].Key()
		}
		switch next, ok := is[q.key()]; {
		case !ok:
			p.add(Step{Action: Remove, For: owner, Policy: q})
		case !next.Equal(q):
			p.add(Step{Action: Replace, For: owner, Policy: next, Before: q})
		}
	}
	for _, q := range want.Policies {
		if _, ok := was[q.key()]; !ok {
			p.add(Step{Action: Create, For: q.For, Policy: q})
		}
	}
	stored, kept := byKey(have.Records, Record.Key), byKey(want.Records, Record.Key)
	for _, r := range want.Records {
		switch old, ok := stored[r.Key()]; {
		case !ok:
			p.add(Step{Action: Store, For: r.Key(), Record: r})
		case !old.Equal(r):
			p.add(Step{Action: Store, For: r.Key(), Record: r, Seen: &old})
		}
	}
	for _, r := range have.Records {
		if _, ok := kept[r.Key()]; !ok {
			p.add(Step{Action: Forget, For: r.Key(), Record: r, Seen: &r})
		}
	}
	var out []Step
	for _, key := range p.keys {
		if b := p.buckets[key]; b != nil {
			for _, list := range b {
				out = append(out, list...)
			}
		}
	}
	return out
}

// Equal reports whether two policies are equal.
func (p Policy) Equal(q Policy) bool {
	return p.Ref == q.Ref && p.Kind == q.Kind && p.Mark == q.Mark && same(p.Kind, &p.Terms, &q.Terms)
}

// Equal reports whether two records are equal.
func (r Record) Equal(q Record) bool {
	if (r.Agreed == nil) != (q.Agreed == nil) || r.Agreed != nil && !same(r.Kind, r.Agreed, q.Agreed) || !same(r.Kind, &r.Terms, &q.Terms) {
		return false
	}
	r.Terms, r.Agreed, q.Terms, q.Agreed = Terms{}, nil, Terms{}, nil
	return reflect.DeepEqual(r, q)
}

// byKey returns the values of a list by their keys.
func byKey[T any](list []T, key func(T) string) map[string]T {
	out := make(map[string]T, len(list))
	for _, v := range list {
		out[key(v)] = v
	}
	return out
}

// planner sorts steps by the order of their records.
type planner struct {
	keys    []string
	place   map[string]int // index in keys, by key of the record
	buckets map[string]*[Forget + 1][]Step
}

func (p *planner) see(key string) {
	if _, ok := p.place[key]; !ok {
		p.place[key] = len(p.keys)
		p.keys = append(p.keys, key)
	}
}

func (p *planner) add(s Step) {
	p.see(s.For)
	if p.buckets[s.For] == nil {
		p.buckets[s.For] = &[Forget + 1][]Step{}
	}
	b := p.buckets[s.For]
	b[s.Action] = append(b[s.Action], s)
}
