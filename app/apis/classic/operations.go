// Package classic holds the operations on classic APIs, and those that APIs of all
// classes share.
package classic

import (
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/forms"
	"github.com/gatehouse-io/gatehouse/app/apis/rows"
	"github.com/gatehouse-io/gatehouse/app/apis/versioning"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/core/api/versions"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Service manages classic APIs.
type Service struct {
	APIs     *apis.Repository
	Forms    *forms.Forms
	Versions *versioning.Service
}

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

// noVersion is the response of classic operations to a version without a name.
var noVersion = operation.Answers(map[string]operation.Answer{versions.CodeName: {Text: "version name header should be set with base API ID"}})

// notesShown describes the form of definitions in responses.
const notesShown = "Lists in a definition are never null or missing. Times of uptime tests are strings such as 5s; writes take such strings and numbers of nanoseconds. " +
	"hook_references contains the complete webhooks."

// textOwners is the response to owners that cannot be decoded.
const textOwners = "failed to unmarshal categories payload"

// codeUnsafeOAS is the code of the fault for an OAS API in the classic form.
const codeUnsafeOAS = apidef.Kind + ".unsafe_oas"

// Operations lists the operations on classic APIs.
func (s *Service) Operations() []operation.Operation {
	group := operation.Group{Surface: operation.Management, Name: "apis", Path: "/api/apis", Tag: "APIs", Permission: access.APIs, Style: rows.Style("apis")}
	created := rows.Made("API created", "5f1a0c5d8e3b2a1f00000005")
	dry := operation.Rehearsable(s.APIs.References.Onlooker)
	sought := rows.Sought(rows.Item, "api_definition.proxy.listen_path")
	list := map[string]any{"apis": []any{exampleWrapper}, "pages": 1}
	return group.Rows(
		operation.GET("list", "", "List APIs", s.List, operation.Lists(rows.Item), sought, rows.Sorted(rows.Item.Name), operation.Narrows("api_type", operation.Equal), operation.Narrows("category", operation.AnyOf),
			operation.Narrows("auth_type", operation.AnyOf), operation.Narrows("tags", operation.AnyOf), operation.Narrows("base_apis", operation.Holds),
			operation.Faulting(apidef.CodeType, apidef.CodeSort, apis.CodeInvalid), operation.Notes("The default order is newest first. MCP proxies are not in this list; they have their own. "+notesShown), operation.Example(nil, list)),
		operation.GET("search", "/search", "Search APIs by name or listen path", s.Search, operation.Lists(rows.Item), sought, operation.Example(nil, list)),
		operation.GET("categories", "/categories", "Count APIs by category", s.Categories,
			operation.Example(nil, CategoryCounts{[]CategoryCount{{Name: "shop", Count: 1}}})),
		operation.GET("groups", "/groups", "List API IDs by category", s.Groups, operation.Example(nil, map[string]any{"shop": []any{"orders"}})),
		operation.POST("create", "", "Create a classic API", s.Create, rows.Writing(append(versioning.Faults, codeUnsafeOAS, forms.CodeStreamsOff)...), noVersion,
			operation.Notes("With base_api_id the new API becomes a version of that API. An api_id in the definition is used as it is. "+rows.NotesPlace), operation.Example(exampleDraft, created)),
		operation.GET("get", "/{apiId}", "Fetch an API as a wrapper", s.Get, operation.Like(apidef.View{}), operation.Faulting(apis.CodeMissing, apis.CodeNotOwned),
			rows.Absent(400, "Could not retrieve API detail"), operation.Notes(notesShown), operation.Example(nil, exampleWrapper)),
		operation.PUT("replace", "/{apiId}", "Replace a classic API", s.Replace, rows.Writing(apis.CodeMissing, apis.CodeWrongID, codeUnsafeOAS, forms.CodeStreamsOff),
			rows.Absent(404, "API definition does not exist"), dry, operation.Notes(rows.NotesDryRun), operation.Example(exampleDraft, rows.Done("API updated"))),
		operation.PATCH("patch", "/{apiId}", "Change parts of a classic API", s.Patch, operation.Settles(s.patches), rows.Writing(apis.CodeMissing, apis.CodeWrongID, codeUnsafeOAS, forms.CodeStreamsOff, operation.CodePatch, operation.CodePatchTest),
			rows.Absent(404, "API definition does not exist"), dry,
			operation.Notes("The patch applies to the wrapper as reads return it. Members that the patch does not mention keep their order and spelling. The patch is applied as a whole or not at all. "+rows.NotesDryRun),
			operation.Example(map[string]any{"api_definition": map[string]any{"active": false}}, rows.Done("API updated"))),
		operation.DELETE("delete", "/{apiId}", "Delete an API of any class", s.Delete, operation.Faulting(apis.CodeMissing, apis.CodeNotOwned, versions.CodeTooLarge),
			rows.Absent(404, "Could not retrieve API detail"), dry, operation.Example(nil, rows.Done("API deleted")),
			operation.Notes("The API is removed from policies that also have other APIs. Keys, identity providers, OAuth clients and certificates do not change. A child version is removed from the routing table of its base. The child versions of a deleted base remain as separate APIs. "+rows.NotesDryRun)),
		operation.GET("references", "/{apiId}/references", "List the references to an API", s.ListReferences, operation.Faulting(apis.CodeMissing, apis.CodeNotOwned),
			rows.Absent(404, "API not found"), operation.Notes("References come from policies, identity providers, the bases that have the API as a version, and MCP proxies that offer it as tools."),
			operation.Example(nil, rows.References)),
		operation.GET("url", "/{apiId}/url", "Show the address of an API", s.URL, operation.Faulting(apis.CodeMissing, apis.CodeNotOwned),
			rows.Absent(400, "Could not retrieve API detail"), operation.Example(nil, servers.Parts{APIURL: "http://localhost:8080/orders/", BasePath: "/orders/", Host: "localhost:8080"})),
		operation.GET("access", "/{apiId}/access", "Show the owners of an API", s.Access, operation.Faulting(apis.CodeMissing, apis.CodeNotOwned),
			rows.Absent(404, "API not found"), operation.Example(nil, exampleOwners)),
		operation.PUT("access.replace", "/{apiId}/access", "Replace the owners of an API", s.SetAccess, operation.Faulting(apis.CodeMissing, apis.CodeNotOwned, codeOwners),
			operation.Answers(map[string]operation.Answer{
				apis.CodeMissing:        {Status: 404, Text: "API not found"},
				operation.CodeEmptyBody: {Status: 500, Text: textOwners}, operation.CodeMalformed: {Status: 500, Text: textOwners},
			}), dry, operation.Example(exampleOwners, rows.Done("API access updated")),
			operation.Notes("Both lists are replaced. A list that is absent becomes empty; a body without both lists is refused. While enable_ownership is on, only owners and admins may change the lists. While both lists are empty, every user with the permission sees the API. The change is not announced to gateways, which ignore owners.")),
	)
}
