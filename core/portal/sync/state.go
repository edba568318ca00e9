// Package sync synchronises the records of a portal with the policies of a dashboard
// (docs/wire/portal-sync.md). It is pure: it gets both sides as values, computes the wanted
// state of both, and returns the difference as a plan.
package sync

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Kind is the kind of a policy for a portal.
type Kind uint8

// The kinds. The portal ignores policies of KindNone.
const (
	KindNone    Kind = iota
	KindProduct      // gives access to APIs
	KindPlan         // sets limits
)

// String returns the kind in faults and reports.
func (k Kind) String() string { return [...]string{"none", "product", "plan"}[k] }

// Ref identifies a policy of a dashboard.
type Ref struct {
	ObjectID string `json:"object_id,omitempty"` // _id, which never changes; "" until known from the dashboard
	ID       string `json:"id,omitempty"`        // the custom identifier
}

// Name returns the identifier by which mappings of scopes, keys and users refer to the policy:
// its custom identifier, or _id if the dashboard does not keep custom ones.
func (r Ref) Name() string { return cmp.Or(r.ID, r.ObjectID) }

// Terms are the common values of a record of the portal and its policy.
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

// Record is the data of a product or a plan for synchronisation.
type Record struct {
	Kind  Kind
	CID   string // its identity; "" if it is about to be created
	Ref   Ref
	Terms Terms
	// Agreed is the values on which both sides last agreed: a difference from them shows which
	// side has changed. nil: the record has had no policy yet.
	Agreed     *Terms
	Generation int // number of policies that the portal has created for it
	Hidden     bool
	Deleted    bool // by an administrator; its policy may still exist
}

// Key returns the identifier of the record in steps and reports.
func (r Record) Key() string { return cmp.Or(r.CID, r.Ref.ObjectID, r.Ref.ID) }

// Pending reports whether the portal has changes for the dashboard.
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

// Policy is the data of a policy of the dashboard for synchronisation.
type Policy struct {
	Ref
	// For is the CID of the record for which the policy is to be created; "" for an existing
	// policy. The dashboard sets both identifiers of a new policy.
	For   string
	Kind  Kind
	Terms Terms
	// Mark is the CID of the product that left this draft behind. Such a policy is never
	// imported. A policy that is not a draft any more has no mark.
	Mark string
	// Stale says that the policy names APIs, but none of them exists. They may be MCP proxies
	// that the user cannot see, so such a policy is never imported.
	Stale bool
}

// key returns a unique identifier of the policy.
func (p Policy) key() string { return cmp.Or(p.ObjectID, "for "+p.For) }

// API is the data of an API for the portal.
type API struct {
	ID, Name           string
	ListenPath, Target string
	Active             bool
	AuthTypes          []string // sorted
	Proxy              bool     // an MCP proxy, which portals do not show
}

// State is the state of both sides.
type State struct {
	Records  []Record // in order of the portal
	Policies []Policy // in order of the dashboard
	APIs     Index
	Tags     []string // PoliciesTags of the provider: new policies get them
}

// UnreadProxies is an entry for the MCP proxies that the provider's user may not read: an API
// that is missing in the list may be one of them.
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
