package scenarios

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
	logins "github.com/gatehouse-io/gatehouse/e2e/idp"
)

// TestPortalRegistration follows a developer whose client is registered at an identity
// provider: gateways accept its tokens because of the registry, or of definitions.
func TestPortalRegistration(t *testing.T) {
	for name, env := range map[string]environment{"registry": registering, "definitions": {}} {
		t.Run(name+", in one process", func(t *testing.T) {
			e := controlled(t, environment{"PORTAL_SERVE": "shared", "STORAGE_MAIN_TYPE": "memory"}.with(hashing).with(env))
			openShop(t, e, e.addr).registration(t, name == "registry")
		})
		t.Run(name+", as two processes", func(t *testing.T) {
			e := controlled(t, environment{"STORAGE_MAIN_TYPE": "memory"}.with(hashing))
			addr, _ := runPortal(t, environment{"STORAGE_MAIN_TYPE": "memory"}.with(env))
			openShop(t, e, addr).registration(t, name == "registry")
		})
	}
}

// registered is a client's credential as the developer reads it.
type registered struct {
	ID                               int
	OAuthClientID, OAuthClientSecret string
	Scope                            string
}

func (s *shop) registration(t *testing.T, registry bool) {
	server := logins.New(logins.Keycloak)
	t.Cleanup(server.Close)
	s.publish(t)
	s.connect(t)
	made := s.write(t, "POST", "/oauth-providers", object{"Name": "Login", "Type": "Keycloak", "WellKnownURL": server.WellKnown(), "RegistrationAccessToken": server.InitialToken()})
	entry := fmt.Sprint("portal-", made["CID"])
	told := func(want map[string]string) {
		t.Helper()
		s.told(t, server, registry, entry, want)
	}
	told(nil)
	kind := number(s.write(t, "POST", "/oauth-providers/1/client-types", object{"Name": "Server", "ResponseTypes": "none", "GrantType": "client_credentials"}))
	made = s.write(t, "POST", "/products", object{"Name": "Vault", "ProviderID": 1, "APIDetails": []object{{"APIID": byToken}}, "DCREnabled": true, "Scopes": "vault:read", "Templates": []string{kind}})
	product := s.policyOf(t, made)
	gold := s.policyOf(t, s.write(t, "POST", "/plans", object{"Name": "Gold", "ProviderID": 1, "RateLimit": 100, "Per": 1, "Quota": -1, "JWTScope": "gold"}))
	silver := s.policyOf(t, s.write(t, "POST", "/plans", object{"Name": "Silver", "ProviderID": 1, "RateLimit": 10, "Per": 1, "Quota": -1, "JWTScope": "silver"}))
	user := s.register(t, "ada@example.com")
	app := number(s.write(t, "POST", "/apps", object{"Name": "Till", "UserID": user}))

	s.write(t, "PUT", "/apps/"+app+"/provision", object{"PlanID": 1, "ProductIDs": []int{1}, "DCRTemplateID": kind})
	if c := server.Clients(); len(c) != 0 {
		t.Fatalf("a pending request has the clients %v", c)
	}
	told(nil)
	s.write(t, "PUT", "/access_requests/1/approve", nil)
	told(map[string]string{"vault:read": product, "gold": gold})
	c := s.registeredFor(t, app, 1)
	call := s.calls(t, server, c)
	s.becomes(t, "a token after the approval", call, http.StatusOK, `"policies":["`)
	if a := s.ask(t, call); !strings.Contains(a.body, product) || !strings.Contains(a.body, gold) {
		t.Errorf("the policies %s and %s are not in %s", product, gold, a)
	}
	s.portal.refused(t, "PUT", fmt.Sprintf("/portal-api/apps/%s/access-requests/1/credentials/%d/rotate", app, c.ID), nil, http.StatusUnprocessableEntity, "rotated")
	if registry {
		s.definitionFirst(t, call)
	}

	s.write(t, "PUT", "/apps/"+app+"/provision", object{"PlanID": 2, "ProductIDs": []int{1}, "DCRTemplateID": kind})
	s.write(t, "PUT", "/access_requests/2/approve", nil)
	if again := s.registeredFor(t, app, 2); again.OAuthClientID != c.OAuthClientID || again.OAuthClientSecret != c.OAuthClientSecret {
		t.Errorf("under another plan the client is %+v, and was %+v", again, c)
	}
	s.write(t, "DELETE", "/access_requests/1", nil)
	if scopes := strings.Fields(server.Clients()[c.OAuthClientID]); !slices.Equal(sortedTexts(scopes), []string{"silver", "vault:read"}) {
		t.Errorf("after a change of the plan the client has %q", scopes)
	}
	if _, status := server.Token(c.OAuthClientID, c.OAuthClientSecret, "vault:read", "gold"); status != http.StatusBadRequest {
		t.Errorf("a token with the scope of the plan before: %d", status)
	}
	told(map[string]string{"vault:read": product, "gold": gold, "silver": silver})
	moved := s.calls(t, server, c)
	s.becomes(t, "a token under the other plan", moved, http.StatusOK, silver)

	s.moves(t, server, app, kind)
	s.write(t, "DELETE", fmt.Sprintf("/apps/%s/access-requests/2/credentials/%d", app, s.registeredFor(t, app, 2).ID), nil)
	if _, status := server.Token(c.OAuthClientID, c.OAuthClientSecret); status != http.StatusBadRequest || len(server.Clients()) != 0 {
		t.Errorf("a client that was revoked gets %d; clients: %v", status, server.Clients())
	}
	s.write(t, "DELETE", "/products/1", nil)
	s.becomes(t, "a token for a product that is gone", moved, http.StatusForbidden, "")
	if registry {
		told(map[string]string{})
	} else {
		told(map[string]string{"vault:read": product, "gold": gold, "silver": silver}) // nothing is removed again
	}
	s.write(t, "DELETE", "/users/"+user, nil)
	s.write(t, "DELETE", "/oauth-providers/1?force=true", nil)
	if left := s.outside(t, server); len(left.Mappings)+len(left.Clients)+len(left.Keys) > 0 {
		t.Errorf("there is left %+v", left)
	}
	s.healthy(t)
}

// moves requests another plan for the credential: the old plan is in force until the
// request is approved, and again when the request is deleted.
func (s *shop) moves(t *testing.T, server *logins.Server, app, kind string) {
	t.Helper()
	c := s.registeredFor(t, app, 2)
	has := func(when, plan string) {
		t.Helper()
		if scopes := strings.Fields(server.Clients()[c.OAuthClientID]); !slices.Equal(sortedTexts(scopes), []string{plan, "vault:read"}) {
			t.Errorf("%s the client has %q", when, scopes)
		}
	}
	s.write(t, "PUT", "/apps/"+app+"/provision", object{"PlanID": 1, "ProductIDs": []int{1}, "DCRTemplateID": kind, "CredentialID": c.ID})
	has("before the approval", "silver")
	s.write(t, "PUT", "/access_requests/3/approve", nil)
	has("under the plan that was asked for", "gold")
	if again := s.registeredFor(t, app, 3); again != c && again.OAuthClientSecret != c.OAuthClientSecret {
		t.Errorf("%+v", again)
	}
	s.write(t, "DELETE", "/access_requests/3", nil)
	has("when the request has gone", "silver")
}

func sortedTexts(list []string) []string {
	slices.Sort(list)
	return list
}

// registeredFor returns the credential of an access request.
func (s *shop) registeredFor(t *testing.T, app string, request int) registered {
	t.Helper()
	var list []registered
	s.portal.get(t, fmt.Sprintf("/portal-api/apps/%s/access-requests/%d/credentials", app, request), &list)
	if len(list) != 1 || list[0].OAuthClientID == "" || list[0].OAuthClientSecret == "" {
		t.Fatalf("credentials %+v", list)
	}
	return list[0]
}

// calls requests a token and returns the call with it.
func (s *shop) calls(t *testing.T, server *logins.Server, c registered) request {
	t.Helper()
	token, status := server.Token(c.OAuthClientID, c.OAuthClientSecret)
	if status != http.StatusOK {
		t.Fatalf("no token: %d", status)
	}
	return request{path: "/" + byToken + "/x", token: "Bearer " + token}
}

// told fails unless the dashboard has the scopes: in the registry, where the entry exists
// from the beginning, or in the definition. nil: nothing was approved.
func (s *shop) told(t *testing.T, server *logins.Server, registry bool, entry string, want map[string]string) {
	t.Helper()
	var defined struct {
		Definition struct {
			Source string `json:"jwt_source"`
			Scopes struct {
				JWT struct {
					Policies map[string]string `json:"scope_to_policy"`
				}
			}
		} `json:"api_definition"`
	}
	s.api.get(t, classicAPIs+"/"+byToken, &defined)
	have := defined.Definition.Scopes.JWT.Policies
	var listed struct {
		IDPs []idp `json:"client_idps"`
	}
	s.api.get(t, clientIDPs+"?p=-1", &listed)
	switch {
	case !registry && len(listed.IDPs) > 0, registry && (len(listed.IDPs) != 1 || listed.IDPs[0].ClientIDPID != entry || listed.IDPs[0].JWKSURI != server.JWKS()):
		t.Errorf("the registry has %+v", listed.IDPs)
	case registry && len(have) > 0:
		t.Errorf("the definition has %v", have)
	case registry:
		have = listed.IDPs[0].APIMappings[byToken].ScopeToPolicy
	case want != nil:
		if source, err := base64.StdEncoding.DecodeString(defined.Definition.Source); err != nil || string(source) != server.JWKS() {
			t.Errorf("the definition takes keys from %s", source)
		}
	}
	if !maps.Equal(have, want) {
		t.Errorf("scopes are %v, want %v", have, want)
	}
}

// definitionFirst sets another issuer in the definition, which takes precedence over the
// registry.
func (s *shop) definitionFirst(t *testing.T, call request) {
	t.Helper()
	other := gatewaysim.NewIssuer()
	t.Cleanup(other.Close)
	var stored object
	s.api.get(t, classicAPIs+"/"+byToken, &stored)
	definition := stored["api_definition"].(object)
	was := definition["jwt_source"]
	definition["jwt_source"] = base64.StdEncoding.EncodeToString([]byte(other.JWKSURL()))
	s.api.do(t, http.MethodPut, classicAPIs+"/"+byToken, stored)
	s.becomes(t, "the definition names another issuer", call, http.StatusForbidden, "")
	definition["jwt_source"] = was
	s.api.do(t, http.MethodPut, classicAPIs+"/"+byToken, stored)
	s.becomes(t, "the registry counts again", call, http.StatusOK, "")
}

// TestPortalVariables sets the same option of a portal with either prefix.
func TestPortalVariables(t *testing.T) {
	for _, prefix := range []string{"SVC_PORTAL_", "TYK_PORTAL_"} {
		port := strconv.Itoa(harness.FreePort(t))
		env := onSQLite(t.TempDir()).with(environment{"STORAGE_MAIN_TYPE": "memory", prefix + "HOSTPORT": port})
		harness.StartProcess(t, harness.Command{Path: harness.Binary(t), Args: []string{"portal"}, Dir: t.TempDir(), Env: env.list()})
		portal := newClient("http://127.0.0.1:"+port, "Authorization", "none")
		until(t, startLimit, prefix, func() error { return portal.call(t.Context(), "GET", "/ready", nil, nil) })
	}
}
