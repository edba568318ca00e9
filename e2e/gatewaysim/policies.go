package gatewaysim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// Policy is the visible part of a policy that a gateway has loaded.
type Policy struct {
	OrgID string
	ID    string // the only name for references: id, else _id
	Name  string
}

// policyKey identifies a policy: ids are scoped by organisation.
type policyKey struct{ org, id string }

// policy is the part of a policy that a decision needs.
type policy struct {
	ObjectID   string `json:"_id"`
	ID         string
	OrgID      string `json:"org_id"`
	Name       string
	IsInactive bool `json:"is_inactive"`
	Limit
	AccessRights map[string]right `json:"access_rights"` // by api_id
	Tags         []string
	MetaData     map[string]any `json:"meta_data"`
	Partitions   struct {
		ACL       bool `json:"acl"`
		RateLimit bool `json:"rate_limit"`
		Quota     bool `json:"quota"`
		PerAPI    bool `json:"per_api"`
		// Complexity is the depth of GraphQL queries, which is not checked here.
		Complexity bool `json:"complexity"`
	}
}

// right is the part of an access definition that a decision needs.
type right struct {
	Access
	Limit *Limit
}

// parsePolicies decodes the Message of /system/policies, which must be a list, and
// appends the local ones. One wrong type or bad _id refuses the whole feed. Entries
// without any id are dropped; of two with one id the later wins
// (docs/wire/feeds.md#policies).
func parsePolicies(message json.RawMessage, local []json.RawMessage) (map[policyKey]*policy, error) {
	var entries []json.RawMessage
	if len(message) > 0 {
		if err := json.Unmarshal(message, &entries); err != nil {
			return nil, err
		}
	}
	loaded := map[policyKey]*policy{}
	for i, raw := range slices.Concat(entries, local) {
		var p policy
		if err := policyShape.check(raw); err != nil {
			return nil, fmt.Errorf("policy %d: %w", i, err)
		}
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, fmt.Errorf("policy %d: %w", i, err)
		}
		if id := cmp.Or(p.ID, p.ObjectID); id != "" {
			loaded[policyKey{p.OrgID, id}] = &p
		}
	}
	return loaded, nil
}

func listPolicies(loaded map[policyKey]*policy) []Policy {
	list := make([]Policy, 0, len(loaded))
	for key, p := range loaded {
		list = append(list, Policy{OrgID: key.org, ID: key.id, Name: p.Name})
	}
	slices.SortFunc(list, func(a, b Policy) int {
		return cmp.Or(cmp.Compare(a.OrgID, b.OrgID), cmp.Compare(a.ID, b.ID))
	})
	return list
}
