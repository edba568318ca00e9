package apis

import (
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/core/api/versions"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Classic is the door for classic APIs, and for what all classes share
// (contract dashboard.md 9).
type Classic struct{ *Library }

// Examples for the API description.
var (
	exampleDefinition = map[string]any{
		"id": "5f1a0c5d8e3b2a1f00000005", "api_id": "orders", "org_id": "5f1a0c5d8e3b2a1f00000001", "name": "Orders #shop", "active": true,
		"use_keyless": true, "proxy": map[string]any{"listen_path": "/orders/", "target_url": "http://orders.internal:8080/", "strip_listen_path": true},
		"version_data": map[string]any{"not_versioned": true, "versions": map[string]any{"Default": map[string]any{"name": "Default"}}},
	}
	exampleWrapper = map[string]any{
		"api_definition": exampleDefinition, "api_model": map[string]any{}, "hook_references": []any{}, "is_site": false, "sort_by": 0,
		"user_owners": []any{}, "user_group_owners": []any{}, "categories": []any{},
		"created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05Z",
	}
	exampleDraft = map[string]any{"api_definition": map[string]any{
		"name": "Orders #shop", "api_id": "orders", "active": true, "use_keyless": true,
		"proxy": map[string]any{"listen_path": "/orders/", "target_url": "http://orders.internal:8080/", "strip_listen_path": true},
	}}
	exampleOwners = Owners{UserIDs: []string{"5f1a0c5d8e3b2a1f00000002"}, GroupIDs: []string{}}
)

func done(message string) map[string]any {
	return map[string]any{"Status": "OK", "Message": message, "Meta": nil}
}

// absent is how a row answers for an API that does not exist.
func absent(status int, text string) operation.Option {
	return operation.Answers(map[string]operation.Answer{codeMissing: {Status: status, Text: text}})
}

// style is what all doors for APIs have in common.
func style(listKey string) operation.Style {
	return operation.Style{Word: "OK", ListKey: listKey, Faults: map[string]operation.Answer{
		codeTaken: {Text: "Found API with the same ID"}, versions.CodeDuplicate: {Status: 422},
	}}
}

// writing lists the faults of every row that stores an API.
func writing(more ...string) operation.Option {
	return operation.Faulting(append([]string{codeTaken, codeURLTaken, codeInvalid, codeNotOwned}, more...)...)
}

// noVersion is how a classic row answers for a version without a name (contract
// dashboard.md 9.1).
var noVersion = operation.Answers(map[string]operation.Answer{versions.CodeName: {Text: "version name header should be set with base API ID"}})

// notesDryRun is what the description says of rows that can be rehearsed.
const notesDryRun = "With dry_run=true nothing is stored: the answer says what would change, and which references would lead nowhere."

// notesPlace is what the description says of identifiers and addresses.
const notesPlace = "An api_id is of one organisation unless separate_gateways is on. A listen path begins with / or is a reference that gateways resolve " +
	"(env://, secrets://, consul://, vault://, file://, kv://); two paths differ if they are written differently. " +
	"An upstream address has a scheme and a host, or is a reference, or another API (tyk://)."

// notesShown is what the description says of definitions as users read them.
const notesShown = "Lists of a definition are never null or missing; times of uptime tests are texts such as 5s, which writes take like nanoseconds. " +
	"hook_references hold the whole webhooks."

// textOwners answers owners that cannot be read (contract dashboard.md 9.1, 4.3).
const textOwners = "failed to unmarshal categories payload"

// Operations lists what clients can do with classic APIs.
func (s Classic) Operations() []operation.Operation {
	group := operation.Group{Surface: operation.Management, Name: "apis", Path: "/api/apis", Tag: "APIs", Permission: access.APIs, Style: style("apis")}
	created := map[string]any{"Status": "OK", "Message": "API created", "Meta": "5f1a0c5d8e3b2a1f00000005", "ID": "orders"}
	list := map[string]any{"apis": []any{exampleWrapper}, "pages": 1}
	return group.Rows(
		operation.GET("list", "", "List APIs", s.List, operation.Faulting(apidef.CodeType, apidef.CodeSort, codeInvalid), operation.Notes("Newest first unless sorted otherwise. MCP proxies have a list of their own. "+notesShown), operation.Example(nil, list)),
		operation.GET("search", "/search", "Search APIs by name or listen path", s.Search, operation.Example(nil, list)),
		operation.GET("categories", "/categories", "Count APIs by category", s.Categories,
			operation.Example(nil, CategoryCounts{[]CategoryCount{{Name: "shop", Count: 1}}})),
		operation.GET("groups", "/groups", "List API IDs by category", s.Groups, operation.Example(nil, map[string]any{"shop": []any{"orders"}})),
		operation.POST("create", "", "Create a classic API", s.Create, writing(append(versionFaults, codeUnsafeOAS, codeStreamsOff)...), noVersion,
			operation.Notes("With base_api_id it becomes a version of that API. An api_id in the definition is honoured. "+notesPlace), operation.Example(exampleDraft, created)),
		operation.GET("get", "/{apiId}", "Fetch an API as a wrapper", s.Get, operation.Faulting(codeMissing, codeNotOwned),
			absent(400, "Could not retrieve API detail"), operation.Notes(notesShown), operation.Example(nil, exampleWrapper)),
		operation.PUT("replace", "/{apiId}", "Replace a classic API", s.Replace, writing(codeMissing, codeWrongID, codeUnsafeOAS, codeStreamsOff),
			absent(404, "API definition does not exist"), s.rehearsable(), operation.Notes(notesDryRun), operation.Example(exampleDraft, done("API updated"))),
		operation.PATCH("patch", "/{apiId}", "Change parts of a classic API", s.Patch, operation.Settles(s.patches), writing(codeMissing, codeWrongID, codeUnsafeOAS, codeStreamsOff, operation.CodePatch, operation.CodePatchTest),
			absent(404, "API definition does not exist"), s.rehearsable(),
			operation.Notes("Works on the wrapper as it is read; what the patch does not mention keeps its place and spelling. All or nothing. "+notesDryRun),
			operation.Example(map[string]any{"api_definition": map[string]any{"active": false}}, done("API updated"))),
		operation.DELETE("delete", "/{apiId}", "Delete an API of any class", s.Delete, operation.Faulting(codeMissing, codeNotOwned),
			absent(404, "Could not retrieve API detail"), s.rehearsable(), operation.Example(nil, done("API deleted")),
			operation.Notes("Policies lose the API unless it is their only one; keys, identity providers, OAuth clients and certificates stay. A version leaves the table of its base; the versions of a base stay as APIs of their own. "+notesDryRun)),
		operation.GET("references", "/{apiId}/references", "List who names an API", s.ListReferences, operation.Faulting(codeMissing, codeNotOwned),
			absent(404, "API not found"), operation.Notes("Policies, identity providers, bases of which it is a version, and MCP proxies that offer it as tools."),
			operation.Example(nil, exampleReferences)),
		operation.GET("url", "/{apiId}/url", "Show where an API is reached", s.URL, operation.Faulting(codeMissing, codeNotOwned),
			absent(400, "Could not retrieve API detail"), operation.Example(nil, servers.Parts{APIURL: "http://localhost:8080/orders/", BasePath: "/orders/", Host: "localhost:8080"})),
		operation.GET("access", "/{apiId}/access", "Show the owners of an API", s.Access, operation.Faulting(codeMissing, codeNotOwned),
			absent(404, "API not found"), operation.Example(nil, exampleOwners)),
		operation.PUT("access.replace", "/{apiId}/access", "Replace the owners of an API", s.SetAccess, operation.Faulting(codeMissing, codeNotOwned),
			operation.Answers(map[string]operation.Answer{
				codeMissing:             {Status: 404, Text: "API not found"},
				operation.CodeEmptyBody: {Status: 500, Text: textOwners}, operation.CodeMalformed: {Status: 500, Text: textOwners},
			}), s.rehearsable(), operation.Example(exampleOwners, done("API access updated")),
			operation.Notes("Both lists are replaced. While ownership is on, only owners and admins may; with nobody in either list the API is everybody's. Gateways are not told: it makes no difference to them.")),
	)
}
