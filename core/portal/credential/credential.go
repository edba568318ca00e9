// Package credential models the credentials of apps: keys of gateways and clients of identity
// providers (docs/wire/portal-apps.md#credentials).
package credential

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Kind is the name of the resource in storage.
const Kind = request.CredentialKind

// Credential is one credential. It belongs to the access request for which it was made, and
// other requests may share it; a custom one belongs only to the app.
type Credential struct {
	table.Base
	AppID      table.ID
	RequestID  table.ID
	Shared     []table.ID `json:",omitempty"` // other requests that share it, the oldest first
	PlanID     table.ID
	ProviderID table.ID
	Products   []table.ID // in the order in which they were added
	Method     string     // who issued it
	AuthType   string
	Expires    time.Time `json:",omitzero"` // zero: never
	Public
	Sealed string  // encrypted Secrets
	Custom *Custom `json:",omitempty"` // of a credential without an access request
}

// Public is the data of a credential that is not secret.
type Public struct {
	ClientID        string `json:",omitempty"`
	RegistrationURI string `json:",omitempty"`
	GrantType       string `json:",omitempty"` // separated by commas
	ResponseType    string `json:",omitempty"`
	TokenEndpoints  string `json:",omitempty"` // authentication methods at the token endpoint
	Scope           string `json:",omitempty"` // separated by spaces
	RedirectURI     string `json:",omitempty"`
	JWKSURI         string `json:",omitempty"`
	TokenURL        string `json:",omitempty"` // URL where the client gets tokens
	// For a key that needs a client certificate: its PEM, its name for the developer, its ID in
	// the store of the dashboard, the APIs that accept it, and whether the key is bound to it.
	Certificate     string   `json:",omitempty"`
	CertificateName string   `json:",omitempty"`
	CertificateID   string   `json:",omitempty"`
	Allowed         []string `json:",omitempty"`
	Bound           bool     `json:",omitempty"`
	// Managed says that administrators choose the certificates. Pool has their IDs, and Held the
	// last ones that were not empty.
	Managed bool     `json:",omitempty"`
	Pool    []string `json:",omitempty"`
	Held    []string `json:",omitempty"`
	// Own is data of the issuer. It is not secret.
	Own json.RawMessage `json:",omitempty"`
}

// Secrets is the secret data of a credential.
type Secrets struct {
	Key               string `json:",omitempty"` // what callers of APIs send
	Chosen            string `json:",omitempty"` // the text from which an administrator had the key made
	Hash              string `json:",omitempty"` // of the key; the key itself where gateways do not hash
	ClientSecret      string `json:",omitempty"`
	RegistrationToken string `json:",omitempty"`
	Response          string `json:",omitempty"` // of the registration, unchanged
}

// Values are the data that an issuer returns for a credential.
type Values struct {
	Public
	Secrets
	Expires time.Time `json:",omitzero"`
}

// Table implements table.Row.
func (Credential) Table() *table.Table[Credential] { return rows }

var rows = &table.Table[Credential]{
	Kind: Kind, Noun: "credential",
	Base:   func(c *Credential) *table.Base { return &c.Base },
	Fields: []table.Field[Credential]{{Name: "AuthType", At: func(c *Credential) any { return &c.AuthType }, Fixed: true}},
}

// Requests returns the IDs of all access requests that use the credential.
func (c Credential) Requests() []table.ID {
	if c.Custom != nil {
		return nil
	}
	return append([]table.ID{c.RequestID}, c.Shared...)
}

// Without returns the credential without an access request and its products, except products
// that the other requests, rest, have too; false: nothing would be left. If no other request
// has its plan, the credential gets the plan of the latest of them.
func (c Credential) Without(r request.Request, rest []request.Request) (Credential, bool) {
	left := slices.DeleteFunc(c.Requests(), func(id table.ID) bool { return id == r.ID })
	kept := slices.DeleteFunc(slices.Clone(c.Products), func(id table.ID) bool {
		return slices.Contains(r.ProductIDs, id) && !slices.ContainsFunc(rest, func(o request.Request) bool { return slices.Contains(o.ProductIDs, id) })
	})
	if len(left) == 0 || len(kept) == 0 {
		return c, false
	}
	c.RequestID, c.Shared, c.Products = left[0], left[1:], kept
	if !slices.ContainsFunc(rest, func(o request.Request) bool { return o.PlanID == c.PlanID }) && len(rest) > 0 {
		c.PlanID = rest[len(rest)-1].PlanID
	}
	return c, true
}

// Less returns the credential without a product, and the requests that change. A request that
// has no products left is removed from the credential. ok is false if nothing would be left of
// the credential, or if it does not have the product.
func (c Credential) Less(product table.ID, requests []request.Request) (left Credential, changed []request.Request, ok bool) {
	it := func(id table.ID) bool { return id == product }
	left = c
	left.Products = slices.DeleteFunc(slices.Clone(c.Products), it)
	if len(left.Products) == 0 || len(left.Products) == len(c.Products) {
		return c, nil, false
	}
	ids := c.Requests()
	for _, r := range requests {
		if !slices.Contains(r.ProductIDs, product) {
			continue
		}
		r.ProductIDs = slices.DeleteFunc(slices.Clone(r.ProductIDs), it)
		if changed = append(changed, r); len(r.ProductIDs) == 0 && len(ids) > 1 {
			ids = slices.DeleteFunc(ids, func(id table.ID) bool { return id == r.ID })
		}
	}
	if len(ids) > 0 {
		left.RequestID, left.Shared = ids[0], ids[1:]
	}
	return left, changed, true
}

// With returns the credential with another access request and its products.
func (c Credential) With(r request.Request) Credential {
	c.Shared = append(slices.Clip(c.Shared), r.ID)
	c.PlanID = r.PlanID
	for _, id := range r.ProductIDs {
		if !slices.Contains(c.Products, id) {
			c.Products = append(slices.Clip(c.Products), id)
		}
	}
	return c
}

// Moves reports whether a request is for the same products as the credential, under another
// plan. Only clients can do this.
func (c Credential) Moves(r request.Request) bool {
	return (r.DCREnabled || r.AuthType == request.OAuth) && c.PlanID != r.PlanID && len(c.Products) == len(r.ProductIDs) &&
		!slices.ContainsFunc(c.Products, func(id table.ID) bool { return !slices.Contains(r.ProductIDs, id) })
}

// Reusable returns the problems of using the credential for another request. A client with an
// expired secret can be used: its secret cannot be rotated, but its provider may set another
// secret with the request.
func (c Credential) Reusable(r request.Request, at time.Time) (wrong table.Problems) {
	if why := next[c.State(at)][Extend].why; why != "" && c.ClientID == "" {
		wrong = append(wrong, why)
	}
	if c.AppID != r.AppID || c.Custom != nil {
		wrong.Invalid("CredentialID")
		return wrong
	}
	moves := c.Moves(r)
	if c.PlanID != r.PlanID && !moves {
		wrong = append(wrong, "CredentialID has another plan")
	}
	if c.AuthType != r.AuthType {
		wrong = append(wrong, "CredentialID has another authentication method")
	}
	if !moves && slices.ContainsFunc(r.ProductIDs, func(id table.ID) bool { return slices.Contains(c.Products, id) }) {
		wrong = append(wrong, "CredentialID has the product already")
	}
	if !moves && len(c.Products)+len(r.ProductIDs) > request.MaxProducts {
		wrong = append(wrong, "CredentialID has too many products")
	}
	return wrong
}
