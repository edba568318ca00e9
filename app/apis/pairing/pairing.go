package apis

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/mcp"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Codes of the faults of MCP proxies that offer the operations of a REST API.
const (
	codeSource = apidef.Kind + ".mcp_source" // there is no such API
	codeTool   = apidef.Kind + ".mcp_tool"   // the name of a tool is taken
	codeView   = "mcp.view"                  // the tool view does not fit the API
)

// pair checks an MCP proxy that offers the operations of a REST API as tools
// against that API, and gives it the gateways of that API (contract
// oas-extension.md 11.2).
func (l *Library) pair(ctx context.Context, r store.Reader, who operation.Principal, d *apidef.Draft) error {
	id, paired := oas.PairedSource(d.Document.Get(oas.ExtensionKey, "upstream", "url").Text())
	if d.Class != apidef.MCP || !paired {
		return nil
	}
	source, err := l.named(ctx, r, id)
	if err != nil {
		return err
	}
	if source == nil || source.Class() != apidef.OAS {
		return fault.New(fault.Invalid, codeSource, "the source of the MCP Proxy, %s, is no OAS API of this organisation", id).At("x-tyk-api-gateway.upstream.url")
	}
	if !source.VisibleTo(l.viewerOf(apidef.MCP, who, access.Read)) {
		return notOwned()
	}
	def, rest, err := source.Texts()
	if err != nil {
		return err
	}
	mcp.Adopt(d.Document, doc.NewObject(), def)
	view, err := mcp.Derive(rest, d.Document.Get(mcp.ViewExtension), true)
	if err != nil {
		return err
	}
	return l.clash(ctx, r, *d, id, rest, view)
}

// clash refuses tools whose names another proxy of the same source gives to other
// operations: clients of both would take one for the other.
func (l *Library) clash(ctx context.Context, r store.Reader, d apidef.Draft, source string, rest *doc.Node, view mcp.View) error {
	for other, err := range l.kind.Find(ctx, r, store.Query{Index: bySource, Value: store.Indexed(source)}) {
		if err != nil {
			return err
		}
		if other.Value.ID() == d.ID {
			continue
		}
		_, document, err := other.Value.Texts()
		if err != nil {
			return err
		}
		theirs, err := mcp.Derive(rest, document.Get(mcp.ViewExtension), false)
		if err != nil {
			continue // what has become wrong since offers nothing
		}
		if name, taken := mcp.Clash(view.Tools, theirs.Tools); taken {
			return fault.New(fault.Invalid, codeTool, "the tool %s is another operation at the MCP Proxy %s of the same source", name, other.Value.APIID()).
				At(mcp.ViewExtension + ".primitives")
		}
	}
	return nil
}
