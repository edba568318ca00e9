package keys

import (
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Examples for the API description.
var (
	exampleDraft   = map[string]any{"alias": "billing", "apply_policies": []any{"gold"}, "tags": []any{"internal"}}
	exampleUser    = map[string]any{"apply_policies": []any{"gold"}, "basic_auth_data": map[string]any{"user": "ada", "password": "correct horse"}}
	exampleSession = map[string]any{
		"org_id": "5f1a0c5d8e3b2a1f00000001", "alias": "billing", "apply_policies": []any{"gold"}, "tags": []any{"internal"}, "rate": 100, "per": 1,
		"quota_max": -1, "access_rights": map[string]any{"orders": map[string]any{"api_id": "orders", "api_name": "Orders", "versions": []any{"Default"}}},
		"date_created": "2026-01-02T03:04:05Z", "last_updated": "1767323045",
	}
	exampleKey      = map[string]any{"api_model": map[string]any{}, "key_id": "eyJvcmciOiI1ZjFhIiwiaWQiOiI5YyIsImgiOiJtdXJtdXI2NCJ9", "data": exampleSession, "key_hash": "1de461e9ee0777bf"}
	exampleList     = map[string]any{"data": map[string]any{"keys": []any{"1de461e9ee0777bf"}}, "pages": 1}
	exampleDetailed = map[string]any{"keys": []any{exampleKey}, "pages": 1}
	exampleDeleted  = map[string]any{"Status": "OK", "Message": "Key deleted successfully.", "Meta": nil}
)

// unwritten are the members and placeholders that are never logged or stored, nor shown
// to rules: keys and other credentials.
var unwritten = []string{"keyId", "keyID", "username", "basic_auth_data", "hmac_string", "jwt_data", "oauth_keys", "certificate", "key_id"}

// unseen hides these members in the operations that have them.
var unseen = operation.Unseen(unwritten...)

// maxSession is the maximum size of a session in a request, in bytes. Gateways read the
// whole session for each call, and lists hold many sessions at once.
const maxSession = 4 << 20

var bounded = operation.Limits(maxSession, 0)

// making are the faults of operations that store a session.
var making = []string{
	key.CodeType, key.CodeRights, key.CodePolicy, key.CodeExpiry, key.CodeCertificate, key.CodePassword, key.CodeTooMany, policy.CodeMCP, policy.CodeNotOwned,
	codeRefused, codeGateway, codeTaken, intent.CodeBusy, codeFull,
}

// codeFull is the code of the fault of a write when too many other writes are open.
const codeFull = intent.Kind + ".full"

func also(codes []string, more ...string) operation.Option {
	return operation.Faulting(append(append([]string{}, codes...), more...)...)
}

// answers sets the texts of an operation for a key that does not exist, and for
// failures of gateways.
func answers(missing, trouble string) map[string]operation.Answer {
	return map[string]operation.Answer{codeMissing: {Text: missing}, "internal": {Text: trouble}}
}

// but returns answers with one more entry.
func but(a map[string]operation.Answer, code string, other operation.Answer) map[string]operation.Answer {
	a[code] = other
	return a
}

const (
	noKey, noKeys = "Could not retrieve key detail.", "Could not retrieve keys."
	badSession    = "User/Key object validation failed, most likely malformed input."
)

// Operations lists the operations on keys.
func (s *Service) Operations() []operation.Operation {
	style := operation.Style{Word: "OK", Faults: map[string]operation.Answer{}}
	for _, code := range []string{operation.CodeEmptyBody, operation.CodeMalformed} {
		style.Faults[code] = operation.Answer{Status: 403, Text: "Request body malformed."}
	}
	ops := operation.Group{Surface: operation.Management, Name: "keys", Path: "/api/keys", Tag: "Keys", Permission: access.Keys, OneOrganisation: true, Style: style}.Rows(s.rows()...)
	return append(append(ops, s.insight()...), operation.Group{
		Surface: operation.Management, Name: "api-keys", Path: "/api/apis", Tag: "Keys", Permission: access.Keys, OneOrganisation: true, Style: style,
	}.Rows(append(s.rowsOfAPIs(), s.rowsOfUsers()...)...)...)
}

func (s *Service) rows() []operation.Row {
	reading := []string{codeMissing, codeForeign, codeByUser, policy.CodeNotOwned, codeGateway}
	changing := append(append([]string{}, reading...), making...)
	return []operation.Row{
		operation.POST("create", "", "Create a key", s.Create, unseen, bounded, also(making, key.CodeName, codeUser),
			operation.Notes("Only this response shows the key. A session needs access_rights or policies."),
			operation.Answers(answers(noKey, "Failed to unmarshal key data.")), operation.Example(exampleDraft, exampleKey)),
		operation.GET("detailed", "/detailed", "List keys with their sessions", s.Detailed, operation.Lists(operation.Item{ID: "key_id", Name: "data.alias", Links: inSession}),
			operation.Narrows("q", operation.Part, "key_id", "key_hash", "data.alias"), operation.Narrows("policy_id", operation.Equal, "data.apply_policies"), operation.Unseen("q"), operation.Faulting(codeMissing, codeGateway),
			operation.Answers(answers(noKeys, "Failed to unmarshal keys data from Tyk API.")), operation.Example(nil, exampleDetailed)),
		operation.POST("preview", "/preview", "Validate a key", s.Preview, unseen, bounded, operation.Faulting(making[:len(making)-3]...),
			operation.Notes("Nothing is stored. The response shows the key that the body would create, with its policies applied."),
			operation.Answers(but(answers(noKey, "Failed to unmarshal User data."), key.CodeType, operation.Answer{Text: "User/Key object validation failed."})),
			operation.Example(exampleDraft, map[string]any{"api_model": map[string]any{}, "key_id": "", "data": exampleSession, "key_hash": ""})),
		operation.GET("get", "/{keyId}", "Read a key", s.Get, unseen, operation.Faulting(reading...),
			operation.Answers(answers(noKey, "Failed to unmarshal key data from Tyk API.")), operation.Example(nil, exampleKey)),
		operation.POST("create-named", "/{keyId}", "Create a key with a chosen identifier", s.CreateNamed, unseen, bounded, also(making, key.CodeName, codeForeign),
			operation.Notes("An existing key with this identifier is replaced."),
			operation.Answers(answers(noKey, "Failed to unmarshal Key data.")), operation.Example(exampleDraft, exampleKey)),
		operation.PUT("replace", "/{keyId}", "Replace the session of a key", s.Update, unseen, bounded, operation.Faulting(changing...),
			operation.Answers(but(answers(noKey, "Failed to unmarshal key data."), key.CodeType, operation.Answer{Text: badSession})),
			operation.Example(exampleDraft, exampleKey)),
		operation.DELETE("delete", "/{keyId}", "Delete a key", s.Delete, unseen, also(reading, intent.CodeBusy, codeFull),
			operation.Answers(answers(noKey, "Could not delete key.")), operation.Example(nil, exampleDeleted)),
	}
}

func (s *Service) rowsOfAPIs() []operation.Row {
	reading := []string{codeMissing, codeForeign, codeByUser, policy.CodeNotOwned, codeGateway}
	listing := operation.Faulting(codeMissing, policy.CodeNotOwned, codeGateway)
	changing := append(append([]string{}, reading...), making...)
	const trouble = "Failed to unmarshal keys data from Tyk API."
	return []operation.Row{
		operation.GET("all", "/keys", "List keys", s.List, operation.Faulting(codeMissing, codeGateway),
			operation.Answers(answers(noKeys, trouble)), operation.Example(nil, exampleList)),
		operation.POST("create-user", "/keys/basic/{username}", "Create a basic-auth user", s.CreateUser, unseen, bounded, also(making, key.CodeName),
			operation.Answers(but(but(answers(noKey, "Failed to unmarshal Key data."),
				operation.CodeMalformed, operation.Answer{Status: 403, Text: "Request body malformed"}),
				operation.CodeEmptyBody, operation.Answer{Status: 403, Text: "Request body malformed"})),
			operation.Example(exampleUser, exampleKey)),
		operation.GET("list", "/{apiID}/keys", "List the keys of an API", s.ListWithin, listing,
			operation.Answers(answers(noKeys, trouble)), operation.Example(nil, exampleList)),
		operation.GET("search", "/{apiID}/keys/search", "Search the keys of an API", s.Search, operation.Unseen("q"),
			operation.Faulting(codeMissing, policy.CodeNotOwned, codeGateway),
			operation.Answers(but(answers("", "Failed to unmarshal user data."), codeMissing, operation.Answer{Status: 400, Text: "Could not search keys."})),
			operation.Example(nil, exampleList)),
		operation.GET("get", "/{apiID}/keys/{keyID}", "Read a key of an API", s.GetWithin, unseen, operation.Faulting(reading...),
			operation.Answers(answers(noKey, "Failed to unmarshal key data from Tyk API.")), operation.Example(nil, exampleKey)),
		operation.PUT("replace", "/{apiID}/keys/{keyID}", "Replace the session of a key of an API", s.UpdateWithin, unseen, bounded, operation.Faulting(changing...),
			operation.Answers(but(answers(noKey, "Failed to unmarshal Key data."), key.CodeType, operation.Answer{Text: badSession})),
			operation.Example(exampleDraft, exampleKey)),
		operation.DELETE("delete", "/{apiID}/keys/{keyID}", "Delete a key of an API", s.DeleteWithin, unseen, also(reading, intent.CodeBusy, codeFull),
			operation.Answers(answers(noKey, "Could not delete key.")), operation.Example(nil, exampleDeleted)),
	}
}

// inSession are the places where sessions name policies and APIs.
var inSession = []operation.Link{
	{Where: "data.apply_policies", Kind: policy.Kind}, {Where: "data.apply_policy_id", Kind: policy.Kind},
	{Where: "data.access_rights.orders", Kind: apidef.Kind, ID: "orders"},
}
