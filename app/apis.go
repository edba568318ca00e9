package app

import (
	"context"

	"go.uber.org/fx"

	"github.com/gatehouse-io/gatehouse/adapters/openapi"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/cache"
	"github.com/gatehouse-io/gatehouse/app/apis/classic"
	"github.com/gatehouse-io/gatehouse/app/apis/datagraph"
	"github.com/gatehouse-io/gatehouse/app/apis/documents"
	"github.com/gatehouse-io/gatehouse/app/apis/forms"
	"github.com/gatehouse-io/gatehouse/app/apis/importing"
	"github.com/gatehouse-io/gatehouse/app/apis/mcp"
	"github.com/gatehouse-io/gatehouse/app/apis/migrate"
	"github.com/gatehouse-io/gatehouse/app/apis/oas"
	"github.com/gatehouse-io/gatehouse/app/apis/streams"
	"github.com/gatehouse-io/gatehouse/app/apis/versioning"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/app/resources/hooks"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	yamlport "github.com/gatehouse-io/gatehouse/ports/yaml"
)

// definitions is the part of the graph that is about APIs: their repository, what its
// users share, and one line for each family of operations.
var definitions = fx.Options(
	fx.Provide(newAPIs, newForms, newDocuments,
		func(a *apis.Repository, f *forms.Forms) *versioning.Service {
			return &versioning.Service{APIs: a, Forms: f}
		},
		func(a *apis.Repository, f *forms.Forms) *importing.Service {
			return &importing.Service{APIs: a, Forms: f}
		}),
	service[*classic.Service](func(a *apis.Repository, f *forms.Forms, v *versioning.Service) *classic.Service {
		return &classic.Service{APIs: a, Forms: f, Versions: v}
	}),
	service[*oas.Service](func(d *documents.Service) *oas.Service { return &oas.Service{Documents: d, Template: template} }),
	service[*streams.Service](func(d *documents.Service) *streams.Service { return &streams.Service{Documents: d} }),
	service[*mcp.Service](func(d *documents.Service) *mcp.Service { return &mcp.Service{Documents: d} }),
	service[*datagraph.Service](func(d *documents.Service) *datagraph.Service { return &datagraph.Service{Documents: d} }),
	service[*cache.Service](func(a *apis.Repository) *cache.Service { return &cache.Service{APIs: a} }),
	service[*migrate.Service](func(s basics, a *apis.Repository, f *forms.Forms) *migrate.Service {
		return &migrate.Service{APIs: a, Forms: f, Log: s.log}
	}),
)

func newAPIs(s basics, d Definitions, st store.Store, p *policies.Service, g *crud.References) *apis.Repository {
	return apis.New(apis.Config{
		Store: st, NewID: s.newID, NewAPIID: s.newAPIID, Now: s.now, PageSize: s.pageSize, Settings: d.APIs,
		References: g, Forget: p.Forget, Hook: webhookText, AddHook: hooks.Kind.Insert,
	})
}

func newForms(d Definitions, t transport, v *openapi.Validator) *forms.Forms {
	return &forms.Forms{Settings: d.APIs, Validator: v, Hosts: d.Hosts, Room: t.bodies()}
}

func newDocuments(o outside, t transport, a *apis.Repository, f *forms.Forms, v *versioning.Service) *documents.Service {
	return &documents.Service{APIs: a, Forms: f, Versions: v, Read: func(ctx context.Context, b operation.Document) (*doc.Node, error) {
		return source{o.fetcher, yamlport.Limits{Bytes: int(t.maxBody), Values: t.maxValues}}.read(ctx, b)
	}}
}
