package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/gateway/local"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/certificates"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// certificateOf is the certificate that transcripts upload, by its identifier.
const certificateOf = "ad4f21398d3921b20806d8f81a0b9be92beb6c85cf28bcbc5466597cb923d413"

// upload uploads the first certificate of a transcript, and returns the first line of its
// private key.
func upload(t *testing.T, h http.Handler) (key string) {
	t.Helper()
	w, key := send(t, h, "/api/certs")
	if w.Code != 200 {
		t.Fatal(w.Code, w.Body)
	}
	return key
}

// send uploads it to an address, and returns the answer and a line of the private key.
func send(t *testing.T, h http.Handler, path string) (w *httptest.ResponseRecorder, key string) {
	t.Helper()
	text, err := os.ReadFile("testdata/wire/ownership-certificates.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, form, _ := strings.Cut(string(text), "> --x\n")
	form, _, _ = strings.Cut(form, "> --x--\n")
	r := httptest.NewRequest("POST", path, strings.NewReader(strings.ReplaceAll("--x\n"+form+"--x--\n", "> ", "")))
	r.Header.Set("Authorization", callers["admin"][1])
	r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	w = httptest.NewRecorder()
	h.ServeHTTP(w, r)
	_, key, _ = strings.Cut(form, "PRIVATE KEY-----\n> ")
	key, _, _ = strings.Cut(key, "\n")
	return w, key
}

// switched is a store of gateways that may be away.
type switched struct {
	store.Store
	away  atomic.Bool
	views atomic.Int32
}

func (s *switched) View(ctx context.Context, scope tenant.Scope, fn func(store.Reader) error) error {
	s.views.Add(1)
	if s.away.Load() {
		return noStore{}.View(ctx, scope, fn)
	}
	return s.Store.View(ctx, scope, fn)
}

func (s *switched) Update(ctx context.Context, scope tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	if s.away.Load() {
		return noStore{}.Update(ctx, scope, fn)
	}
	return s.Store.Update(ctx, scope, fn)
}

// TestCertificateDependencies states that the key of a certificate goes with its uses; that
// APIs keep the certificate while gateways are away; and that the rest is done when they
// are back.
func TestCertificateDependencies(t *testing.T) {
	at := &switched{Store: ownStore()}
	control := gatewaysOf(at)
	a := service(t, nobodyWatches(), app.WithGatewayControl(control))
	call := func(method, path, body string, want int) string {
		t.Helper()
		code, text := fetch(t, a, method, path, "admin", body)
		if code != want {
			t.Fatalf("%s %s: %d %s", method, path, code, text)
		}
		return text
	}
	id := "org-a" + certificateOf
	upload(t, a)
	call("POST", "/api/apis", `{"api_definition":{"name":"Orders","api_id":"orders","active":true,"client_certificates":["`+id+`"],"proxy":{"listen_path":"/orders/","target_url":"http://orders.example/"}}}`, 200)
	session, err := doc.ParseNode([]byte(`{"certificate":"` + id + `","access_rights":{"orders":{"api_id":"orders"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := control.Keys.CreateKey(t.Context(), "org-a", "", session); err != nil {
		t.Fatal(err)
	}
	path := "/api/certs/dependencies/" + id
	if text := call("GET", path, "", 200); !strings.Contains(text, `"client_cert_apis":["orders"]`) || !strings.Contains(text, `"key_cert":"org-a`+id+`"`) {
		t.Error(text)
	}
	at.away.Store(true)
	if text := call("DELETE", path, "", 500); !strings.Contains(text, "Could not delete certificate dependencies.") || strings.Contains(text, "10.0.0.7") {
		t.Error(text)
	}
	if text := call("GET", "/api/apis/orders", "", 200); !strings.Contains(text, certificateOf) {
		t.Error("half of it is done:", text)
	}
	at.away.Store(false)
	call("DELETE", path, "", 200)
	if text := call("GET", path, "", 200); !strings.Contains(text, `"client_cert_apis":[]`) || !strings.Contains(text, `"key_cert":""`) {
		t.Error(text)
	}
	if _, err := control.Keys.Key(t.Context(), "org-a", gateway.KeyName{Text: id}); err == nil {
		t.Error("the key is there")
	}
	if text := call("GET", "/api/apis/orders", "", 200); strings.Contains(text, certificateOf) {
		t.Error(text)
	}
}

// TestPurgedFromGateways: a purge removes keys, certificates and limits of the organisation
// from gateways, and no others; while gateways are away it goes on later.
func TestPurgedFromGateways(t *testing.T) {
	at := &switched{Store: ownStore()}
	control := gatewaysOf(at)
	control.Installation = &local.Installation{Shelf: local.Shelf{Store: at}}
	a := service(t, nobodyWatches(), app.WithGatewayControl(control))
	made := func(org tenant.ID, n int) {
		t.Helper()
		for i := range n {
			session, err := doc.ParseNode([]byte(`{"access_rights":{"orders":{"api_id":"orders"}}}`))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := control.Keys.CreateKey(t.Context(), org, fmt.Sprint("key-", i), session); err != nil {
				t.Fatal(err)
			}
		}
	}
	text, err := os.ReadFile("testdata/wire/ownership-certificates.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, pem, _ := strings.Cut(string(text), "-----BEGIN CERTIFICATE-----")
	pem, _, _ = strings.Cut(pem, "-----END CERTIFICATE-----")
	pem = "-----BEGIN CERTIFICATE-----" + strings.ReplaceAll(pem, "> ", "") + "-----END CERTIFICATE-----\n"
	for _, org := range []tenant.ID{"org-a", "org-b"} {
		_, failed := control.Certificates.AddCertificate(t.Context(), org, []byte(pem))
		limits, err := doc.ParseNode([]byte(`{"rate":10,"per":1}`))
		if err := errors.Join(failed, err, control.Installation.PutOrgKey(t.Context(), org, limits)); err != nil {
			t.Fatal(err)
		}
	}
	left := func(org tenant.ID, want int) {
		t.Helper()
		certificates, err := control.Certificates.ListCertificates(t.Context(), org)
		if _, failed := control.Installation.OrgKey(t.Context(), org); err != nil || (len(certificates) == 1) != (want > 0) || (failed == nil) != (want > 0) {
			t.Errorf("%s has %d certificates and limits: %v, %v", org, len(certificates), failed, err)
		}
		if list, err := control.Keys.Keys(t.Context(), org, ""); err != nil || len(list) != want {
			t.Errorf("%s has %d keys, want %d: %v", org, len(list), want, err)
		}
	}
	purge := func(want int) {
		t.Helper()
		if code, text := fetch(t, a, "DELETE", "/admin/organisations/org-b?purge=true", "super-admin", ""); code != want {
			t.Errorf("%d %s", code, text)
		}
	}
	made("org-a", 2)
	made("org-b", 5)
	at.away.Store(true)
	purge(200)
	at.away.Store(false)
	left("org-b", 5)
	purge(200) // what is open is begun anew
	left("org-b", 0)
	left("org-a", 2)
}

// TestExpiry states how often gateways are asked for certificates, and what is told while
// they are away.
func TestExpiry(t *testing.T) {
	at := &switched{Store: ownStore()}
	var now atomic.Int64
	begin := time.Date(2035, 12, 1, 0, 0, 0, 0, time.UTC)
	a := service(t, nobodyWatches(), app.WithGatewayControl(gatewaysOf(at)), app.WithCertificateExpiry(certificates.Expiry{Every: time.Hour, Days: 10}),
		app.WithClock(func() time.Time { return begin.Add(time.Duration(now.Add(1)) * time.Microsecond) }))
	pass := func(d time.Duration) { now.Add(int64(d / time.Microsecond)) }
	told := func(query string, want int, parts ...string) {
		t.Helper()
		code, text := fetch(t, a, "GET", "/api/org/notifications"+query, "admin", "")
		for _, part := range parts {
			if code != want || !strings.Contains(text, part) {
				t.Errorf("%d %s", code, text)
			}
		}
		if code != want || len(parts) == 0 && text != "[]" {
			t.Errorf("%d %s", code, text)
		}
	}
	asked := func(want int32) {
		t.Helper()
		if got := at.views.Swap(0); got != want {
			t.Errorf("gateways were asked %d times, not %d", got, want)
		}
	}
	at.away.Store(true)
	told("", 500, "Could not retrieve notifications.")
	told("", 500, "Could not retrieve notifications.")
	asked(1) // one that is away is not asked again at once
	at.away.Store(false)
	upload(t, a)
	at.views.Store(0)
	told("", 200)
	asked(1)
	told("", 200)
	told("?refresh=true", 200)
	told("?refresh=true", 200)
	asked(2)                  // each time that somebody wants it
	pass(22 * 24 * time.Hour) // it ends on the second of January
	told("", 200, `"kind":"warning"`, `"days_remaining":9`, "will expire in less than 10 days", `"created_at":"2035-12-23T00:00:00Z"`)
	asked(1)
	at.away.Store(true)
	pass(10 * 24 * time.Hour)
	told("", 200, `"kind":"critical"`, `"days_remaining":0`, "has expired", `"created_at":"2036-01-02T00:00:00Z"`)
	asked(1)
	told("?refresh=true", 200, `"kind":"critical"`)
	asked(0) // one that is away is left alone for ten seconds
	pass(11 * time.Second)
	told("?refresh=true", 200, `"kind":"critical"`)
	asked(1)
}

// TestClientSecrets: of secrets, tokens and private keys nothing reaches logs, the audit trail,
// the change log and refusals; rules see neither.
func TestClientSecrets(t *testing.T) {
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	sealing, err := crypto.NewKeys("a secret of the test")
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	a, err := app.New(app.WithStore(db), app.WithKeys(sealing), app.WithAdminSecret(adminSecret), app.WithPasswords(crypto.Passwords{Iterations: 1}),
		app.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))), app.WithAudit(audit.Settings{Signer: sealing}), app.WithRules(telling))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Bootstrap(t.Context(), identity.First{OrgID: "org-a", OwnerSlug: "a", Email: "admin@a.example", AccessKey: callers["admin"][1]}); err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Stop(context.WithoutCancel(t.Context())) }()
	var refusals strings.Builder
	ask := func(method, path, body string) string {
		t.Helper()
		code, text := fetch(t, a, method, path, "admin", body)
		if code >= 400 {
			refusals.WriteString(text)
		}
		return text
	}
	ask("POST", "/api/apis", `{"api_definition":{"name":"Orders","api_id":"orders","active":true,"use_oauth2":true,"proxy":{"listen_path":"/orders/","target_url":"http://orders.example/"}}}`)
	ask("POST", "/api/apis/oauth/orders", `{"client_id":"shop","secret":"hunter2-secret","redirect_uri":"https://shop.example/cb"}`)
	ask("POST", "/api/apis/oauth/orders", `{"client_id":"a/b","secret":"hunter2-secret"}`)
	ask("POST", "/api/apis/oauth/orders", `{"client_id":7,"secret":"hunter2-secret"}`)
	ask("PUT", "/api/apis/oauth/orders/shop", `{"secret":"hunter2-secret","redirect_uri":"https://shop.example/other"}`)
	for range 2 {
		ask("POST", "/api/apis/oauth/orders", `{"client_id":"again","secret":"hunter2-secret"}`)
	}
	ask("POST", "/api/apis/oauth/shop/revoke", `{"token":"hunter2-token"}`)
	ask("POST", "/api/apis/oauth/shop/revoke_all", `{"client_secret":"hunter2-wrong"}`)
	ask("POST", "/api/apis/oauth/shop/revoke_all", `{"client_secret":"hunter2-secret"}`)
	ask("POST", "/api/apis/oauth/orders/authorize-client", `{"response_type":"code","client_id":"shop","redirect_uri":"https://shop.example/other","key_rules":"{\"access_rights\":{\"orders\":{}},\"alias\":\"hunter2-rules\"}"}`)
	if shown := ask("GET", "/api/apis/oauth/orders/shop", ""); !strings.Contains(shown, "hunter2-secret") || !strings.Contains(shown, "/other") {
		t.Fatal(shown)
	}
	rotated := struct{ Secret string }{}
	if err := json.Unmarshal([]byte(ask("PUT", "/api/apis/oauth/orders/shop/rotate", "")), &rotated); err != nil || rotated.Secret == "" || strings.Contains(rotated.Secret, "hunter2") {
		t.Fatal(rotated, err)
	}
	for path, body := range map[string]string{
		"POST /api/apis/oauth/orders":                  `{"client_id":"shown","secret":"hunter2-secret"}`,
		"PUT /api/apis/oauth/orders/shop":              `{"client_id":"shown","secret":"hunter2-secret"}`,
		"POST /api/apis/oauth/shop/revoke":             `{"client_id":"shown","token":"hunter2-token"}`,
		"POST /api/apis/oauth/shop/revoke_all":         `{"client_id":"shown","client_secret":"hunter2-secret"}`,
		"POST /api/apis/oauth/orders/authorize-client": `{"client_id":"shown","key_rules":"hunter2-rules"}`,
	} {
		method, path, _ := strings.Cut(path, " ")
		if told := ask(method, path+"?show=1", body); !strings.Contains(told, `\"client_id\":\"shown\"`) {
			t.Error("rules do not decide about", path, told)
		}
	}
	private := upload(t, a)
	denied, _ := send(t, a, "/api/certs?show=1")
	if refusals.WriteString(denied.Body.String()); denied.Code != 403 || !strings.Contains(denied.Body.String(), "/api/certs") {
		t.Error("rules do not decide about certificates:", denied.Body)
	}
	id := "org-a" + certificateOf
	answers := ask("GET", "/api/certs/"+id, "") + ask("GET", "/api/certs/details", "") + ask("GET", "/api/certs?mode=detailed", "") + ask("GET", "/api/gateway/intents", "")
	ask("DELETE", "/api/certs/dependencies/"+id, "")
	ask("DELETE", "/api/certs/"+id, "")
	var stored strings.Builder
	head, err := db.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range db.Follow(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&stored, "%+v\n", c)
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		stored.Write(text)
		if c.Rev >= head {
			break
		}
	}
	trail := ask("GET", "/api/audit-logs?p=-1", "")
	if !strings.Contains(trail, "/api/apis/oauth/orders/shop/rotate") || !strings.Contains(trail, "/api/certs") {
		t.Error("the trail says nothing:", trail)
	}
	for _, subject := range []string{`"created","kind":"certificate","id":"` + id + `"`, `"updated","kind":"certificate","id":"` + id + `"`, `"deleted","kind":"certificate","id":"` + id + `"`,
		`"created","kind":"oauth_client","id":"orders/shop"`, `"updated","kind":"oauth_client","id":"orders/shop"`, `"updated","kind":"oauth_client","id":"shop"`,
		`"created","kind":"oauth_client","id":"orders/again"`, `"updated","kind":"oauth_client","id":"orders/again"`} {
		if !strings.Contains(trail, `"subjects":[{"op":`+subject+`}]`) {
			t.Errorf("the trail does not name %s: %s", subject, trail)
		}
	}
	if strings.Contains(trail, `"kind":"intent"`) || strings.Contains(trail, `"diff":[{"subject":"intent`) {
		t.Error("the trail tells of intents:", trail)
	}
	for where, text := range map[string]string{"the log": log.String(), "the trail": trail, "the change log": stored.String(), "a refusal": refusals.String(), "an answer about certificates": answers} {
		for _, secret := range []string{"hunter2-secret", "hunter2-token", "hunter2-wrong", "hunter2-rules", rotated.Secret, private} {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s tells %s: …%s…", where, secret, text[max(0, i-300):i+40])
			}
		}
	}
}

// Calls that were under way while a node stopped do not bring it back; a registration does.
func TestNodeThatLeft(t *testing.T) {
	a := service(t, nobodyWatches(), app.WithClock(time.Now))
	caller := func(id string) *operation.Call {
		return &operation.Call{Token: nodeSecret, Header: map[string]string{"X-Tyk-Nodeid": id, "X-Tyk-Hostname": "gw-1", "X-Tyk-Session-Id": "s"}}
	}
	register := func() string {
		t.Helper()
		out, err := a.Do(t.Context(), "register.node", caller(""))
		text, _ := json.Marshal(out)
		var reply struct{ Message struct{ NodeID string } }
		if json.Unmarshal(text, &reply); err != nil || reply.Message.NodeID == "" {
			t.Fatal(string(text), err)
		}
		return reply.Message.NodeID
	}
	do := func(op, id string) error { _, err := a.Do(t.Context(), op, caller(id)); return err }
	listed := func(want bool) {
		t.Helper()
		if _, text := fetch(t, a, "GET", "/api/system/nodes", "reader", ""); strings.Contains(text, `"node_id"`) != want {
			t.Error(text)
		}
	}
	id := register()
	for _, op := range []string{"register.ping", "system.node.delete", "system.apis"} {
		if err := do(op, id); err != nil {
			t.Fatal(op, err)
		}
	}
	listed(false)
	if err := do("register.ping", id); fault.KindOf(err) != fault.Denied {
		t.Errorf("a node that left lives: %v", err)
	}
	listed(false)
	if again := register(); again != id {
		t.Fatal(again)
	}
	if err := do("register.ping", id); err != nil {
		t.Error(err)
	}
	listed(true)
}
