package contract_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
)

// loginPlans are the plans for the identity providers of the portal.
var loginPlans = map[string]plan{
	"portal-oauth-providers.list":   {path: none(login), query: portalLists},
	"portal-oauth-providers.create": {bodies: fresh(trusting, trustingOkta)},
	"portal-oauth-providers.get":    {path: login},
	"portal-oauth-providers.update": {path: login, bodies: fresh(trusting, trustingOkta)},
	"portal-oauth-providers.delete": {path: login, query: forced},

	"portal-sso-profiles.list":   {path: none(signIn), query: portalLists},
	"portal-sso-profiles.create": {bodies: fresh(brokered, brokeredAdmins)},
	"portal-sso-profiles.get":    {path: signIn},
	"portal-sso-profiles.update": {path: signIn, bodies: fresh(brokered, brokeredAdmins)},
	"portal-sso-profiles.delete": {path: signIn},

	"portal-sso.create": {path: opened, bodies: recognised},
	"portal-sso.enter":  {path: recognisedOnce, query: map[string][]string{"nonce": {"{nonce}"}}},
	"portal-sso.login":  {path: brokeredAt},
	"portal-sso.logins": {path: brokeredAt},
	"portal-sso.callback": {path: underWay, query: map[string][]string{"iss": {"https://login.example.com"}}, always: map[string]string{"state": "{state}", "code": "ada"},
		header: []map[string]string{{"Cookie": "{cookie}"}}},
	"portal-developers.list":   {path: brokeredDeveloper, query: map[string][]string{"p": {"1", "2"}}},
	"portal-developers.create": {path: opened, bodies: fresh(developing)},
	"portal-developers.get":    {path: brokeredDeveloper},
	"portal-developers.update": {path: brokeredDeveloper, bodies: fresh(developing)},
	"portal-developers.key":    {path: brokeredDeveloper},

	"portal-client-types.list":   {path: clientType, query: portalLists},
	"portal-client-types.create": {path: login, bodies: fresh(registering)},
	"portal-client-types.get":    {path: clientType},
	"portal-client-types.update": {path: clientType, bodies: fresh(registering)},
	"portal-client-types.delete": {path: clientType, query: forced},
}

var forced = map[string][]string{"force": {"true", "false"}}

func trusting(n int, _ string) string {
	return fmt.Sprintf(`{"Name":"Login %d","Type":"Keycloak","WellKnownURL":"https://login.example.com/%d","RegistrationAccessToken":"token-%d","SSLInsecureSkipVerify":false}`, n, n, n)
}

func trustingOkta(n int, _ string) string {
	return fmt.Sprintf(`{"Name":"Okta %d","Type":"Okta","WellKnownURL":"https://okta.example.com/%d","ScopeClaimName":"scp"}`, n, n)
}

func registering(n int, _ string) string {
	return fmt.Sprintf(`{"Name":"Web %d","Description":"With a server","ResponseTypes":"code","GrantType":"authorization_code","TokenEndpointAuthMethod":"client_secret_basic","OktaAppType":"web"}`, n)
}

var login = inPortal("provider_id", "/oauth-providers", trusting)

var clientType = below(login, "client_type_id", "/oauth-providers/{provider_id}/client-types", registering)

func brokered(n int, _ string) string {
	return fmt.Sprintf(`{"ID":"developers-%d","Name":"Developers %d","OrgID":"0","ActionType":"GenerateOrLoginDeveloperProfile","Type":"redirect","ProviderName":"SocialProvider","ProviderConfig":{"UseProviders":[{"Name":"openid-connect","Key":"portal-%d","Secret":"secret","DiscoverURL":"https://login.example.com/%d/.well-known/openid-configuration"}]},"IdentityHandlerConfig":{"DashboardCredential":"secret"},"ReturnURL":"http://localhost:3001/sso","CustomUserGroupField":"cn","UserGroupMapping":{"TeamA":"9"},"SSOOnlyForRegisteredUsers":false}`, n, n, n, n)
}

func brokeredAdmins(n int, _ string) string {
	return fmt.Sprintf(`{"ID":"admins-%d","Name":"Admins %d","OrgID":"1","ActionType":"GenerateOrLoginUserProfile","Type":"passthrough","ProviderName":"ADProvider","ProviderConfig":{"LDAPServer":"ldap.example.com"},"DefaultUserGroupID":"1","UserGroupSeparator":","}`, n, n)
}

// signIn creates a profile of single sign-on.
var signIn = inPortal("profile_id", "/sso_profiles", brokered)

func developing(n int, _ string) string {
	return fmt.Sprintf(`{"email":"brokered%d@example.com","fields":{"Name":"Ada"},"sso_key":"%d@openid-connect","nonce":"a nonce of the broker %d"}`, n, n, n)
}

// recognised describes people whom a broker has recognised.
var recognised = fixed(`{"ForSection":"portal","OrgID":"0","EmailAddress":"recognised@example.com","DisplayName":"Ada","GroupID":"1","GroupsIDs":["1"],"SSOOnlyForRegisteredUsers":false,"UserNotAllowed":false}`,
	`{"ForSection":"dashboard","OrgID":"0","EmailAddress":"boss@example.com"}`)

// recognisedOnce creates a nonce.
func recognisedOnce(t testing.TB, s *service) map[string]string {
	t.Helper()
	s.portalAdmin(t)
	return map[string]string{"nonce": s.asBroker(t, "/portal-api/sso", fmt.Sprintf(`{"ForSection":"portal","EmailAddress":"recognised%d@example.com"}`, s.next())).Meta}
}

// brokeredAt creates a login profile.
func brokeredAt(t testing.TB, s *service) map[string]string {
	t.Helper()
	at := signIn(t, s)
	at["provider"] = "openid-connect"
	return at
}

// underWay begins a login.
func underWay(t testing.TB, s *service) map[string]string {
	t.Helper()
	at := brokeredAt(t, s)
	a := s.ask(t, request{method: "GET", path: "/tib/auth/" + at["profile_id"] + "/openid-connect", as: anonymous})
	if a.token == "" {
		t.Fatal(a)
	}
	at["cookie"], at["state"] = "portal-login="+a.token, s.logins.State()
	return at
}

// brokeredDeveloper creates a developer as a broker does.
func brokeredDeveloper(t testing.TB, s *service) map[string]string {
	t.Helper()
	s.portalAdmin(t)
	n := s.next()
	return map[string]string{"developer_id": s.asBroker(t, "/portal-api/developers", developing(n, "")).Message, "sso_key": fmt.Sprintf("%d@openid-connect", n)}
}

type receipt struct{ Message, Meta string }

// asBroker makes a call as a broker of the portal.
func (s *service) asBroker(t testing.TB, path, body string) (out receipt) {
	t.Helper()
	a := s.ask(t, request{method: "POST", path: path, as: portalBroker, body: []byte(body)})
	if err := json.Unmarshal(a.body, &out); err != nil || a.status != http.StatusOK {
		t.Fatalf("%s %s was answered %s", path, body, a)
	}
	return out
}
