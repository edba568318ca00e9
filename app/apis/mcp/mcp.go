// Package mcp lets clients manage MCP proxies. Its permission is its own: users who may
// see APIs see no proxies, and the other way round.
package mcp

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/documents"
	"github.com/gatehouse-io/gatehouse/app/apis/forms"
	"github.com/gatehouse-io/gatehouse/app/apis/rows"
	"github.com/gatehouse-io/gatehouse/app/apis/versioning"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/mcp"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/api/versions"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Service manages MCP proxies.
type Service struct{ Documents *documents.Service }

// wanted refuses a document without the vendor extension, in the words of these
// operations.
func wanted(document *doc.Node) error {
	if forms.WantExtension(document) == nil {
		return nil
	}
	return fault.New(fault.Invalid, forms.CodeExtension, "the payload should contain x-tyk-api-gateway").At(oas.ExtensionKey)
}

type listIn struct {
	Scope tenant.Scope
	Who   operation.Principal
	operation.Paging
	Text string `query:"q" doc:"Part of the name or of the listen path, in any case."`
	Sort string `query:"sort" doc:"name, created_at or updated_at, with - in front for descending; -created_at when absent."`
}

// List returns a page of documents.
func (s *Service) List(ctx context.Context, in listIn) (operation.Page[documents.Document], error) {
	switch in.Sort { // the public description of this list has another name for updated_at
	case "last_updated":
		in.Sort = "updated_at"
	case "-last_updated":
		in.Sort = "-updated_at"
	}
	page, err := s.Documents.APIs.List(ctx, in.Scope, in.Who, apis.Selection{Family: apidef.MCP, Sort: in.Sort, Paging: in.Paging, Filter: apidef.Filter{Text: in.Text}})
	out := operation.Page[documents.Document]{Items: []documents.Document{}, Pages: max(1, page.Pages)}
	for _, a := range page.Items {
		out.Items = append(out.Items, documents.Document{Text: a.Document()})
	}
	return out, err
}

type createIn struct {
	documents.In
	versioning.NewVersion
}

// Create stores an MCP proxy.
func (s *Service) Create(ctx context.Context, in createIn) (operation.Receipt, error) {
	document, err := s.created(ctx, in)
	if err != nil {
		return operation.Receipt{}, err
	}
	r, err := s.Documents.Create(ctx, in.In, apidef.MCP, document, in.NewVersion)
	if err == nil {
		r.Message, r.Meta = "MCP Proxy definition created", r.ID
	}
	return r, err
}

// created returns the document that Create stores.
func (s *Service) created(ctx context.Context, in createIn) (*doc.Node, error) {
	document, err := s.body(ctx, in.Body)
	if err == nil {
		err = wanted(document)
	}
	return document, err
}

func (s *Service) body(ctx context.Context, b operation.Document) (*doc.Node, error) {
	document, err := s.Documents.Body(ctx, b)
	if err == nil {
		mcp.Compact(document)
	}
	return document, err
}

// Get returns the document of an MCP proxy.
func (s *Service) Get(ctx context.Context, in rows.ByID) (operation.Rendition, error) {
	return s.Documents.Get(ctx, in, apidef.MCP)
}

// Replace replaces the document of an MCP proxy.
func (s *Service) Replace(ctx context.Context, in documents.ReplaceIn) (operation.Receipt, error) {
	document, err := s.replaced(ctx, in)
	if err != nil {
		return operation.Receipt{}, err
	}
	at, err := s.Documents.Rewrite(ctx, in, func(apidef.API) (*doc.Node, error) {
		return document.Clone(), wanted(document)
	}, apidef.MCP)
	return operation.Receipt{Message: "MCP Proxy definition updated", Tag: operation.Tag(at)}, err
}

// replaced returns the document that Replace stores.
func (s *Service) replaced(ctx context.Context, in documents.ReplaceIn) (*doc.Node, error) {
	return s.body(ctx, in.Body)
}

// Delete removes an MCP proxy; keys and policies stay.
func (s *Service) Delete(ctx context.Context, in rows.WriteByID) (operation.Receipt, error) {
	return operation.Receipt{Message: "MCP Proxy definition deleted"}, s.Documents.Versions.Delete(ctx, in, apidef.MCP, false)
}

// ListReferences returns who names an MCP proxy.
func (s *Service) ListReferences(ctx context.Context, in rows.ByID) ([]store.Reference, error) {
	if _, _, err := s.Documents.Find(ctx, in, apidef.MCP); err != nil {
		return nil, err
	}
	return s.Documents.APIs.Referrers(ctx, in.Scope, in.Who, apidef.MCP, in.ID)
}

// ProxyVersion is a child version of an MCP proxy.
type ProxyVersion struct {
	APIID string `json:"apiId"`
	Name  string `json:"name"`
}

// Versions lists the child versions of a proxy, a bare array: empty if it has none, but
// refused of a proxy that is a version itself.
func (s *Service) Versions(ctx context.Context, in rows.ByID) ([]ProxyVersion, error) {
	out := []ProxyVersion{}
	a, base, err := s.Documents.Find(ctx, in, apidef.MCP)
	if fault.CodeOf(err) == apis.CodeMissing || fault.CodeOf(err) == apis.CodeClass && a.Value.Document() == nil {
		err = documents.NotBase(in.ID)
	}
	if err != nil {
		return out, err
	}
	metas, err := s.Documents.Children(ctx, in, versions.Query{}, apidef.MCP)
	if fault.CodeOf(err) == documents.CodeNotBase && base == "" {
		return out, nil
	}
	for _, m := range metas.APIs {
		out = append(out, ProxyVersion{APIID: m.ID, Name: m.VersionName})
	}
	return out, err
}
