// Package pairing checks MCP proxies that offer the operations of a REST API as tools.
package pairing

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/mcp"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Codes of faults.
const (
	CodeSource = apidef.Kind + ".mcp_source" // there is no such API
	CodeTool   = apidef.Kind + ".mcp_tool"   // the name of the tool is taken
)

// Check checks an MCP proxy that offers the operations of a REST API as tools against
// that API, and sets its gateways to those of that API. It accepts all other APIs.
func Check(ctx context.Context, r store.Reader, repo *apis.Repository, v apidef.Viewer, d *apidef.Draft) error {
	if d.Class != apidef.MCP {
		return nil
	}
	id, source, err := Source(ctx, r, repo, d.Document)
	if err != nil || id == "" {
		return err
	}
	if source == nil {
		return fault.New(fault.Invalid, CodeSource, "the source of the MCP Proxy, %s, is no OAS API of this organisation", id).At("x-tyk-api-gateway.upstream.url")
	}
	if !source.VisibleTo(v) {
		return apis.NotOwned()
	}
	def, rest, err := source.Texts()
	if err != nil {
		return err
	}
	if err := mcp.Adopt(d.Document, doc.NewObject(), def); err != nil {
		return err
	}
	offered, err := mcp.SourceOf(rest)
	if err != nil {
		return err
	}
	view, err := offered.Derive(d.Document.Get(mcp.ViewExtension), true)
	if err != nil {
		return err
	}
	// No other proxy of the same source may use the name of a tool for another
	// operation, because clients of both would confuse the tools.
	suspect := offered.Suspect(view.Tools)
	for other, err := range repo.Kind.Find(ctx, r, store.Query{Index: apis.BySource, Value: store.Indexed(id)}) {
		if err != nil {
			return err
		}
		if other.Value.ID() == d.ID {
			continue
		}
		named, err := other.Value.Part(mcp.ViewExtension)
		if err != nil {
			return err
		}
		if !suspect(named) { // most proxies; only the tools of the others are derived
			continue
		}
		theirs, err := offered.Derive(named, false)
		if err != nil {
			continue // a proxy that has become invalid offers no tools
		}
		if name, taken := mcp.Clash(view.Tools, theirs.Tools); taken {
			return fault.New(fault.Invalid, CodeTool, "the tool %s is another operation at the MCP Proxy %s of the same source", name, other.Value.APIID()).
				At(mcp.ViewExtension + ".primitives")
		}
	}
	return nil
}

// Source returns the ID of the API whose operations a proxy offers, "" if it offers
// none, and that API, nil if the organisation has no OAS API with this ID.
func Source(ctx context.Context, r store.Reader, repo *apis.Repository, document *doc.Node) (id string, source *apidef.API, err error) {
	id, paired := oas.PairedSource(document.Get(oas.ExtensionKey, "upstream", "url").Text())
	if !paired {
		return "", nil, nil
	}
	if source, err = repo.Named(ctx, r, id); err == nil && source != nil && source.Class() != apidef.OAS {
		source = nil
	}
	return id, source, err
}
