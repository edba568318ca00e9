package sync

import (
	"reflect"
	"slices"
)

// Action is what a step does.
type Action uint8

// The actions, in the order in which they are done for a record: what is at the dashboard
// first, so that the record tells what is still to be done until it is done.
const (
	Replace Action = iota // change a policy
	Create                // make a policy
	Remove                // delete a policy
	Store                 // store a record of the portal
	Forget                // the portal forgets a record that is deleted
)

// String names the action as reports do.
func (a Action) String() string {
	return [...]string{"replace", "create", "delete", "store", "forget"}[a]
}

// Step is one write. When one fails, the later ones of the same record are left out.
type Step struct {
	Action Action
	For    string  // key of the record
	Policy Policy  // to write or to delete
	Before Policy  // what is replaced, as it was seen
	Record Record  // to store or to forget
	Seen   *Record // the record as it was seen; nil: there was none
}

// Remote reports whether the step writes to the dashboard.
func (s Step) Remote() bool { return s.Action < Store }

// Plan returns the steps that lead from one state to another, in order of the records.
func Plan(have, want State) []Step {
	p := planner{place: map[string]int{}, buckets: map[string]*[Forget + 1][]Step{}}
	for _, r := range slices.Concat(have.Records, want.Records) {
		p.see(r.Key())
	}
	was, is, claims := policiesByKey(have.Policies), policiesByKey(want.Policies), claimed(have)
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
	stored, kept := recordsByKey(have.Records), recordsByKey(want.Records)
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

// Equal reports whether two policies say the same.
func (p Policy) Equal(q Policy) bool {
	return p.Ref == q.Ref && p.Kind == q.Kind && p.Mark == q.Mark && same(p.Kind, &p.Terms, &q.Terms)
}

// Equal reports whether two records say the same.
func (r Record) Equal(q Record) bool {
	if (r.Agreed == nil) != (q.Agreed == nil) || r.Agreed != nil && !same(r.Kind, r.Agreed, q.Agreed) || !same(r.Kind, &r.Terms, &q.Terms) {
		return false
	}
	r.Terms, r.Agreed, q.Terms, q.Agreed = Terms{}, nil, Terms{}, nil
	return reflect.DeepEqual(r, q)
}

func policiesByKey(list []Policy) map[string]Policy {
	out := make(map[string]Policy, len(list))
	for _, p := range list {
		out[p.key()] = p
	}
	return out
}

func recordsByKey(list []Record) map[string]Record {
	out := make(map[string]Record, len(list))
	for _, r := range list {
		out[r.Key()] = r
	}
	return out
}

// planner puts steps in order of the records that they are for.
type planner struct {
	keys    []string
	place   map[string]int // of a record's key among keys
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

// Apply returns the state that steps lead to.
func Apply(s State, steps ...Step) State {
	policies, records := editor[Policy]{list: s.Policies, key: Policy.key}, editor[Record]{list: s.Records, key: Record.Key}
	policies.open()
	records.open()
	for _, step := range steps {
		switch step.Action {
		case Replace, Create:
			policies.put(step.Policy)
		case Remove:
			policies.remove(step.Policy)
		case Store:
			records.put(step.Record)
		case Forget:
			records.remove(step.Record)
		}
	}
	s.Policies, s.Records = policies.close(), records.close()
	return s
}

// editor changes a list by key.
type editor[T any] struct {
	list []T
	key  func(T) string
	at   map[string]int
	gone map[int]bool
}

func (e *editor[T]) open() {
	e.at, e.gone = make(map[string]int, len(e.list)), map[int]bool{}
	e.list = append([]T(nil), e.list...)
	for i, v := range e.list {
		e.at[e.key(v)] = i
	}
}

func (e *editor[T]) put(v T) {
	i, ok := e.at[e.key(v)]
	if !ok {
		e.at[e.key(v)] = len(e.list)
		e.list = append(e.list, v)
		return
	}
	e.list[i] = v
}

func (e *editor[T]) remove(v T) {
	if i, ok := e.at[e.key(v)]; ok {
		e.gone[i] = true
		delete(e.at, e.key(v))
	}
}

func (e *editor[T]) close() (out []T) {
	for i, v := range e.list {
		if !e.gone[i] {
			out = append(out, v)
		}
	}
	return out
}
