// Package product models the products of a portal: APIs to which developers can get access, or
// of which they can only read the documentation (docs/wire/portal-products.md,
// docs/wire/portal-sync.md#fields).
package product

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/provider"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/tag"
)

// Kind is the name of the resource in storage.
const Kind = catalogue.ProductKind

// TemplateKind is the name in storage of the client types to which a product may refer.
const TemplateKind = "portal-client-type"

// Product is one product.
type Product struct {
	table.Base
	ProviderID table.ID
	Ref        sync.Ref `json:"Policy"`
	Name       string   // name of the policy

	APIs                Details `json:",omitempty"` // sorted by API
	Left                Details `json:",omitempty"` // data of APIs that the policy lost, until they come back
	AuthTypes           []string
	AuthTypeMode        string `json:",omitempty"`
	IsDocumentationOnly bool
	PolicyTags          []string `json:",omitempty"`

	DisplayName            string
	Description            string
	Content                string
	Path                   string
	Feature                bool
	DCREnabled             bool
	BindCertificateToToken bool
	Scopes                 table.CSV
	Catalogues             []table.ID
	Templates              []table.ID
	Tags                   []table.ID
	WebhookEventTypes      []string
	SpecDetails            Specs  `json:"-"` // from a request body
	Logo, Preview          string // files: "logo.png"; "": none

	Agreed     *sync.Terms `json:",omitempty"` // the values on which the policy and the product last agreed
	Generation int
}

// Modes of products that require a token and a certificate.
const (
	SelfServe = "mtls_self-serve" // developers provide their certificates; the default
	Managed   = "mtls_managed"    // administrators provide them
)

// multiAuth is the AuthType for a token together with a certificate.
const multiAuth = "multiAuth"

// Table implements table.Row.
func (Product) Table() *table.Table[Product] { return rows }

var rows = &table.Table[Product]{
	Kind: Kind, Noun: "product",
	Base: func(p *Product) *table.Base { return &p.Base }, Soft: true,
	Fields: []table.Field[Product]{
		{Name: "Name", At: func(p *Product) any { return &p.Name }, Required: true, Max: 255, Doc: "Name of the product and its policy."},
		{Name: "ProviderID", Also: []string{"Provider"}, At: func(p *Product) any { return &p.ProviderID }, Target: provider.Kind, Doc: "Provider whose dashboard has the APIs. Required, except for a product without APIs."},
		{Name: "APIDetails", At: func(p *Product) any { return &p.APIs }},
		{Name: "SpecDetails", At: func(p *Product) any { return &p.SpecDetails }, Doc: "Specifications of a product without APIs, identified by their aliases. Specifications that are not in the list do not change. `[]` deletes all; `null` changes nothing."},
		{Name: "IsDocumentationOnly", At: func(p *Product) any { return &p.IsDocumentationOnly }, Doc: "true for every product without APIs."},
		{Name: "AuthTypeMode", At: func(p *Product) any { return &p.AuthTypeMode }, Enum: []string{SelfServe, Managed}},
		{Name: "BindCertificateToToken", At: func(p *Product) any { return &p.BindCertificateToToken }},
		{Name: "DisplayName", At: func(p *Product) any { return &p.DisplayName }, Max: 255, Doc: "Name that developers see instead of Name."},
		{Name: "Description", At: func(p *Product) any { return &p.Description }},
		{Name: "Content", At: func(p *Product) any { return &p.Content }, Doc: "HTML."},
		{Name: "Path", At: func(p *Product) any { return &p.Path }, Max: 255, Doc: "Last part of the product's address. Default: derived from the display name.", Valid: func(p Product) bool { return table.IsSegment(p.Path) }},
		{Name: "Feature", At: func(p *Product) any { return &p.Feature }, Doc: "true: the product is shown on the home page."},
		{Name: "DCREnabled", At: func(p *Product) any { return &p.DCREnabled }},
		{Name: "Scopes", At: func(p *Product) any { return &p.Scopes }, Max: 10_000, Doc: "OAuth scopes, separated by commas.", Valid: func(p Product) bool { return len(p.ScopeList()) <= maxScopes }},
		{Name: "Catalogues", At: func(p *Product) any { return &p.Catalogues }, Target: catalogue.Kind},
		{Name: "Templates", At: func(p *Product) any { return &p.Templates }, Target: TemplateKind, Doc: "Client types of the product."},
		{Name: "Tags", At: func(p *Product) any { return &p.Tags }, Target: tag.Kind},
		{Name: "WebhookEventTypes", At: func(p *Product) any { return &p.WebhookEventTypes }, Doc: "Event types to which developers may subscribe. Empty: all.", Valid: func(p Product) bool {
			return !slices.ContainsFunc(p.WebhookEventTypes, func(s string) bool {
				return strings.TrimSpace(s) == "" || len(s) > maxEvent || strings.Contains(s, ",")
			})
		}},
	},
	Unique: []table.Unique[Product]{{Name: "path", Taken: "Path has already been taken", Of: func(p Product) string { return p.Path }}},
	Check: func(p Product, wrong *table.Problems) {
		if p.ProviderID == 0 && len(p.APIs) > 0 {
			wrong.Blank("ProviderID")
		}
		if len(p.APIs) > table.MaxList || slices.ContainsFunc(p.APIs, func(v Detail) bool { return v.APIID == "" }) {
			wrong.Invalid("APIDetails")
		}
	},
}

// maxLeft is the maximum number of lost APIs with stored data.
const maxLeft = 200

// maxScopes is the maximum number of OAuth scopes of a product.
const maxScopes = 200

// maxEvent is the maximum length of the name of an event in characters.
const maxEvent = 255

// Title returns the name for developers.
func (p Product) Title() string { return cmp.Or(p.DisplayName, p.Name) }

// Methods returns the authentication methods of the APIs, with the portal's names. A product
// without APIs returns none, but the methods of a draft stay stored, because keys depend on
// them.
func (p Product) Methods() []string {
	if len(p.APIs) == 0 {
		return nil
	}
	return words(p.AuthTypes)
}

// words returns methods with the portal's names: policies also use basic for ba.
func words(methods []string) []string {
	if !slices.Contains(methods, "basic") {
		return methods
	}
	out := slices.DeleteFunc(slices.Clone(methods), func(m string) bool { return m == "basic" || m == "ba" })
	out = append(out, "ba")
	slices.Sort(out)
	return out
}

// AuthType returns the common authentication method of the APIs; "" without APIs.
func (p Product) AuthType() string { return one(p.Methods()) }

// one returns the single method of APIs, with the portal's name.
func one(methods []string) string {
	switch list := words(methods); len(list) {
	case 0:
		return ""
	case 1:
		return list[0]
	}
	return multiAuth
}

// Mode returns who provides the certificates. Products that require a token and a certificate
// always have a mode.
func (p Product) Mode() string {
	if p.AuthTypeMode == "" && p.AuthType() == multiAuth {
		return SelfServe
	}
	return p.AuthTypeMode
}

// Claims returns the OAuth scopes that only this product may have, because they give
// registered clients access to it.
func (p Product) Claims() []string {
	if !p.DCREnabled {
		return nil
	}
	return p.ScopeList()
}

// ScopeList returns the OAuth scopes.
func (p Product) ScopeList() []string {
	return strings.FieldsFunc(string(p.Scopes), func(r rune) bool { return r == ',' || r == ' ' })
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

// WithAPIs returns the product with these APIs; data of existing ones stays. A product without
// APIs is documentation-only.
func (p Product) WithAPIs(ids []string) Product {
	said := map[string]Detail{}
	for _, d := range slices.Backward(p.APIs) {
		said[d.APIID] = d // of two entries the first counts
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

// Known returns the product with the dashboard's data about its APIs, and whether this changed
// anything. An API that is missing in the dashboard is not served.
func (p Product) Known(apis sync.Index) (Product, bool) {
	list, news := slices.Clone(p.APIs), false
	for i, d := range list {
		a, ok := apis[d.APIID]
		facts := d.Facts
		facts.Status = false
		if ok {
			facts = Facts{Name: a.Name, ListenPath: a.ListenPath, TargetURL: a.Target, Status: a.Active, APIType: one(a.AuthTypes)}
		}
		news = news || d.Facts != facts
		list[i].Facts = facts
	}
	p.APIs = list
	return p, news
}

// Record returns the product in its form for synchronisation.
func (p Product) Record() sync.Record {
	t := sync.Terms{Name: p.Name, Tags: p.PolicyTags, APIs: p.IDs(), AuthTypes: p.AuthTypes, Draft: p.Agreed != nil && p.Agreed.Draft}
	return sync.Record{Kind: sync.KindProduct, CID: p.CID, Ref: p.Ref, Terms: t.Clone(), Agreed: p.Agreed, Generation: p.Generation, Hidden: p.Hidden, Deleted: !p.DeletedAt.IsZero()}
}

// Take returns the product updated from synchronisation; data that only the portal has stays.
func (p Product) Take(r sync.Record) Product {
	t := r.Terms.Clone()
	said := slices.Concat(p.APIs, p.Left)
	p.APIs = said
	p = p.WithAPIs(t.APIs)
	p.Left = nil
	there := make(map[string]bool, len(t.APIs))
	for _, id := range t.APIs {
		there[id] = true
	}
	for _, d := range said {
		if (d.Description != "" || d.OASUrl != "") && !there[d.APIID] && len(p.Left) < maxLeft {
			there[d.APIID] = true
			p.Left = append(p.Left, Detail{APIID: d.APIID, Description: d.Description, OASUrl: d.OASUrl})
		}
	}
	p.Ref, p.Agreed, p.Generation, p.Hidden = r.Ref, r.Agreed, r.Generation, r.Hidden
	p.Name, p.PolicyTags, p.AuthTypes = t.Name, t.Tags, t.AuthTypes
	return p
}

// SameMethod reports whether an authentication method from a client is that of the APIs. Both
// names of basic authentication are equal.
func SameMethod(name string, methods []string) bool {
	plain := policy.Plain(append([]string{name, one(methods)}, methods...))
	return slices.Contains(plain[1:], plain[0])
}
