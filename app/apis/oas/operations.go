package oas

import (
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/documents"
	"github.com/gatehouse-io/gatehouse/app/apis/forms"
	"github.com/gatehouse-io/gatehouse/app/apis/rows"
	"github.com/gatehouse-io/gatehouse/app/apis/versioning"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/core/api/versions"
	"github.com/gatehouse-io/gatehouse/core/description/imports"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Examples for the API description.
var (
	exampleCategories = CategoryList{Categories: []string{"shop"}}
	exampleMetas      = versions.Metas{APIs: []versions.Meta{{ID: "orders-v2", Name: "Orders v2", VersionName: "v2"}}, Pages: 1}
	exampleURLs       = URLList{APIID: "orders", URLs: []servers.Location{{
		Protocol: "http", Domain: "localhost", ListenPath: "orders", QueryParameters: []servers.Value{}, Headers: []servers.Value{}, URL: "http://localhost:8080/orders"}}}
)

// rebaseFaults are the faults of the operations that rebase.
var rebaseFaults = []string{versioning.CodeNoCurrent, versioning.CodeNoNext, apis.CodeNotOwned, versions.CodeNotBase, versions.CodeNotChild, versions.CodeNotItsOwn, versions.CodeItself, versions.CodeTooLarge}

// Operations lists the operations on OAS APIs.
func (s *Service) Operations() []operation.Operation {
	group := operation.Group{Surface: operation.Management, Name: "apis.oas", Path: "/api/apis/oas", Tag: "OAS APIs", Permission: access.APIs, Style: rows.Documents("apis")}
	gone := rows.Absent(400, "Could not retrieve API detail.")
	refused := map[string]operation.Answer{apis.CodeClass: {Status: 400, Text: "Could not delete the API."}}
	dry := operation.Rehearsable(s.Documents.APIs.References.Onlooker)
	return group.Rows(
		operation.POST("create", "", "Create an API from a complete OAS document", s.Create, rows.Unread(), documents.Settles(s.created), rows.Writing(append(versioning.Faults, forms.CodeExtension, codeTemplates, forms.CodeStreamsOff)...),
			operation.Notes("The body is JSON or YAML. With base_api_id the new API becomes a version of that API. For x-tyk-streaming the rules of streams APIs apply. "+rows.NotesPlace), operation.Example(rows.Document, rows.Made("API created", "5f1a0c5d8e3b2a1f00000005"))),
		operation.POST("import", "/import", "Create an API from a plain OpenAPI description", s.Import, documents.Settles(s.imported), rows.Writing(append(append(versioning.Faults, imports.Codes...), forms.CodeExtension, codeTemplates, forms.CodeStreamsOff)...),
			operation.Notes("The body is JSON, YAML, a form with one file (a ZIP archive may hold several documents), or {\"url\": \"https://…\"} for a document that the service downloads."),
			operation.Example(rows.Description, rows.Made("API created", "5f1a0c5d8e3b2a1f00000005"))),
		operation.POST("dry-run", "/dry-run", "Build a document without storing it", s.DryRun, rows.Unread(), documents.Settles(s.sent), operation.Faulting(append(append(versioning.Faults, imports.Codes...), apis.CodeInvalid, codeTemplates, forms.CodeStreamsOff)...),
			operation.Contents[DryRunRequest](), operation.Notes("The body needs oas, tyk_oas or both."),
			operation.Example(map[string]any{"oas": rows.Description}, rows.Document)),
		operation.GET("get", "/{apiId}", "Fetch the document of an API", s.Get, operation.Faulting(apis.CodeMissing, apis.CodeNotOwned, apis.CodeClass),
			rows.Absent(400, "Could not retrieve Api detail"), operation.Notes("Streams APIs can be fetched here as well. The response is YAML if the request accepts that. For a child version, the response header x-tyk-base-api-id names the base."), operation.Example(nil, rows.Document)),
		operation.PUT("replace", "/{apiId}", "Replace the document of an API", s.Replace, documents.Settles(s.replaced), rows.Writing(apis.CodeMissing, apis.CodeWrongID, forms.CodeExtension, apis.CodeClass, forms.CodeStreamsOff),
			rows.Absent(404, "API definition does not exist"), dry, operation.Example(rows.Document, rows.Done("API updated.")),
			operation.Notes("info.id of the extension must be the ID in the path, or absent. Categories and owners do not change. The seconds of endpoint timeouts are computed from their durations. A streams API can be replaced here as well; the rules of the streams operations apply. "+rows.NotesDryRun)),
		operation.PATCH("patch", "/{apiId}", "Update the OpenAPI description of an API and keep its settings", s.Patch, operation.Settles(s.patches), rows.Writing(append(imports.Codes, apis.CodeMissing, apis.CodeWrongID, forms.CodeExtension, apis.CodeClass, forms.CodeStreamsOff)...),
			rows.Absent(404, "API not found."), dry, operation.Example(rows.Description, rows.Done("API updated")),
			operation.Notes("The body is a plain OpenAPI description in one of the forms that an import takes. The stored extension is kept, except for the settings that query parameters change. Categories and owners do not change. "+rows.NotesDryRun)),
		operation.DELETE("delete", "/{apiId}", "Delete an OAS API", s.Delete, operation.Faulting(apis.CodeMissing, apis.CodeNotOwned, apis.CodeClass, versions.CodeTooLarge),
			rows.AbsentOr(404, "Could not retrieve API detail.", refused),
			operation.Notes("The child versions of a deleted base remain as separate APIs, unless purge is true. With purge, the caller must own all of them. "+rows.NotesDryRun), dry, operation.Example(nil, rows.Done("API deleted."))),
		operation.PATCH("rebase", "/{apiId}/rebase/{next-base-apiId}", "Make a child version the base", s.Rebase, operation.Faulting(rebaseFaults...),
			dry, operation.Example(nil, rows.Done("API converted successfully")),
			operation.Notes("The routing table moves to the child. The names of all versions, and the version that requests without a version name reach, do not change. An internal child becomes reachable from outside. The caller needs write access to both APIs. Gateways reload once.")),
		operation.PATCH("rebase.short", "/{apiId}/{next-base-apiId}", "Make a child version the base", s.Rebase, operation.Faulting(rebaseFaults...),
			operation.Notes("An older path of apis.oas.rebase."), dry, operation.Example(nil, rows.Done("API converted successfully"))),
		operation.GET("urls", "/{apiId}/urls", "List the public addresses of an API", s.URLs, operation.Faulting(apis.CodeMissing, apis.CodeNotOwned),
			rows.Absent(404, "API not found"), operation.Example(nil, exampleURLs)),
		operation.GET("categories", "/{apiId}/categories", "List the categories of an API", s.Categories, operation.Faulting(apis.CodeMissing, apis.CodeNotOwned, apis.CodeClass),
			rows.Absent(404, "API not found"), operation.Example(nil, exampleCategories)),
		operation.PUT("categories.replace", "/{apiId}/categories", "Replace the categories of an API", s.SetCategories, operation.Faulting(apis.CodeMissing, apis.CodeNotOwned, apis.CodeClass),
			rows.Absent(404, "API not found"), dry, operation.Example(exampleCategories, rows.Done("API categories updated."))),
		operation.GET("export", "/{apiId}/export", "Download the document of an API", s.Export, operation.Faulting(apis.CodeMissing, apis.CodeNotOwned, apis.CodeClass),
			gone, operation.Example(nil, rows.Document),
			operation.Notes("The response is YAML if the request has the header Content-Type: application/x-yaml, although it has no body.")),
		operation.GET("versions", "/{apiId}/versions", "List the child versions of a base", s.Versions, operation.Faulting(apis.CodeMissing, apis.CodeNotOwned, documents.CodeNotBase),
			rows.AbsentOr(404, "Could not retrieve API detail.", map[string]operation.Answer{documents.CodeNotBase: {Status: 422}}), operation.Example(nil, exampleMetas)),
	)
}
