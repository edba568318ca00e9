package contract_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
)

// member, group and account are bodies about people and programs.
func member(n int) string {
	return fmt.Sprintf(`{"first_name":"Ada","last_name":"Example %d","email_address":"member-%[1]d@a.example","active":true,"user_permissions":{"apis":"read"}}`, n)
}

func group(n int) string {
	return fmt.Sprintf(`{"name":"Group %d","description":"","active":true,"password_max_days":30,"user_permissions":{"apis":"write"}}`, n)
}

func account(n int) string {
	return fmt.Sprintf(`{"name":"program-%d","description":"","active":true,"user_permissions":{"apis":"write"}}`, n)
}

// made creates a record whose identifier is Meta of the answer.
func made(param, path string, body func(int) string) func(testing.TB, *service) map[string]string {
	return func(t testing.TB, s *service) map[string]string {
		t.Helper()
		return map[string]string{param: s.meta(t, path, body(s.next()))}
	}
}

func (s *service) meta(t testing.TB, path, body string) string {
	t.Helper()
	a := s.ask(t, request{method: "POST", path: path, as: admin, body: []byte(body)})
	var answer struct{ Meta any }
	if err := json.Unmarshal(a.body, &answer); err != nil || a.status >= http.StatusMultipleChoices {
		t.Fatalf("%s: %s", path, a)
	}
	if m, ok := answer.Meta.(map[string]any); ok {
		return fmt.Sprint(m["id"])
	}
	return fmt.Sprint(answer.Meta)
}

// keyed makes a service account with a key.
func keyed(t testing.TB, s *service) map[string]string {
	t.Helper()
	id := s.meta(t, "/api/service-accounts", account(s.next()))
	return map[string]string{"accountId": id, "keyId": s.meta(t, "/api/service-accounts/"+id+"/keys", `{"name":"key"}`)}
}

// signedIn makes a user with a session.
func signedIn(t testing.TB, s *service) map[string]string {
	t.Helper()
	address := fmt.Sprintf("signed-in-%d@a.example", s.next())
	id := s.meta(t, "/api/users", fmt.Sprintf(`{"first_name":"Ada","last_name":"A","email_address":%q,"password":"a-long-passphrase","active":true,"user_permissions":{"apis":"read"}}`, address))
	s.must(t, request{method: "POST", path: "/login", body: fmt.Appendf(nil, `{"username":%q,"password":"a-long-passphrase"}`, address)})
	a := s.ask(t, request{method: "GET", path: "/api/users/" + id + "/sessions", as: admin})
	var held struct{ Sessions []struct{ ID string } }
	if err := json.Unmarshal(a.body, &held); err != nil || len(held.Sessions) != 1 {
		t.Fatalf("sessions: %s", a)
	}
	return map[string]string{"userId": id, "sessionId": held.Sessions[0].ID}
}

var (
	aMember  = made("userId", "/api/users", member)
	aGroup   = made("groupId", "/api/usergroups", group)
	aProgram = made("accountId", "/api/service-accounts", account)
)

// peoplePlans are the plans for users, groups and service accounts.
var peoplePlans = map[string]plan{
	"users.list":             {path: aMember, query: listQuery},
	"users.create":           {bodies: fresh(numbered(member))},
	"users.get":              {path: aMember},
	"users.permissions":      {path: aMember},
	"users.replace":          {path: aMember, bodies: fixed(`{"first_name":"Grace"}`, `{"active":false}`, `{"user_permissions":{"keys":"read"}}`)},
	"users.delete":           {path: aMember},
	"users.revoke":           {path: aMember},
	"users.key.reset":        {path: aMember},
	"users.sessions":         {path: aMember},
	"users.sessions.end_all": {path: aMember},
	"users.sessions.end":     {path: signedIn},
	"users.search":           {path: aMember, bodies: fixed(`{"filters":{"query":"example"}}`)},
	"users.search.url":       {path: aMember, query: map[string][]string{"q": {"example"}}},

	"usergroups.list":    {path: aGroup, query: listQuery},
	"usergroups.create":  {bodies: fresh(numbered(group))},
	"usergroups.get":     {path: aGroup},
	"usergroups.replace": {path: aGroup, bodies: fresh(numbered(group))},
	"usergroups.delete":  {path: aGroup},

	"service-accounts.list":        {path: keyed, query: listQuery},
	"service-accounts.create":      {bodies: fresh(numbered(account))},
	"service-accounts.get":         {path: keyed},
	"service-accounts.permissions": {path: aProgram},
	"service-accounts.replace":     {path: aProgram, bodies: fixed(`{"description":"x","user_permissions":{"apis":"read"}}`)},
	"service-accounts.delete":      {path: keyed},
	"service-accounts.keys.create": {path: aProgram, bodies: fixed(`{"name":"key"}`, `{"name":"key","expires_at":"2099-01-01T00:00:00Z","permissions":["apis"]}`)},
	"service-accounts.keys.delete": {path: keyed},
}
