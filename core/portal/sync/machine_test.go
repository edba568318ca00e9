package sync_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/sync"
)

// lives and events are all states and events.
var (
	lives  = []sync.Life{sync.Unmade, sync.Active, sync.Draft, sync.Hidden, sync.HiddenDraft, sync.Gone}
	events = []sync.Event{sync.Wanted, sync.Emptied, sync.Filled, sync.FilledOther, sync.Removed, sync.Missed, sync.Found}
)

// TestMachine compares the table for all states and events: an unlisted event changes nothing.
func TestMachine(t *testing.T) {
	want := map[sync.Life]map[sync.Event]string{
		sync.Unmade:      {sync.Wanted: "active: make", sync.Filled: "active: make", sync.FilledOther: "active: make", sync.Removed: "deleted: nothing"},
		sync.Active:      {sync.Emptied: "draft: deactivate", sync.Filled: "active: rewrite", sync.FilledOther: "active: rewrite", sync.Removed: "deleted: delete", sync.Missed: "hidden: hide"},
		sync.Draft:       {sync.Filled: "active: reactivate", sync.FilledOther: "active: succeed", sync.Removed: "deleted: delete", sync.Missed: "hidden draft: hide"},
		sync.Hidden:      {sync.Found: "active: restore", sync.Removed: "deleted: delete"},
		sync.HiddenDraft: {sync.Found: "draft: restore", sync.Removed: "deleted: delete"},
		sync.Gone:        {},
	}
	for _, l := range lives {
		for _, e := range events {
			expected, listed := want[l][e]
			if !listed {
				expected = l.String() + ": nothing"
			}
			if m := sync.Next(l, e); m.To.String()+": "+m.Effect.String() != expected {
				t.Errorf("%s, %s: %s: %s; want %s", l, e, m.To, m.Effect, expected)
			}
		}
	}
}

// TestKeysOfAProduct: what happens to keys that were made while a product was active for the
// first time.
func TestKeysOfAProduct(t *testing.T) {
	for name, c := range map[string]struct {
		apis       [][]string // sets of APIs, one after the other
		policies   int
		firstWorks bool // keys of the first policy
	}{
		"never empty":                     {[][]string{{"a"}}, 1, true},
		"other APIs":                      {[][]string{{"a"}, {"b"}}, 1, true},
		"all APIs removed":                {[][]string{{"a"}, nil}, 1, false},
		"back with the same":              {[][]string{{"a"}, nil, {"a"}}, 1, true},
		"back with others, same method":   {[][]string{{"a"}, nil, {"b"}}, 1, true},
		"back with another method":        {[][]string{{"a"}, nil, {"c"}}, 2, false},
		"and away again":                  {[][]string{{"a"}, nil, {"c"}, nil}, 2, false},
		"and back with the first method":  {[][]string{{"a"}, nil, {"c"}, nil, {"a"}}, 3, false},
		"another method without a pause":  {[][]string{{"a"}, {"c"}}, 1, true},
		"removed twice is removed once":   {[][]string{{"a"}, nil, nil}, 1, false},
		"an API of each method, no pause": {[][]string{{"a"}, {"a", "c"}}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := sync.State{APIs: apis, Records: []sync.Record{{Kind: sync.KindProduct, CID: cid(1), Terms: sync.Terms{Name: "Gold"}}}}
			for _, set := range c.apis {
				s.Records[0].Terms.APIs = set
				want, problems := sync.Want(s)
				if s = given(sync.Apply(s, sync.Plan(s, want)...)); len(problems) > 0 {
					t.Fatal(problems)
				}
			}
			first := s.Policies[0]
			if works := !first.Terms.Draft; works != c.firstWorks || len(s.Policies) != c.policies {
				t.Errorf("%d policies, keys of the first work: %v", len(s.Policies), works)
			}
			names := map[string]bool{}
			for i, p := range s.Policies {
				if names[p.Terms.Name] {
					t.Errorf("two policies are called %s", p.Terms.Name)
				}
				names[p.Terms.Name] = true
				if left := i < len(s.Policies)-1; left != (p.Mark == cid(1)) || left && !p.Terms.Draft {
					t.Errorf("policy %d: mark %q, draft %v", i, p.Mark, p.Terms.Draft)
				}
			}
			r := s.Records[0]
			if last := s.Policies[len(s.Policies)-1]; r.Ref != last.Ref || r.Life().KeysWork() == last.Terms.Draft || len(s.Records) != 1 {
				t.Errorf("%+v, policy %+v", s.Records, last)
			}
			// The provider is configured again: the draft left behind is not a product.
			s.Records = nil
			want, _ := sync.Want(s)
			if len(want.Records) != 1 || want.Records[0].CID != "" || want.Records[0].Ref != r.Ref {
				t.Errorf("imported %+v", want.Records)
			}
		})
	}
}

// TestDeletion: all policies that were created for a product are deleted with it.
func TestDeletion(t *testing.T) {
	s := sync.State{APIs: apis, Records: []sync.Record{{Kind: sync.KindProduct, CID: cid(1), Terms: sync.Terms{Name: "Gold"}}}}
	for _, set := range [][]string{{"a"}, nil, {"c"}} {
		s.Records[0].Terms.APIs = set
		want, _ := sync.Want(s)
		s = given(want)
	}
	s.Policies = append(s.Policies, sync.Policy{Ref: sync.Ref{ObjectID: oid(9)}, Kind: sync.KindNone, Terms: sync.Terms{Name: "other"}})
	s.Records[0].Deleted = true
	want, problems := sync.Want(s)
	if len(problems) > 0 || len(want.Records) > 0 || len(want.Policies) != 1 || want.Policies[0].Terms.Name != "other" {
		t.Errorf("%+v, %v", want, problems)
	}
}
