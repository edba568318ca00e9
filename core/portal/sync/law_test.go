package sync_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/sync"
)

// cid returns a CID for a number.
func cid(n int) string { return fmt.Sprintf("%027d", n) }

// oid returns an _id for a number.
func oid(n int) string { return fmt.Sprintf("%024x", n) }

// apis of the states below: a and b use tokens, c uses JWTs, p is an MCP proxy.
var apis = sync.NewIndex([]sync.API{
	{ID: "a", Name: "A", AuthTypes: []string{"authToken"}}, {ID: "b", Name: "B", AuthTypes: []string{"authToken"}},
	{ID: "c", Name: "C", AuthTypes: []string{"jwt"}}, {ID: "d", Name: "D", AuthTypes: []string{"jwt"}}, {ID: "p", Name: "P", Proxy: true},
})

// chance makes random states.
type chance struct{ *rand.Rand }

func seeded(seed uint64) chance { return chance{rand.New(rand.NewPCG(seed, 1))} }

func (c chance) one(of int) bool { return c.IntN(of) == 0 }

func pick[T any](c chance, list ...T) T { return list[c.IntN(len(list))] }

func (c chance) apis() []string {
	return pick(c, []string{"a"}, []string{"b"}, []string{"a", "b"}, []string{"c"}, []string{"c", "d"})
}

func (c chance) terms(k sync.Kind, n int) sync.Terms {
	t := sync.Terms{Name: fmt.Sprint(k, " ", n), Tags: pick(c, nil, []string{"x"}, []string{"x", "y"})}
	if k == sync.KindPlan {
		t.Rate, t.Per, t.Quota, t.QuotaRenewal = pick[int64](c, -1, 0, 5, 10), pick[float64](c, -1, 1, 60), pick[int64](c, -1, 0, 100), pick[int64](c, -1, 3600)
		t.KeyExpiresIn, t.MetaData = pick[int64](c, 0, 60, 3600), pick(c, nil, json.RawMessage(`{"tier":"gold"}`), json.RawMessage(`{"n":[1,{"x":null}]}`))
		return t
	}
	t.APIs = c.apis()
	t.AuthTypes = apis[t.APIs[0]].AuthTypes
	if c.one(4) {
		t.APIs, t.Draft = nil, true
	}
	return t
}

// change makes a change of terms that one side may make.
func (c chance) change(k sync.Kind, t sync.Terms) sync.Terms {
	t = t.Clone()
	for range c.IntN(4) {
		other := c.terms(k, c.IntN(50))
		switch c.IntN(6) {
		case 0:
			t.Name = other.Name
		case 1:
			t.Rate, t.Per = other.Rate, other.Per
		case 2:
			t.Quota, t.QuotaRenewal = other.Quota, other.QuotaRenewal
		case 3:
			t.KeyExpiresIn = other.KeyExpiresIn
		case 4:
			t.MetaData = other.MetaData
		case 5:
			t.APIs, t.AuthTypes, t.Draft = other.APIs, other.AuthTypes, other.Draft
		}
	}
	return t
}

// state makes a state after any events.
func (c chance) state() sync.State {
	s := sync.State{APIs: apis, Tags: pick(c, nil, []string{"x"})}
	policy := func(p sync.Policy) {
		if c.one(8) {
			p.Kind = pick(c, sync.KindNone, sync.KindProduct, sync.KindPlan)
			p.Terms = c.terms(max(p.Kind, 1), c.IntN(50))
		}
		if !p.Terms.Draft || p.Kind != sync.KindProduct {
			p.Mark = ""
		}
		s.Policies = append(s.Policies, p)
	}
	for i := range c.IntN(7) {
		k := pick(c, sync.KindProduct, sync.KindPlan)
		r := sync.Record{Kind: k, CID: cid(i), Deleted: c.one(6), Terms: c.terms(k, i)}
		agreed := c.terms(k, i)
		if c.one(4) { // without a policy
			if c.one(3) {
				policy(sync.Policy{Ref: sync.Ref{ObjectID: oid(100 + i)}, Kind: k, Terms: attempt(s, r, pick(c, r.Terms.Name, "another"))})
			}
			if c.one(3) {
				r.Terms.APIs = nil
			}
			s.Records = append(s.Records, r)
			continue
		}
		r.Generation, r.Hidden, r.Agreed = c.IntN(3), c.one(5), &agreed
		r.Ref = sync.Ref{ObjectID: oid(i), ID: pick(c, "", fmt.Sprint("gold", i))}
		r.Terms = c.change(k, agreed)
		if k == sync.KindProduct && c.one(8) {
			r.Terms.APIs = []string{pick(c, "gone", "p")}
		}
		s.Records = append(s.Records, r)
		if !c.one(6) {
			p := sync.Policy{Ref: r.Ref, Kind: k, Terms: c.change(k, agreed), Mark: pick(c, "", "", r.CID)}
			p.ID = pick(c, p.ID, p.ID, fmt.Sprint("renamed", i))
			if c.one(8) {
				p.ObjectID = oid(200 + i) // created again
			}
			policy(p)
		}
		if c.one(4) {
			policy(sync.Policy{Ref: sync.Ref{ObjectID: oid(300 + i)}, Kind: k, Terms: attempt(s, r, r.Terms.Name+pick(c, " 2", " 3", ""))})
		}
		if c.one(4) {
			t := c.terms(sync.KindProduct, 80+i)
			t.Draft, t.APIs = true, nil
			policy(sync.Policy{Ref: sync.Ref{ObjectID: oid(400 + i)}, Kind: sync.KindProduct, Terms: t, Mark: r.CID})
		}
	}
	for i := range c.IntN(4) {
		k := pick(c, sync.KindNone, sync.KindProduct, sync.KindPlan)
		policy(sync.Policy{Ref: sync.Ref{ObjectID: oid(500 + i), ID: pick(c, "", "foreign")}, Kind: k, Terms: c.terms(max(k, 1), 90+i)})
	}
	ids, names := map[string]bool{}, map[string]bool{} // dashboards keep custom identifiers and names unique
	for i := range s.Policies {
		p := &s.Policies[i]
		if ids[p.ID] {
			p.ID = ""
		}
		for n := 1000; names[p.Terms.Name]; n++ {
			p.Terms.Name = fmt.Sprint("renamed ", n)
		}
		ids[p.ID], names[p.Terms.Name] = true, true
	}
	c.Shuffle(len(s.Policies), func(i, j int) { s.Policies[i], s.Policies[j] = s.Policies[j], s.Policies[i] })
	return s
}

// attempt returns the terms of a policy created for a record.
func attempt(s sync.State, r sync.Record, name string) sync.Terms {
	t := r.Terms.Clone()
	t.Name, t.Tags, t.Draft, t.AuthTypes = name, slices.Clone(s.Tags), false, nil
	for _, id := range t.APIs[:min(len(t.APIs), 1)] {
		t.AuthTypes = apis[id].AuthTypes
	}
	return t
}

// given returns a state after the dashboard has assigned _ids to new policies, and their
// records have stored them.
func given(s sync.State) sync.State {
	s.Records, s.Policies = slices.Clone(s.Records), slices.Clone(s.Policies)
	refs, before := map[string]sync.Ref{}, map[string]int{} // by the CID of the record
	for i := range s.Policies {
		p := &s.Policies[i]
		if cid, _, ok := strings.Cut(p.ObjectID, " "); ok {
			before[cid]++
		}
		if p.For != "" {
			p.Ref = sync.Ref{ObjectID: fmt.Sprint(p.For, " ", before[p.For]+1)}
			refs[p.For], p.For = p.Ref, ""
		}
	}
	for i := range s.Records {
		if r := &s.Records[i]; r.Agreed != nil && r.Ref == (sync.Ref{}) {
			r.Ref = refs[r.CID]
		}
	}
	return s
}

// equal compares states; empty and absent lists are the same.
func equal(a, b sync.State) bool { return text(a) == text(b) }

func text(s sync.State) string {
	b, err := json.Marshal(struct {
		R []sync.Record
		P []sync.Policy
	}{s.Records, s.Policies})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// checkLaws tests the laws of synchronisation for one state.
func checkLaws(t *testing.T, have sync.State) {
	t.Helper()
	before := text(have)
	want, problems := sync.Want(have)
	steps := sync.Plan(have, want)
	if got := sync.Apply(have, steps...); !equal(got, want) {
		t.Fatalf("the plan leads elsewhere:\nhave %s\ngot  %s\nwant %s\n%+v", text(have), text(got), text(want), steps)
	}
	again, _ := sync.Want(given(want))
	if more := sync.Plan(given(want), again); len(more) > 0 {
		t.Fatalf("planning again finds %+v\nhave %s\nwant %s", more, text(have), text(want))
	}
	differences := sync.Differences(have, want)
	if (len(differences) == 0) != (len(steps) == 0) {
		t.Fatalf("%d differences, %d steps: %+v\n%+v\nhave %s", len(differences), len(steps), differences, steps, text(have))
	}
	if text(have) != before {
		t.Fatal("the state was changed")
	}
	w2, p2 := sync.Want(have)
	if !reflect.DeepEqual(w2, want) || !reflect.DeepEqual(p2, problems) || !reflect.DeepEqual(sync.Plan(have, w2), steps) {
		t.Fatal("the plan depends on chance")
	}
	if shares(have) {
		return // which of two records gets the policy may depend on which one still exists
	}
	// The next run repairs the result of a run that stops at any step.
	for k := range steps {
		s := given(sync.Apply(have, steps[:k]...))
		w, _ := sync.Want(s)
		end := given(sync.Apply(s, sync.Plan(s, w)...))
		if !equal(named(end), named(given(want))) {
			t.Fatalf("after %d of %d steps: %s\nwant %s\nhave %s\nsteps %+v", k, len(steps), text(end), text(want), text(have), steps)
		}
	}
}

// shares reports whether two records refer to one policy, which happens only after a fault.
func shares(s sync.State) bool {
	seen := map[string]bool{"": true}
	for _, r := range s.Records {
		if r.Ref.ObjectID != "" && seen[r.Ref.ObjectID] {
			return true
		}
		seen[r.Ref.ObjectID] = true
	}
	return false
}

// named returns the state without the numbers in names of successors, which depend on the
// existing names when a successor is created.
func named(s sync.State) sync.State {
	s.Records, s.Policies = slices.Clone(s.Records), slices.Clone(s.Policies)
	for i := range s.Records {
		r := &s.Records[i]
		if r.Generation > 1 && r.Agreed != nil {
			a := r.Agreed.Clone()
			a.Name, r.Terms.Name, r.Agreed = "", "", &a
		}
	}
	for i := range s.Policies {
		s.Policies[i].Terms.Name = ""
	}
	return s
}

func TestLaws(t *testing.T) {
	for seed := range uint64(2000) {
		c := seeded(seed)
		s := c.state()
		if len(s.Records) > 1 && s.Records[0].Agreed != nil && s.Records[1].Agreed != nil && c.one(10) {
			s.Records[1].Ref = s.Records[0].Ref
		}
		checkLaws(t, s)
		if t.Failed() {
			t.Fatal("seed", seed)
		}
	}
}

func FuzzLaws(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkLaws(t, seeded(seed).state()) })
}
