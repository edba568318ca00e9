// Package mcp holds the operations on MCP proxies. They have a permission of their own:
// users who may see APIs do not see proxies, and the other way round.
package mcp

import (
	"context"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/documents"
	"github.com/gatehouse-io/gatehouse/app/apis/forms"
	"github.com/gatehouse-io/gatehouse/app/apis/pairing"
	"github.com/gatehouse-io/gatehouse/app/apis/rows"
	"github.com/gatehouse-io/gatehouse/app/apis/versioning"
	"github.com/gatehouse-io/gatehouse/core/access"
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

// wanted refuses a document without the vendor extension, with the text of these
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
	Text string `query:"q" doc:"Part of the name or of the listen path; letter case is ignored."`
	Sort string `query:"sort" oneof:"name,-name,created_at,-created_at,updated_at,-updated_at" doc:"Member to sort by; a leading - means descending. Default: -created_at."`
}

// List returns a page of documents.
func (s *Service) List(ctx context.Context, in listIn) (operation.Page[documents.Document], error) {
	switch in.Sort { // in the public description of this list, updated_at has another name
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

type getIn struct {
	rows.ByID
	Expanded bool `query:"expanded" doc:"true: the tool view includes all values that are derived from the source API."`
}

// Get returns the document of an MCP proxy.
func (s *Service) Get(ctx context.Context, in getIn) (operation.Rendition, error) {
	a, base, err := s.Documents.Find(ctx, in.ByID, apidef.MCP)
	if err != nil {
		return operation.Rendition{}, err
	}
	text := a.Value.Document()
	if in.Expanded {
		if text, err = s.expanded(ctx, in.ByID, a.Value); err != nil {
			return operation.Rendition{}, err
		}
	}
	return rows.Render(text, a, base), nil
}

// expanded returns the document of a proxy with its complete tool view. The document is
// returned as stored if the proxy has no source, or if the source was deleted, no
// longer matches the view, or may not be read by the caller: the view shows the
// parameters of the source's operations.
func (s *Service) expanded(ctx context.Context, in rows.ByID, a apidef.API) (text json.RawMessage, err error) {
	text = a.Document()
	document, err := doc.ParseNode(text)
	if err != nil {
		return nil, err
	}
	if !in.Who.Permissions.Allows(access.APIs, access.Read) {
		return text, nil
	}
	var source *apidef.API
	err = s.Documents.APIs.Store.View(ctx, in.Scope, func(r store.Reader) (err error) {
		_, source, err = pairing.Source(ctx, r, s.Documents.APIs, document)
		return err
	})
	if err != nil || source == nil || !source.VisibleTo(s.Documents.APIs.Viewer(in.Who, apidef.OAS, access.Read)) {
		return text, err
	}
	_, rest, err := source.Texts()
	if err != nil {
		return nil, err
	}
	if view, err := mcp.Derive(rest, document.Get(mcp.ViewExtension), false); err == nil {
		document.Set(mcp.ViewExtension, view.Expanded())
	}
	return document.JSON(), nil
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

// Delete deletes an MCP proxy; keys and policies remain.
func (s *Service) Delete(ctx context.Context, in rows.WriteByID) (operation.Receipt, error) {
	return operation.Receipt{Message: "MCP Proxy definition deleted"}, s.Documents.Versions.Delete(ctx, in, apidef.MCP, false)
}

// ListReferences returns the records that refer to an MCP proxy.
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

// Versions lists the child versions of a proxy, as a bare array, empty if it has none.
// It refuses a proxy that is a version itself.
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
