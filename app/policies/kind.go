// Package policies holds the use cases around policies (contract dashboard.md 8).
package policies

import (
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Names of the indexes of a policy.
const (
	byPolicyID = "id"
	byName     = "name"
	byAPI      = "api_id" // of every API it gives access to
)

// Kind is where policies are kept.
var Kind = &store.Kind[policy.Policy]{
	Name: policy.Kind, Noun: "policy", Alias: byPolicyID, Load: policy.Load, Shared: true,
	ID:  policy.Policy.ID,
	Org: func(p policy.Policy) tenant.ID { return p.OrgID() },
	Indexes: []store.Index[policy.Policy]{
		store.Unique(byPolicyID, "ID", policy.Policy.PolicyID),
		store.Unique(byName, "name", func(p policy.Policy) string { return store.Indexed(p.Name()) }),
		{Name: byAPI, Values: func(p policy.Policy) (values []string) {
			for _, id := range p.APIs() {
				if id != "" {
					values = append(values, store.Indexed(id))
				}
			}
			return values
		}},
	},
}
