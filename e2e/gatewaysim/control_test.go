package gatewaysim

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

const controlSecret = "352d20ee67be67f6340b4c0605b044b7"

// controlled is a gateway with a control API, and APIs for all kinds of credentials.
type controlled struct {
	*Gateway
	*httptest.Server
}

func newControlled(t *testing.T, adjust func(*Config)) controlled {
	t.Helper()
	f := newFake(t)
	f.always(pathPolicies, feed(
		`{"id":"gold","org_id":"o1","rate":3,"per":60,"quota_max":10,"quota_renewal_rate":3600,"access_rights":{"ka":{"api_id":"ka"},"ba":{"api_id":"ba"},"oa":{"api_id":"oa"}}}`,
		`{"id":"theirs","org_id":"o2"}`))
	api := func(id, member string) string {
		return apiEntry(with(keyless(id, "/"+id+"/"), map[string]any{"use_keyless": false, member: true}))
	}
	f.always(pathAPIs, feed(api("ka", "use_standard_auth"), api("ba", "use_basic_auth"), api("oa", "use_oauth2")))
	c := f.config()
	c.Secret, c.HashKeyFunction = controlSecret, "murmur64"
	if adjust != nil {
		adjust(&c)
	}
	g := loaded(t, c)
	s := httptest.NewServer(g.Handler())
	t.Cleanup(s.Close)
	return controlled{g, s}
}

// send sends a request and returns status and body.
func (c controlled) send(t *testing.T, method, path, body string, header map[string]string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, c.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	resp, err := c.Client().Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, strings.TrimSpace(string(text))
}

func (c controlled) control(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	return c.send(t, method, path, body, map[string]string{"X-Tyk-Authorization": controlSecret})
}

// made creates a key and returns it with its hash.
func (c controlled) made(t *testing.T, id, session string) (key, hash string) {
	t.Helper()
	status, body := c.control(t, "POST", "/tyk/keys/"+id, session)
	var answer struct {
		Key  string
		Hash string `json:"key_hash"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != 200 {
		t.Fatal(status, body)
	}
	return answer.Key, answer.Hash
}

const goldKey = `{"org_id":"o1","apply_policies":["gold"]}`

// TestControlAPI replays recorded answers of gateways (docs/wire/gateway-control.md).
func TestControlAPI(t *testing.T) {
	c := newControlled(t, nil)
	for _, tt := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"POST", "/tyk/keys", `{"org_id":"o1"}`, 500, `{"status":"error","message":"Failed to create key, ensure security settings are correct."}`},
		{"POST", "/tyk/keys/create", `{"org_id":"o1"}`, 400, `{"status":"error","message":"Failed to create key, keys must have at least one Access Rights record set."}`},
		{"POST", "/tyk/keys", `{"org_id":"o1","apply_policies":["none"]}`, 500, `ensure security settings are correct.`},
		{"POST", "/tyk/keys", `{"org_id":"o1","apply_policies":["theirs"]}`, 500, `ensure security settings are correct.`},
		{"POST", "/tyk/keys/create", `{"org_id":"o1","apply_policies":["none"]}`, 500, `Failed to create key - policy not found`},
		{"POST", "/tyk/keys", `{`, 400, `{"status":"error","message":"Request malformed"}`},
		{"POST", "/tyk/keys", `{"rate":"1"}`, 400, `Request malformed`},
		{"POST", "/tyk/keys/create", `{`, 500, `Unmarshalling failed`},
		{"POST", "/tyk/keys/ab", goldKey, 400, ``},
		{"POST", "/tyk/keys/a%2Fb", goldKey, 404, ``},
		{"POST", "/tyk/keys", `{"org_id":"o1","apply_policies":["gold"],"mtls_static_certificate_bindings":["zzz"]}`, 400, `invalid certificate ID: zzz`},
		{"POST", "/tyk/keys/5b30e703029749b9bad23d9c53baf6e8", goldKey, 200,
			`{"key":"eyJvcmciOiJvMSIsImlkIjoiNWIzMGU3MDMwMjk3NDliOWJhZDIzZDljNTNiYWY2ZTgiLCJoIjoibXVybXVyNjQifQ==","status":"ok","action":"added","key_hash":"1de461e9ee0777bf"}`},
		{"GET", "/tyk/keys", "", 200, `{"keys":["1de461e9ee0777bf"]}`},
		{"GET", "/tyk/keys?api_id=ka", "", 200, `{"keys":["1de461e9ee0777bf"]}`},
		{"GET", "/tyk/keys?api_id=none", "", 200, `{"keys":[]}`},
		{"GET", "/tyk/keys/1de461e9ee0777bf", "", 404, `{"status":"error","message":"Key not found"}`},
		{"GET", "/tyk/keys/1de461e9ee0777bf?hashed=1", "", 200, `"quota_remaining":10`},
		{"GET", "/tyk/keys/5b30e703029749b9bad23d9c53baf6e8", "", 404, `Key not found`},
		{"GET", "/tyk/keys/5b30e703029749b9bad23d9c53baf6e8?org_id=o1", "", 200, `"access_rights":{"ba"`},
		{"GET", "/tyk/keys/5b30e703029749b9bad23d9c53baf6e8/?api_id=ka", "", 200, `"rate":3`},
		{"PUT", "/tyk/keys/1de461e9ee0777bf?hashed=1", `{"org_id":"o1","apply_policies":["gold"],"alias":"new"}`, 200, `{"key":"1de461e9ee0777bf","status":"ok","action":"modified"}`},
		{"PUT", "/tyk/keys/none?hashed=1", goldKey, 404, `{"status":"error","message":"Key is not found"}`},
		{"POST", "/tyk/keys/policy/1de461e9ee0777bf", `{"policy":"gold"}`, 200, `{"key":"1de461e9ee0777bf","status":"ok","action":"updated"}`},
		{"POST", "/tyk/keys/preview", goldKey, 200, `"rate":3`},
		{"DELETE", "/tyk/keys/1de461e9ee0777bf?hashed=1", "", 200, `"action":"deleted"}`},
		{"DELETE", "/tyk/keys/1de461e9ee0777bf?hashed=1", "", 404, `{"status":"error","message":"There is no such key found"}`},
		{"POST", "/tyk/keys/bob", `{"org_id":"o1","apply_policies":["gold"],"basic_auth_data":{"password":"pw"}}`, 200, `{"key":"","status":"ok","action":"added","key_hash":"`},
		{"GET", "/tyk/keys/bob?username=true&org_id=o1", "", 200, `"basic_auth_data":{"hash_type":"bcrypt"}`},
		{"POST", "/tyk/keys/create", `{"org_id":"o1","apply_policies":["gold"],"certificate":"o1c0ffee"}`, 200, `"action":"added"`},
		{"POST", "/tyk/keys/create", `{"org_id":"o1","apply_policies":["gold"],"certificate":"o1c0ffee"}`, 500, `Failed to create key - Key with given certificate already found:ey`},
		{"GET", "/tyk/org/keys/o1", "", 404, `Org not found`},
		{"POST", "/tyk/org/keys/o1", `{"rate":1}`, 200, `{"key":"o1","status":"ok","action":"added"}`},
		{"PUT", "/tyk/org/keys/o1", `{"rate":2}`, 200, `{"key":"o1","status":"ok","action":"modified"}`},
		{"GET", "/tyk/org/keys", "", 200, `{"keys":["o1"]}`},
		{"DELETE", "/tyk/org/keys/o1", "", 200, `{"key":"o1","status":"ok","action":"deleted"}`},
		{"DELETE", "/tyk/org/keys/o1", "", 400, `Failed to remove the key`},
		{"POST", "/tyk/oauth/clients/create", `{"api_id":"none"}`, 400, `API doesn't exist`},
		{"POST", "/tyk/oauth/clients/create", `{`, 500, `Unmarshalling failed`},
		{"POST", "/tyk/oauth/clients/create", `{"api_id":"oa","client_id":"cid1","secret":"s1","policy_id":"none"}`, 200, `{"client_id":"cid1","redirect_uri":"","policy_id":"none","secret":"s1","meta_data":null,"description":""}`},
		{"GET", "/tyk/oauth/clients/none", "", 404, `null`},
		{"GET", "/tyk/oauth/clients/oa/none", "", 404, `OAuth Client ID not found`},
		{"GET", "/tyk/oauth/clients/apis/cid1?orgID=o1", "", 200, `["oa"]`},
		{"PUT", "/tyk/oauth/clients/oa/cid1", `{"policy_id":"gold","secret":"other"}`, 200, `"policy_id":"gold","secret":"s1"`},
		{"GET", "/tyk/oauth/clients/oa/cid1/tokens", "", 200, `[]`},
		{"DELETE", "/tyk/oauth/clients/oa/none", "", 200, `{"key":"none","status":"ok","action":"deleted"}`},
		{"POST", "/tyk/oauth/revoke", "token=x", 400, `client_id is required`},
		{"DELETE", "/tyk/oauth/tokens", "", 422, `scope parameter is required`},
		{"DELETE", "/tyk/oauth/tokens?scope=lapsed", "", 200, `lapsed tokens purged`},
		{"POST", "/tyk/certs?org_id=o1", "no PEM", 403, `Failed to decode certificate. It should be PEM encoded.`},
		{"GET", "/tyk/certs?org_id=o1", "", 200, `{"certs":[]}`},
		{"GET", "/tyk/certs/o1none", "", 404, `Certificate with given SHA256 fingerprint not found`},
		{"DELETE", "/tyk/certs/o1none?org_id=o1", "", 200, `{"status":"ok","message":"removed"}`},
		{"DELETE", "/tyk/cache/none", "", 200, `{"status":"ok","message":"cache invalidated"}`},
		{"DELETE", "/tyk/cache/jwks/none", "", 200, `cache invalidated`},
		{"GET", "/tyk/reload/group", "", 200, `{"status":"ok","message":""}`},
		{"GET", "/tyk/apis/ka", "", 200, `"use_oauth2":false`},
		{"GET", "/tyk/apis/none", "", 404, `API not found`},
		{"PATCH", "/tyk/keys", "", 405, `{"status":"error","message":"Method not supported"}`},
		{"GET", "/tyk/none", "", 404, `404 page not found`},
	} {
		if status, body := c.control(t, tt.method, tt.path, tt.body); status != tt.status || !strings.Contains(body, tt.says) {
			t.Errorf("%s %s %s: %d %s, want %d %s", tt.method, tt.path, tt.body, status, body, tt.status, tt.says)
		}
	}
	if status, body := c.send(t, "GET", "/tyk/keys", "", nil); status != 403 || !strings.Contains(body, "Attempted administrative access with invalid or missing key!") {
		t.Error(status, body)
	}
}

// TestStoredKeys: a key that was created through the control API works until it is limited,
// changed or deleted.
func TestStoredKeys(t *testing.T) {
	c := newControlled(t, nil)
	call := func(path, key string) int {
		t.Helper()
		status, _ := c.send(t, "GET", path, "", map[string]string{"Authorization": key})
		return status
	}
	key, hash := c.made(t, "my-custom", goldKey)
	for i, want := range []int{200, 200, 200, 429} { // the rate of the policy
		if got := call("/ka/", key); got != want {
			t.Errorf("call %d: %d", i, got)
		}
	}
	if _, body := c.control(t, "GET", "/tyk/keys/"+hash+"?hashed=1", ""); !strings.Contains(body, `"quota_remaining":7`) {
		t.Error(body)
	}
	replace := func(session, query string) {
		t.Helper()
		if status, body := c.control(t, "PUT", "/tyk/keys/"+hash+"?hashed=1"+query, session); status != 200 {
			t.Fatal(status, body)
		}
	}
	own := func(more string) string { return `{"org_id":"o1","access_rights":{"ka":{"api_id":"ka"}}` + more + `}` }
	replace(goldKey, "&suppress_reset=1")
	if got := call("/ka/", "my-custom"); got != 429 {
		t.Errorf("with its counters: %d", got)
	}
	replace(own(`,"quota_max":1,"quota_renewal_rate":3600`), "")
	for i, want := range []int{200, 403} {
		if got := call("/ka/", key); got != want {
			t.Errorf("of a quota of one, call %d: %d", i, got)
		}
	}
	for name, session := range map[string]string{"inactive": own(`,"is_inactive":true`), "another API": `{"org_id":"o1","access_rights":{"oa":{"api_id":"oa"}}}`} {
		if replace(session, ""); call("/ka/", key) != 403 {
			t.Errorf("%s: accepted", name)
		}
	}
	if replace(own(`,"expires":1`), ""); call("/ka/", key) != 401 {
		t.Error("an expired key is accepted")
	}
	if replace(own(""), ""); call("/ka/", key) != 200 {
		t.Error("a key with rights of its own is refused")
	}
	if c.control(t, "DELETE", "/tyk/keys/"+hash+"?hashed=1", ""); call("/ka/", key) != 403 {
		t.Error("a deleted key is accepted")
	}
	c.made(t, "bob", `{"org_id":"o1","apply_policies":["gold"],"basic_auth_data":{"password":"pw"}}`)
	for credential, want := range map[string]int{"Basic Ym9iOnB3": 200, "Basic Ym9iOng=": 401, "Basic bm9ib2R5OnB3": 401, "bob": 401} {
		if got := call("/ba/", credential); got != want {
			t.Errorf("%s: %d", credential, got)
		}
	}
}

// TestClientCredentials: a client gets a token for its credentials, until it is revoked.
func TestClientCredentials(t *testing.T) {
	c := newControlled(t, nil)
	if status, body := c.control(t, "POST", "/tyk/oauth/clients/create", `{"api_id":"oa","client_id":"shop","secret":"s1","policy_id":"gold"}`); status != 200 {
		t.Fatal(status, body)
	}
	grant := url.Values{"grant_type": {"client_credentials"}}.Encode()
	ask := func(credential string) (int, string) {
		return c.send(t, "POST", "/oa/oauth/token/", grant, map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Authorization": credential})
	}
	if status, _ := ask("Basic c2hvcDp3cm9uZw=="); status != 403 {
		t.Error(status)
	}
	status, body := ask("Basic c2hvcDpzMQ==")
	var token struct {
		Access string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(body), &token); err != nil || status != 200 {
		t.Fatal(status, body)
	}
	use := func() int {
		status, _ := c.send(t, "GET", "/oa/x", "", map[string]string{"Authorization": "Bearer " + token.Access})
		return status
	}
	if got := use(); got != 200 {
		t.Error(got)
	}
	if _, body := c.control(t, "GET", "/tyk/oauth/clients/oa/shop/tokens", ""); !strings.Contains(body, `"expires":`) {
		t.Error(body)
	}
	if status, body := c.control(t, "POST", "/tyk/oauth/revoke", url.Values{"client_id": {"shop"}, "token": {token.Access}}.Encode()); status != 200 {
		t.Error(status, body)
	}
	if got := use(); got != 403 {
		t.Errorf("a revoked token: %d", got)
	}
}

// TestClientCertificates: a certificate gives access to an API that names it while it is in
// the store.
func TestClientCertificates(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "client"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	id := fmt.Sprintf("o1%x", sha256.Sum256(der))
	c := newControlled(t, func(c *Config) {
		c.LocalAPIs = raws(with(keyless("mt", "/mt/"), map[string]any{"use_keyless": false, "use_mutual_tls_auth": true, "client_certificates": []string{id}}))
	})
	secure := httptest.NewUnstartedServer(c.Handler())
	secure.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	secure.StartTLS()
	defer secure.Close()
	tr := secure.Client().Transport.(*http.Transport)
	tr.TLSClientConfig.Certificates = []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}
	tls := controlled{c.Gateway, secure}
	use := func() int { status, _ := tls.send(t, "GET", "/mt/", "", nil); return status }
	if got := use(); got != 403 {
		t.Errorf("before it is stored: %d", got)
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	if status, body := c.control(t, "POST", "/tyk/certs?org_id=o1", text); status != 200 || !strings.Contains(body, `{"id":"`+id+`"`) && !strings.Contains(body, id) {
		t.Fatal(status, body)
	}
	if status, body := c.control(t, "POST", "/tyk/certs?org_id=o1", text); status != 403 || !strings.Contains(body, "Certificate with "+id+" id already exists") {
		t.Error(status, body)
	}
	if got := use(); got != 200 {
		t.Errorf("stored: %d", got)
	}
	if c.control(t, "DELETE", "/tyk/certs/"+id+"?org_id=o1", ""); use() != 403 {
		t.Error("taken away, and still accepted")
	}
}

// TestMisbehaviour: a fault applies to its requests, until it ends.
func TestMisbehaviour(t *testing.T) {
	c := newControlled(t, nil)
	writes := func(r *http.Request) bool { return r.Method != "GET" }
	for fault, want := range map[Fault]struct {
		status int
		keys   int // number of created keys
	}{Down: {0, 0}, Garbage: {200, 0}, PlainText: {200, 0}, HalfJSON: {200, 1}, Trouble: {500, 0}, Unwired: {404, 0}, DiesBefore: {0, 0}, DiesAfter: {0, 1}} {
		before := c.cfg.Store.Keys()
		c.Misbehave(fault, writes)
		if status, body := c.control(t, "POST", "/tyk/keys", goldKey); status != want.status || c.cfg.Store.Keys() != before+want.keys {
			t.Errorf("fault %d: %d %q, %d keys", fault, status, body, c.cfg.Store.Keys()-before)
		}
		if status, _ := c.control(t, "GET", "/tyk/keys", ""); status != 200 {
			t.Errorf("fault %d: a read is answered %d", fault, status)
		}
		c.Misbehave(Healthy, nil)
		if status, _ := c.control(t, "POST", "/tyk/keys", goldKey); status != 200 {
			t.Errorf("after fault %d: %d", fault, status)
		}
	}
}
