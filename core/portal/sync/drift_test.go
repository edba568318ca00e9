package sync_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/sync"
)

// agreed returns a state in which both sides agree, with three products and three plans.
func agreed(c chance) sync.State {
	s := sync.State{APIs: apis}
	for i := range 6 {
		k := []sync.Kind{sync.KindProduct, sync.KindPlan}[i%2]
		t := c.terms(k, i)
		if k == sync.KindProduct {
			t.APIs, t.AuthTypes, t.Draft = []string{"a"}, []string{"authToken"}, false
		}
		base := t.Clone()
		r := sync.Record{Kind: k, CID: cid(i), Ref: sync.Ref{ObjectID: oid(i), ID: fmt.Sprint("policy-", i)}, Terms: t, Agreed: &base}
		s.Records = append(s.Records, r)
		s.Policies = append(s.Policies, sync.Policy{Ref: r.Ref, Kind: k, Terms: t.Clone()})
	}
	return s
}

// seeds are ways to cause each kind of drift, at the record and policy with an index.
var seeds = []struct {
	drift sync.Drift
	cause sync.Cause
	of    sync.Kind // KindNone: both kinds
	sow   func(s *sync.State, i int)
}{
	{sync.DriftGone, sync.InDashboard, 0, func(s *sync.State, i int) { s.Policies[i].Kind = sync.KindNone }},
	{sync.DriftReturned, sync.InDashboard, 0, func(s *sync.State, i int) { s.Records[i].Hidden = true }},
	{sync.DriftUnknown, sync.InDashboard, 0, func(s *sync.State, i int) {
		p := s.Policies[i]
		p.Ref, p.Terms.Name = sync.Ref{ObjectID: oid(100 + i), ID: fmt.Sprint("new-", i)}, "new"
		s.Policies = append(s.Policies, p)
	}},
	{sync.DriftUnmade, sync.InPortal, 0, func(s *sync.State, i int) {
		r := s.Records[i]
		r.CID, r.Ref, r.Agreed = cid(100+i), sync.Ref{}, nil
		s.Records = append(s.Records, r)
	}},
	{sync.DriftUnmade, sync.Interrupted, 0, func(s *sync.State, i int) {
		r := s.Records[i]
		r.Terms = r.Terms.Clone()
		r.CID, r.Ref, r.Agreed, r.Terms.Name, r.Terms.Tags = cid(200+i), sync.Ref{}, nil, fmt.Sprint("attempted ", i), nil
		s.Records = append(s.Records, r)
		s.Policies = append(s.Policies, sync.Policy{Ref: sync.Ref{ObjectID: oid(200 + i)}, Kind: r.Kind, Terms: r.Terms})
	}},
	{sync.DriftUndeleted, sync.InPortal, 0, func(s *sync.State, i int) { s.Records[i].Deleted = true }},
	{sync.DriftUndeleted, sync.Interrupted, sync.KindProduct, func(s *sync.State, i int) {
		p := s.Policies[i]
		p.Ref, p.Mark, p.Terms.APIs, p.Terms.Draft = sync.Ref{ObjectID: oid(300 + i)}, cid(i), nil, true
		s.Records[i].Deleted = true
		s.Policies = append(s.Policies, p)
	}},
	{sync.DriftName, sync.InDashboard, 0, func(s *sync.State, i int) { s.Policies[i].Terms.Name = "elsewhere" }},
	{sync.DriftName, sync.InPortal, 0, func(s *sync.State, i int) { s.Records[i].Terms.Name = "here" }},
	{sync.DriftName, sync.Interrupted, 0, func(s *sync.State, i int) {
		s.Records[i].Terms.Name, s.Policies[i].Terms.Name = "both", "both"
	}},
	{sync.DriftLabels, sync.InDashboard, 0, func(s *sync.State, i int) { s.Policies[i].Terms.Tags = []string{"z"} }},
	{sync.DriftLabels, sync.InDashboard, 0, func(s *sync.State, i int) { s.Policies[i].ID = fmt.Sprint("renamed-", i) }},
	{sync.DriftAccess, sync.InDashboard, sync.KindProduct, func(s *sync.State, i int) { s.Policies[i].Terms.APIs = []string{"a", "b"} }},
	{sync.DriftAccess, sync.InPortal, sync.KindProduct, func(s *sync.State, i int) { s.Records[i].Terms.APIs = []string{"b"} }},
	{sync.DriftState, sync.InDashboard, sync.KindProduct, func(s *sync.State, i int) {
		s.Policies[i].Terms.APIs, s.Policies[i].Terms.Draft = nil, true
	}},
	{sync.DriftState, sync.InPortal, sync.KindProduct, func(s *sync.State, i int) { s.Records[i].Terms.APIs = nil }},
	{sync.DriftLimits, sync.InDashboard, sync.KindPlan, func(s *sync.State, i int) { s.Policies[i].Terms.Rate = 77 }},
	{sync.DriftLimits, sync.InPortal, sync.KindPlan, func(s *sync.State, i int) { s.Records[i].Terms.Quota = 77 }},
	{sync.DriftExpiry, sync.InDashboard, sync.KindPlan, func(s *sync.State, i int) { s.Policies[i].Terms.KeyExpiresIn = 77 }},
	{sync.DriftExpiry, sync.InPortal, sync.KindPlan, func(s *sync.State, i int) { s.Records[i].Terms.KeyExpiresIn = 77 }},
	{sync.DriftMetaData, sync.InDashboard, sync.KindPlan, func(s *sync.State, i int) {
		s.Policies[i].Terms.MetaData = json.RawMessage(`{"z":1}`)
	}},
	{sync.DriftMetaData, sync.InPortal, sync.KindPlan, func(s *sync.State, i int) {
		s.Records[i].Terms.MetaData = json.RawMessage(`{"z":1}`)
	}},
}

// TestDrift causes random drift, and requires that all of it is reported with its cause, that
// one pass repairs it, and that a second pass finds nothing.
func TestDrift(t *testing.T) {
	type told struct {
		drift sync.Drift
		cause sync.Cause
	}
	all := map[told]int{}
	kinds := map[sync.Drift]int{}
	for seed := range uint64(2000) {
		c := seeded(seed)
		s := agreed(c)
		if want, problems := sync.Want(s); len(sync.Plan(s, want)) > 0 || len(problems) > 0 {
			t.Fatal("both sides agree, but", sync.Differences(s, want), problems)
		}
		sown := map[told]int{}
		for i, at := range c.Perm(6)[:1+c.IntN(6)] { // one per record at most, because two can hide each other
			sow := seeds[(int(seed)*7+i*5)%len(seeds)]
			if sow.of != sync.KindNone && sow.of != s.Records[at].Kind {
				continue
			}
			sow.sow(&s, at)
			sown[told{sow.drift, sow.cause}]++
		}
		want, problems := sync.Want(s)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		found := map[told]int{}
		for _, d := range sync.Differences(s, want) {
			found[told{d.Drift, d.Cause}]++
		}
		for k, n := range sown {
			if all[k] += n; found[k] < n {
				t.Fatalf("seed %d: %d × %s (%s) sown, %v found", seed, n, k.drift, k.cause, found)
			}
			kinds[k.drift] += n
		}
		repaired := given(sync.Apply(s, sync.Plan(s, want)...))
		again, _ := sync.Want(repaired)
		if d := sync.Differences(repaired, again); len(d) > 0 || len(sync.Plan(repaired, again)) > 0 {
			t.Fatalf("seed %d: a second pass finds %+v", seed, d)
		}
	}
	if len(kinds) != 12 {
		t.Errorf("tried %v", slices.Sorted(maps.Keys(kinds)))
	}
	for _, sow := range seeds {
		if n := all[told{sow.drift, sow.cause}]; n < 50 {
			t.Errorf("%s (%s) was sown %d times", sow.drift, sow.cause, n)
		}
	}
}

// TestProblems: an error about one record does not affect others.
func TestProblems(t *testing.T) {
	s := agreed(seeded(1))
	s.Records[0].Terms.APIs = []string{"gone"}
	s.Records[2].Terms.APIs = []string{"p"}
	s.Records[3].Ref = s.Records[1].Ref
	s.Records[5].Terms.KeyExpiresIn = 99
	want, problems := sync.Want(s)
	codes := map[string]int{}
	for _, p := range problems {
		codes[p.Fault.Code]++
	}
	if !maps.Equal(codes, map[string]int{sync.CodeAPI: 2, sync.CodeShared: 1}) {
		t.Error(codes)
	}
	if s = sync.Apply(s, sync.Plan(s, want)...); s.Policies[5].Terms.KeyExpiresIn != 99 {
		t.Error("the other plan was not written")
	}
	if slices.Contains(s.Policies[0].Terms.APIs, "gone") || slices.Contains(s.Policies[2].Terms.APIs, "p") {
		t.Error("a policy gives access to what is not for portals")
	}
}

// TestKindChanges: a policy that changes its kind, and back, has one record of each kind. The
// other record is hidden meanwhile, and there is no problem.
func TestKindChanges(t *testing.T) {
	s := agreed(seeded(1))
	s.Records, s.Policies = s.Records[:1], s.Policies[:1]
	for _, kind := range []sync.Kind{sync.KindPlan, sync.KindProduct, sync.KindPlan, sync.KindProduct} {
		s.Policies[0].Kind = kind
		want, problems := sync.Want(s)
		if len(problems) > 0 {
			t.Errorf("%v: %v", kind, problems[0].Fault)
		}
		s = sync.Apply(s, sync.Plan(s, want)...)
		for _, r := range s.Records {
			if r.Hidden == (r.Kind == kind) {
				t.Errorf("%v: the record of kind %v is hidden: %v", kind, r.Kind, r.Hidden)
			}
		}
		for i := range s.Records {
			s.Records[i].CID = cid(i)
		}
		if again, problems := sync.Want(s); len(problems) > 0 || len(sync.Differences(s, again)) > 0 {
			t.Errorf("%v: a second pass finds %v %v", kind, problems, sync.Differences(s, again))
		}
	}
	if len(s.Records) != 2 || len(s.Policies) != 1 {
		t.Errorf("%d records, %d policies", len(s.Records), len(s.Policies))
	}
}

// TestEarlierAttempt: a record without a policy takes the policy of an earlier attempt if that
// equals the one to be created, and no other.
func TestEarlierAttempt(t *testing.T) {
	terms := sync.Terms{Name: "Gold", Tags: []string{"x"}, APIs: []string{"a", "b"}, AuthTypes: []string{"authToken"}}
	for name, c := range map[string]struct {
		change func(r *sync.Record, p *sync.Policy)
		taken  bool
	}{
		"as it would be":             {func(*sync.Record, *sync.Policy) {}, true},
		"another name":               {func(_ *sync.Record, p *sync.Policy) { p.Terms.Name = "Gold 2" }, false},
		"other APIs":                 {func(_ *sync.Record, p *sync.Policy) { p.Terms.APIs = []string{"a"} }, false},
		"without the tag":            {func(_ *sync.Record, p *sync.Policy) { p.Terms.Tags = nil }, false},
		"other methods":              {func(_ *sync.Record, p *sync.Policy) { p.Terms.AuthTypes = nil }, false},
		"a draft":                    {func(_ *sync.Record, p *sync.Policy) { p.Terms.Draft = true }, false},
		"left by another product":    {func(_ *sync.Record, p *sync.Policy) { p.Terms.Draft, p.Mark = true, cid(2) }, false},
		"of another kind":            {func(_ *sync.Record, p *sync.Policy) { p.Kind = sync.KindPlan }, false},
		"the record wants no policy": {func(r *sync.Record, p *sync.Policy) { r.Terms.APIs, p.Terms.APIs = nil, nil }, false},
	} {
		r := sync.Record{Kind: sync.KindProduct, CID: cid(1), Terms: terms.Clone()}
		p := sync.Policy{Ref: sync.Ref{ObjectID: oid(1)}, Kind: sync.KindProduct, Terms: terms.Clone()}
		c.change(&r, &p)
		s := sync.State{APIs: apis, Tags: []string{"x"}, Records: []sync.Record{r}, Policies: []sync.Policy{p}}
		want, problems := sync.Want(s)
		if taken := want.Records[0].Ref == p.Ref; taken != c.taken || len(problems) > 0 {
			t.Errorf("%s: %+v, %v", name, want.Records, problems)
		}
		// After the record is deleted, the policy is deleted too if it is the record's.
		s.Records[0].Deleted = true
		if want, _ = sync.Want(s); (len(want.Policies) == 0) != c.taken {
			t.Errorf("%s, deleted: %+v", name, want.Policies)
		}
	}
}

// TestImport: order, tags, hiding and restoring, and policies that are never imported.
func TestImport(t *testing.T) {
	s := sync.State{APIs: apis}
	for i, k := range []sync.Kind{sync.KindProduct, sync.KindNone, sync.KindPlan, sync.KindProduct} {
		s.Policies = append(s.Policies, sync.Policy{Ref: sync.Ref{ObjectID: oid(9 - i)}, Kind: k, Terms: sync.Terms{Name: fmt.Sprint(i)}})
	}
	s.Policies = append(s.Policies, sync.Policy{Ref: sync.Ref{ObjectID: oid(50)}, Kind: sync.KindProduct, Terms: sync.Terms{Name: "left", Draft: true}, Mark: cid(7)})
	want, _ := sync.Want(s)
	var names []string
	for _, r := range want.Records {
		names = append(names, r.Terms.Name)
	}
	if !slices.Equal(names, []string{"0", "2", "3"}) {
		t.Errorf("imported %v", names)
	}
	// A missing policy hides its record; the record is restored unchanged.
	s = want
	kept := s.Policies[0]
	s.Policies = s.Policies[1:]
	s.Records[0].Terms.Name = "renamed while it is away"
	want, _ = sync.Want(s)
	if r := want.Records[0]; !r.Hidden || r.Terms.Name != "renamed while it is away" || len(want.Records) != 3 {
		t.Errorf("%+v", want.Records)
	}
	want.Policies = append(want.Policies, kept)
	want, _ = sync.Want(want)
	if r := want.Records[0]; r.Hidden || r.Terms.Name != "renamed while it is away" || len(want.Records) != 3 {
		t.Errorf("%+v", want.Records)
	}
}

func TestRefName(t *testing.T) {
	for _, c := range []struct {
		ref  sync.Ref
		want string
	}{{sync.Ref{ObjectID: "o", ID: "i"}, "i"}, {sync.Ref{ObjectID: "o"}, "o"}, {sync.Ref{ID: "i"}, "i"}} {
		if got := c.ref.Name(); got != c.want {
			t.Errorf("%+v is called %q", c.ref, got)
		}
	}
}

// BenchmarkWant plans 1,000 products and plans without any difference, or with a difference in
// each one.
func BenchmarkWant(b *testing.B) {
	for _, changed := range []bool{false, true} {
		b.Run(fmt.Sprint("changed=", changed), func(b *testing.B) {
			s := sync.State{APIs: apis}
			for i := range 1000 {
				c := agreed(seeded(uint64(i)))
				r, p := c.Records[i%2], c.Policies[i%2]
				r.CID, r.Ref.ObjectID, r.Ref.ID = cid(i), oid(i), fmt.Sprint("p", i)
				if p.Ref = r.Ref; changed {
					r.Terms.Name = fmt.Sprint("changed ", i)
				}
				s.Records, s.Policies = append(s.Records, r), append(s.Policies, p)
			}
			for b.Loop() {
				want, _ := sync.Want(s)
				if n := len(sync.Plan(s, want)); changed != (n > 0) {
					b.Fatal(n)
				}
			}
		})
	}
}

// TestMethodsFollowAPIs: a product has the methods of its APIs, also after they change; the
// methods in a policy stay unchanged.
func TestMethodsFollowAPIs(t *testing.T) {
	s := agreed(seeded(1))
	s.APIs = sync.NewIndex([]sync.API{{ID: "a", Name: "A", AuthTypes: []string{"jwt"}}})
	want, problems := sync.Want(s)
	if len(problems) > 0 || !slices.Equal(want.Records[0].Terms.AuthTypes, []string{"jwt"}) || !slices.Equal(want.Policies[0].Terms.AuthTypes, []string{"authToken"}) {
		t.Errorf("%+v, %+v, %v", want.Records[0], want.Policies[0], problems)
	}
	if again, _ := sync.Want(want); !slices.Equal(again.Records[0].Terms.AuthTypes, []string{"jwt"}) {
		t.Error("wanting again changes the methods")
	}
}
