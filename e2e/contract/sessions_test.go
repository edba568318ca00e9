package contract_test

import (
	"fmt"
	"testing"
)

// withPassword makes a user who can log in.
func withPassword(t testing.TB, s *service) map[string]string {
	t.Helper()
	address := fmt.Sprintf("person-%d@a.example", s.next())
	s.must(t, request{method: "POST", path: "/admin/users", as: root,
		body: fmt.Appendf(nil, `{"org_id":"org-a","email_address":%q,"password":"a-long-passphrase","user_permissions":{"apis":"read"}}`, address)})
	return map[string]string{"username": address}
}

func logins(_ *service, path map[string]string) []string {
	return []string{fmt.Sprintf(`{"username":%q,"password":"a-long-passphrase"}`, path["username"])}
}

// signedOn lets the organisation use single sign-on.
func signedOn(t testing.TB, s *service) map[string]string {
	t.Helper()
	s.must(t, request{method: "PUT", path: "/admin/organisations/org-a", as: root, body: []byte(`{"owner_name":"A","owner_slug":"a","sso_enabled":true}`)})
	return nil
}

var aPerson = fixed(`{"ForSection":"dashboard","OrgID":"org-a","EmailAddress":"person@a.example"}`)

// withNonce makes a nonce for somebody of a group.
func withNonce(t testing.TB, s *service) map[string]string {
	t.Helper()
	signedOn(t, s)
	group := s.meta(t, "/api/usergroups", group(s.next()))
	return map[string]string{"nonce": s.meta(t, "/api/sso", fmt.Sprintf(`{"ForSection":"dashboard","OrgID":"org-a","EmailAddress":"person@a.example","GroupID":%q}`, group))}
}
