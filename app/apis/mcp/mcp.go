package apis

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/mcp"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// MCP is the door for MCP proxies (contract dashboard.md 13). Its permission is
// its own: who may see APIs sees no proxies, and the other way round.
type MCP struct{ *Library }

// proxyWanted is wanted in the words of this door.
func proxyWanted(document *doc.Node) error {
	if wanted(document) == nil {
		return nil
	}
	return fault.New(fault.Invalid, codeExtension, "the payload should contain x-tyk-api-gateway").At(oas.ExtensionKey)
}

type mcpListIn struct {
	Scope tenant.Scope
	Who   operation.Principal
	operation.Paging
	Text string `query:"q" doc:"Part of the name or of the listen path, in any case."`
	Sort string `query:"sort" doc:"name, created_at or updated_at, with - in front for descending; -created_at when absent."`
}

// List returns a page of documents.
func (s MCP) List(ctx context.Context, in mcpListIn) (operation.Page[Document], error) {
	page, err := s.page(ctx, in.Scope, in.Who, selection{family: apidef.MCP, sort: lastUpdated(in.Sort), paging: in.Paging, filter: apidef.Filter{Text: in.Text}})
	out := operation.Page[Document]{Items: []Document{}, Pages: max(1, page.Pages)}
	for _, a := range page.Items {
		out.Items = append(out.Items, Document{text: a.Document()})
	}
	return out, err
}

// lastUpdated accepts another name for the time of the last change, which the
// public description of this list uses.
func lastUpdated(sort string) string {
	switch sort {
	case "last_updated":
		return "updated_at"
	case "-last_updated":
		return "-updated_at"
	}
	return sort
}

type mcpCreateIn struct {
	documentIn
	versionIn
}

// Create stores an MCP proxy.
func (s MCP) Create(ctx context.Context, in mcpCreateIn) (operation.Receipt, error) {
	document, err := s.created(ctx, in)
	if err != nil {
		return operation.Receipt{}, err
	}
	a, at, err := s.createDocument(ctx, in.Scope, in.Who, apidef.MCP, document, in.versionIn, in.Unknown)
	if err != nil {
		return operation.Receipt{}, err
	}
	return operation.Receipt{Message: "MCP Proxy definition created", Meta: a.APIID(), ID: a.APIID(), Tag: operation.Tag(at)}, nil
}

// created returns the document that Create stores.
func (s MCP) created(ctx context.Context, in mcpCreateIn) (*doc.Node, error) {
	document, err := s.compact(ctx, in.Body)
	if err == nil {
		err = proxyWanted(document)
	}
	return document, err
}

// replaced returns the document that Replace stores.
func (s MCP) replaced(ctx context.Context, in oasReplaceIn) (*doc.Node, error) {
	return s.compact(ctx, in.Body)
}

func (s MCP) compact(ctx context.Context, b operation.Document) (*doc.Node, error) {
	document, err := s.body(ctx, b)
	if err == nil {
		mcp.Compact(document)
	}
	return document, err
}

// Replace replaces the document of an MCP proxy.
func (s MCP) Replace(ctx context.Context, in oasReplaceIn) (operation.Receipt, error) {
	document, err := s.replaced(ctx, in)
	if err != nil {
		return operation.Receipt{}, err
	}
	at, err := s.rewrite(ctx, in.writeByID, in.Unknown, func(apidef.API) (*doc.Node, error) {
		return document.Clone(), proxyWanted(document)
	}, apidef.MCP)
	return operation.Receipt{Message: "MCP Proxy definition updated", Tag: operation.Tag(at)}, err
}

// Delete removes an MCP proxy; keys and policies stay.
func (s MCP) Delete(ctx context.Context, in writeByID) (operation.Receipt, error) {
	return s.delete(ctx, in, apidef.MCP, false, "MCP Proxy definition deleted")
}

// ProxyVersion is a child version of an MCP proxy.
type ProxyVersion struct {
	APIID string `json:"apiId"`
	Name  string `json:"name"`
}

// Versions lists the child versions of a proxy, a bare array.
func (s MCP) Versions(ctx context.Context, in byID) ([]ProxyVersion, error) {
	out := []ProxyVersion{}
	a, _, err := s.find(ctx, in, apidef.MCP)
	if fault.CodeOf(err) == codeMissing || fault.CodeOf(err) == codeClass && a.Value.Document() == nil {
		err = fault.New(fault.Invalid, codeNotBase, "%s is not recognised", in.ID)
	}
	if err != nil {
		return out, err
	}
	metas, err := s.versionsOf(ctx, versionsIn{byID: in}, apidef.MCP)
	for _, m := range metas.APIs {
		out = append(out, ProxyVersion{APIID: m.ID, Name: m.VersionName})
	}
	return out, err
}
