// Package portal tests the pages of the developer portal in a real browser, against the
// program as it is served.
package portal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/serve"
	"github.com/gatehouse-io/gatehouse/e2e/browser"
)

func TestMain(m *testing.M) { browser.Main(m) }

// Credentials of people.
const (
	admin     = "admin@example.com"
	developer = "grace@example.com"
	password  = "a-long-passphrase"
)

// world is the program with in-memory storage, and a user's browser.
type world struct {
	t     testing.TB
	at    string
	token string // of the admin
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newWorld starts a portal: alone, or beside a dashboard in one process.
func newWorld(t testing.TB, mode string, set ...string) *world {
	t.Helper()
	w := &world{t: t, at: start(t, mode, nil, set...)}
	w.bootstrap()
	return w
}

// start runs the program with in-memory storage and returns its address.
func start(t testing.TB, mode string, environ []string, set ...string) string {
	t.Helper()
	s, report := config.Load(nil, "", append([]string{"SVC_DB_STORAGE_MAIN_TYPE=memory", "SVC_DB_LISTENADDRESS=127.0.0.1", "SVC_DB_LISTENPORT=0", "SVC_DB_SHUTDOWN_GRACEPERIOD=0s", "SVC_DB_HOMEDIR=" + t.TempDir()}, environ...), config.Options{})
	must(t, report.Err())
	s.Portal.Serve = mode
	more := config.LoadPortal(&s, nil, "", append(set, "PORTAL_HOSTPORT=0"))
	must(t, more.Err())
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- serve.Run(ctx, s, slog.New(slog.DiscardHandler), "test", func(a net.Addr) { ready <- a.String() })
	}()
	var at string
	select {
	case at = <-ready:
	case err := <-done:
		t.Fatal(err)
	case <-time.After(30 * time.Second):
		t.Fatal("the program does not start")
	}
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + at
}

// bootstrap creates the first admin.
func (w *world) bootstrap() {
	w.t.Helper()
	var first struct {
		Data struct {
			Token string `json:"api_token"`
		} `json:"data"`
	}
	must(w.t, json.Unmarshal(w.api("POST", "/bootstrap", object{"username": admin, "password": password}), &first))
	w.token = first.Data.Token
}

// api calls the API as the admin.
func (w *world) api(method, path string, body any) []byte {
	w.t.Helper()
	text, err := json.Marshal(body)
	must(w.t, err)
	return w.send(method, path, "application/json", text)
}

func (w *world) send(method, path, mediaType string, body []byte) []byte {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.at+"/portal-api"+path, bytes.NewReader(body))
	must(w.t, err)
	req.Header.Set("Authorization", w.token)
	req.Header.Set("Content-Type", mediaType)
	resp, err := http.DefaultClient.Do(req)
	must(w.t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	must(w.t, err)
	if resp.StatusCode >= 300 {
		w.t.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, text)
	}
	return text
}

// describe uploads the description of a specification.
func (w *world) describe(path, text string) { w.upload("POST", path, "api.yaml", text) }

// upload sends a file by a form, as a browser does.
func (w *world) upload(method, path, file, text string) {
	w.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", file)
	must(w.t, err)
	_, _ = part.Write([]byte(text)) // writes to memory
	must(w.t, form.Close())
	w.send(method, path, form.FormDataContentType(), body.Bytes())
}

// object is a body of JSON.
type object = map[string]any

const payments = `openapi: 3.0.3
info: {title: Payments, version: "2", description: "Take **payments** in 30 currencies."}
servers: [{url: "https://api.example.com/payments"}]
tags: [{name: payments, description: Money that comes in}, {name: refunds, description: Money that goes back}]
paths:
  /payments:
    get:
      tags: [payments]
      summary: List payments
      parameters: [{name: since, in: query, schema: {type: string, format: date}, description: The first day}]
      responses: {"200": {description: Payments, content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Payment"}}}}}}
    post:
      tags: [payments]
      summary: Take a payment
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/Payment"}}}}
      responses: {"201": {description: It is taken}}
  /payments/{id}/refund:
    parameters: [{name: id, in: path, required: true, schema: {type: string}, description: Of the payment}]
    post: {tags: [refunds], summary: Give a refund, deprecated: true, responses: {"204": {description: Done}}}
components:
  schemas:
    Payment: {type: object, required: [amount], properties: {amount: {type: integer, description: In cents}, currency: {type: string}, customer: {type: object, properties: {name: {type: string}}}}}
`

// stock fills the portal with the content of a small company.
func (w *world) stock() {
	w.t.Helper()
	for i, p := range []struct{ name, path, text string }{
		{"Payments", "payments", "Take payments in 30 currencies, and give refunds within a day."}, {"Shipping", "shipping", "Labels, prices and tracking for 40 carriers."}, {"Identity", "identity", "Find out who somebody is, and how sure you can be."},
		{"Maps", "maps", "Addresses to places, places to addresses."}, {"Messages", "messages", "Send text messages and mails, and learn whether they have come."}, {"Invoices", "invoices", "Invoices that the tax office likes."},
	} {
		w.api("POST", "/products", object{"Name": p.path, "DisplayName": p.name, "Path": p.path, "Description": p.text, "IsDocumentationOnly": true, "Feature": i < 3, "Catalogues": []int{1},
			"Content": "<h2>What it does</h2><p>" + p.text + "</p><ul><li>Quick to begin with</li><li>Fair prices</li></ul>", "SpecDetails": []object{{"SpecAlias": "main", "Name": p.name + " API"}}})
	}
	w.describe("/products/1/spec-details/1/oas", payments)
	w.api("POST", "/products/1/docs", object{"Title": "Your first payment", "Lede": "In five minutes", "Content": "<p>Call it.</p><pre><code>curl https://api.example.com/payments</code></pre>", "Status": "published", "Path": "first"})
	for i := range 3 {
		w.api("POST", "/posts", object{"Title": fmt.Sprintf("What is new in version %d", i+1), "Lede": "Less to do for you, and more to find.", "Content": "<p>This is what we have done since last time.</p><h2>Faster</h2><p>Twice.</p>", "Path": fmt.Sprintf("version-%d", i+1), "Status": "published"})
	}
	w.api("POST", "/users", object{"Email": developer, "First": "Grace", "Last": "Hopper", "Password": password, "Role": "consumer-admin", "Active": true, "OrgID": 1})
}

// visitor opens a browser.
func (w *world) visitor(t testing.TB) *browser.Tab {
	t.Helper()
	return browser.Open(t, w.at)
}

// loggedIn opens a browser of a logged-in user.
func (w *world) loggedIn(t testing.TB, email string) *browser.Tab {
	t.Helper()
	b := w.visitor(t)
	enter(b, email, password)
	b.See("Log out")
	return b
}

func enter(b *browser.Tab, email, secret string) {
	b.T.Helper()
	b.Go("/auth/password/login")
	b.Fill("Email", email)
	b.Fill("Password", secret)
	b.Wait(`(() => { document.querySelector('main form button').click(); return true; })()`)
}
