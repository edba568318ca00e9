package idp

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Kinds of records that follow from access that was granted.
const (
	ClientKind   = "portal-registered-client"
	ApprovalKind = "portal-idp-approval"
	EntryKind    = "portal-idp-entry"
)

// Registered is the client that an app has at an identity provider: one for all that the
// app may call.
type Registered struct {
	Portal   tenant.ID `json:"org_id"`
	App, IdP table.ID
	Insecure bool    `json:",omitempty"`
	JWKSURI  string  `json:",omitempty"` // of the provider, when the client was registered
	TokenURL string  `json:",omitempty"` // likewise, where the client gets tokens; "": it did not say
	ClientID string  // "": its registration has begun, and its end is unknown
	Attempt  string  `json:",omitempty"` // the claim for which it is registered
	Claims   []Claim `json:",omitempty"`
	Sealed   string  // the client as the provider last told of it
}

// Claim is a credential that the client stands for.
type Claim struct {
	ID     string
	Scopes []string
}

// Key is the identifier of the record.
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

// With returns the client with a claim, in place of one that has its identifier.
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

// Needs are the scopes of all claims.
func (c Registered) Needs() (out []string) {
	for _, one := range c.Claims {
		out = Grown(out, one.Scopes)
	}
	return out
}

// Moved returns the scopes of a client whose claims have changed: what only the claims
// before needed goes, and what an administrator has added stays.
func Moved(scopes []string, before, after Registered) []string {
	return Grown(Reduced(scopes, before.Needs(), after.Needs()), after.Needs())
}

// Approval says that clients of a provider may call a product under a plan: dashboards know
// the scopes of both from then on, also when all credentials have gone.
type Approval struct {
	Portal             tenant.ID `json:"org_id"`
	IdP, Product, Plan table.ID
	// Claims are those whose approval has told the dashboard of it.
	Claims []string `json:",omitempty"`
}

// Key is the identifier of the record.
func (a Approval) Key() string { return a.IdP.Key() + "/" + a.Product.Key() + "/" + a.Plan.Key() }

// Entry is what the registry of a dashboard has of a provider.
type Entry struct {
	Portal    tenant.ID `json:"org_id"`
	IdP       table.ID
	EntryID   string // client_idp_id
	Dashboard table.ID
	Issuer    string
	JWKSURI   string
	Wrote     Mappings `json:",omitempty"` // what the portal has written, or may have
	Turn      int      // counts the writes that have begun
	Gone      bool     `json:",omitempty"` // the provider is deleted: the entry has to go
}

// Key is the identifier of the record.
func (e Entry) Key() string { return e.IdP.Key() + "/" + e.Dashboard.Key() }

// Begun returns the entry as it is stored before something is written.
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
