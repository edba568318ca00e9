package contract_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/mail"
)

// postbox stores the mails of a service, as long as there is room.
type postbox chan mail.Message

// Send implements mail.Sender.
func (b postbox) Send(_ context.Context, m mail.Message) error {
	select {
	case b <- m:
	default:
	}
	return nil
}

// withCode creates a user who has requested a mail for a forgotten password.
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

// withPassword creates a user who can log in.
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

// signedOn enables single sign-on for the organisation.
func signedOn(t testing.TB, s *service) map[string]string {
	t.Helper()
	s.must(t, request{method: "PUT", path: "/admin/organisations/org-a", as: root, body: []byte(`{"owner_name":"A","owner_slug":"a","sso_enabled":true}`)})
	return nil
}

func operating(n int, _ string) string {
	return fmt.Sprintf(`{"Name":"Ours %d","ActionType":"GenerateOrLoginUserProfile","Type":"redirect","ProviderName":"SocialProvider","ProviderConfig":{"UseProviders":[{"Name":"openid-connect","Key":"dashboard","Secret":"secret","DiscoverURL":"https://login.example.com/%d/.well-known/openid-configuration"}]},"IdentityHandlerConfig":{"DashboardCredential":"secret"},"ProviderConstraints":{"Domain":"example.com","Group":""},"ReturnURL":"https://dashboard.example.com/tap","CustomUserGroupField":"groups","UserGroupMapping":{"a":"b"},"UserGroupSeparator":","}`, n, n)
}

func operatingByDirectory(n int, _ string) string {
	return fmt.Sprintf(`{"Name":"Directory %d","ActionType":"GenerateOrLoginUserProfile","Type":"passthrough","ProviderName":"ADProvider","ProviderConfig":{"LDAPServer":"ldap.example.com"},"SSOOnlyForRegisteredUsers":true}`, n)
}

// operators creates a login profile for operators, with the rights of a group.
func operators(t testing.TB, s *service) map[string]string {
	t.Helper()
	group := s.meta(t, "/api/usergroups", group(s.next()))
	return map[string]string{"profileId": s.meta(t, "/api/tib/profiles", strings.Replace(operating(s.next(), ""), `{"Name"`, fmt.Sprintf(`{"DefaultUserGroupID":%q,"Name"`, group), 1))}
}

// newOperators returns an unused identifier of a profile.
func newOperators(_ testing.TB, s *service) map[string]string {
	return map[string]string{"profileId": fmt.Sprintf("profile-%d", s.next())}
}

// operatorsAt returns a login through such a profile.
func operatorsAt(t testing.TB, s *service) map[string]string {
	t.Helper()
	signedOn(t, s)
	at := operators(t, s)
	at["provider"] = "openid-connect"
	return at
}

// operatorsBack begins such a login.
func operatorsBack(t testing.TB, s *service) map[string]string {
	t.Helper()
	at := operatorsAt(t, s)
	a := s.ask(t, request{method: "GET", path: "/auth/" + at["profileId"] + "/openid-connect", as: anonymous})
	if a.token == "" {
		t.Fatal(a)
	}
	at["cookie"], at["state"] = "dashboard-login="+a.token, s.logins.State()
	return at
}

var aPerson = fixed(`{"ForSection":"dashboard","OrgID":"org-a","EmailAddress":"person@a.example"}`)

// withNonce creates a nonce for a person in a group.
func withNonce(t testing.TB, s *service) map[string]string {
	t.Helper()
	signedOn(t, s)
	group := s.meta(t, "/api/usergroups", group(s.next()))
	return map[string]string{"nonce": s.meta(t, "/api/sso", fmt.Sprintf(`{"ForSection":"dashboard","OrgID":"org-a","EmailAddress":"person@a.example","GroupID":%q}`, group))}
}
