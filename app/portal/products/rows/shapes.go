package rows

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/catalogues"
	"github.com/gatehouse-io/gatehouse/app/portal/documents"
	"github.com/gatehouse-io/gatehouse/app/portal/tags"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// ListedAPI is an API of a product in lists.
type ListedAPI struct {
	APIID  string `json:"APIID"`
	Name   string `json:"Name"`
	Status bool   `json:"Status"`
}

// ShownAPI is the full representation of an API of a product.
type ShownAPI struct {
	APIID       string `json:"APIID"`
	APIType     string `json:"APIType"`
	Description string `json:"Description"`
	ListenPath  string `json:"ListenPath"`
	Name        string `json:"Name"`
	OASUrl      string `json:"OASUrl"`
	Status      bool   `json:"Status"`
	TargetURL   string `json:"TargetURL"`
}

// Spec is a document of a product without APIs.
type Spec struct {
	ID        table.ID `json:"ID"`
	SpecAlias string   `json:"SpecAlias"`
	OASUrl    string   `json:"OASUrl"`
}

// Specs are the documents of a product; null if there are none.
type Specs []Spec

// Schema describes the list.
func (Specs) Schema() map[string]any {
	text := map[string]any{"type": "string"}
	return map[string]any{"type": []string{"array", "null"}, "items": map[string]any{
		"type": "object", "properties": map[string]any{"ID": map[string]any{"type": "integer"}, "SpecAlias": text, "OASUrl": text},
	}}
}

// common are the members that lists also show.
type common struct {
	ID                  table.ID `json:"ID"`
	CID                 string   `json:"CID"`
	AuthType            string   `json:"AuthType"`
	AuthTypes           []string `json:"AuthTypes"`
	DCREnabled          bool     `json:"DCREnabled"`
	DisplayName         string   `json:"DisplayName"`
	Feature             bool     `json:"Feature"`
	IsDocumentationOnly bool     `json:"IsDocumentationOnly"`
	Name                string   `json:"Name"`
	Path                string   `json:"Path"`
	Preview             string   `json:"Preview"`
	ReferenceID         string   `json:"ReferenceID"`
	Scopes              string   `json:"Scopes"`
	SpecDetails         Specs    `json:"SpecDetails"`
}

// Listed is a product in lists.
type Listed struct {
	common
	APIDetails []ListedAPI `json:"APIDetails"`
}

// Shown is the full representation of a product.
type Shown struct {
	common
	APIDetails             []ShownAPI `json:"APIDetails"`
	AuthTypeMode           string     `json:"AuthTypeMode"`
	BindCertificateToToken bool       `json:"BindCertificateToToken"`
	Catalogues             []string   `json:"Catalogues"`
	Content                string     `json:"Content"`
	Description            string     `json:"Description"`
	Logo                   string     `json:"Logo"`
	ProviderID             table.ID   `json:"ProviderID"`
	Tags                   []string   `json:"Tags"`
	Templates              []string   `json:"Templates"`
	WebhookEventTypes      []string   `json:"WebhookEventTypes"`
}

func shared(p product.Product) common {
	return common{
		ID: p.ID, CID: p.CID, AuthType: p.AuthType(), AuthTypes: append([]string{}, p.Methods()...), DCREnabled: p.DCREnabled, DisplayName: p.DisplayName, Feature: p.Feature,
		IsDocumentationOnly: p.IsDocumentationOnly, Name: p.Name, Path: p.Path, Preview: p.Address(product.Preview), ReferenceID: p.Ref.ObjectID, Scopes: string(p.Scopes),
	}
}

// specsOf returns the specifications of a product.
func specsOf(ctx context.Context, r store.Reader, p product.Product) (out Specs, err error) {
	list, err := documents.Specs(ctx, r, p.ID)
	for _, s := range list {
		out = append(out, Spec{s.ID, s.SpecAlias, s.OASURL})
	}
	return out, err
}

func list(ctx context.Context, r store.Reader, p product.Product) (out Listed, err error) {
	out = Listed{shared(p), make([]ListedAPI, 0, len(p.APIs))}
	for _, d := range p.APIs {
		out.APIDetails = append(out.APIDetails, ListedAPI{d.APIID, d.Name, d.Status})
	}
	out.SpecDetails, err = specsOf(ctx, r, p)
	return out, err
}

func show(ctx context.Context, r store.Reader, p product.Product) (out Shown, err error) {
	out = Shown{
		common: shared(p), APIDetails: make([]ShownAPI, 0, len(p.APIs)), AuthTypeMode: p.Mode(), BindCertificateToToken: p.BindCertificateToToken, Content: p.Content,
		Description: p.Description, Logo: p.Address(product.Logo), ProviderID: p.ProviderID, Templates: []string{}, WebhookEventTypes: append([]string{}, p.WebhookEventTypes...),
	}
	for _, d := range p.APIs {
		out.APIDetails = append(out.APIDetails, ShownAPI{d.APIID, d.APIType, d.Description, d.ListenPath, d.Name, d.OASUrl, d.Status, d.TargetURL})
	}
	if out.SpecDetails, err = specsOf(ctx, r, p); err != nil {
		return out, err
	}
	if out.Catalogues, err = names(ctx, r, catalogues.Kind, p.Catalogues, func(c catalogueOf) string { return c.Name }); err != nil {
		return out, err
	}
	if out.Tags, err = names(ctx, r, tags.Kind, p.Tags, func(t tagOf) string { return t.Name }); err != nil {
		return out, err
	}
	types, err := typesOf(ctx, r, p)
	for _, t := range types {
		out.Templates = append(out.Templates, t.Name)
	}
	return out, err
}

// names returns the names of records, without deleted ones.
func names[T table.Row[T]](ctx context.Context, r store.Reader, k *store.Kind[T], ids []table.ID, name func(T) string) ([]string, error) {
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		v, err := portal.Find(ctx, r, k, id.String())
		if fault.KindOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, name(v))
	}
	return out, nil
}
