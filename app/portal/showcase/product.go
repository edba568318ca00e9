package showcase

import (
	"cmp"
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/documents"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/tutorials"
	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/document"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/plan"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/provider"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/tag"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Product is a product with its documentation.
type Product struct {
	Card
	Logo            string     `json:"Logo" doc:"Address of the product's logo, or empty."`
	Content         string     `json:"Content"`
	Scopes          string     `json:"Scopes"`
	APIs            []API      `json:"APIs"`
	Plans           []Plan     `json:"Plans"`
	Shelves         []Shelf    `json:"Shelves" doc:"Catalogues with the product that the visitor may see."`
	Tutorials       []Tutorial `json:"Tutorials" doc:"Published tutorials, in order."`
	Posts           []Post     `json:"Posts" doc:"Published blog posts that share a tag with the product, six at most, newest first, without content."`
	Tags            []string   `json:"Tags"`
	Requesting      bool       `json:"Requesting" doc:"true: the visitor may request access."`
	WebhooksEnabled bool       `json:"WebhooksEnabled" doc:"true: the product names event types to which access requests can subscribe."`
	BaseURL         string     `json:"BaseURL" doc:"Base address of the provider's APIs; empty if the provider has none."`
	Requirements
}

// Requirements are the data that an access request must have.
type Requirements struct {
	ProviderID       table.ID     `json:"ProviderID" doc:"Provider. The products and the plan of an access request must have the same provider."`
	AuthTypeMode     string       `json:"AuthTypeMode"`
	DCREnabled       bool         `json:"DCREnabled" doc:"true: clients register with an identity provider, and an access request must name a client type."`
	NeedsCertificate bool         `json:"NeedsCertificate" doc:"true: an access request must include a certificate of the developer."`
	ClientTypes      []ClientType `json:"ClientTypes"`
}

// ClientType is a type of client that can be registered.
type ClientType struct {
	ID                      table.ID `json:"ID"`
	Name                    string   `json:"Name"`
	Description             string   `json:"Description"`
	GrantType               string   `json:"GrantType"`
	ResponseTypes           string   `json:"ResponseTypes"`
	TokenEndpointAuthMethod string   `json:"TokenEndpointAuthMethod"`
	OktaAppType             string   `json:"OktaAppType"`
}

// API is an API of a product, or a specification of a documentation-only product.
type API struct {
	Alias       string `json:"Alias" doc:"Name in addresses."`
	Name        string `json:"Name"`
	Description string `json:"Description"`
	APIType     string `json:"APIType"`
	ListenPath  string `json:"ListenPath"`
	Active      bool   `json:"Active"`
	Document    string `json:"Document" doc:"oas, graphqlSDL or empty."`
	Address     string `json:"Address" doc:"Address of the description, if the portal does not store it."`
	Endpoint    string `json:"GraphQLServerEndpoint" doc:"Address for GraphQL queries at gateways; empty for other APIs."`
	ServedAt    string `json:"ServedAt" doc:"Address at which gateways serve the API. Only in the response for a single product. Empty for specifications, and if neither the API nor its provider has an address."`
}

// Plan is a plan that is offered for a product.
type Plan struct {
	ID                 table.ID   `json:"ID"`
	Name               string     `json:"Name"`
	Description        string     `json:"Description"`
	RateLimit          int64      `json:"RateLimit"`
	Per                float64    `json:"Per" doc:"Seconds."`
	UnlimitedRateLimit bool       `json:"UnlimitedRateLimit"`
	Quota              int64      `json:"Quota"`
	QuotaRenewalRate   int64      `json:"QuotaRenewalRate" doc:"Seconds."`
	UnlimitedQuota     bool       `json:"UnlimitedQuota"`
	AutoApprove        bool       `json:"AutoApproveAccessRequests"`
	Catalogues         []table.ID `json:"Catalogues" doc:"Catalogues that offer the plan for the product. Empty in responses about apps."`
}

// Tutorial describes how to get started with a product.
type Tutorial struct {
	Title           string `json:"Title"`
	Lede            string `json:"Lede"`
	Path            string `json:"Path"`
	Content         string `json:"Content"`
	MarkdownEnabled bool   `json:"MarkdownEnabled"`
	MarkdownContent string `json:"MarkdownContent"`
}

type named struct {
	visitor
	Path string `path:"product_path" doc:"Path of the product."`
}

// find returns a product that the visitor sees; others are not found.
func find(ctx context.Context, r store.Reader, now sight, path string) (product.Product, error) {
	v, err := products.Kind.ByKey(ctx, r, "path", store.Indexed(path))
	if err == nil && !now.sees(v.Value) {
		err = products.Kind.Absent()
	}
	return v.Value, err
}

func (s *Service) product(ctx context.Context, in named) (out Product, err error) {
	err = s.look(ctx, in.visitor, func(r store.Reader, now sight) error {
		p, err := find(ctx, r, now, in.Path)
		if err != nil {
			return err
		}
		out = Product{Card: now.card(cardOf(p)), Logo: p.Address(product.Logo), Content: p.Content, Scopes: string(p.Scopes), APIs: []API{}, Plans: []Plan{}, Shelves: []Shelf{}, Tutorials: []Tutorial{}, Posts: []Post{}, Tags: []string{}, WebhooksEnabled: len(p.WebhookEventTypes) > 0}
		for _, c := range now.shelves() {
			if slices.Contains(p.Catalogues, c.ID) {
				out.Shelves = append(out.Shelves, c)
			}
		}
		if out.APIs, err = apisOf(ctx, r, p); err != nil {
			return err
		}
		if err := out.offered(ctx, r, now, p); err != nil {
			return err
		}
		taught, err := tutorials.Published(ctx, r, p.ID)
		if err != nil {
			return err
		}
		for _, t := range taught {
			out.Tutorials = append(out.Tutorials, Tutorial{t.Title, t.Lede, t.Path, t.Content, t.MarkdownEnabled, t.MarkdownContent})
		}
		for _, id := range p.Tags {
			t, err := portal.Glance[tag.Tag](ctx, r, tag.Kind, id)
			if err != nil {
				return err
			}
			if t.ID != 0 {
				out.Tags = append(out.Tags, t.Name)
			}
		}
		if err := out.related(ctx, r, now, p); err != nil {
			return err
		}
		if err := out.served(ctx, r, p); err != nil {
			return err
		}
		return out.required(ctx, r, p)
	})
	return out, err
}

// served sets the addresses where gateways serve the APIs of the product.
func (out *Product) served(ctx context.Context, r store.Reader, p product.Product) error {
	at, err := portal.Glance[provider.Provider](ctx, r, provider.Kind, p.ProviderID)
	if err != nil || p.IsDocumentationOnly {
		return err
	}
	out.BaseURL = at.Settings.Gateway
	for i, a := range out.APIs {
		if a.Active {
			out.APIs[i].ServedAt = cmp.Or(a.Endpoint, document.ServedAt(out.BaseURL, a.ListenPath))
		}
	}
	return nil
}

// apisOf returns the APIs of a product, or its specifications.
func apisOf(ctx context.Context, r store.Reader, p product.Product) ([]API, error) {
	out := []API{}
	all, err := documents.Readables(ctx, r, p)
	for _, d := range all {
		one := API{d.Alias, d.Name, d.Description, d.APIType, d.ListenPath, d.Active, string(d.Form), d.Address, "", ""}
		if d.Form == document.GraphQL {
			if one.Endpoint, err = documents.ServedAt(ctx, r, p, d); err != nil {
				return nil, err
			}
		}
		out = append(out, one)
	}
	return out, err
}

func (out *Product) offered(ctx context.Context, r store.Reader, now sight, p product.Product) error {
	for v, err := range portal.All(ctx, r, plans.Kind, 0) {
		if err != nil {
			return err
		}
		if catalogue.Offers(now.ids, catalogue.Item{Provider: p.ProviderID, Catalogues: p.Catalogues}, catalogue.Item{Provider: v.ProviderID, Catalogues: v.Catalogues}) {
			out.Plans = append(out.Plans, ShowPlan(v, out.Card.Catalogues))
		}
	}
	method := out.AuthType != "ba" && out.AuthType != "custom"
	out.Requesting = method && !p.IsDocumentationOnly && len(out.Plans) > 0 && slices.ContainsFunc(out.Shelves, func(c Shelf) bool { return c.Cart })
	return nil
}

// ShowPlan returns a plan as it is offered in catalogues.
func ShowPlan(v plan.Plan, in []table.ID) Plan {
	v = v.Settled()
	out := Plan{v.ID, v.Title(), v.Description, v.RateLimit, v.Per, v.UnlimitedRateLimit, v.Quota, v.QuotaRenewalRate, v.UnlimitedQuota, v.AutoApprove, []table.ID{}}
	for _, id := range v.Catalogues {
		if slices.Contains(in, id) {
			out.Catalogues = append(out.Catalogues, id)
		}
	}
	return out
}

func (out *Product) required(ctx context.Context, r store.Reader, p product.Product) error {
	out.Requirements = Requirements{p.ProviderID, p.AuthTypeMode, p.DCREnabled, p.AuthType() == request.MultiAuth && p.Mode() == product.SelfServe, []ClientType{}}
	for _, id := range p.Templates {
		t, err := portal.Glance[idp.ClientType](ctx, r, product.TemplateKind, id)
		if err != nil {
			return err
		}
		if t.ID != 0 {
			out.ClientTypes = append(out.ClientTypes, ClientType{t.ID, t.Name, t.Description, string(t.GrantType), string(t.ResponseTypes), string(t.TokenEndpointAuthMethod), t.OktaAppType})
		}
	}
	return nil
}
