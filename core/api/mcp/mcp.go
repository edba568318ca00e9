// Package mcp implements MCP proxies, and the conversion of a REST API's operations to the
// tools of a paired proxy (docs/wire/mcp-proxies.md).
package mcp

import (
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// ViewExtension is the member of a document that holds its tool view.
const ViewExtension = "x-tyk-mcp-server"

// Managed reports whether a classic definition belongs to an MCP proxy: it has
// the markers, or is paired with a REST API (docs/wire/mcp-proxies.md#markers).
func Managed(classic *doc.Node) bool {
	_, paired := oas.PairedSource(classic.Get("proxy", "target_url").Text())
	return paired || classic.Get("application_protocol").Text() == "mcp" && classic.Get("json_rpc_version").Text() == "2.0"
}

// Adopt copies the tags of its source to a paired proxy, into its document and its classic
// definition, in place; source is the classic definition of the REST API
// (docs/wire/mcp-proxies.md#pairing).
func Adopt(document, classic, source *doc.Node) error {
	if size := source.Get("tags").Size(); size > maxTags {
		return fault.New(fault.Invalid, CodeView, "the tags of the source API take %d bytes; its proxies take over %d at most", size, maxTags).
			At(oas.ExtensionKey + ".upstream.url")
	}
	tags, disabled := doc.NewStrings(source.Get("tags").Texts()), source.Get("tags_disabled").True()
	classic.Set("tags", tags)
	classic.Set("tags_disabled", doc.NewBool(disabled))
	document.Put(doc.NewBool(!disabled), oas.ExtensionKey, "server", "gatewayTags", "enabled")
	document.Put(tags.Clone(), oas.ExtensionKey, "server", "gatewayTags", "tags")
	return nil
}

// maxTags is the maximum size of the tags of a REST API in bytes of JSON: each of its proxies
// has a copy.
const maxTags = 64 << 10

// Compact changes the tool view of a document in place to the form that is stored. It removes
// the members that only expanded views have, and the entries that these show as hidden. An
// empty view is removed too in a paired proxy; in another document it stays, so that it is
// refused.
func Compact(document *doc.Node) {
	view := document.Get(ViewExtension)
	if view == nil {
		return
	}
	var kept []*doc.Node
	for _, p := range view.Get("primitives").Items() {
		expanded := false
		for _, name := range answers {
			expanded = p.Delete(name) || expanded
		}
		if expanded && p.Get("allow").Is(doc.TypeBool) && !p.Get("allow").True() {
			continue
		}
		kept = append(kept, p)
	}
	_, paired := oas.PairedSource(document.Get(oas.ExtensionKey, "upstream", "url").Text())
	list, others := view.Get("primitives"), view.Len()
	if list.Is(doc.TypeArray, doc.TypeNull) {
		others--
	}
	if len(kept) == 0 && paired && view.Is(doc.TypeObject, doc.TypeNull) && others == 0 {
		document.Delete(ViewExtension)
		return
	}
	if list.Is(doc.TypeArray) {
		list.SetItems(kept)
	}
}

// answers are the members that only expanded views have.
var answers = []string{
	"inputSchema", "outputSchema", "parameterLocations", "parameterSourceNames", "parameterSerializations", "parameterOrder",
	"requestBodyContentType",
}
