// Package pairing holds an MCP proxy that offers the operations of a REST API as
// tools against that API.
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
	CodeTool   = apidef.Kind + ".mcp_tool"   // the name of a tool is taken
)

// Check checks an MCP proxy that offers the operations of a REST API as tools against
// that API, and gives it the gateways of that API. Other APIs pass.
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
	// No other proxy of the same source may give the name of a tool to another operation:
	// clients of both would take one for the other.
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
		if !suspect(named) { // most proxies: only the others are derived
			continue
		}
		theirs, err := offered.Derive(named, false)
		if err != nil {
			continue // a proxy that has become wrong offers nothing
		}
		if name, taken := mcp.Clash(view.Tools, theirs.Tools); taken {
			return fault.New(fault.Invalid, CodeTool, "the tool %s is another operation at the MCP Proxy %s of the same source", name, other.Value.APIID()).
				At(mcp.ViewExtension + ".primitives")
		}
	}
	return nil
}

// Source returns the ID of the API whose operations a proxy offers, "" when it offers none,
// and the API: nil when the organisation has no OAS API of that ID.
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
