package contract_test

import "fmt"

// loginPlans are those of the identity providers of the portal.
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

// signIn is a profile of single sign-on.
var signIn = inPortal("profile_id", "/sso_profiles", brokered)
