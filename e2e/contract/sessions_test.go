package contract_test

import (
	"context"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/mail"
)

// postbox keeps the mails of a service, as long as there is room.
type postbox chan mail.Message

// Send implements mail.Sender.
func (b postbox) Send(_ context.Context, m mail.Message) error {
	select {
	case b <- m:
	default:
	}
	return nil
}

// withCode makes a user who has forgotten the password, and got a mail.
func withCode(t testing.TB, s *service) map[string]string {
	t.Helper()
	user := withPassword(t, s)
	s.must(t, request{method: "POST", path: "/password/forgot", body: fmt.Appendf(nil, `{"username":%q}`, user["username"])})
	for {
		select {
		case m := <-s.mails:
			if m.To == user["username"] {
				user["code"] = regexp.MustCompile(`code=([A-Z0-9]+)`).FindStringSubmatch(m.Text)[1]
				return user
			}
		case <-time.After(20 * time.Second):
			t.Fatal("no mail has come")
		}
	}
}

func forgets(_ *service, path map[string]string) []string {
	return []string{fmt.Sprintf(`{"username":%q}`, path["username"]), `{"username":"nobody@a.example","org_id":"org-a"}`}
}

func chooses(_ *service, path map[string]string) []string {
	return []string{fmt.Sprintf(`{"code":%q,"new_password":"another-passphrase"}`, path["code"])}
}

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
