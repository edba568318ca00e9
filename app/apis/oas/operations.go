package apis

import (
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/core/api/versions"
	"github.com/gatehouse-io/gatehouse/core/description/imports"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Examples of documents for the API description.
var (
	exampleExtension = map[string]any{
		"info":     map[string]any{"name": "Orders", "id": "orders", "state": map[string]any{"active": true}},
		"upstream": map[string]any{"url": "http://orders.internal:8080/"},
		"server":   map[string]any{"listenPath": map[string]any{"value": "/orders/", "strip": true}},
	}
	exampleDescription = map[string]any{
		"openapi": "3.0.3", "info": map[string]any{"title": "Orders", "version": "1.0.0"},
		"servers": []any{map[string]any{"url": "http://orders.internal:8080/"}}, "paths": map[string]any{},
	}
	exampleDocument = map[string]any{
		"openapi": "3.0.3", "info": map[string]any{"title": "Orders", "version": "1.0.0"}, "paths": map[string]any{},
		"x-tyk-api-gateway": exampleExtension,
	}
	exampleStreams = map[string]any{
		"openapi": "3.0.3", "info": map[string]any{"title": "Orders", "version": "1.0.0"}, "paths": map[string]any{},
		"x-tyk-api-gateway": exampleExtension,
		"x-tyk-streaming":   map[string]any{"streams": map[string]any{"out": map[string]any{"input": map[string]any{"http_server": map[string]any{"path": "/in"}}, "output": map[string]any{"http_server": map[string]any{"ws_path": "/out"}}}}},
	}
	exampleCategories = CategoryList{Categories: []string{"shop"}}
	exampleMetas      = versions.Metas{APIs: []versions.Meta{{ID: "orders-v2", Name: "Orders v2", VersionName: "v2"}}, Pages: 1}
	exampleURLs       = URLList{APIID: "orders", URLs: []servers.Location{{
		Protocol: "http", Domain: "localhost", ListenPath: "orders", QueryParameters: []servers.Value{}, Headers: []servers.Value{}, URL: "http://localhost:8080/orders"}}}
)

func made(message, meta string) map[string]any {
	return map[string]any{"Status": "OK", "Message": message, "Meta": meta, "ID": "orders"}
}

// answers joins what a row answers to some faults.
func answers(missing operation.Answer, more map[string]operation.Answer) operation.Option {
	all := map[string]operation.Answer{codeMissing: missing}
	for code, a := range more {
		all[code] = a
	}
	return operation.Answers(all)
}

// documents is what rows that read documents say of bodies they cannot read.
func documents(listKey string) operation.Style {
	s := style(listKey)
	s.Faults[codeTaken] = operation.Answer{Text: "Found API with the same ID."}
	s.Faults[operation.CodeEmptyBody] = operation.Answer{Text: "Couldn't read body."}
	s.Faults[operation.CodeMalformed] = operation.Answer{Text: "Couldn't read body. {message}"}
	s.Faults[versions.CodeName] = operation.Answer{Status: 422}
	return s
}

var versionFaults = []string{codeBase, versions.CodeName, versions.CodeBaseName, versions.CodeDuplicate}

// Operations lists what clients can do with OAS APIs.
func (s OAS) Operations() []operation.Operation {
	group := operation.Group{Surface: operation.Management, Name: "apis.oas", Path: "/api/apis/oas", Tag: "OAS APIs", Permission: access.APIs, Style: documents("apis")}
	gone := operation.Answer{Status: 400, Text: "Could not retrieve API detail."}
	refused := map[string]operation.Answer{codeClass: {Status: 400, Text: "Could not delete the API."}}
	return group.Rows(
		operation.POST("create", "", "Create an API from a complete document", s.Create, comesTo(s.created), writing(append(versionFaults, codeExtension, codeTemplates, codeStreamsOff)...),
			operation.Notes("JSON or YAML. With base_api_id it becomes a version of that API. x-tyk-streaming obeys the rules of streams APIs. "+notesPlace), operation.Example(exampleDocument, made("API created", "5f1a0c5d8e3b2a1f00000005"))),
		operation.POST("import", "/import", "Create an API from a plain OpenAPI description", s.Import, comesTo(s.imported), writing(append(append(versionFaults, imports.Codes...), codeExtension, codeTemplates, codeStreamsOff)...),
			operation.Notes("JSON, YAML, a form with a file (also a ZIP file of several), or {\"url\": \"https://…\"} for a document to be downloaded."),
			operation.Example(exampleDescription, made("API created", "5f1a0c5d8e3b2a1f00000005"))),
		operation.POST("dry-run", "/dry-run", "Build a document without storing it", s.DryRun, comesTo(s.sent), operation.Faulting(append(append(versionFaults, imports.Codes...), codeInvalid, codeTemplates, codeStreamsOff)...),
			operation.Notes("{\"oas\": a description, \"tyk_oas\": a stored document}, either of them."),
			operation.Example(map[string]any{"oas": exampleDescription}, exampleDocument)),
		operation.GET("get", "/{apiId}", "Fetch the document of an API", s.Get, operation.Faulting(codeMissing, codeNotOwned, codeClass),
			answers(operation.Answer{Status: 400, Text: "Could not retrieve Api detail"}, nil), operation.Notes("Of a streams API too. YAML when the client accepts that. A child version names its base in the header x-tyk-base-api-id."), operation.Example(nil, exampleDocument)),
		operation.PUT("replace", "/{apiId}", "Replace the document of an API", s.Replace, comesTo(s.replaced), writing(codeMissing, codeWrongID, codeExtension, codeClass, codeStreamsOff),
			answers(operation.Answer{Status: 404, Text: "API definition does not exist"}, nil), s.rehearsable(), operation.Example(exampleDocument, done("API updated.")),
			operation.Notes("info.id of the extension is that of the path, or absent. Categories and owners stay. The whole seconds of endpoint timeouts follow from their durations. A streams API can be replaced here too, under the rules of its own operations. "+notesDryRun)),
		operation.PATCH("patch", "/{apiId}", "Put an updated OpenAPI description under the stored settings", s.Patch, operation.Settles(s.patches), writing(append(imports.Codes, codeMissing, codeWrongID, codeExtension, codeClass, codeStreamsOff)...),
			answers(operation.Answer{Status: 404, Text: "API not found."}, nil), s.rehearsable(), operation.Example(exampleDescription, done("API updated")),
			operation.Notes("The stored extension stays, changed as the query says; categories and owners stay as well. The body is a plain description, in the forms that an import takes. "+notesDryRun)),
		operation.DELETE("delete", "/{apiId}", "Delete an OAS API", s.Delete, operation.Faulting(codeMissing, codeNotOwned, codeClass),
			answers(operation.Answer{Status: 404, Text: "Could not retrieve API detail."}, refused),
			operation.Notes("The child versions of a base stay as APIs of their own unless purge is true, which the caller must own all of them for. "+notesDryRun), s.rehearsable(), operation.Example(nil, done("API deleted."))),
		operation.PATCH("rebase", "/{apiId}/rebase/{next-base-apiId}", "Make a child version the base", s.Rebase, operation.Faulting(rebaseFaults...),
			s.rehearsable(), operation.Example(nil, done("API converted successfully")),
			operation.Notes("The routing table moves to the child; the names of all versions and what requests without one reach stay. A child that is internal becomes reachable. Both APIs must be the caller's to write. Gateways reload once.")),
		operation.PATCH("rebase.short", "/{apiId}/{next-base-apiId}", "Make a child version the base", s.Rebase, operation.Faulting(rebaseFaults...),
			operation.Notes("Another path of the operation above, as older documentation has it."), s.rehearsable(), operation.Example(nil, done("API converted successfully"))),
		operation.GET("urls", "/{apiId}/urls", "List the public addresses of an API", s.URLs, operation.Faulting(codeMissing, codeNotOwned),
			answers(operation.Answer{Status: 404, Text: "API not found"}, nil), operation.Example(nil, exampleURLs)),
		operation.GET("categories", "/{apiId}/categories", "List the categories of an API", s.Categories, operation.Faulting(codeMissing, codeNotOwned, codeClass),
			answers(operation.Answer{Status: 404, Text: "API not found"}, nil), operation.Example(nil, exampleCategories)),
		operation.PUT("categories.replace", "/{apiId}/categories", "Replace the categories of an API", s.SetCategories, operation.Faulting(codeMissing, codeNotOwned, codeClass),
			answers(operation.Answer{Status: 404, Text: "API not found"}, nil), s.rehearsable(), operation.Example(exampleCategories, done("API categories updated."))),
		operation.GET("export", "/{apiId}/export", "Download the document of an API", s.Export, operation.Faulting(codeMissing, codeNotOwned, codeClass),
			answers(gone, nil), operation.Example(nil, exampleDocument),
			operation.Notes("As YAML if the request, though it has no body, says Content-Type: application/x-yaml.")),
		operation.GET("versions", "/{apiId}/versions", "List the child versions of a base", s.Versions, operation.Faulting(codeMissing, codeNotOwned, codeNotBase),
			answers(operation.Answer{Status: 404, Text: "Could not retrieve API detail."}, map[string]operation.Answer{codeNotBase: {Status: 422}}), operation.Example(nil, exampleMetas)),
	)
}

// proxyFaults are those of every row that stores an MCP proxy.
var proxyFaults = []string{codeExtension, codeNameTaken, codeSource, codeTool, codeView, codeStreamsOff}

var rebaseFaults = []string{codeNoCurrent, codeNoNext, codeNotOwned, versions.CodeNotBase, versions.CodeNotChild, versions.CodeNotItsOwn}

// Operations lists what clients can do with streams APIs.
func (s Streams) Operations() []operation.Operation {
	group := operation.Group{Surface: operation.Management, Name: "apis.streams", Path: "/api/apis/streams", Tag: "Streams APIs", Permission: access.APIs, Style: documents("apis")}
	refused := map[string]operation.Answer{codeClass: {Status: 400, Text: "Could not delete the API."}}
	return group.Rows(
		operation.POST("create", "", "Create a streams API", s.Create, comesTo(s.created), writing(append(versionFaults, codeExtension, codeStreamsOff)...),
			operation.Example(exampleStreams, made("API created", "5f1a0c5d8e3b2a1f00000005")),
			operation.Notes("Needs x-tyk-api-gateway, x-tyk-streaming or both; without the former the API is stored switched off, until it gets one. Refused while streaming.enabled is off.")),
		operation.GET("get", "/{apiId}", "Fetch the document of a streams API", s.Get, operation.Faulting(codeMissing, codeNotOwned, codeClass),
			absent(400, "Could not retrieve API detail."), operation.Example(nil, exampleStreams)),
		operation.PUT("replace", "/{apiId}", "Replace the document of a streams API", s.Replace, comesTo(s.replaced), writing(codeMissing, codeWrongID, codeExtension, codeClass, codeStreamsOff),
			absent(404, "API definition does not exist"), s.rehearsable(), operation.Example(exampleStreams, done("API updated."))),
		operation.PATCH("patch", "/{apiId}", "Put an updated description under the stored settings", s.Patch, operation.Settles(s.patches), writing(append(imports.Codes, codeMissing, codeWrongID, codeExtension, codeClass, codeStreamsOff)...),
			absent(404, "API not found."), s.rehearsable(), operation.Example(exampleDescription, done("API updated"))),
		operation.DELETE("delete", "/{apiId}", "Delete a streams API", s.Delete, operation.Faulting(codeMissing, codeNotOwned, codeClass),
			answers(operation.Answer{Status: 404, Text: "Could not retrieve API detail."}, refused), s.rehearsable(), operation.Example(nil, done("API deleted."))),
	)
}

// Operations lists what clients can do with MCP proxies.
func (s MCP) Operations() []operation.Operation {
	group := operation.Group{Surface: operation.Management, Name: "mcps", Path: "/api/mcps", Tag: "MCP proxies", Permission: access.MCP, Style: documents("mcps")}
	gone := operation.Answer{Status: 404, Text: "MCP Proxy not found"}
	return group.Rows(
		operation.GET("list", "", "List MCP proxies", s.List, operation.Faulting(apidef.CodeSort), operation.Example(nil, map[string]any{"mcps": []any{exampleDocument}, "pages": 1})),
		operation.POST("create", "", "Create an MCP proxy", s.Create, comesTo(s.created), writing(append(versionFaults, proxyFaults...)...),
			operation.Example(exampleDocument, made("MCP Proxy definition created", "orders")),
			operation.Notes("The name is unique among proxies. With the upstream tyk://{apiId}__mcp-server the proxy offers the operations of that OAS API as tools, as x-tyk-mcp-server selects and names them, on the gateways of that API.")),
		operation.GET("get", "/{apiId}", "Fetch the document of an MCP proxy", s.Get, operation.Faulting(codeMissing, codeNotOwned, codeClass),
			answers(gone, nil), operation.Example(nil, exampleDocument)),
		operation.PUT("replace", "/{apiId}", "Replace the document of an MCP proxy", s.Replace, comesTo(s.replaced), writing(append(proxyFaults, codeMissing, codeWrongID, codeClass)...),
			answers(gone, nil), s.rehearsable(), operation.Example(exampleDocument, done("MCP Proxy definition updated")), operation.Notes("info.id of the extension is that of the path, or absent. "+notesDryRun)),
		operation.DELETE("delete", "/{apiId}", "Delete an MCP proxy", s.Delete, operation.Faulting(codeMissing, codeNotOwned, codeClass),
			answers(gone, nil), s.rehearsable(), operation.Example(nil, done("MCP Proxy definition deleted")), operation.Notes("Keys and policies that name it stay as they are. "+notesDryRun)),
		operation.GET("references", "/{apiId}/references", "List who names an MCP proxy", s.ListReferences, operation.Faulting(codeMissing, codeNotOwned, codeClass),
			answers(gone, nil), operation.Example(nil, exampleReferences)),
		operation.GET("versions", "/{apiId}/versions", "List the child versions of an MCP proxy", s.Versions, operation.Faulting(codeNotBase, codeNotOwned, codeClass),
			operation.Answers(map[string]operation.Answer{codeNotBase: {Status: 422}}), operation.Example(nil, []ProxyVersion{{APIID: "orders-v2", Name: "v2"}})),
	)
}
