package policies

import (
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Examples for the API description.
var (
	exampleRights = map[string]any{"api_id": "orders", "api_name": "Orders", "versions": []any{"Default"}}
	exampleDraft  = map[string]any{
		"id": "gold", "name": "Gold", "rate": 100, "per": 1, "quota_max": -1, "active": true, "tags": []any{"paid"},
		"access_rights": map[string]any{"orders": exampleRights},
	}
	examplePolicy = map[string]any{
		"_id": "5f1a0c5d8e3b2a1f00000006", "id": "gold", "org_id": "5f1a0c5d8e3b2a1f00000001", "name": "Gold", "rate": 100, "per": 1,
		"quota_max": -1, "active": true, "tags": []any{"paid"}, "state": "active", "access_rights": map[string]any{"orders": exampleRights},
		"access_rights_array": []any{exampleRights}, "auth_type": "authToken", "auth_types": []any{"authToken"},
		"date_created": "2026-01-02T03:04:05Z", "last_updated": "1767323045",
		"quota_renewal_rate": 0, "throttle_interval": 0, "throttle_retry_limit": 0, "max_query_depth": 0, "smoothing": nil,
		"partitions":   map[string]any{"quota": false, "rate_limit": false, "complexity": false, "acl": false, "per_api": false},
		"hmac_enabled": false, "enable_http_signature_validation": false, "is_inactive": false, "meta_data": map[string]any{},
		"key_expires_in": 0, "post_expiry_grace_period": 0, "graphql_enabled": false,
	}
	exampleList = map[string]any{"Data": []any{examplePolicy}, "Pages": 1}
)

func done(message string) map[string]any {
	return map[string]any{"Status": "OK", "Message": message, "Meta": nil}
}

// answers sets the texts of an operation for a policy that does not exist, and for
// internal errors.
func answers(missing, trouble string) operation.Option {
	return operation.Answers(map[string]operation.Answer{codeMissing: {Text: missing}, "internal": {Text: trouble}})
}

// writing are the faults of all operations that store a policy.
var writing = []string{
	codeNameTaken, codeIDTaken, policy.Kind + ".type", policy.Kind + ".name", policy.Kind + ".id", policy.Kind + ".state",
	policy.Kind + ".partitions", policy.Kind + ".post_expiry_action", policy.Kind + ".access_rights_array", policy.CodeMCP,
}

// Operations lists the operations on policies.
func (s *Service) Operations() []operation.Operation {
	const single, failed = "Could not retrieve portal object.", "Failure creating data, please contact your administrator."
	dry := operation.Rehearsable(s.References.Onlooker)
	malformed := operation.Answer{Status: 403, Text: "Request body malformed."}
	var sortKeys []operation.SortKey // fields of policies
	for _, name := range policy.Orders() {
		sortKeys = append(sortKeys, operation.SortKey{Value: name, Member: name})
	}
	item, active := operation.Lists(operation.Item{Kind: policy.Kind, ID: "_id", Name: "name"}), operation.Narrows("active", operation.Holds, "active")
	return operation.Group{
		Surface: operation.Management, Name: "policies", Path: "/api/portal/policies", Tag: "Policies", Permission: access.Policies,
		Style: operation.Style{Word: "OK", ListKey: "Data", PagesKey: "Pages", Faults: map[string]operation.Answer{
			operation.CodeEmptyBody: malformed, operation.CodeMalformed: malformed,
			codePathID: {Text: "Invalid policy ID."}, codeSearchID: {Text: "Policy ID is not in hex format."},
		}},
	}.Rows(
		operation.GET("list", "", "List policies", s.List, item, active, answers("Could not retrieve object list.", "Failed to marshal data."),
			operation.Example(nil, exampleList)),
		operation.GET("search", "/search", "Search policies", s.Search, item, active, operation.Sorts("sort", "-", "", sortKeys...),
			operation.Narrows("q", operation.Part, "name"), operation.Narrows("policy_ids", operation.AnyOf, "id"), operation.Narrows("state", operation.Equal, "state"),
			operation.Narrows("api_id", operation.AnyOf, "access_rights"), operation.Narrows("auth_type", operation.AnyOf), operation.Faulting(codeSearchID, policy.Kind+".sort"),
			operation.Notes("Filters combine with AND. The default order is oldest first."),
			answers("Could not retrieve policies.", "Failed to marshal data"), operation.Example(nil, exampleList)),
		operation.POST("create", "", "Create a policy", s.Create, operation.Settles(s.creates), operation.Faulting(append([]string{policy.Kind + "._id"}, writing...)...),
			operation.Notes("Message in the response is the database ID. Unknown members are stored, and APIs that do not exist yet are accepted."),
			answers(single, failed), operation.Example(exampleDraft, done("5f1a0c5d8e3b2a1f00000006"))),
		operation.GET("get", "/{id}", "Fetch a policy", s.Get, operation.Faulting(codeMissing, codePathID),
			operation.Notes("The response begins with the members that were written, unchanged. Members that were not written follow with their defaults, which are not stored."),
			answers(single, failed), operation.Example(nil, examplePolicy)),
		operation.PUT("replace", "/{id}", "Replace a policy", s.Replace, operation.Settles(s.replaces), dry, operation.Faulting(append([]string{codeMissing, codePathID}, writing...)...),
			operation.Notes("The body replaces the policy as a whole. The database ID, the organisation, the creation time, and an id that is absent in the body do not change."),
			answers(single, "Failure saving data, please contact your administrator."), operation.Example(exampleDraft, done("Data updated"))),
		operation.PATCH("patch", "/{id}", "Change parts of a policy", s.Patch, dry, operation.Settles(s.patches),
			operation.Faulting(append([]string{codeMissing, codePathID, codeLarge, operation.CodePatch, operation.CodePatchTest}, writing...)...),
			operation.Notes("The patch applies to the document as reads return it. Members that the patch does not mention keep their order and spelling. The patch is applied as a whole or not at all."),
			answers(single, "Failure saving data, please contact your administrator."),
			operation.Example(map[string]any{"rate": 200, "tags": nil, "access_rights": map[string]any{"users": map[string]any{}}}, done("Data updated"))),
		operation.DELETE("delete", "/{id}", "Delete a policy", s.Delete, dry, operation.Faulting(codeMissing, codePathID),
			operation.Notes("Keys that have the policy remain, but stop working."),
			answers("Could not retrieve object for deletion", "Failure deleting data, please contact your administrator."),
			operation.Example(nil, done("Data deleted"))),
		operation.GET("references", "/{id}/references", "List the references to a policy", s.ListReferences, operation.Faulting(codeMissing, codePathID),
			answers(single, failed), operation.Notes("References come from APIs that assign the policy to tokens, and from identity providers."), operation.Example(nil, exampleReferences)),
	)
}
