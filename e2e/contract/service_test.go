package contract_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/fetch/fetchtest"
	"github.com/gatehouse-io/gatehouse/adapters/graphql"
	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/adapters/render"
	"github.com/gatehouse-io/gatehouse/adapters/yaml"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/outbound"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/app/portal/sso"
	"github.com/gatehouse-io/gatehouse/app/portal/themes"
	"github.com/gatehouse-io/gatehouse/app/portal/webhooks"
	"github.com/gatehouse-io/gatehouse/app/session"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	yamlport "github.com/gatehouse-io/gatehouse/ports/yaml"
)

// Secrets of the service under test.
const (
	adminSecret = "admin-secret"
	nodeSecret  = "node-secret"
)

// caller is a credential.
type caller string

// The callers. anonymous sends no credential.
const (
	anonymous  caller = ""
	ownAddress        = "http://localhost:3000"
	admin      caller = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	other      caller = "55555555555555555555555555555555" // admin of another organisation
	writer     caller = "11111111111111111111111111111111" // owns nothing that admin created
	nobody     caller = "33333333333333333333333333333333" // has no permission
	inactive   caller = "44444444444444444444444444444444"
	stranger   caller = "99999999999999999999999999999999" // unknown
	root       caller = adminSecret
	node       caller = nodeSecret
)

// URLs of other services.
const (
	gatewayURL  = "https://gateway.example.com"
	examplesURL = "https://examples.example.com/repository.json"
	openapiURL  = "https://apis.example.com/openapi.yaml"
)

// service is a control plane in memory.
type service struct {
	*app.App
	made   int // number of records so far, for unique names
	mails  postbox
	admin  caller // admin of the portal, which changes with its token; see portalAdmin
	visits caller // last browser user of the portal; see visitor
	logins *apptest.Vouching
	asked  int // number of requests so far, so that unauthenticated callers use many networks
}

// newService starts a control plane with users, whose clock advances by a second at
// every read.
func newService(t testing.TB, more ...func() []app.Option) *service {
	t.Helper()
	return newServiceWith(t, true, more...)
}

// newServiceWith is newService with or without an audit trail: the audit trail is written
// concurrently with requests, so tests that watch writes go without it.
func newServiceWith(t testing.TB, trail bool, more ...func() []app.Option) *service {
	t.Helper()
	var opts []app.Option
	for _, make := range more {
		if make != nil {
			opts = append(opts, make()...)
		}
	}
	real, err := crypto.NewKeys("a secret of the test")
	if err != nil {
		t.Fatal(err)
	}
	keys := &plannedKeys{Keys: real}
	var kept audit.Settings
	if trail {
		kept.Signer = real
	}
	mails, logins := make(postbox, 1000), &apptest.Vouching{}
	a, err := app.New(append([]app.Option{
		app.WithClock(apptest.Clock()), app.WithKeys(keys), app.WithIDs(apptest.Numbered("%024x"), apptest.Numbered("request-%d")), app.WithVersion("v0.0.0-test"),
		app.WithAdminSecret(adminSecret), app.WithNodeSecret(nodeSecret), app.WithPasswords(crypto.Passwords{Iterations: 2}),
		app.WithAudit(kept), app.WithSessions(session.Config{LoginURL: "https://login.example.com/", PublicURL: "https://dashboard.example.com", Provider: logins, Delay: -1, Mail: mails, Mails: 1 << 30}), app.WithLogger(slog.New(slog.DiscardHandler)), app.WithFetcher(outside{}), app.WithExamples(examplesURL),
		app.WithAnalytics(traffic(t)), app.WithGateways(outbound.Gateway{URL: gatewayURL}), app.WithGatewayAPI(outbound.GatewayAPI{URL: gatewayURL, Secret: "gateway-secret"}),
		app.WithDefinitions(app.Definitions{APIs: apis.Settings{Ownership: true, Streams: true}}), app.WithPortal(app.Portal{Shared: true, SigningKey: "signing-key", URL: "https://portal.example.com", SignOn: sso.Settings{Secret: string(portalBroker), Provider: logins}, Webhooks: webhooks.Settings{Deliveries: delivery.Settings{Fetcher: outside{}}}, GraphQL: graphql.Checker{}, Relay: outside{}, Themes: themes.Settings{Engine: render.Engine{}}, Live: live.Settings{Delay: -1}, Local: []string{ownAddress}}),
		app.WithRulesAPI(func(t app.Tools) (rules.Workshop, error) {
			return opa.New(opa.Config{Logger: t.Log, Lookup: t.Get, ObjectKind: t.Class}, t.Operations())
		}),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Stop(context.Background()) }) // otherwise hundreds of services would run at once
	s := &service{App: a, mails: mails, logins: logins}
	for _, f := range []identity.First{
		{OrgID: "org-a", OwnerSlug: "a", Email: "admin@a.example", AccessKey: string(admin)},
		{OrgID: "org-b", OwnerSlug: "b", Email: "admin@b.example", AccessKey: string(other)},
	} {
		if _, err := a.Bootstrap(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	for _, u := range []struct {
		name        string
		key         caller
		permissions string
		active      bool
	}{
		{"writer", writer, `{"apis":"write","mcp":"write","policies":"write","hooks":"write","api_assets":"write","system":"read"}`, true},
		{"nobody", nobody, `{"keys":"read"}`, true}, {"inactive", inactive, `{"IsAdmin":"admin"}`, false},
	} {
		keys.next = string(u.key)
		body := fmt.Sprintf(`{"org_id":"org-a","email_address":"%s@a.example","user_permissions":%s,"active":%t}`, u.name, u.permissions, u.active)
		s.must(t, request{method: "POST", path: "/admin/users", as: root, body: []byte(body)})
	}
	return s
}

// plannedKeys gives users the access keys of callers.
type plannedKeys struct {
	secret.Keys
	next  string
	drawn int
}

func (k *plannedKeys) NewKey() string {
	if k.next == "" {
		k.drawn++
		return fmt.Sprintf("%032x", k.drawn-1)
	}
	defer func() { k.next = "" }()
	return k.next
}

// outside answers the calls of the control plane to other services.
type outside struct{}

func (outside) Talk(_ context.Context, _ fetch.Request, protocols []string) (fetch.Conversation, error) {
	return fetchtest.Said(protocols[0], `{"type":"connection_ack"}`, `{"id":"1","type":"next","payload":{"data":{"a":1}}}`, `{"id":"1","type":"complete"}`), nil
}

func (outside) Fetch(_ context.Context, r fetch.Request) (fetch.Answer, error) {
	text, known := map[string]string{
		openapiURL:                 "openapi: 3.0.3\ninfo: {title: Fetched, version: '1'}\nservers: [{url: 'https://orders.example.com/'}]\npaths:\n  /a:\n    get:\n      responses:\n        200: {description: ok}\n",
		gatewayURL + "/orders/1":   `{"id":1}`,
		gatewayURL + "/tyk/debug":  `{"message":"ok","response":"","logs":""}`,
		examplesURL:                `{"examples":{"udg":[{"location":"udg/vat","name":"VAT","shortDescription":"Checks.","features":["rest"],"minTykVersion":"5.0"}]}}`,
		gatewayURL + "/orders/odd": "no json",
	}[r.URL]
	if strings.HasSuffix(r.URL, "readme.md") {
		text, known = "# VAT", true
	}
	switch {
	case strings.HasPrefix(r.URL, "https://hooks.example.com/"):
		return fetch.Answer{Status: 204}, nil
	case strings.HasPrefix(r.URL, "http://10."):
		return fetch.Answer{}, fetch.ErrPrivate
	case known:
		return fetch.Answer{Status: 200, Header: map[string][]string{"Content-Type": {"application/json"}}, Body: []byte(text)}, nil
	}
	return fetch.Answer{Status: 404}, nil
}

// request is what a client sends.
type request struct {
	why    string // what is unusual about it; "" for nothing
	method string
	path   string // escaped
	query  url.Values
	header map[string]string
	as     caller
	body   []byte
}

// String formats a request so that it can be repeated.
func (r request) String() string {
	text := fmt.Sprintf("%s %s?%s", r.method, r.path, r.query.Encode())
	if r.why != "" {
		text = r.why + ": " + text
	}
	return fmt.Sprintf("%s as %q %v\n  %.600q", text, r.as, r.header, r.body)
}

// answer is a decoded response.
type answer struct {
	status    int
	mediaType string
	body      []byte
	token     string // of a browser session
}

func (a answer) String() string { return fmt.Sprintf("%d %s %.600s", a.status, a.mediaType, a.body) }

// json returns the body as JSON. For a file only the media type is described.
func (a answer) json() ([]byte, error) {
	switch {
	case a.mediaType == "application/octet-stream" && a.status < http.StatusBadRequest:
		return []byte("{}"), nil
	case !strings.Contains(a.mediaType, "yaml"):
		return a.body, nil
	}
	n, err := yaml.Codec{}.Parse(a.body, yamlport.Limits{Bytes: 1 << 20, Values: 10_000})
	return n.JSON(), err
}

// ask sends a request.
func (s *service) ask(t testing.TB, r request) answer {
	t.Helper()
	target := r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	h := httptest.NewRequestWithContext(t.Context(), r.method, target, bytes.NewReader(r.body))
	h.Header.Set("Content-Type", "application/json")
	for name, value := range r.header {
		h.Header.Set(name, value)
	}
	if strings.HasPrefix(r.path, ownPrefix) {
		s.asked++
		h.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:1", s.asked>>16&255, s.asked>>8&255, s.asked&255)
	}
	switch {
	case r.as == anonymous:
	case strings.HasPrefix(string(r.as), visit):
		browses(h, r.as)
	case r.as == root:
		h.Header.Set("Admin-Auth", string(r.as))
	default:
		h.Header.Set("Authorization", string(r.as))
	}
	rec := httptest.NewRecorder()
	s.ServeHTTP(rec, h)
	a := answer{status: rec.Code, mediaType: rec.Header().Get("Content-Type"), body: rec.Body.Bytes()}
	for _, c := range rec.Result().Cookies() {
		a.token = c.Value
	}
	if rec.Header().Get("Content-Encoding") == "gzip" && len(a.body) > 0 {
		z, err := gzip.NewReader(rec.Body)
		if err == nil {
			a.body, err = io.ReadAll(z)
		}
		if err != nil {
			t.Fatalf("%s: %v", r, err)
		}
	}
	s.learn(r, a)
	return a
}

// must sends a request that must succeed, and returns the identifier in the answer.
func (s *service) must(t testing.TB, r request) string {
	t.Helper()
	a := s.ask(t, r)
	var made struct{ ID string }
	if a.status >= http.StatusMultipleChoices {
		t.Fatalf("%s\nwas answered %s", r, a)
	}
	if err := json.Unmarshal(a.body, &made); err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// fill replaces the placeholders of a path.
func fill(o operation.Operation, values map[string]string) string {
	segs := strings.Split(o.Path, "/")
	for i, s := range segs {
		if name, ok := operation.Placeholder(s); ok {
			segs[i] = url.PathEscape(values[name])
			if o.Tail {
				segs[i] = strings.ReplaceAll(segs[i], "%2F", "/")
			}
		}
	}
	return strings.Join(segs, "/")
}
