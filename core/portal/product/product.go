// Package product models the products of a portal: APIs that developers can get access
// to, or only read about (docs/wire/portal-sync.md#fields).
package product

import (
	"cmp"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
)

// Kind is the name of the resource in storage.
const Kind = catalogue.ProductKind

// Product is one product. What the dashboard knows of its APIs (names, addresses, whether
// they are active) is looked up there and not kept here.
type Product struct {
	ID         int      `json:"id"`
	CID        string   `json:"cid"`
	ProviderID int      `json:"provider_id,omitempty"`
	Ref        sync.Ref `json:"policy"`
	Name       string   `json:"name"` // that of the policy

	APIs                []Detail `json:"apis,omitempty"` // sorted by API
	AuthTypes           []string `json:"auth_types,omitempty"`
	AuthTypeMode        string   `json:"auth_type_mode,omitempty"`
	IsDocumentationOnly bool     `json:"is_documentation_only,omitempty"`
	PolicyTags          []string `json:"policy_tags,omitempty"`

	DisplayName            string   `json:"display_name,omitempty"`
	Description            string   `json:"description,omitempty"`
	Content                string   `json:"content,omitempty"`
	Path                   string   `json:"path,omitempty"`
	Feature                bool     `json:"feature,omitempty"`
	DCREnabled             bool     `json:"dcr_enabled,omitempty"`
	BindCertificateToToken bool     `json:"bind_certificate_to_token,omitempty"`
	Scopes                 string   `json:"scopes,omitempty"` // separated by commas
	Catalogues             []int    `json:"catalogues,omitempty"`
	Templates              []int    `json:"templates,omitempty"`
	Tags                   []int    `json:"tags,omitempty"`
	WebhookEventTypes      []string `json:"webhook_event_types,omitempty"`

	Agreed     *sync.Terms `json:"agreed,omitempty"` // what the policy and the product last agreed on
	Generation int         `json:"generation,omitempty"`
	Hidden     bool        `json:"hidden,omitempty"` // the dashboard does not return its policy
	Deleted    time.Time   `json:"deleted_at,omitzero"`
}

// Detail is what the portal says about one API of a product.
type Detail struct {
	APIID       string `json:"api_id"`
	Description string `json:"description,omitempty"`
	OASURL      string `json:"oas_url,omitempty"`
}

// Modes of products whose APIs take a token and a certificate.
const (
	SelfServe = "mtls_self-serve" // developers bring their certificates; the default
	Managed   = "mtls_managed"    // administrators do
)

// multiAuth is what AuthType says of a token together with a certificate.
const multiAuth = "multiAuth"

// Title is what developers see.
func (p Product) Title() string { return cmp.Or(p.DisplayName, p.Name) }

// AuthType names the one method of authentication that the APIs share; "" without APIs.
func (p Product) AuthType() string {
	switch {
	case len(p.AuthTypes) == 0:
		return ""
	case len(p.AuthTypes) == 1:
		return p.AuthTypes[0]
	}
	return multiAuth
}

// IDs returns the identifiers of the APIs, sorted.
func (p Product) IDs() []string {
	var out []string
	for _, d := range p.APIs {
		out = append(out, d.APIID)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// WithAPIs returns the product with these APIs; what it says about those that it had
// stays. A product without APIs is one to read about.
func (p Product) WithAPIs(ids []string) Product {
	said := map[string]Detail{}
	for _, d := range p.APIs {
		said[d.APIID] = d
	}
	p.APIs = nil
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		d := said[id]
		d.APIID = id
		p.APIs = append(p.APIs, d)
	}
	p.IsDocumentationOnly = len(p.APIs) == 0
	return p
}

// Record returns the product as synchronisation sees it.
func (p Product) Record() sync.Record {
	t := sync.Terms{Name: p.Name, Tags: p.PolicyTags, APIs: p.IDs(), AuthTypes: p.AuthTypes, Draft: p.Agreed != nil && p.Agreed.Draft}
	return sync.Record{Kind: sync.KindProduct, CID: p.CID, Ref: p.Ref, Terms: t.Clone(), Agreed: p.Agreed, Generation: p.Generation, Hidden: p.Hidden, Deleted: !p.Deleted.IsZero()}
}

// Take returns the product as synchronisation wants it; what lives in the portal stays.
func (p Product) Take(r sync.Record) Product {
	t := r.Terms.Clone()
	p = p.WithAPIs(t.APIs)
	p.Ref, p.Agreed, p.Generation, p.Hidden = r.Ref, r.Agreed, r.Generation, r.Hidden
	p.Name, p.PolicyTags, p.AuthTypes = t.Name, t.Tags, t.AuthTypes
	return p
}
