package idp

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Kinds of records about granted access.
const (
	ClientKind   = "portal-registered-client"
	ApprovalKind = "portal-idp-approval"
	EntryKind    = "portal-idp-entry"
)

// Registered is the client of an app at an identity provider: one client for all products of
// the app.
type Registered struct {
	Portal   tenant.ID `json:"org_id"`
	App, IdP table.ID
	Insecure bool    `json:",omitempty"`
	JWKSURI  string  `json:",omitempty"` // of the provider at the time of registration
	TokenURL string  `json:",omitempty"` // URL where the client gets tokens, likewise; "": unknown
	ClientID string  // "": registration has begun, and its result is unknown
	Attempt  string  `json:",omitempty"` // the claim for which it is being registered
	Claims   []Claim `json:",omitempty"`
	Sealed   string  // the client as last sent by the provider, encrypted
}

// Claim is a credential that uses the client.
type Claim struct {
	ID     string
	Scopes []string
}

// Key returns the identifier of the record.
func (c Registered) Key() string { return c.App.Key() + "/" + c.IdP.Key() }

// Claimed returns the scopes of a claim.
func (c Registered) Claimed(id string) (scopes []string, ok bool) {
	for _, one := range c.Claims {
		if one.ID == id {
			return one.Scopes, true
		}
	}
	return nil, false
}

// With returns the client with a claim, which replaces one with the same identifier.
func (c Registered) With(claim Claim) Registered {
	c = c.Without(claim.ID)
	c.Claims = append(c.Claims, claim)
	return c
}

// Without returns the client without a claim.
func (c Registered) Without(id string) Registered {
	c.Claims = slices.DeleteFunc(slices.Clone(c.Claims), func(one Claim) bool { return one.ID == id })
	return c
}

// Needs returns the scopes of all claims.
func (c Registered) Needs() (out []string) {
	for _, one := range c.Claims {
		out = Grown(out, one.Scopes)
	}
	return out
}

// Moved returns the scopes of a client after a change of its claims: scopes that only the
// previous claims needed are removed, and those that an administrator has added stay.
func Moved(scopes []string, before, after Registered) []string {
	return Grown(Reduced(scopes, before.Needs(), after.Needs()), after.Needs())
}

// Approval says that clients of a provider may call a product under a plan. Dashboards know
// the scopes of both from then on, even after all credentials are deleted.
type Approval struct {
	Portal             tenant.ID `json:"org_id"`
	IdP, Product, Plan table.ID
	// Claims are the claims that caused the approval.
	Claims []string `json:",omitempty"`
}

// Key returns the identifier of the record.
func (a Approval) Key() string { return a.IdP.Key() + "/" + a.Product.Key() + "/" + a.Plan.Key() }

// Entry is the portal's data about a provider's entry in the registry of a dashboard.
type Entry struct {
	Portal    tenant.ID `json:"org_id"`
	IdP       table.ID
	EntryID   string // client_idp_id
	Dashboard table.ID
	Issuer    string
	JWKSURI   string
	Wrote     Mappings `json:",omitempty"` // mappings that the portal has written, or may have written
	Turn      int      // number of writes that have begun
	Gone      bool     `json:",omitempty"` // the provider is deleted: the entry must be deleted
}

// Key returns the identifier of the record.
func (e Entry) Key() string { return e.IdP.Key() + "/" + e.Dashboard.Key() }

// Begun returns the entry in the form that is stored before a write.
func (e Entry) Begun(want Mappings) Entry {
	e.Turn++
	out := Mappings{}
	for _, m := range []Mappings{e.Wrote, want} {
		for api, scopes := range m {
			for scope, policy := range scopes {
				out.set(api, Scope{[]string{scope}, policy})
			}
		}
	}
	e.Wrote = out
	return e
}
