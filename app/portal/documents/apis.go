package documents

import (
	"cmp"
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/document"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// ListedAPI is an API of a product in lists.
type ListedAPI struct {
	APIID             string `json:"APIID"`
	APIType           string `json:"APIType"`
	ListenPath        string `json:"ListenPath"`
	Name              string `json:"Name"`
	OASUrl            string `json:"OASUrl"`
	Status            bool   `json:"Status" doc:"true: gateways serve the API."`
	TargetURL         string `json:"TargetURL"`
	DocumentationType string `json:"DocumentationType" doc:"Kind of document that developers see: oas, graphqlSDL or empty."`
}

// ShownAPI is the full representation of an API of a product.
type ShownAPI struct {
	ListedAPI
	Description           string `json:"Description"`
	GraphQLServerEndpoint string `json:"GraphQLServerEndpoint" doc:"Address to which the playground sends queries. Default: the address at which gateways serve the API."`
}

func ofAPI(product table.ID, id string) owner { return owner{product, document.OfAPI(product, id)} }

// rowOf returns an API from the data in its product and its sheet.
func rowOf(d product.Detail, endpoint string) document.API {
	return document.API{APIID: d.APIID, Name: d.Name, ListenPath: d.ListenPath, TargetURL: d.TargetURL, APIType: d.APIType, Status: d.Status, Description: d.Description, OASURL: d.OASUrl, Endpoint: endpoint}
}

func listAPI(ctx context.Context, r store.Reader, id table.ID, a document.API) (ListedAPI, error) {
	sheet, err := sheetOf(ctx, r, ofAPI(id, a.APIID))
	return ListedAPI{a.APIID, a.APIType, a.ListenPath, a.Name, a.OASURL, a.Status, a.TargetURL, string(sheet.Type(a.OASURL))}, err
}

// apis are the operations on the APIs of products.
func (c Config) apis(t crud.Tools) []operation.Operation {
	f := family{Config: c, Tools: t, param: "api_id", one: "an API", unlink: unlinkAPI, find: func(ctx context.Context, r store.Reader, in at) (owner, error) {
		p, d, err := apiAt(ctx, r, in)
		return ofAPI(p.ID, d.APIID), err
	}}
	listed := ListedAPI{APIID: "a0ce49d559ce49d64fe608ea3728082a", APIType: "authToken", ListenPath: "/payments/", Name: "Payments", Status: true, TargetURL: "https://payments.example/", DocumentationType: string(document.OAS)}
	shown := ShownAPI{ListedAPI: listed, Description: "Takes payments."}
	rows := append([]operation.Row{
		operation.GET("list", "", "List the APIs of a product", f.listAPIs, f.options(operation.Lists(operation.Item{ID: "APIID", Name: "Name"}),
			operation.Example(nil, operation.Listing[ListedAPI]{Items: []ListedAPI{listed}, Total: 1, Page: 1, PerPage: portal.DefaultPerPage}))...),
		operation.GET("get", "/{api_id}", "Fetch an API of a product", f.getAPI, f.options(operation.Example(nil, shown))...),
		operation.PUT("update", "/{api_id}", "Change what the portal says about an API", f.updateAPI, f.options(portal.Unprocessable(), operation.Faulting(table.CodeInvalid),
			operation.Example(map[string]any{"Description": "Takes payments.", "OASUrl": ""}, shown), operation.Notes("Name and Status come from the dashboard and are ignored. The dashboard is not called."))...),
	}, f.oas()...)
	rows = append(rows,
		f.fetchSchema(),
		operation.POST("upload-schema", f.schemaPath(), "Upload the GraphQL schema of an API", f.takeSchema, f.schemaOptions(map[string]operation.Answer{"invalid": asText})...),
		operation.DELETE("delete-schema", f.schemaPath(), "Delete the GraphQL schema of an API", f.remove(document.GraphQL), f.options(operation.Example(nil, portal.Status{Status: "ok"}))...),
	)
	return portal.Group("portal-apis", "/products/{product_id}/api-details", "API details").Rows(rows...)
}

// apiAt finds an API of a product by its path.
func apiAt(ctx context.Context, r store.Reader, in at) (product.Product, product.Detail, error) {
	p, err := portal.Find(ctx, r, products.Kind, in.Product)
	if err != nil {
		return p, product.Detail{}, err
	}
	i := slices.IndexFunc(p.APIs, func(d product.Detail) bool { return d.APIID == in.Owner })
	if i < 0 {
		return p, product.Detail{}, fault.New(fault.NotFound, "portal_api.absent", "record not found")
	}
	return p, p.APIs[i], nil
}

// describe changes the product's data about an API. The policy of the product does not
// contain them.
func describe(ctx context.Context, w store.Writer, id table.ID, api string, stamp crud.Stamp, fn func(*product.Detail)) error {
	_, err := portal.Edit(ctx, w, products.Kind, id, stamp, func(p product.Product) (product.Product, error) {
		p.APIs = slices.Clone(p.APIs)
		for i := range p.APIs {
			if p.APIs[i].APIID == api {
				fn(&p.APIs[i])
			}
		}
		return p, nil
	})
	return err
}

func unlinkAPI(ctx context.Context, w store.Writer, in at, stamp crud.Stamp) error {
	p, d, err := apiAt(ctx, w, in)
	if err != nil || d.OASUrl == "" {
		return err
	}
	return describe(ctx, w, p.ID, d.APIID, stamp, func(d *product.Detail) { d.OASUrl = "" })
}

// listing is the input of the list of APIs.
type listing struct {
	Scope       tenant.Scope
	Product     string `path:"^"`
	portal.Page `params:""`
}

func (f family) listAPIs(ctx context.Context, in listing) (out operation.Listing[ListedAPI], err error) {
	err = f.Store.View(ctx, in.Scope, func(r store.Reader) error {
		p, err := portal.Find(ctx, r, products.Kind, in.Product)
		if err != nil {
			return err
		}
		rows := make([]document.API, 0, len(p.APIs))
		for i, d := range p.APIs {
			row := rowOf(d, "")
			row.ID = table.ID(len(p.APIs) - i) // lists begin with the highest number
			rows = append(rows, row)
		}
		part := portal.Excerpt(rows, in.Page, func(a document.API) document.API { return a })
		out = operation.Listing[ListedAPI]{Items: make([]ListedAPI, 0, len(part.Items)), Total: part.Total, Page: part.Page, PerPage: part.PerPage}
		for _, a := range part.Items {
			shown, err := listAPI(ctx, r, p.ID, a)
			if err != nil {
				return err
			}
			out.Items = append(out.Items, shown)
		}
		return nil
	})
	return out, err
}

func (f family) getAPI(ctx context.Context, in at) (out ShownAPI, err error) {
	err = f.Store.View(ctx, in.Scope, func(r store.Reader) error {
		out, err = showAPI(ctx, r, in)
		return err
	})
	return out, err
}

func showAPI(ctx context.Context, r store.Reader, in at) (out ShownAPI, err error) {
	p, d, err := apiAt(ctx, r, in)
	if err != nil {
		return out, err
	}
	sheet, err := sheetOf(ctx, r, ofAPI(p.ID, d.APIID))
	if err != nil {
		return out, err
	}
	served, err := servedAt(ctx, r, p, d)
	if err != nil {
		return out, err
	}
	out.ListedAPI, err = listAPI(ctx, r, p.ID, rowOf(d, sheet.Endpoint))
	out.Description, out.GraphQLServerEndpoint = d.Description, cmp.Or(sheet.Endpoint, served)
	return out, err
}

// servedAt returns the address where gateways serve an API, or "" if its provider has
// none.
func servedAt(ctx context.Context, r store.Reader, p product.Product, d product.Detail) (string, error) {
	at, err := portal.Find(ctx, r, providers.Kind, p.ProviderID.String())
	if fault.KindOf(err) == fault.NotFound {
		return "", nil
	}
	return document.ServedAt(at.Settings.Gateway, d.ListenPath), err
}

// revision is the input of a change of an API.
type revision struct {
	at
	Body table.Body[document.API] `body:""`
}

func (f family) updateAPI(ctx context.Context, in revision) (out ShownAPI, err error) {
	stamp := f.Stamp(in.Scope)
	_, err = f.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		p, d, err := apiAt(ctx, w, in.at)
		if err != nil {
			return err
		}
		o := ofAPI(p.ID, d.APIID)
		sheet, err := sheetOf(ctx, w, o)
		if err != nil {
			return err
		}
		row := rowOf(d, sheet.Endpoint)
		if err := in.Body.Apply(&row, false, portal.Resolver(ctx, w)); err != nil {
			return err
		}
		if err := describe(ctx, w, p.ID, d.APIID, stamp, func(d *product.Detail) { d.Description, d.OASUrl = row.Description, row.OASURL }); err != nil {
			return err
		}
		served, err := servedAt(ctx, w, p, d)
		if err != nil {
			return err
		}
		if row.Endpoint == served { // the client sends back an answer's value
			row.Endpoint = ""
		}
		if err := annotate(ctx, w, o, func(s document.Sheet) document.Sheet { s.Endpoint = row.Endpoint; return s }); err != nil {
			return err
		}
		if err := yield(ctx, w, o, row.OASURL); err != nil {
			return err
		}
		out, err = showAPI(ctx, w, in.at)
		return err
	})
	return out, err
}
