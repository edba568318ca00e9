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
