package scenarios

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// garden records which secrets were planted where, and the answers since.
type garden struct {
	t       *testing.T
	base    string
	planted map[string]string // place by secret
	// credentials are secrets that must be in no answer and no store, not even in an unencrypted
	// one: only their hashes are stored.
	credentials map[string]bool
	found       map[string]bool // secrets reported already
	logs        func() string
	told        []string // error answers, headers and bodies
	answers     []string // all others
}

// sow returns a new secret for a place.
func (g *garden) sow(place string) string {
	s := fmt.Sprintf("Planted-%03d-Zq7wK", len(g.planted)+1)
	g.planted[s] = place
	return s
}

// credential is sow for secrets of which only hashes are stored.
func (g *garden) credential(place string) string {
	s := g.sow(place)
	g.credentials[s] = true
	return s
}

// fill returns a text with a new secret in place of each $S, and a new credential in place
// of each $C.
func (g *garden) fill(place, text string) string {
	for strings.Contains(text, "$S") {
		text = strings.Replace(text, "$S", g.sow(place), 1)
	}
	for strings.Contains(text, "$C") {
		text = strings.Replace(text, "$C", g.credential(place), 1)
	}
	return text
}

// send makes a call with new secrets and returns the answer, whose status must be one of want.
func (g *garden) send(as [2]string, method, path, body string, want ...int) string {
	g.t.Helper()
	at, _, _ := strings.Cut(path, "?")
	place := method + " " + strings.ReplaceAll(at, "$S", "")
	path, body = g.fill(place, path), g.fill(place, body)
	req, err := http.NewRequestWithContext(g.t.Context(), method, g.base+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set(as[0], g.fill("header of "+place, as[1]))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	ok := len(want) == 0 && resp.StatusCode < 300
	for _, code := range want {
		ok = ok || resp.StatusCode == code
	}
	if !ok {
		g.t.Errorf("%s %s: %d %s", method, path, resp.StatusCode, text)
	}
	for _, c := range resp.Cookies() {
		if len(c.Value) > 16 {
			g.planted[c.Value], g.credentials[c.Value] = "cookie "+c.Name, true
		}
	}
	resp.Header.Del("Set-Cookie")
	var heads bytes.Buffer
	_ = resp.Header.Write(&heads)
	if resp.StatusCode >= 300 {
		g.told = append(g.told, place+": "+heads.String()+string(text))
	} else {
		g.answers = append(g.answers, place+": "+string(text))
	}
	return string(text)
}

// made is credential for a secret that the service generated, found in its answer by a regular
// expression.
func (g *garden) made(place, answer, expression string) string {
	g.t.Helper()
	m := regexp.MustCompile(expression).FindStringSubmatch(answer)
	if m == nil {
		g.t.Fatalf("%s: there is no %s in %s", place, expression, answer)
	}
	g.planted[m[1]] = place
	return m[1]
}

// none fails for each secret in a text.
func (g *garden) none(where string, text []byte, only map[string]bool) {
	g.t.Helper()
	for s, place := range g.planted {
		if only != nil && !only[s] {
			continue
		}
		if i := bytes.Index(text, []byte(s)); i >= 0 {
			if g.found[where+s] {
				continue
			}
			g.found[where+s] = true
			g.t.Errorf("%s: the secret of %s is there: …%q…", where, place, text[max(0, i-150):min(len(text), i+60)])
		}
	}
}

// files fails for each secret in the files of a folder.
func (g *garden) files(dir string, only map[string]bool) {
	g.t.Helper()
	seen := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		seen += len(text)
		g.none(filepath.Base(path), text, only)
		return err
	})
	if err != nil || seen == 0 {
		g.t.Error(dir, seen, err)
	}
}

// look searches the recent logs: a process keeps the last megabyte.
func (g *garden) look() {
	g.t.Helper()
	logs := g.logs()
	if !strings.Contains(logs, "level=DEBUG") {
		g.t.Error("nothing is logged for those who look for mistakes")
	}
	for line := range strings.Lines(logs) {
		g.none("log", []byte(line), nil)
	}
}

// collector is a trace collector that stores what it receives.
type collector struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (c *collector) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = io.Copy(&c.text, r.Body)
}

// TestPlantedSecrets plants more than a hundred secrets in every place that takes one, uses them in
// all kinds of calls, and searches for them where they must not be: in files of the store, in
// backups, logs, the audit trail, metrics, traces and error answers.
func TestPlantedSecrets(t *testing.T) {
	for _, clear := range []bool{false, true} {
		t.Run(fmt.Sprint("in clear ", clear), func(t *testing.T) { plantedSecrets(t, clear) })
	}
}

func plantedSecrets(t *testing.T, clear bool) {
	g := &garden{t: t, planted: map[string]string{}, credentials: map[string]bool{}, found: map[string]bool{}}
	traces := &collector{}
	otlp := httptest.NewServer(traces)
	t.Cleanup(otlp.Close)
	dir, metrics := t.TempDir(), net.JoinHostPort("127.0.0.1", strconv.Itoa(harness.FreePort(t)))
	adminSecret, key := g.credential("admin_secret"), g.credential("bootstrap.access_key")
	node := g.credential("shared_node_secret")
	env := onSQLite(dir).with(environment{
		"ADMINSECRET": adminSecret, "NODESECRET": node, "ENCRYPTIONKEYS": g.credential("encryption_keys") + "," + g.credential("encryption_keys, older"),
		"AUDIT_PATH": filepath.Join(dir, "audit.log"), "AUDIT_DETAILEDRECORDING": "true", "AUDIT_SIGNINGKEYS": g.credential("audit.signing_keys"),
		"LOGLEVEL": "debug", "ENCRYPTATREST": fmt.Sprint(!clear), "TRACING_OTLPENDPOINT": otlp.URL,
		"TYKAPICONFIG_HOST": "http://127.0.0.1", "TYKAPICONFIG_PORT": "9", "TYKAPICONFIG_SECRET": g.credential("tyk_api_config.Secret"),
		"IDENTITYBROKER_HOST_SECRET":       g.credential("identity_broker.host.secret"),
		"SECURITY_OPENPOLICY_ENABLED":      "true",
		"SECURITY_OPENPOLICY_ENABLEAPI":    "true",
		"SECURITY_OPENPOLICY_DEBUG":        "true",
		"SECURITY_ALLOWADMINRESETPASSWORD": "true",
		"METRICS_LISTENADDRESS":            metrics, "STREAMING_ENABLED": "true", "BOOTSTRAP_EMAIL": adminEmail, "BOOTSTRAP_ACCESSKEY": key, "BOOTSTRAP_ORGID": orgID, "BOOTSTRAP_PASSWORD": g.credential("bootstrap.password"),
	})
	s := launch(t, env)
	g.base, g.logs = "http://"+s.addr, s.process.Logs
	s.awaitReady(t)
	g.live([2]string{"Authorization", key}, [2]string{"Admin-Auth", adminSecret}, [2]string{"Authorization", node})
	if n := len(g.planted); n < 100 {
		t.Errorf("only %d secrets were planted", n)
	}
	only := g.credentials // of an unencrypted store
	if !clear {
		only = nil
	}
	for name, text := range map[string]string{
		"trail":        g.raw(key, g.base+"/api/audit-logs?download=true"),
		"trail as CSV": g.raw(key, g.base+"/api/audit-logs?download=true&type=csv"),
		"metrics":      g.raw(key, "http://"+metrics+"/metrics"),
		"feeds left":   g.raw(key, g.base+"/api/system/feeds"),
		"health":       g.raw(key, g.base+"/health"),
	} {
		if text == "" {
			t.Error("nothing to look at:", name)
		}
		g.none(name, []byte(text), nil)
	}
	for _, text := range g.told {
		g.none("a refusal, "+text[:min(len(text), 60)], []byte(text), nil)
	}
	for _, text := range g.answers {
		g.none("an answer, "+text[:min(len(text), 60)], []byte(text), g.credentials)
	}
	filed, err := os.ReadFile(filepath.Join(dir, "audit.log"))
	if err != nil || !bytes.Contains(filed, []byte("operation: hooks.create\n")) || !bytes.Contains(filed, []byte("\nresponse_dump: HTTP/1.1 200 OK")) {
		t.Error(len(filed), err)
	}
	g.none("file of records", filed, nil)
	g.files(dir, only) // including the write-ahead log, before anything is cleaned up
	backup := t.TempDir()
	for name, args := range map[string][]string{
		"backup": {"backup", filepath.Join(backup, "copy.db")}, "export": {"audit", "export"}, "checkpoints": {"audit", "checkpoints"},
		"settings": {"config", "check", "--debug"}, "check": {"check"},
	} {
		o := run(t, env, args...)
		o.want(t, 0)
		g.none(name, []byte(o.out+o.errOut), nil)
	}
	g.files(backup, only)
	s.process.Kill()
	g.files(dir, only)
	s.restart(t)
	s.process.Stop(t)
	g.files(dir, only)
	g.look()
	traces.mu.Lock()
	defer traces.mu.Unlock()
	if traces.text.Len() == 0 {
		t.Error("no traces")
	}
	g.none("traces", traces.text.Bytes(), nil)
	t.Logf("%d secrets, %d credentials among them", len(g.planted), len(g.credentials))
}

// raw returns the body of an answer.
func (g *garden) raw(key, url string) string {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("Authorization", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		g.t.Fatal(url, resp.StatusCode, err)
	}
	return string(text)
}

// documents are resources with secrets: the path that creates them, their own path, and the bodies
// of creation and change.
var documents = []struct{ in, at, make, next string }{
	{"/api/hooks", "", `{"name":"h","method":"POST","target_path":"https://u:$S@hooks.example/x?token=$S","header_map":{"X-Auth":"$S","Other":"$S"}}`,
		`{"name":"h2","method":"POST","target_path":"https://u:$S@hooks.example/x?access_token=$S","header_map":{"X-Auth":"$S","Third":"$S"}}`},
	{"/api/apis/oas", "/api/apis/oas/secrets", oasWithSecrets, oasWithSecrets},
	{"/api/apis", "/api/apis/classic-secrets", classicWithSecrets, classicWithSecrets},
	{"/api/portal/policies", "", `{"name":"p","active":true,"access_rights":{},"meta_data":{"api_key":"$S","client_secret":"$S"},"hmac_string":"$S"}`,
		`{"name":"p2","active":true,"access_rights":{},"meta_data":{"api_key":"$S","client_secret":"$S"},"hmac_string":"$S"}`},
	{"/api/assets", "/api/assets/template", `{"id":"template","kind":"oas-template","name":"T","data":{"password":"$S","x-tyk-api-gateway":{"upstream":{"authentication":{"basicAuth":{"password":"$S"}}}}}}`,
		`{"id":"template","kind":"oas-template","name":"T2","data":{"password":"$S","x-tyk-api-gateway":{"upstream":{"authentication":{"basicAuth":{"password":"$S"}}}}}}`},
	{"/api/mcps", "/api/mcps/tools", `{"openapi":"3.0.3","info":{"title":"Tools","version":"1"},"paths":{},"x-tyk-api-gateway":{"info":{"name":"Tools","id":"tools","state":{"active":true}},"upstream":{"url":"http://u:$S@tools.example/mcp"},"server":{"listenPath":{"value":"/tools/","strip":true}},"middleware":{"global":{"transformRequestHeaders":{"enabled":true,"add":[{"name":"X","value":"$S"}]}}}}}`,
		`{"openapi":"3.0.3","info":{"title":"Tools","version":"2"},"paths":{},"x-tyk-api-gateway":{"info":{"name":"Tools","id":"tools","state":{"active":true}},"upstream":{"url":"http://u:$S@tools.example/mcp"},"server":{"listenPath":{"value":"/tools/","strip":true}},"middleware":{"global":{"transformRequestHeaders":{"enabled":true,"add":[{"name":"X","value":"$S"}]}}}}}`},
	{"/api/apis/streams", "/api/apis/streams/flow", streamWithSecrets, streamWithSecrets},
}

const oasWithSecrets = `{"openapi":"3.0.3","info":{"title":"Orders","version":"1"},"paths":{},"x-tyk-api-gateway":{
	"info":{"name":"Orders","id":"secrets","state":{"active":true}},"server":{"listenPath":{"value":"/orders/","strip":true}},
	"upstream":{"url":"https://u:$S@orders.example/?api_key=$S","authentication":{"enabled":true,"basicAuth":{"enabled":true,"username":"u","password":"$S"},
		"oauth":{"enabled":false,"allowedAuthorizeTypes":["password"],"clientCredentials":{"tokenUrl":"https://idp.example/t","clientId":"c","clientSecret":"$S","header":{"enabled":true,"name":"Authorization"}},
			"password":{"tokenUrl":"https://idp.example/t","clientId":"c","clientSecret":"$S","username":"u","password":"$S","header":{"enabled":true,"name":"Authorization"}}},
		"requestSigning":{"enabled":true,"keyId":"k","algorithm":"hmac-sha256","secret":"$S"}}},
	"middleware":{"global":{"transformRequestHeaders":{"enabled":true,"add":[{"name":"X-Upstream","value":"$S"}]},
		"pluginConfig":{"driver":"otto","data":{"enabled":true,"value":{"password":"$S","nested":[{"client_secret":"$S"}]}}}}}}}`

const classicWithSecrets = `{"api_definition":{"api_id":"classic-secrets","name":"Classic","active":true,"use_keyless":true,
	"proxy":{"listen_path":"/classic/","target_url":"https://u:$S@classic.example/?token=$S"},
	"version_data":{"not_versioned":true,"versions":{"Default":{"name":"Default","global_headers":{"X-Auth":"$S"}}}},
	"jwt_source":"$S","request_signing":{"is_enabled":true,"secret":"$S","key_id":"k","algorithm":"hmac-sha256"},
	"upstream_auth":{"enabled":true,"basic_auth":{"enabled":true,"username":"u","password":"$S"}},
	"config_data":{"api_key":"$S","deep":{"access_token":"$S"}},
	"notifications":{"shared_secret":"$S","oauth_on_keychange_url":"https://u:$S@notify.example/"}}}`

const streamWithSecrets = `{"openapi":"3.0.3","info":{"title":"Flow","version":"1"},"paths":{},
	"x-tyk-api-gateway":{"info":{"name":"Flow","id":"flow","state":{"active":true}},"server":{"listenPath":{"value":"/flow/","strip":true}}},
	"x-tyk-streaming":{"streams":{"s":{"input":{"http_client":{"url":"https://u:$S@in.example/","verb":"GET","headers":{"Authorization":"$S"},"basic_auth":{"enabled":true,"username":"u","password":"$S"}}},"output":{"http_server":{"path":"/out"}}}}}}`

// live makes all kinds of calls with secrets.
func (g *garden) live(admin, super, node [2]string) {
	g.t.Helper()
	none := [2]string{"X-None", "0"}
	// People.
	reader := g.send(admin, "POST", "/api/users", `{"first_name":"R","last_name":"R","email_address":"reader@example.com","active":true,"password":"$C","user_permissions":{"apis":"read"}}`)
	_ = reader
	made := g.send(super, "POST", "/admin/users", `{"org_id":"`+orgID+`","email_address":"writer@example.com","active":true,"password":"$C","user_permissions":{"apis":"write"}}`)
	writerKey := g.made("access key", made, `"access_key":"([0-9a-f]+)"`)
	writerID := regexp.MustCompile(`"id":"([0-9a-f]+)"`).FindStringSubmatch(made)[1]
	writer := [2]string{"Authorization", writerKey}
	password := g.credential("password of an admin's choice")
	g.send(admin, "POST", "/api/users/"+writerID+"/actions/reset", `{"new_password":"`+password+`"}`)
	g.send(writer, "POST", "/api/users/"+writerID+"/actions/reset", `{"new_password":"$C","current_password":"$C"}`, 400, 401, 403)
	g.send(none, "POST", "/login", `{"username":"writer@example.com","password":"$C"}`, 400, 401, 403)
	g.send(none, "POST", "/login", `{"username":"$S","password":"$C"}`, 400, 401, 403)
	g.send(none, "POST", "/login", `{"username":"writer@example.com","password":"`+password+`"}`)
	g.send(admin, "PUT", "/api/users/"+writerID+"/actions/key/reset", "")
	g.send(writer, "GET", "/api/apis", "", 401)
	// Service accounts, single sign-on.
	account := g.made("no secret", g.send(admin, "POST", "/api/service-accounts", `{"name":"deploy","user_permissions":{"apis":"write"}}`), `"Meta":"([0-9a-f]+)"`)
	delete(g.planted, account)
	issued := g.send(admin, "POST", "/api/service-accounts/"+account+"/keys", `{"name":"pipeline","expires_at":"2099-01-01T00:00:00Z"}`)
	deploy := [2]string{"Authorization", g.made("service account key", issued, `"key":"([0-9a-f]+)"`)}
	g.send(super, "PUT", "/admin/organisations/"+orgID, `{"id":"`+orgID+`","owner_name":"Example","sso_enabled":true}`)
	nonce := g.made("nonce", g.send(super, "POST", "/admin/sso", `{"ForSection":"dashboard","OrgID":"`+orgID+`","EmailAddress":"sso@example.com","DisplayName":"S"}`), `"Meta":"([^"]+)"`)
	g.send(none, "GET", "/tap?nonce="+nonce, "", 200, 303, 403)
	g.send(none, "GET", "/tap?nonce=$S", "", 200, 303, 400, 401, 403)
	// Wrong credentials, in every place of a request.
	for _, header := range []string{"Authorization", "Admin-Auth", "Cookie", "X-CSRF-Token", "Proxy-Authorization"} {
		value := "$C"
		if header == "Cookie" {
			value = "authorisation=$C"
		}
		g.send([2]string{header, value}, "GET", "/api/apis?access_token=$S", "", 401, 403)
		g.send([2]string{header, value}, "POST", "/admin/users?api_key=$S", `{"password":"$C"}`, 401, 403)
		g.send([2]string{header, value}, "GET", "/system/apis", "", 401, 403)
	}
	g.look()
	g.documents(admin, deploy)
	g.refusals(admin, super, node)
}

// documents makes, changes, refuses and deletes what holds secrets.
func (g *garden) documents(admin, other [2]string) {
	for _, d := range documents {
		answer := g.send(admin, "POST", d.in, d.make)
		at := d.at
		if at == "" {
			var r struct {
				ID, Message string
				Meta        any
			}
			_ = json.Unmarshal([]byte(answer), &r)
			id := r.ID
			if id == "" {
				id = r.Message
			}
			if text, ok := r.Meta.(string); ok && d.in != "/api/hooks" {
				id = text
			}
			at = d.in + "/" + id
		}
		g.send(admin, "PUT", at, d.next)
		g.send(other, "PUT", at+"?password=$S", d.next, 200, 400, 401, 403)
		g.send(admin, "PUT", at, strings.Replace(d.next, `"name":"`, `"password":["$S"],"name":{"client_secret":"$S"},"x":"`, 1), 200, 400, 403, 422)
		g.send(admin, "PUT", at, d.next[:len(d.next)-3]+`"$S`, 400, 403, 500)
		g.send(other, "GET", at, "", 200, 400, 401, 403, 404)
		g.send(admin, "DELETE", at, "")
		g.look()
	}
}

// refusals sends secrets in requests that are refused, forwarded or tried.
func (g *garden) refusals(admin, super, node [2]string) {
	rules := `{"open_policy":{"rules":"package dashboard_users\ndeny[\"no\"] { input.request.body.password == \"$S\" }"}}`
	g.send(admin, "PUT", "/api/org/opa", rules)
	g.send(admin, "PUT", "/api/org/opa", rules)
	g.send(admin, "PUT", "/api/org/opa", `{"open_policy":{"rules":"package dashboard_users\ndeny[\"$S"}}`, 400)
	g.send(super, "PUT", "/admin/organisations/"+orgID, `{"id":"`+orgID+`","owner_name":"Example","open_policy":{"rules":"package dashboard_users\ndeny[\"no\"] { input.request.body.password == \"$S\" }"}}`)
	g.send(admin, "POST", "/api/org/opa/evaluate", `{"method":"PUT","path":"/api/users/1?token=$S","body":{"password":"$S"}}`)
	told := len(g.told)
	g.send(admin, "POST", "/api/org/opa/evaluate", `{"path":"/api/apis","open_policy":{"rules":"package dashboard_users\ndeny[\"$S"}}`, 400)
	g.send(super, "PUT", "/admin/organisations/"+orgID, `{"id":"`+orgID+`","owner_name":"Example","open_policy":{"rules":"package dashboard_users\ndeny[\"$S"}}`, 400, 403)
	g.told = g.told[:told] // the author of rules gets the invalid line back
	g.send(admin, "POST", "/api/proxy", `{"method":"GET","url":"http://u:$S@127.0.0.1:9/?token=$S","headers":{"X-Auth":"$S"},"body":"$S"}`, 200, 400, 403, 500, 502, 503)
	g.send(admin, "POST", "/api/debug", `{"request":{"method":"GET","path":"/","headers":{"Authorization":["$S"]},"body":"$S"},"spec":{"name":"T","proxy":{"listen_path":"/","target_url":"http://u:$S@x.example/"}}}`, 200, 400, 403, 500, 502, 503)
	g.send(admin, "POST", "/api/portal/developers", `{"email":"d@example.com","password":"$C"}`)
	g.send(admin, "POST", "/api/clientidps", `{"client_idp_id":"corp","name":"Corp","issuer":"https://i.example/","jwks_uri":"https://u:$S@i.example/jwks?token=$S"}`, 200, 201, 400)
	g.send(super, "POST", "/admin/organisations/import", `{"id":"imported","owner_name":"I","password":"$S"}`, 200, 400)
	g.send(super, "POST", "/admin/apis/import", `{"apis":[`+classicWithSecrets+`]}`, 200, 400)
	g.send(node, "GET", "/system/key/quota_trigger", "", 400, 404, 405)
	g.send(admin, "GET", "/api/no/such?password=$S", "", 404)
	g.send(admin, "GET", "/api/apis/x?client_secret=$S&token=$S", "", 400, 404)
	g.send(admin, "PUT", "/api/org/opa", `{"open_policy":{"rules":""}}`)
}
