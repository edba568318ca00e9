// Package policies holds the use cases around policies (docs/wire/policies.md).
package policies

import (
	"context"
	"iter"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Names of the indexes of a policy.
const (
	byPolicyID = "id"
	byName     = "name"
	byAPI      = "api_id" // of every API that the policy gives access to
)

// A policy that gives access to more than broad APIs is indexed only once, under
// anyAPI. Otherwise the writer would have to write thousands of index rows. A lookup by
// API also reads the few policies that are so broad.
const (
	broad  = 256
	anyAPI = "/any"
)

// naming yields the policies that give access to an API.
func naming(ctx context.Context, r store.Reader, apiID string) iter.Seq2[store.Stored[policy.Policy], error] {
	return func(yield func(store.Stored[policy.Policy], error) bool) {
		for _, value := range []string{store.Indexed(apiID), anyAPI} {
			for p, err := range Kind.Find(ctx, r, store.Query{Index: byAPI, Value: value}) {
				if err == nil && !slices.Contains(p.Value.APIs(), apiID) {
					continue
				}
				if !yield(p, err) || err != nil {
					return
				}
			}
		}
	}
}

// Kind is the kind of policies.
var Kind = &store.Kind[policy.Policy]{
	Name: policy.Kind, Noun: "policy", Alias: byPolicyID, Load: policy.Load, Shared: true, Over: policy.Policy.Over,
	ID:  policy.Policy.ID,
	Org: func(p policy.Policy) tenant.ID { return p.OrgID() },
	Indexes: []store.Index[policy.Policy]{
		store.Unique(byPolicyID, "ID", policy.Policy.PolicyID),
		store.Unique(byName, "name", func(p policy.Policy) string { return store.Indexed(p.Name()) }),
		{Name: byAPI, Values: func(p policy.Policy) (values []string) {
			if len(p.APIs()) > broad {
				return []string{anyAPI}
			}
			for _, id := range p.APIs() {
				if id != "" {
					values = append(values, store.Indexed(id))
				}
			}
			return values
		}},
	},
}
