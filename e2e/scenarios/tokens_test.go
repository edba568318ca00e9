package scenarios

import (
	"encoding/base64"
	"net/http"
	"testing"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
)

// jwtAPI is an OAS API that requires a JWT; settings are those of its scheme.
func jwtAPI(id string, settings object) object {
	settings["enabled"], settings["signingMethod"], settings["subjectClaims"] = true, "rsa", []string{"sub"}
	settings["header"] = object{"enabled": true, "name": "Authorization"}
	d := oasAPI(id, object{"server": object{
		"listenPath":     object{"value": "/" + id + "/", "strip": true},
		"authentication": object{"enabled": true, "securitySchemes": object{"jwtAuth": settings}},
	}})
	d["components"] = object{"securitySchemes": object{"jwtAuth": object{"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}}}
	d["security"] = []any{object{"jwtAuth": []any{}}}
	return d
}

func scopeMap(pairs ...string) object {
	list := []any{}
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, object{"scope": pairs[i], "policyId": pairs[i+1]})
	}
	return object{"scopeToPolicyMapping": list}
}

// TestTokens follows JWTs: scopes become policies by the API's own definition, by the
// registry of identity providers, or by both, where the definition takes precedence
// (docs/wire/feeds.md#when-gateways-use-the-registry).
func TestTokens(t *testing.T) {
	e := newEstate(t, nil)
	own, tenant := gatewaysim.NewIssuer(), gatewaysim.NewIssuer()
	t.Cleanup(own.Close)
	t.Cleanup(tenant.Close)
	for _, id := range []string{"by-definition", "by-registry", "by-both"} {
		e.api.do(t, http.MethodPost, policies, policy(id, nil, "defined", "registered", "both"))
	}
	definition := scopeMap("read", "by-definition")
	e.api.do(t, http.MethodPost, oasAPIs, jwtAPI("defined", object{
		"source": base64.StdEncoding.EncodeToString([]byte(own.JWKSURL())), "scopes": definition}))
	e.api.do(t, http.MethodPost, oasAPIs, jwtAPI("registered", object{}))
	e.api.do(t, http.MethodPost, oasAPIs, jwtAPI("both", object{"scopes": definition}))
	registered := map[string]mapping{}
	for _, id := range []string{"defined", "registered", "both"} {
		registered[id] = mapping{map[string]string{"read": "by-registry", "write": "by-registry"}}
	}
	if err := e.api.createIDP(t.Context(), idp{ClientIDPID: "tenant", Name: "Tenant", Issuer: tenant.URL(), JWKSURI: tenant.JWKSURL(), APIMappings: registered}); err != nil {
		t.Fatal(err)
	}
	token := func(i *gatewaysim.Issuer, scope string) string {
		return "Bearer " + i.Sign(map[string]any{"iss": i.URL(), "sub": "alice", "scope": scope})
	}
	for _, tt := range []struct {
		name, path, token string
		status            int
		text              string
	}{
		{"scope by definition", "/defined/x", token(own, "read"), http.StatusOK, `"policies":["by-definition"]`},
		{"definition before registry", "/defined/x", token(tenant, "read"), http.StatusForbidden, "Key not authorized"},
		{"scope by registry", "/registered/x", token(tenant, "read"), http.StatusOK, `"policies":["by-registry"]`},
		{"not of the registry", "/registered/x", token(own, "read"), http.StatusForbidden, "Key not authorized"},
		{"same scope in both", "/both/x", token(tenant, "read"), http.StatusOK, `"policies":["by-definition"]`},
		{"scope of the registry only", "/both/x", token(tenant, "write"), http.StatusOK, `"policies":["by-registry"]`},
		{"unknown scope", "/both/x", token(tenant, "fly"), http.StatusForbidden, "no matching policy found in scope claim"},
		{"no token", "/both/x", "", http.StatusBadRequest, "Authorization field missing"},
	} {
		e.becomes(t, tt.name, request{path: tt.path, token: tt.token}, tt.status, tt.text)
	}
	t.Run("changes", func(t *testing.T) { e.testTokenChanges(t, token(tenant, "read")) })
	e.healthy(t)
}

// The meaning of a scope changes with the definition, the registry and the policy.
func (e *estate) testTokenChanges(t *testing.T, token string) {
	both, registered := request{path: "/both/x", token: token}, request{path: "/registered/x", token: token}
	e.api.do(t, http.MethodPut, oasAPIs+"/both", jwtAPI("both", object{"scopes": scopeMap("read", "by-both")}))
	e.becomes(t, "the definition maps elsewhere", both, http.StatusOK, `"policies":["by-both"]`)
	if _, err := e.api.patchMappings(t.Context(), "tenant", scopes("registered", map[string]any{"read": "by-both"})); err != nil {
		t.Fatal(err)
	}
	e.becomes(t, "the registry maps elsewhere", registered, http.StatusOK, `"policies":["by-both"]`)
	e.api.do(t, http.MethodPut, policyPath("by-both"), policy("by-both", object{"state": "draft"}, "defined", "registered", "both"))
	e.becomes(t, "the policy is a draft", registered, http.StatusForbidden, keyInactive)
	e.api.do(t, http.MethodDelete, policyPath("by-both"), nil)
	e.becomes(t, "the policy is gone", registered, http.StatusForbidden, "could not apply several policies")
}

// TestSigningKeysRotate states that gateways refuse tokens of an unknown signing key, and
// that an administrator can make them fetch the keys again.
func TestSigningKeysRotate(t *testing.T) {
	e := newEstate(t, nil)
	issuer := gatewaysim.NewIssuer()
	t.Cleanup(issuer.Close)
	e.api.do(t, http.MethodPost, policies, policy("by-flushed", nil, "flushed"))
	e.api.do(t, http.MethodPost, oasAPIs, jwtAPI("flushed", object{"source": base64.StdEncoding.EncodeToString([]byte(issuer.JWKSURL())), "scopes": scopeMap("read", "by-flushed")}))
	signed := func() request {
		return request{path: "/flushed/x", token: "Bearer " + issuer.Sign(map[string]any{"iss": issuer.URL(), "sub": "alice", "scope": "read"})}
	}
	e.becomes(t, "a token", signed(), http.StatusOK, "")
	issuer.Rotate()
	fresh := signed()
	e.answers(t, "a key that the gateway does not know", fresh, http.StatusForbidden, "Key not authorized")
	e.api.do(t, http.MethodDelete, "/api/cache/jwks/flushed", nil)
	e.becomes(t, "the keys are fetched anew", fresh, http.StatusOK, "")
}
