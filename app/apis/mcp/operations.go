package mcp

import (
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
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// faults are the faults of all operations that store an MCP proxy.
var faults = []string{forms.CodeExtension, apis.CodeNameTaken, pairing.CodeSource, pairing.CodeTool, mcp.CodeView, forms.CodeStreamsOff}

// Operations lists the operations on MCP proxies.
func (s *Service) Operations() []operation.Operation {
	group := operation.Group{Surface: operation.Management, Name: "mcps", Path: "/api/mcps", Tag: "MCP proxies", Permission: access.MCP, Style: rows.Documents("mcps")}
	gone := rows.Absent(404, "MCP Proxy not found")
	dry := operation.Rehearsable(s.Documents.APIs.References.Onlooker)
	return group.Rows(
		operation.GET("list", "", "List MCP proxies", s.List, operation.Lists(rows.DocumentItem), rows.Sought(rows.DocumentItem, oas.ExtensionKey+".server.listenPath.value"), rows.Sorted(rows.DocumentItem.Name), operation.Faulting(apidef.CodeSort), operation.Example(nil, map[string]any{"mcps": []any{rows.Document}, "pages": 1})),
		operation.POST("create", "", "Create an MCP proxy", s.Create, documents.Settles(s.created), rows.Writing(append(versioning.Faults, faults...)...),
			operation.Example(rows.Document, rows.Made("MCP Proxy definition created", "orders")),
			operation.Notes("The name must be unique among MCP proxies. With the upstream tyk://{apiId}__mcp-server, the proxy offers the operations of that OAS API as tools; x-tyk-mcp-server selects and names them. Such a proxy runs on the gateways of that API.")),
		operation.GET("get", "/{apiId}", "Fetch the document of an MCP proxy", s.Get, operation.Faulting(apis.CodeMissing, apis.CodeNotOwned, apis.CodeClass),
			gone, operation.Example(nil, rows.Document)),
		operation.PUT("replace", "/{apiId}", "Replace the document of an MCP proxy", s.Replace, documents.Settles(s.replaced), rows.Writing(append(faults, apis.CodeMissing, apis.CodeWrongID, apis.CodeClass)...),
			gone, dry, operation.Example(rows.Document, rows.Done("MCP Proxy definition updated")), operation.Notes("info.id of the extension must be the ID in the path, or absent. "+rows.NotesDryRun)),
		operation.DELETE("delete", "/{apiId}", "Delete an MCP proxy", s.Delete, operation.Faulting(apis.CodeMissing, apis.CodeNotOwned, apis.CodeClass, versions.CodeTooLarge),
			gone, dry, operation.Example(nil, rows.Done("MCP Proxy definition deleted")), operation.Notes("Keys and policies that refer to the proxy do not change. "+rows.NotesDryRun)),
		operation.GET("references", "/{apiId}/references", "List the references to an MCP proxy", s.ListReferences, operation.Faulting(apis.CodeMissing, apis.CodeNotOwned, apis.CodeClass),
			gone, operation.Example(nil, rows.References)),
		operation.GET("versions", "/{apiId}/versions", "List the child versions of an MCP proxy", s.Versions, operation.Faulting(documents.CodeNotBase, apis.CodeNotOwned, apis.CodeClass),
			operation.Answers(map[string]operation.Answer{documents.CodeNotBase: {Status: 422}}), operation.Example(nil, []ProxyVersion{{APIID: "orders-v2", Name: "v2"}})),
	)
}
