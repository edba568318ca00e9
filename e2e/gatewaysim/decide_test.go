package gatewaysim

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// jwtAPI is the classic JWT API of docs/wire/classic-definition.md#jwt with other members added.
func jwtAPI(id string, members map[string]any) string {
	api := map[string]any{"use_keyless": false, "enable_jwt": true, "jwt_signing_method": "rsa",
		"jwt_skip_kid": true, "jwt_identity_base_field": "sub"}
	maps.Copy(api, members)
	return with(keyless(id, "/"+id+"/"), api)
}

// idpFor is a record that maps read and write, and a policy that does not exist.
func idpFor(i *Issuer, api string, members map[string]any) string {
	idp := map[string]any{"client_idp_id": "idp-" + api, "issuer": i.URL(), "jwks_uri": i.JWKSURL(),
		"api_mappings": map[string]any{api: map[string]any{"scope_to_policy": map[string]any{
			"read": "p-read", "write": "p-write", "ghost": "p-ghost"}}}}
	maps.Copy(idp, members)
	return with(`{}`, idp)
}

var testPolicies = []string{
	`{"id":"p-read","org_id":"o1"}`, `{"id":"p-write","org_id":"o1"}`, `{"id":"p-def","org_id":"o1"}`,
	`{"id":"p-named","org_id":"o1"}`, `{"id":"p-off","org_id":"o1","is_inactive":true}`,
	`{"id":"p-elsewhere","org_id":"o1","access_rights":{"other":{}}}`, `{"id":"p-foreign","org_id":"o2"}`,
}

// deciding is a gateway with these definitions and records.
func deciding(t *testing.T, apis, idps []string) *Gateway {
	t.Helper()
	f := newFake(t)
	f.always(pathPolicies, feed(testPolicies...))
	f.always(pathAPIs, feed(apis...))
	f.always(pathIdPs, feed(idps...))
	return loaded(t, f.config())
}

func newIssuer(t *testing.T) *Issuer {
	t.Helper()
	i := NewIssuer()
	t.Cleanup(i.Close)
	return i
}

func expect(t *testing.T, what string, d Decision, status int, body string, policies ...string) {
	t.Helper()
	if d.Status != status || d.Body != body || !slices.Equal(d.Policies, policies) {
		t.Errorf("%s: %+v, want %d %q %v", what, d, status, body, policies)
	}
}

const (
	noneInScope = "key not authorized: no matching policy found in scope claim"
	noPolicy    = "key not authorized: no matching policy found"
	noScope     = "key not authorized: no scope or policy in token"
	notApplied  = "key not authorized: could not apply several policies"
	refusedKey  = "Key not authorized"
)

// The results table of docs/wire/feeds.md#when-gateways-use-the-registry, one API per kind of definition.
func TestRegistryDecisions(t *testing.T) {
	i := newIssuer(t)
	mapping := func(scopes any) map[string]any {
		return map[string]any{"api_mappings": map[string]any{"empty": scopes}}
	}
	g := deciding(t,
		[]string{
			apiEntry(jwtAPI("jw", nil)),
			apiEntry(jwtAPI("def", map[string]any{"jwt_default_policies": []string{"p-def", "p-read"}})),
			apiEntry(jwtAPI("named", map[string]any{"jwt_policy_field_name": "pol"})),
			apiEntry(jwtAPI("mixed", map[string]any{"scopes": map[string]any{"jwt": map[string]any{
				"scope_to_policy": map[string]any{"read": "p-def", "own": "p-named"}}}})),
			apiEntry(jwtAPI("claimed", map[string]any{"scopes": map[string]any{"jwt": map[string]any{"scope_claim_name": "perms"}}})),
			apiEntry(jwtAPI("nested", nil)), apiEntry(jwtAPI("empty", nil)), apiEntry(jwtAPI("unmapped", nil)),
			apiEntry(jwtAPI("rights", nil)),
			apiEntry(jwtAPI("uris", map[string]any{"jwt_jwks_uris": []any{map[string]any{"url": "http://127.0.0.1:1/", "cache_timeout": ""}}})),
		},
		[]string{
			idpFor(i, "jw", nil), idpFor(i, "def", nil), idpFor(i, "named", nil), idpFor(i, "mixed", nil), idpFor(i, "uris", nil),
			idpFor(i, "claimed", map[string]any{"scope_claim_name": "ignored"}),
			idpFor(i, "nested", map[string]any{"scope_claim_name": "realm_access.roles"}),
			idpFor(i, "empty", mapping(map[string]any{})),
			idpFor(i, "rights", map[string]any{"api_mappings": map[string]any{"rights": map[string]any{"scope_to_policy": map[string]any{
				"off": "p-off", "elsewhere": "p-elsewhere", "foreign": "p-foreign", "both": "p-read"}}}}),
		})
	sign := func(claims map[string]any) string {
		all := map[string]any{"sub": newUUID(), "iss": i.URL(), "exp": time.Now().Add(time.Hour).Unix()}
		maps.Copy(all, claims)
		for name, v := range all {
			if v == nil {
				delete(all, name)
			}
		}
		return i.Sign(all)
	}
	for _, tt := range []struct {
		name, api string
		claims    map[string]any
		status    int
		body      string
		policies  []string
	}{
		{"scope maps", "jw", map[string]any{"scope": "read"}, 200, "", []string{"p-read"}},
		{"several map", "jw", map[string]any{"scope": "write  read"}, 200, "", []string{"p-write", "p-read"}},
		{"list of scopes", "jw", map[string]any{"scope": []string{"read", "write"}}, 200, "", []string{"p-read", "p-write"}},
		{"one known, one unknown", "jw", map[string]any{"scope": "read fly"}, 200, "", []string{"p-read"}},
		{"only unknown", "jw", map[string]any{"scope": "fly swim"}, 403, noneInScope, nil},
		{"empty scope", "jw", map[string]any{"scope": ""}, 403, noneInScope, nil},
		{"empty list", "jw", map[string]any{"scope": []string{}}, 403, noneInScope, nil},
		{"no scope, new subject", "jw", nil, 403, noPolicy, nil},
		{"no scope, defaults", "def", nil, 200, "", []string{"p-def", "p-read"}},
		{"unknown scope, defaults", "def", map[string]any{"scope": "fly"}, 403, noneInScope, nil},
		{"known scope, defaults", "def", map[string]any{"scope": "write"}, 200, "", []string{"p-write"}},
		{"empty mapping", "empty", map[string]any{"scope": "read"}, 403, noPolicy, nil},
		{"mapped policy is missing", "jw", map[string]any{"scope": "read ghost"}, 403, notApplied, nil},
		{"policy of another organisation", "rights", map[string]any{"scope": "foreign"}, 403, notApplied, nil},
		{"inactive policy", "rights", map[string]any{"scope": "off"}, 403, "Key is inactive, please renew", nil},
		{"policy for another API", "rights", map[string]any{"scope": "elsewhere"}, 403, "Access to this API has been disallowed", nil},
		{"issuer unknown", "jw", map[string]any{"scope": "read", "iss": "https://b/"}, 403, refusedKey, nil},
		{"issuer with a slash more", "jw", map[string]any{"scope": "read", "iss": i.URL() + "/"}, 403, refusedKey, nil},
		{"issuer absent", "jw", map[string]any{"scope": "read", "iss": nil}, 200, "", []string{"p-read"}},
		{"issuer is no text", "jw", map[string]any{"scope": "read", "iss": 7}, 403, refusedKey, nil},
		{"API not mapped", "unmapped", map[string]any{"scope": "read"}, 403, refusedKey, nil},
		{"expired", "jw", map[string]any{"scope": "read", "exp": time.Now().Add(-time.Minute).Unix()}, 401, "Key not authorized: token has expired", nil},
		{"not yet", "jw", map[string]any{"scope": "read", "nbf": time.Now().Add(time.Minute).Unix()}, 401, "Key not authorized: token is not valid yet", nil},
		{"issued later", "jw", map[string]any{"scope": "read", "iat": time.Now().Add(time.Minute).Unix()}, 401, "Key not authorized: token used before issued", nil},
		{"time is no number", "jw", map[string]any{"scope": "read", "exp": "soon"}, 403, refusedKey, nil},
		{"no subject", "jw", map[string]any{"scope": "read", "sub": nil}, 403, refusedKey, nil},
		{"named policy alone", "named", map[string]any{"pol": "p-named"}, 200, "", []string{"p-named"}},
		{"named policy and scope", "named", map[string]any{"pol": "p-named", "scope": "read"}, 200, "", []string{"p-named", "p-read"}},
		{"definition wins per scope", "mixed", map[string]any{"scope": "read write own"}, 200, "", []string{"p-def", "p-write", "p-named"}},
		{"definition names the claim", "claimed", map[string]any{"perms": "read", "ignored": "write", "scope": "write"}, 200, "", []string{"p-read"}},
		{"definition's claim is absent", "claimed", map[string]any{"ignored": "write"}, 403, noPolicy, nil},
		{"record's nested claim", "nested", map[string]any{"realm_access": map[string]any{"roles": []string{"read"}}}, 200, "", []string{"p-read"}},
		{"nested claim is absent", "nested", map[string]any{"realm_access": "x", "scope": "read"}, 403, noPolicy, nil},
		{"URIs do not count on a classic API", "uris", map[string]any{"scope": "read"}, 200, "", []string{"p-read"}},
	} {
		expect(t, tt.name, g.Decide(tt.api, sign(tt.claims)), tt.status, tt.body, tt.policies...)
	}
	token := sign(map[string]any{"scope": "read", "sub": "alice"})
	if d := g.Decide("jw", "Bearer "+token); d.Identity != "alice" || d.Status != 200 {
		t.Errorf("bearer token: %+v", d)
	}
	expect(t, "no scope, known subject", g.Decide("jw", sign(map[string]any{"sub": "alice"})), 403, noScope)
	expect(t, "no token", g.Decide("jw", ""), 400, "Authorization field missing")
	expect(t, "bad signature", g.Decide("jw", token[:len(token)-8]+"AAAAAAAA"), 403, refusedKey)
	expect(t, "not a token", g.Decide("jw", "x.y"), 403, refusedKey)
	expect(t, "unknown API", g.Decide("zz", token), 404, "Not Found")
}

// The kid rules: required, and required in the set.
func TestKeyIDs(t *testing.T) {
	a, b := newIssuer(t), newIssuer(t)
	sets := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/empty" {
			fmt.Fprint(w, `{"keys":[]}`)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(sets.Close)
	idp := func(id, api, uri string) string {
		return idpFor(a, api, map[string]any{"client_idp_id": id, "jwks_uri": uri})
	}
	g := deciding(t,
		[]string{apiEntry(jwtAPI("jw", nil)), apiEntry(jwtAPI("two", nil)), apiEntry(jwtAPI("none", nil)),
			apiEntry(jwtAPI("missing", nil)), apiEntry(jwtAPI("odd", nil))},
		[]string{idp("1", "jw", a.JWKSURL()), idp("2", "two", b.JWKSURL()), idp("3", "two", a.JWKSURL()),
			idp("4", "none", sets.URL+"/empty"), idp("5", "missing", sets.URL+"/404"), idp("6", "odd", "file:///jwks.json")})
	claims := map[string]any{"sub": "s", "iss": a.URL(), "scope": "read"}
	expect(t, "the kid decides among records of one issuer", g.Decide("two", a.Sign(claims)), 200, "", "p-read")
	expect(t, "the other record", g.Decide("two", b.Sign(claims)), 200, "", "p-read")
	expect(t, "kid not in the set", g.Decide("jw", b.Sign(claims)), 403, refusedKey)
	expect(t, "empty set", g.Decide("none", a.Sign(claims)), 403, refusedKey)
	expect(t, "set is 404", g.Decide("missing", a.Sign(claims)), 403, refusedKey)
	expect(t, "uri is not HTTP", g.Decide("odd", a.Sign(claims)), 403, refusedKey)
	bare, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims(claims)).SignedString(a.key)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "no kid", g.Decide("jw", bare), 403, refusedKey)
}

// The definition's own key source always comes first.
func TestDefinitionBeatsRegistry(t *testing.T) {
	own, reg := newIssuer(t), newIssuer(t)
	source := base64.StdEncoding.EncodeToString([]byte(own.JWKSURL()))
	scopes := map[string]any{"jwt": map[string]any{"scope_to_policy": map[string]any{"read": "p-def"}}}
	g := deciding(t,
		[]string{
			apiEntry(jwtAPI("source", map[string]any{"jwt_source": source, "scopes": scopes})),
			apiEntry(jwtAPI("plain", map[string]any{"jwt_source": own.JWKSURL(), "scopes": scopes})),
			oasEntry("uris", jwtDoc(nil), jwtMembers(map[string]any{"scopes": scopes, "jwt_source": "ignored",
				"jwt_jwks_uris": []any{map[string]any{"url": own.JWKSURL(), "cache_timeout": "soon"}}})),
		},
		[]string{idpFor(reg, "source", nil), idpFor(reg, "plain", nil), idpFor(reg, "uris", nil)})
	claims := map[string]any{"sub": "s", "scope": "read write"}
	for _, api := range []string{"source", "plain", "uris"} {
		expect(t, api+" own", g.Decide(api, own.Sign(claims)), 200, "", "p-def")
		expect(t, api+" registry", g.Decide(api, reg.Sign(claims)), 403, refusedKey)
	}
	expect(t, "a plain URL works once", g.Decide("plain", own.Sign(claims)), 403, refusedKey)
	expect(t, "an encoded one for ever", g.Decide("source", own.Sign(claims)), 200, "", "p-def")
}

// Signing methods, and keys given as text.
func TestKeyTexts(t *testing.T) {
	i := newIssuer(t)
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pemOf := func(public any) string {
		der, err := x509.MarshalPKIXPublicKey(public)
		if err != nil {
			t.Fatal(err)
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	}
	api := func(id, method, source string) string {
		return apiEntry(jwtAPI(id, map[string]any{"jwt_signing_method": method, "jwt_default_policies": []string{"p-def"},
			"jwt_source": base64.StdEncoding.EncodeToString([]byte(source))}))
	}
	g := deciding(t, []string{
		api("rsa", "rsa", pemOf(&i.key.PublicKey)), api("ec", "ecdsa", pemOf(&ec.PublicKey)), api("hmac", "hmac", "s3cret"),
		api("unset", "", "s3cret"), api("nonsense", "rsa", "no key"), api("invented", "magic", "s3cret"),
	}, nil)
	sign := func(m jwt.SigningMethod, key any) string {
		s, err := jwt.NewWithClaims(m, jwt.MapClaims{"sub": "s"}).SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	rs, es, hs := sign(jwt.SigningMethodRS256, i.key), sign(jwt.SigningMethodES256, ec), sign(jwt.SigningMethodHS256, []byte("s3cret"))
	unsigned := sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType)
	const unexpected = "Key not authorized: Unexpected signing method"
	expect(t, "RS256", g.Decide("rsa", rs), 200, "", "p-def")
	expect(t, "PS512", g.Decide("rsa", sign(jwt.SigningMethodPS512, i.key)), 200, "", "p-def")
	expect(t, "ES256", g.Decide("ec", es), 200, "", "p-def")
	expect(t, "HS256", g.Decide("hmac", hs), 200, "", "p-def")
	expect(t, "no method means HMAC", g.Decide("unset", hs), 200, "", "p-def")
	expect(t, "RS256 without a method", g.Decide("unset", rs), 403, unexpected)
	expect(t, "HS256 on RSA", g.Decide("rsa", hs), 403, unexpected)
	expect(t, "the public key as a secret", g.Decide("rsa", sign(jwt.SigningMethodHS256, []byte(pemOf(&i.key.PublicKey)))), 403, unexpected)
	expect(t, "unsigned", g.Decide("hmac", unsigned), 403, unexpected)
	expect(t, "unknown method", g.Decide("invented", hs), 403, unexpected)
	expect(t, "wrong secret", g.Decide("hmac", sign(jwt.SigningMethodHS256, []byte("other"))), 403, refusedKey)
	expect(t, "source is no key", g.Decide("nonsense", rs), 403, refusedKey)
}

// Step 3 of docs/wire/feeds.md#when-gateways-use-the-registry: a key of the organisation may have
// the secret.
func TestIdentityKeySecret(t *testing.T) {
	g := deciding(t, []string{
		apiEntry(jwtAPI("kid", map[string]any{"jwt_signing_method": "hmac", "jwt_skip_kid": false, "jwt_default_policies": []string{"p-def"}})),
		apiEntry(jwtAPI("sub", map[string]any{"jwt_signing_method": "hmac", "jwt_default_policies": []string{"p-def"}})),
	}, nil)
	g.PutKey("k1", Key{OrgID: "o1", JWTSecret: "of-k1"})
	g.PutKey("alice", Key{OrgID: "o1", JWTSecret: "of-alice"})
	g.PutKey("foreign", Key{OrgID: "o2", JWTSecret: "of-k1"})
	sign := func(kid, sub, secret string) string {
		token := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"sub": sub})
		token.Header["kid"] = kid
		s, err := token.SignedString([]byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	expect(t, "by kid", g.Decide("kid", sign("k1", "alice", "of-k1")), 200, "", "p-def")
	expect(t, "by kid, not subject", g.Decide("kid", sign("k1", "alice", "of-alice")), 403, refusedKey)
	expect(t, "kid skipped", g.Decide("sub", sign("k1", "alice", "of-alice")), 200, "", "p-def")
	expect(t, "another organisation's key", g.Decide("kid", sign("foreign", "bob", "of-k1")), 403, refusedKey)
	expect(t, "unknown key", g.Decide("kid", sign("zz", "bob", "of-k1")), 403, refusedKey)
}

func jwtMembers(more map[string]any) map[string]any {
	members := map[string]any{"use_keyless": false, "enable_jwt": true, "jwt_signing_method": "rsa"}
	maps.Copy(members, more)
	return members
}

// jwtDoc is an OAS document with a JWT scheme of these settings.
func jwtDoc(settings map[string]any) string {
	if settings == nil {
		settings = map[string]any{}
	}
	return with(plainDoc, map[string]any{
		"components": map[string]any{"securitySchemes": map[string]any{
			"jwtAuth": map[string]any{"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
			"other":   map[string]any{"type": "apiKey", "in": "header", "name": "X"}}},
		"x-tyk-api-gateway": map[string]any{"server": map[string]any{"authentication": map[string]any{
			"protectedResourceMetadata": map[string]any{"enabled": settings["challenge"] == true},
			"securitySchemes":           map[string]any{"jwtAuth": settings, "other": map[string]any{}}}}},
	})
}

// What the gateway reads from the OAS document itself (docs/wire/feeds.md#oas-apis).
func TestOASDecisions(t *testing.T) {
	i := newIssuer(t)
	entries := map[string]map[string]any{
		"oas":      nil,
		"lists":    {"allowedIssuers": []string{i.URL()}, "allowedAudiences": []string{"aud-1"}, "allowedSubjects": []string{"ok"}},
		"issuers":  {"allowedIssuers": []string{"https://other"}},
		"claims":   {"subjectClaims": []string{"uid", "mail"}, "basePolicyClaims": []string{"pol"}, "scopes": map[string]any{"claims": []string{"perms", "roles"}}},
		"metadata": {"challenge": true},
	}
	var apis, idps []string
	for id, settings := range entries {
		apis = append(apis, oasEntry(id, jwtDoc(settings), jwtMembers(nil)))
		idps = append(idps, idpFor(i, id, nil))
	}
	apis = append(apis, oasEntry("bare", plainDoc, jwtMembers(nil)))
	g := deciding(t, apis, idps)
	sign := func(claims map[string]any) string {
		all := map[string]any{"sub": "s", "iss": i.URL(), "scope": "read"}
		maps.Copy(all, claims)
		return i.Sign(all)
	}
	expect(t, "registry", g.Decide("oas", sign(nil)), 200, "", "p-read")
	expect(t, "no JWT scheme drops the connection", g.Decide("bare", sign(nil)), 0, "")
	expect(t, "no token", g.Decide("oas", ""), 400, "Authorization field missing")
	expect(t, "no token, metadata on", g.Decide("metadata", ""), 401, "Authorization field missing")
	expect(t, "issuer not allowed", g.Decide("issuers", sign(nil)), 401, "Key not authorized: invalid issuer claim: "+i.URL())
	expect(t, "audience absent", g.Decide("lists", sign(nil)), 401, "Key not authorized: audience claim is required but not present in token")
	expect(t, "audience not allowed", g.Decide("lists", sign(map[string]any{"aud": "aud-2"})), 401, "Key not authorized: invalid audience claim: aud-2")
	expect(t, "subject not allowed", g.Decide("lists", sign(map[string]any{"aud": "aud-1"})), 401, "Key not authorized: invalid subject claim: s")
	expect(t, "all allowed", g.Decide("lists", sign(map[string]any{"aud": []string{"x", "aud-1"}, "sub": "ok"})), 200, "", "p-read")
	d := g.Decide("claims", sign(map[string]any{"mail": "m@x", "roles": "write", "pol": "p-named"}))
	expect(t, "claim lists", d, 200, "", "p-named", "p-write")
	if d.Identity != "m@x" {
		t.Errorf("identity %q", d.Identity)
	}
	d = g.Decide("claims", sign(map[string]any{"uid": "u1", "mail": "m@x", "perms": "read", "roles": "write"}))
	expect(t, "first claim wins", d, 200, "", "p-read")
	if d.Identity != "u1" {
		t.Errorf("identity %q", d.Identity)
	}
	expect(t, "none of the claims", g.Decide("claims", sign(map[string]any{"sub": "new"})), 403, noPolicy)
}

func TestSkews(t *testing.T) {
	i := newIssuer(t)
	g := deciding(t, []string{apiEntry(jwtAPI("jw", map[string]any{"jwt_default_policies": []string{"p-def"},
		"jwt_expires_at_validation_skew": 60, "jwt_not_before_validation_skew": 60, "jwt_issued_at_validation_skew": 60}))},
		[]string{idpFor(i, "jw", nil)})
	for claim, offset := range map[string]time.Duration{"exp": -1, "nbf": 1, "iat": 1} {
		near := i.Sign(map[string]any{"sub": "s", claim: time.Now().Add(offset * 30 * time.Second).Unix()})
		far := i.Sign(map[string]any{"sub": "s", claim: time.Now().Add(offset * 90 * time.Second).Unix()})
		expect(t, claim+" within the skew", g.Decide("jw", near), 200, "", "p-def")
		if d := g.Decide("jw", far); d.Status != 401 {
			t.Errorf("%s beyond the skew: %+v", claim, d)
		}
	}
}

// A change of the registry applies from the next request on, even to a subject with a session.
func TestRegistryChangesTakeEffect(t *testing.T) {
	i := newIssuer(t)
	f := newFake(t)
	f.always(pathPolicies, feed(testPolicies...))
	f.always(pathAPIs, feed(apiEntry(jwtAPI("jw", nil))))
	f.always(pathIdPs, feed(idpFor(i, "jw", nil)))
	g := loaded(t, f.config())
	token := i.Sign(map[string]any{"sub": "s", "iss": i.URL(), "scope": "read"})
	expect(t, "first", g.Decide("jw", token), 200, "", "p-read")
	f.always(pathIdPs, feed(with(idpFor(i, "jw", nil), map[string]any{"api_mappings": map[string]any{
		"jw": map[string]any{"scope_to_policy": map[string]any{"read": "p-write"}}}})))
	reload(t, g)
	expect(t, "map changed", g.Decide("jw", token), 200, "", "p-write")
	f.always(pathIdPs, feed())
	reload(t, g)
	expect(t, "record removed", g.Decide("jw", token), 403, refusedKey)
}

func TestKeysAndIncompleteDefinitions(t *testing.T) {
	open := map[string]any{"use_keyless": false}
	version := func(v any) map[string]any { return map[string]any{"version_data": v} }
	g := deciding(t, []string{
		apiEntry(keyless("free", "/free/")), apiEntry(with(keyless("key", "/key/"), open)), apiEntry(with(keyless("other", "/other/"), open)),
		apiEntry(with(keyless("v0", "/v0/"), version(nil))),
		apiEntry(with(keyless("v1", "/v1/"), version(map[string]any{"versions": map[string]any{"Default": map[string]any{}}}))),
		apiEntry(with(keyless("v2", "/v2/"), version(map[string]any{"not_versioned": true}))),
		apiEntry(with(keyless("v3", "/v3/"), version(map[string]any{"default_version": "a", "versions": map[string]any{"a": map[string]any{}}}))),
		apiEntry(with(keyless("old", "/old/"), map[string]any{"expiration": "2001-01-01 00:00"})),
		apiEntry(with(keyless("young", "/young/"), map[string]any{"expiration": "2999-01-01 00:00"})),
		apiEntry(with(keyless("target", "/target/"), map[string]any{"proxy": map[string]any{"listen_path": "/target/"}})),
		apiEntry(jwtAPI("both", map[string]any{"use_standard_auth": true, "jwt_default_policies": []string{"p-def"}})),
	}, nil)
	const gone = "Access to this API has been disallowed"
	g.PutKey("good", Key{OrgID: "o1", Policies: []string{"p-read"}})
	g.PutKey("bare", Key{OrgID: "o1"})
	g.PutKey("off", Key{OrgID: "o1", Policies: []string{"p-off"}})
	g.PutKey("lost", Key{OrgID: "o1", Policies: []string{"p-ghost"}})
	g.PutKey("foreign", Key{OrgID: "o2", Policies: []string{"p-read"}})
	g.PutKey("elsewhere", Key{OrgID: "o1", Policies: []string{"p-elsewhere"}})
	expect(t, "keyless", g.Decide("free", ""), 200, "")
	expect(t, "no key", g.Decide("key", ""), 401, "Authorization field missing")
	expect(t, "good key", g.Decide("key", "good"), 200, "", "p-read")
	expect(t, "unknown key", g.Decide("key", "zz"), 403, gone)
	expect(t, "key without policies", g.Decide("key", "bare"), 403, gone)
	expect(t, "inactive policy", g.Decide("key", "off"), 403, "Key is inactive, please renew")
	expect(t, "policy gone", g.Decide("key", "lost"), 403, gone)
	expect(t, "foreign key", g.Decide("key", "foreign"), 403, gone)
	expect(t, "rights elsewhere", g.Decide("key", "elsewhere"), 403, gone)
	expect(t, "rights here", g.Decide("other", "elsewhere"), 200, "", "p-elsewhere")
	expect(t, "no version data", g.Decide("v0", ""), 403, "Version information not found")
	expect(t, "not not_versioned", g.Decide("v1", ""), 403, "Version information not found")
	expect(t, "no versions", g.Decide("v2", ""), 403, "No default API version for this non-versioned API found")
	expect(t, "default version", g.Decide("v3", ""), 200, "")
	expect(t, "expired API", g.Decide("old", ""), 403, "Forbidden")
	expect(t, "API that expires later", g.Decide("young", ""), 200, "")
	expect(t, "no target", g.Decide("target", ""), 500, "Internal Server Error")
	signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"sub": "s"}).SignedString([]byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	if d := g.Decide("both", signed); d.Status != 403 || strings.Contains(d.Body, gone) {
		t.Errorf("JWT is judged first: %+v", d)
	}
	i := newIssuer(t)
	g = deciding(t, []string{apiEntry(jwtAPI("both", map[string]any{"use_standard_auth": true}))}, []string{idpFor(i, "both", nil)})
	token := i.Sign(map[string]any{"sub": "s", "scope": "read"})
	expect(t, "JWT alone", g.Decide("both", token), 403, gone)
	g.PutKey(token, Key{OrgID: "o1", Policies: []string{"p-write"}})
	expect(t, "JWT and key", g.Decide("both", token), 200, "", "p-write")
}
