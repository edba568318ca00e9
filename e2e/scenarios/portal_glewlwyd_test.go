package scenarios

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"database/sql"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the database of the provider

	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// glewlwydVariable names the folder with the unpacked packages of Glewlwyd; without it the
// installed program is used.
const glewlwydVariable = "GATEHOUSE_TEST_GLEWLWYD"

// TestPortalRealProvider follows a client at an independent provider (Glewlwyd): it is
// registered, gateways accept its tokens, it is changed for another product and back, and
// deleted.
func TestPortalRealProvider(t *testing.T) {
	g := runGlewlwyd(t, "vault:read", "vault:write", "gold")
	e := controlled(t, environment{"PORTAL_SERVE": "shared", "STORAGE_MAIN_TYPE": "memory"}.with(hashing).with(registering))
	s := openShop(t, e, e.addr)
	s.publish(t)
	s.connect(t)
	s.write(t, "POST", "/oauth-providers", object{"Name": "Glewlwyd", "Type": "Other", "WellKnownURL": g.issuer + "/.well-known/openid-configuration"})
	kind := number(s.write(t, "POST", "/oauth-providers/1/client-types", object{"Name": "Server", "ResponseTypes": "token", "GrantType": "client_credentials", "TokenEndpointAuthMethod": "client_secret_basic"}))
	policies := map[string]string{}
	for name, scope := range map[string]string{"Vault": "vault:read", "More of the vault": "vault:write"} {
		made := s.write(t, "POST", "/products", object{"Name": name, "ProviderID": 1, "APIDetails": []object{{"APIID": byToken}}, "DCREnabled": true, "Scopes": scope, "Templates": []string{kind}})
		policies[scope] = s.policyOf(t, made)
		policies["id of "+scope] = number(made)
	}
	gold := s.policyOf(t, s.write(t, "POST", "/plans", object{"Name": "Gold", "ProviderID": 1, "RateLimit": 100, "Per": 1, "Quota": -1, "JWTScope": "gold", "AutoApproveAccessRequests": true}))
	app := number(s.write(t, "POST", "/apps", object{"Name": "Till", "UserID": s.register(t, "ada@example.com"), "RedirectURLs": "https://till.example/back"}))

	s.write(t, "PUT", "/apps/"+app+"/provision", object{"PlanID": 1, "ProductIDs": []string{policies["id of vault:read"]}, "DCRTemplateID": kind})
	c := s.registeredFor(t, app, 1)
	admitted := func(scope string, of int) {
		t.Helper()
		token, status := g.token(t, s.registeredFor(t, app, of), scope+" gold") // a change may return another secret (RFC 7592)
		if status != http.StatusOK {
			t.Fatalf("a token for %s: %d", scope, status)
		}
		call := request{path: "/" + byToken + "/x", token: "Bearer " + token}
		s.becomes(t, "a token for "+scope, call, http.StatusOK, policies[scope])
		if a := s.ask(t, call); !strings.Contains(a.body, gold) {
			t.Errorf("the policy of the plan is not in %s", a)
		}
	}
	admitted("vault:read", 1)

	s.write(t, "PUT", "/apps/"+app+"/provision", object{"PlanID": 1, "ProductIDs": []string{policies["id of vault:write"]}, "DCRTemplateID": kind, "CredentialID": c.ID})
	if again := s.registeredFor(t, app, 2); again.OAuthClientID != c.OAuthClientID || len(strings.Fields(again.Scope)) != 3 {
		t.Errorf("for a further product the client is %+v, and was %+v", again, c)
	}
	admitted("vault:write", 2)
	s.write(t, "DELETE", "/access_requests/2", nil)
	if again := s.registeredFor(t, app, 1); len(strings.Fields(again.Scope)) != 2 {
		t.Errorf("without the further product it is %+v", again)
	}
	admitted("vault:read", 1)

	// Another credential shares the client: both show its secret, whichever one changes.
	s.write(t, "PUT", "/apps/"+app+"/provision", object{"PlanID": 1, "ProductIDs": []string{policies["id of vault:write"]}, "DCRTemplateID": kind})
	if one, two := s.registeredFor(t, app, 1), s.registeredFor(t, app, 3); one.ID == two.ID || one.OAuthClientID != two.OAuthClientID || one.OAuthClientSecret != two.OAuthClientSecret || len(strings.Fields(one.Scope)) != 3 {
		t.Errorf("two credentials of one client are %+v and %+v", one, two)
	}
	admitted("vault:read", 1)
	admitted("vault:write", 3)
	s.write(t, "DELETE", "/access_requests/3", nil)
	admitted("vault:read", 1)

	c = s.registeredFor(t, app, 1)
	s.write(t, "DELETE", "/apps/"+app, nil)
	if _, status := g.token(t, c, "vault:read gold"); status < 400 || status >= 500 {
		t.Errorf("a client that was deleted gets %d", status)
	}
	s.healthy(t)
}

// glewlwyd is a running provider.
type glewlwyd struct {
	base, issuer string
	session      string // of its administrator
}

// runGlewlwyd starts the provider with an empty database, and enables the registration of
// clients with some scopes.
func runGlewlwyd(t *testing.T, scopes ...string) *glewlwyd {
	t.Helper()
	root := os.Getenv(glewlwydVariable)
	if root == "" {
		if _, err := exec.LookPath("glewlwyd"); err != nil {
			absent(t, errors.New("Glewlwyd is not there: install glewlwyd, or take what .ci/services prints"))
		}
		root = "/"
	}
	schema, err := os.ReadFile(filepath.Join(root, "usr/share/dbconfig-common/data/glewlwyd/install/sqlite3"))
	if err != nil {
		t.Fatal(err)
	}
	dir, none, port := t.TempDir(), t.TempDir(), harness.FreePort(t)
	base := fmt.Sprintf("http://127.0.0.1:%d", port)
	db, err := sql.Open("sqlite", filepath.Join(dir, "glewlwyd.db"))
	if err == nil {
		_, err = db.ExecContext(t.Context(), string(schema))
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	var config strings.Builder
	for name, value := range map[string]any{
		"port": port, "bind_address": "127.0.0.1", "external_url": base, "api_prefix": "api", "login_url": "login.html", "log_mode": "console", "log_level": "WARNING", "cookie_domain": "127.0.0.1", "cookie_secure": 0,
		"session_expiration": 3600, "session_key": "SESSION", "admin_scope": "g_admin", "profile_scope": "g_profile", "hash_algorithm": "SHA256", "static_files_path": filepath.Join(root, "usr/share/glewlwyd/webapp"),
		"user_middleware_module_path": none, "user_module_path": filepath.Join(root, "usr/lib/glewlwyd/user"), "client_module_path": filepath.Join(root, "usr/lib/glewlwyd/client"),
		"user_auth_scheme_module_path": filepath.Join(root, "usr/lib/glewlwyd/scheme"), "plugin_module_path": filepath.Join(root, "usr/lib/glewlwyd/plugin"),
	} {
		text, _ := json.Marshal(value)
		fmt.Fprintf(&config, "%s=%s\n", name, text)
	}
	fmt.Fprintf(&config, "database={type=\"sqlite3\";path=%q;};\n", filepath.Join(dir, "glewlwyd.db"))
	file := filepath.Join(dir, "glewlwyd.conf")
	if err := os.WriteFile(file, []byte(config.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	libraries, _ := filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu"))
	harness.StartProcess(t, harness.Command{
		Path: filepath.Join(root, "usr/bin/glewlwyd"), Args: []string{"--config-file=" + file}, Dir: dir, Env: []string{"LD_LIBRARY_PATH=" + strings.Join(libraries, ":")}, Ready: base + "/config",
	})
	g := &glewlwyd{base: base, issuer: base + "/api/oidc"}
	g.prepare(t, scopes)
	return g
}

// absent leaves the test out, and records it where tests that are left out are recorded. No
// other test needs the provider.
func absent(t *testing.T, why error) {
	t.Helper()
	if os.Getenv("GATEHOUSE_TEST_MISSING") != "" {
		harness.LeaveOut(t, "identity provider", why)
	}
	t.Skipf("LEFT OUT: %v", why)
}

// prepare logs in as the provider's first administrator and enables the registration of clients.
func (g *glewlwyd) prepare(t *testing.T, scopes []string) {
	t.Helper()
	g.post(t, "/api/auth/", object{"username": "admin", "password": "password"})
	for _, s := range scopes {
		g.post(t, "/api/scope", object{"name": s, "display_name": s, "password_required": false})
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	text := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	g.post(t, "/api/mod/plugin", object{"module": "oidc", "name": "oidc", "display_name": "OIDC", "parameters": object{
		"iss": g.issuer, "jwt-type": "rsa", "jwt-key-size": "256", "key": text("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key)), "cert": text("PUBLIC KEY", public),
		"access-token-duration": 3600, "refresh-token-duration": 3600, "code-duration": 600, "refresh-token-rolling": true, "allow-non-oidc": true,
		"auth-type-client-enabled": true, "auth-type-code-enabled": true, "auth-type-token-enabled": true, "auth-type-id-token-enabled": true, "auth-type-none-enabled": false, "auth-type-password-enabled": false, "auth-type-refresh-enabled": true,
		"jwks-show": true, "subject-type": "public", "client-pubkey-parameter": "pubkey", "client-jwks-parameter": "jwks", "client-jwks_uri-parameter": "jwks_uri",
		"register-client-allowed": true, "register-client-auth-scope": []string{}, "register-client-credentials-scope": scopes, "register-client-management-allowed": true,
	}})
}

func (g *glewlwyd) post(t *testing.T, path string, body object) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.base+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Cookie", g.session)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	said, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s", path, res.Status, said)
	}
	for _, c := range res.Cookies() {
		g.session = c.Name + "=" + c.Value
	}
}

// token requests a token of a client.
func (g *glewlwyd) token(t *testing.T, c registered, scope string) (token string, status int) {
	t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "scope": {scope}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.issuer+"/token", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(c.OAuthClientID, c.OAuthClientSecret)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Token string `json:"access_token"`
	}
	err = json.NewDecoder(res.Body).Decode(&answer)
	_ = res.Body.Close()
	if err != nil && res.StatusCode == http.StatusOK {
		t.Fatal(err)
	}
	return answer.Token, res.StatusCode
}
