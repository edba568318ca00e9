package identity

import (
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Users has the operations of users on users.
type Users struct{ *Service }

// Codes of faults about users that come from the store or from stored records.
const (
	userMissing = identity.UserKind + ".not_found"
	userTaken   = identity.UserKind + ".taken"
	codeNoGroup = identity.UserKind + ".group_id"
)

// answers maps fault codes to responses: a status and a text.
type answers = map[string]operation.Answer

// invalid is the response when a field of a new user is missing.
var invalid = operation.Answer{Status: 400, Text: "User object validation failed."}

// unreadable is the response when the body of an update is no JSON object: 400. A new
// user and a password get 403 (docs/wire/users.md#rules).
var unreadable = operation.Answer{Status: 400, Text: "Request body malformed."}

// changing is the codes of faults of writes that change fields of a user.
var changing = []string{identity.CodeUserName, identity.CodeUserText, identity.CodeUserEmail, identity.CodeUserDays, identity.CodeUserMap, identity.CodeUserEmpty,
	identity.CodeUserTooMany, userTaken, codeNoGroup, codeGrant}

// done returns an example of a receipt.
func done(message string, meta any) map[string]any {
	return map[string]any{"Status": "OK", "Message": message, "Meta": meta}
}

// Operations lists the operations of users on users.
func (s Users) Operations() []operation.Operation {
	exampleList := operation.Page[View]{Items: []View{exampleUser}, Pages: 1}
	item := operation.Lists(operation.Item{Kind: identity.UserKind, ID: "id", Name: "email_address"})
	exampleSearch := map[string]any{"filters": map[string]string{"query": "ada"}}
	change := map[string]any{"first_name": "Ada", "last_name": "Example", "email_address": "ada@example.com", "active": true,
		"user_permissions": map[string]string{"apis": "write", "policies": "read"}}
	absent := func(status int, text string) operation.Option {
		return operation.Answers(answers{userMissing: {Status: status, Text: text}})
	}
	return operation.Group{
		Surface: operation.Management, Name: "users", Path: "/api/users", Tag: "Users", Permission: access.Users,
		Style: operation.Style{Word: "OK", ListKey: "users", Faults: answers{
			operation.CodeEmptyBody:  {Status: 403, Text: "Request body malformed."},
			operation.CodeMalformed:  {Status: 403, Text: "Request body malformed."},
			userMissing:              {Text: "Could not retrieve user detail."},
			userTaken:                {Status: 403, Text: "User email already exists for this org."},
			identity.CodeUserName:    invalid,
			identity.CodeUserMapless: invalid,
		}},
	}.Rows(
		operation.GET("list", "", "List the users of the organisation", s.List, item, operation.Example(nil, exampleList),
			operation.Notes("Admins see the access keys of all users, unless security.forbid_admin_view_access_token is on. Other users see only their own.")),
		operation.POST("create", "", "Create a user", s.Create, operation.Redact("password"), operation.Faulting(append(changing, identity.CodeUserMapless, identity.UserKind+".password")...),
			operation.Answers(answers{identity.CodeUserEmail: invalid}),
			operation.Notes("The new user belongs to the caller's organisation. Callers who are not admins can grant only permissions that they have."),
			operation.Example(change, done("User and session have been created", exampleUser.ID))),
		operation.GET("me", "/me", "Fetch the user who sends the request", s.Me, operation.AnyUser(), operation.Faulting(userMissing), operation.Example(nil, exampleUser),
			operation.Answers(answers{userMissing: {Text: "Could not retrieve current user detail."}, trouble: {Text: "Failed to marshal current user data."}})),
		operation.GET("search.url", "/search", "Search users by a query parameter", s.SearchByURL, item, operation.Narrows("q", operation.Part, "email_address", "first_name", "last_name"), operation.Faulting(codeQuery), operation.Example(nil, exampleList),
			operation.Notes("Deprecated: e-mail addresses should not appear in URLs. Use POST.")),
		operation.POST("search", "/search", "Search users by part of the e-mail address or name", s.Search, item, operation.Reads(), operation.Faulting(codeQuery),
			operation.Answers(answers{codeQuery: noFilter, operation.CodeEmptyBody: noFilter, operation.CodeMalformed: noFilter}),
			operation.Example(exampleSearch, exampleList)),
		operation.GET("get", "/{userId}", "Fetch a user", s.Get, operation.Own("userId"), operation.Faulting(userMissing), operation.Example(nil, exampleUser),
			operation.Notes("All users can fetch their own record.")),
		operation.GET("permissions", "/{userId}/permissions", "Explain the permissions of a user", s.Permissions, operation.Own("userId"), operation.Faulting(userMissing),
			operation.Example(nil, exampleExplanation()),
			operation.Notes("For each permission, the response has the level that applies and its sources: the user's own map, groups, or a rule. All users can read their own permissions.")),
		operation.PUT("replace", "/{userId}", "Change a user", s.Update, operation.Redact("password"), operation.Faulting(append(changing, userMissing, codeLastAdmin)...),
			operation.Answers(answers{userMissing: {Status: 400, Text: "user does not exist."}, identity.CodeUserEmail: {Status: 403},
				operation.CodeEmptyBody: unreadable, operation.CodeMalformed: unreadable}),
			operation.Notes("Absent members keep their value. The password, the access key and ResetPassword cannot be changed here. Making a user inactive ends the user's sessions."),
			operation.Example(change, done("User updated", nil))),
		operation.DELETE("delete", "/{userId}", "Delete a user", s.Delete, operation.Faulting(userMissing, codeLastAdmin),
			operation.Notes("The user is removed from the owner lists of APIs. The last active admin cannot be deleted."),
			operation.Example(nil, done("User deleted", nil))),
		operation.PUT("key.reset", "/{userId}/actions/key/reset", "Replace the access key of a user", s.ResetKey, operation.Own("userId"), operation.Faulting(userMissing, codeKept),
			operation.Notes("The user can read the new key in the user's own record. All users can do this for themselves. With security.forbid_admin_reset_access_token, admins cannot do it for them."),
			operation.Example(nil, done("User session renewed", nil))),
		operation.PUT("revoke", "/{userId}/actions/revoke", "Deactivate a user", s.Revoke, operation.Faulting(userMissing, codeLastAdmin), absent(400, "Could not retrieve user detail."),
			operation.Notes("The access key and the sessions of the user are refused from then on."),
			operation.Example(nil, done("User revoked", nil))),
		operation.POST("password.set", "/{userId}/actions/reset", "Set a user's password", s.SetPassword, operation.Wants(access.ResetPassword), operation.Own("userId"), operation.EvenExpired(),
			operation.Redact("current_password", "new_password"), operation.Faulting(identity.UserKind+".current_password", CodeGuesses, CodeNewPassword, CodeUsedPassword, userMissing, "auth.denied"),
			operation.Notes("Users who change their own password send the current one, unless they have none or the new one is the same. After ten wrong current passwords in an hour the user has to wait. Setting the password of another user needs the permission ResetPassword."),
			operation.Example(map[string]any{"current_password": "", "new_password": "a-long-passphrase"}, done("User password updated", nil))),
	)
}

// noFilter is the response to a search without a query.
var noFilter = operation.Answer{Status: 400, Text: "Could not extract search filter from request body."}
