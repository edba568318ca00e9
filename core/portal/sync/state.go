// Package sync keeps the records of a portal and the policies of a dashboard in step
// (docs/wire/portal-sync.md). It is pure: both sides come in as values, what both should
// be is worked out, and the difference is a plan.
package sync

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Kind is what a policy is to a portal.
type Kind uint8

// The kinds. A policy that is neither is not the portal's business.
const (
	KindNone    Kind = iota
	KindProduct      // gives access to APIs
	KindPlan         // sets limits
)

// String returns the kind as faults and reports say it.
func (k Kind) String() string { return [...]string{"none", "product", "plan"}[k] }

// Ref says which policy of a dashboard is meant.
type Ref struct {
	ObjectID string `json:"object_id,omitempty"` // _id, which never changes; "" until the dashboard has told it
	ID       string `json:"id,omitempty"`        // the custom identifier
}

// Name returns how others name the policy: mappings of scopes, keys, people. That is its
// custom identifier, and _id only when a dashboard keeps none.
func (r Ref) Name() string { return cmp.Or(r.ID, r.ObjectID) }

// Terms are what a record of the portal and its policy both hold.
type Terms struct {
	Name string   `json:"name"`
	Tags []string `json:"tags,omitempty"`

	// Of a product.
	APIs      []string `json:"apis,omitempty"` // sorted
	AuthTypes []string `json:"auth_types,omitempty"`
	Draft     bool     `json:"draft,omitempty"` // keys do not work; a draft offers no APIs

	// Of a plan. -1 is unlimited.
	Rate         int64           `json:"rate,omitempty"`
	Per          float64         `json:"per,omitempty"`
	Quota        int64           `json:"quota,omitempty"`
	QuotaRenewal int64           `json:"quota_renewal,omitempty"`
	KeyExpiresIn int64           `json:"key_expires_in,omitempty"`
	MetaData     json.RawMessage `json:"meta_data,omitempty"` // an object; absent: an empty one
}

// Clone returns an independent copy.
func (t Terms) Clone() Terms {
	t.Tags, t.APIs, t.AuthTypes, t.MetaData = slices.Clone(t.Tags), slices.Clone(t.APIs), slices.Clone(t.AuthTypes), slices.Clone(t.MetaData)
	return t
}

// Record is a product or a plan as far as synchronisation needs it.
type Record struct {
	Kind  Kind
	CID   string // its identity; "" of one that is about to be made
	Ref   Ref
	Terms Terms
	// Agreed is what both sides held when they last agreed: a difference from it tells
	// which side has changed. nil: the record has had no policy yet.
	Agreed     *Terms
	Generation int // how many policies the portal has made for it
	Hidden     bool
	Deleted    bool // by an administrator; its policy may still be there
}

// Key returns by what steps and reports name the record.
func (r Record) Key() string { return cmp.Or(r.CID, r.Ref.ObjectID, r.Ref.ID) }

// Pending reports whether the portal has changed what the dashboard has to hear of.
func (r Record) Pending() bool {
	if r.Agreed == nil {
		return !r.Deleted && (r.Kind != KindProduct || len(r.Terms.APIs) > 0)
	}
	for _, f := range byKind[r.Kind] {
		if f.Direction == Both && !f.same(&r.Terms, r.Agreed) {
			return true
		}
	}
	return r.Deleted
}

// Policy is a policy of the dashboard as far as synchronisation needs it.
type Policy struct {
	Ref
	// For is the CID of the record that the policy is to be made for; "" of one that is
	// there. The dashboard chooses both names of what it makes.
	For   string
	Kind  Kind
	Terms Terms
	// Mark is the CID of the product that left this draft behind; such a policy is never
	// imported. A policy that is a draft no more has no mark.
	Mark string
	// Stale says that it names APIs, none of which exists. They may be MCP proxies that the
	// user cannot see: such a policy is never imported.
	Stale bool
}

// key is by what policies are told apart.
func (p Policy) key() string { return cmp.Or(p.ObjectID, "for "+p.For) }

// API is what the portal wants to know of an API.
type API struct {
	ID, Name           string
	ListenPath, Target string
	Active             bool
	AuthTypes          []string // sorted
	Proxy              bool     // an MCP proxy, which no portal shows
}

// State is both sides.
type State struct {
	Records  []Record // in order of the portal
	Policies []Policy // in order of the dashboard
	APIs     Index
	Tags     []string // PoliciesTags of the provider: policies that the portal makes get them
}

// UnreadProxies stands in a list for the MCP proxies that the provider's user may not read:
// an API that the list does not have may then be one of them.
var UnreadProxies = API{Proxy: true}

// Index is the APIs of a dashboard by identifier.
type Index map[string]API

// NewIndex returns the index of a list.
func NewIndex(list []API) Index {
	out := make(Index, len(list))
	for _, a := range list {
		out[a.ID] = a
	}
	return out
}

// methods returns the authentication methods of APIs, sorted.
func (x Index) methods(ids []string) []string {
	var out []string
	for _, id := range ids {
		out = append(out, x[id].AuthTypes...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
