package oauth

import (
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/oauthclient"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Examples for the API description.
var (
	exampleDraft = map[string]any{"redirect_uri": "https://app.example/callback", "policy_id": "gold", "description": "Billing", "meta_data": map[string]any{"team": "billing"}}
	exampleApp   = map[string]any{
		"client_id": "2a06b398c17f46908de3dffcb71ef87d", "client_name": "", "dcr_registration": map[string]any{"access_token": "", "client_uri": "", "provider": ""},
		"description": "Billing", "meta_data": map[string]any{"team": "billing"}, "policy_id": "gold", "redirect_uri": "https://app.example/callback",
		"secret": "MmQwNTI5NGRiNTRhNDYzMmIwZjk1NmNjNWY4Y2FmNA==",
	}
	exampleCode    = map[string]any{"code": "Ew_sAnTFSVKzKsUuqXA5LA", "redirect_to": "https://app.example/callback?code=Ew_sAnTFSVKzKsUuqXA5LA"}
	exampleRequest = map[string]any{"response_type": "code", "client_id": "2a06b398c17f46908de3dffcb71ef87d", "redirect_uri": "https://app.example/callback"}
)

// Texts that rows share.
const (
	noAPI    = "API Reference not found."
	noClient = "Could not retrieve app detail."
)

// answers sets the texts of an operation for an API and for a client that do not exist,
// and for failures of gateways.
func answers(api, client, trouble string) operation.Option {
	return operation.Answers(map[string]operation.Answer{
		apis.CodeMissing: {Status: 400, Text: api}, codeMissing: {Status: 404, Text: client}, "internal": {Text: trouble},
		codePolicy: {Status: 500, Text: "Could not retrieve policy details."}, codeSecret: {Status: 403},
	})
}

// Operations lists the operations on OAuth clients.
func (s *Service) Operations() []operation.Operation {
	malformed := operation.Answer{Status: 403, Text: "Request body malformed."}
	hidden := operation.Unseen("secret", "client_secret", "token", "key_rules")
	reading := operation.Faulting(apis.CodeMissing, apis.CodeNotOwned, codeMissing, codeForeign, codeGateway)
	writing := operation.Faulting(apis.CodeMissing, apis.CodeNotOwned, codeMissing, codeForeign, codeGateway, codePolicy, codeRefused, oauthclient.CodeInvalid)
	return operation.Group{
		Surface: operation.Management, Name: "oauth", Path: "/api/apis/oauth", Tag: "OAuth", Permission: access.OAuth, OneOrganisation: true,
		Style: operation.Style{Word: "OK", ListKey: "apps", Faults: map[string]operation.Answer{operation.CodeEmptyBody: malformed, operation.CodeMalformed: malformed}},
	}.Rows(
		operation.GET("list", "/{apiId}", "List the OAuth clients of an API", s.List, operation.Lists(operation.Item{ID: "client_id", Name: "description", Links: []operation.Link{{Where: "policy_id", Kind: policy.Kind}}}), reading,
			operation.Notes("Without p the list is not paged."),
			answers(noAPI, "Could not retrieve apps list.", "Failed to unmarshal key data from Tyk API."),
			operation.Example(nil, map[string]any{"apps": []any{exampleApp}, "pages": 1})),
		operation.POST("create", "/{apiId}", "Create an OAuth client", s.Create, hidden, writing,
			operation.Notes("An absent client_id or secret is generated. An existing client with the same client_id is replaced."),
			answers("API reference not found.", noClient, "Could not create app."), operation.Example(exampleDraft, exampleApp)),
		operation.GET("get", "/{apiId}/{clientId}", "Read an OAuth client", s.Get, reading,
			answers("API reference not found.", noClient, "Failed to unmarshal app data from Tyk API."), operation.Example(nil, exampleApp)),
		operation.PUT("replace", "/{apiId}/{clientId}", "Change an OAuth client", s.Replace, hidden, writing,
			operation.Notes("All members but client_id and secret are replaced."),
			answers("API reference not found.", noClient, "Could not update app."), operation.Example(exampleDraft, exampleApp)),
		operation.PUT("rotate", "/{apiId}/{clientId}/rotate", "Rotate the secret of an OAuth client", s.Rotate, writing,
			operation.Notes("The old secret stops working. Existing tokens stay valid."),
			answers("API reference not found.", noClient, "Could not update app."), operation.Example(nil, exampleApp)),
		operation.DELETE("delete", "/{apiId}/{clientId}", "Delete an OAuth client", s.Delete, reading,
			operation.Notes("The tokens of the client stay valid until they expire."),
			answers(noAPI, noClient, "Could not remove app."),
			operation.Example(nil, map[string]any{"Status": "OK", "Message": "OAuth client deleted successfully.", "Meta": nil})),
		operation.GET("tokens", "/{apiId}/{clientId}/tokens", "List the tokens of an OAuth client", s.Tokens, reading,
			answers(noAPI, "Could not retrieve tokens.", "Failed to unmarshal tokens data from Tyk API."),
			operation.Example(nil, []any{map[string]any{"code": "5a7d110be6355b0c071cc339327563cb45174ae387f52f87a80d2496", "expires": 1618158407}})),
		operation.POST("authorize", "/{apiId}/authorize-client", "Authorise an OAuth client on behalf of a person", s.Authorize, hidden,
			operation.Faulting(apis.CodeMissing, apis.CodeNotOwned, codeMissing, codeForeign, codeGateway, codePolicy, codeRefused, codeRules, oauthclient.CodeInvalid),
			operation.Notes("Login pages call this. The body is a form or JSON. For clients without a policy, key_rules is required."),
			answers(noAPI, noClient, "Could not authorise app."), operation.Example(exampleRequest, exampleCode)),
		operation.POST("revoke", "/{clientId}/revoke", "Revoke a token of an OAuth client", s.Revoke, hidden,
			operation.Faulting(apis.CodeNotOwned, codeMissing, codeGateway, oauthclient.CodeInvalid),
			answers(noAPI, noClient, "Could not revoke token."),
			operation.Example(map[string]any{"token": "5a7d110be6355b0c071cc339", "token_type_hint": "access_token"}, Message{"token revoked successfully"})),
		operation.POST("revoke-all", "/{clientId}/revoke_all", "Revoke all tokens of an OAuth client", s.RevokeAll, hidden,
			operation.Faulting(apis.CodeNotOwned, codeMissing, codeGateway, codeSecret, oauthclient.CodeInvalid),
			answers(noAPI, noClient, "Could not revoke tokens."),
			operation.Example(map[string]any{"client_secret": "MmQwNTI5NGRiNTRhNDYzMmIwZjk1NmNjNWY4Y2FmNA=="}, Message{"tokens revoked successfully"})),
	)
}
