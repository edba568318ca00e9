package scenarios

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// Paths of the management API.
const (
	classicAPIs = "/api/apis"
	oasAPIs     = "/api/apis/oas"
	streamsAPIs = "/api/apis/streams"
	mcpProxies  = "/api/mcps"
	policies    = "/api/portal/policies"
	webhooks    = "/api/hooks"
)

// object is a JSON object.
type object = map[string]any

// estate is a service with one gateway that has only the service's configuration, and
// clients that call the gateway's address.
type estate struct {
	*service
	gateway *gatewaysim.Gateway
	address string // of the gateway, without a slash at the end
}

// newEstate stores all data in SQLite.
func newEstate(t *testing.T, env environment) *estate {
	t.Helper()
	redis := harness.Redis(t).Addr()
	s := serve(t, onSQLite(t.TempDir()).bootstrapping().with(environment{"REDISADDRS": redis}).with(env))
	e := &estate{service: s, gateway: bareGateway(t, s.node.base, redis)}
	e.serving(t)
	return e
}

// bareGateway is a subscribed gateway without local definitions.
func bareGateway(t *testing.T, url, redis string) *gatewaysim.Gateway {
	t.Helper()
	return listening(t, gatewaysim.Config{DashboardURL: url, Redis: gatewaysim.Redis{Addr: redis}})
}

// listening starts a gateway with the short intervals of tests.
func listening(t *testing.T, c gatewaysim.Config) *gatewaysim.Gateway {
	t.Helper()
	c.NodeSecret, c.Hostname = nodeSecret, "gw"
	c.Intervals = gatewaysim.Intervals{Heartbeat: 100 * time.Millisecond, Probe: time.Second, Retry: 200 * time.Millisecond,
		Tick: 50 * time.Millisecond, RedisRetry: 50 * time.Millisecond}
	g, redis := gatewaysim.New(c), c.Redis.Addr
	if err := g.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Kill)
	waitFor(t, g, "loaded and subscribed", func(s gatewaysim.State) bool { return s.Ready && (s.Subscribed || redis == "") })
	return g
}

// serving starts a server for the gateway's address.
func (e *estate) serving(t *testing.T) {
	t.Helper()
	server := httptest.NewServer(e.gateway.Handler())
	t.Cleanup(server.Close)
	e.address = server.URL
}

// request is a client's request to a gateway.
type request struct {
	method, path string
	token        string // value of the header Authorization, "" for none
	header       [2]string
	body         any
}

// answer is the gateway's answer.
type answer struct {
	status int
	body   string
}

func (a answer) String() string { return fmt.Sprintf("%d %s", a.status, a.body) }

// ask calls the gateway.
func (e *estate) ask(t *testing.T, r request) answer {
	t.Helper()
	raw, err := json.Marshal(r.body)
	if err != nil {
		t.Fatal(err)
	}
	if r.method == "" {
		r.method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(t.Context(), r.method, e.address+r.path, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if r.token != "" {
		req.Header.Set("Authorization", r.token)
	}
	if r.header[0] != "" {
		req.Header.Set(r.header[0], r.header[1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("the gateway: %v", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, strings.TrimSpace(string(body))}
}

// becomes waits until the gateway answers a request with a status and a text in the
// body, which shows that an acknowledged change has arrived.
func (e *estate) becomes(t *testing.T, what string, r request, status int, text string) {
	t.Helper()
	until(t, gatewayLimit, what, func() error {
		if a := e.ask(t, r); a.status != status || !strings.Contains(a.body, text) {
			return fmt.Errorf("answer %s, want %d with %q; gateway: %s", a, status, text, e.gateway.State().LastError)
		}
		return nil
	})
}

// answers checks the answer at once.
func (e *estate) answers(t *testing.T, what string, r request, status int, text string) {
	t.Helper()
	if a := e.ask(t, r); a.status != status || !strings.Contains(a.body, text) {
		t.Errorf("%s: %s, want %d with %q", what, a, status, text)
	}
}

// healthy fails the test if a gateway could not load everything.
func (e *estate) healthy(t *testing.T) {
	t.Helper()
	checkHealthy(t, []*gatewaysim.Gateway{e.gateway})
	if s := e.gateway.State(); s.ReloadsFailed > 0 || s.IdPRefreshesFailed > 0 || len(s.Skipped) > 0 {
		t.Errorf("%d loads and %d refreshes failed, skipped %v: %s", s.ReloadsFailed, s.IdPRefreshesFailed, s.Skipped, s.LastError)
	}
}

// do makes a call that must succeed and returns its receipt.
func (c *client) do(t *testing.T, method, path string, in any) (out struct{ Status, Message, ID string }) {
	t.Helper()
	var raw json.RawMessage
	if err := c.call(t.Context(), method, path, in, &raw); err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal(raw, &out) // read answers have other members
	return out
}

// read returns the text of a successful answer.
func (c *client) read(t *testing.T, path string) string {
	t.Helper()
	var raw json.RawMessage
	if err := c.call(t.Context(), http.MethodGet, path, nil, &raw); err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// raw returns the unchanged bytes of a successful answer.
func (c *client) raw(t *testing.T, path string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = c.header.Clone()
	res, err := c.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d %s, %v", path, res.StatusCode, body, err)
	}
	return string(body)
}

// get decodes a successful answer.
func (c *client) get(t *testing.T, path string, out any) {
	t.Helper()
	if err := c.call(t.Context(), http.MethodGet, path, nil, out); err != nil {
		t.Fatal(err)
	}
}

// refused makes a call that must fail with a status and a text in the answer.
func (c *client) refused(t *testing.T, method, path string, in any, status int, text string) {
	t.Helper()
	err := c.call(t.Context(), method, path, in, nil)
	if statusOf(err) != status || !strings.Contains(fmt.Sprint(err), text) {
		t.Errorf("%s %s: %v, want %d with %q", method, path, err, status, text)
	}
}

// classicAPI is a classic API at /<id>/ that requires an access key; members replace
// existing ones.
func classicAPI(id string, members object) object {
	def := object{
		"api_id": id, "name": id, "active": true, "use_standard_auth": true, "auth_configs": object{"authToken": object{"auth_header_name": "Authorization"}},
		"proxy":        object{"listen_path": "/" + id + "/", "target_url": "http://127.0.0.1:9/", "strip_listen_path": true},
		"version_data": object{"not_versioned": true, "versions": object{"Default": object{"name": "Default", "use_extended_paths": true}}},
	}
	maps.Copy(def, members)
	return object{"api_definition": def}
}

// extension is the vendor part of a keyless OAS API at /<id>/; members replace existing
// ones.
func extension(id string, members object) object {
	ext := object{
		"info":     object{"id": id, "name": id, "state": object{"active": true}},
		"upstream": object{"url": "http://127.0.0.1:9/"},
		"server":   object{"listenPath": object{"value": "/" + id + "/", "strip": true}},
	}
	maps.Copy(ext, members)
	return ext
}

// description is an OpenAPI description with two endpoints.
func description(title string) object {
	answers := object{"200": object{"description": "fine"}}
	return object{
		"openapi": "3.0.3", "info": object{"title": title, "version": "1.0.0"}, "servers": []any{object{"url": "http://127.0.0.1:9/"}},
		"paths": object{
			"/orders/{id}": object{"get": object{"operationId": "getOrder", "responses": answers,
				"parameters": []any{object{"name": "id", "in": "path", "required": true, "schema": object{"type": "string"}}}}},
			"/orders": object{"post": object{"operationId": "newOrder", "responses": answers}},
		},
	}
}

// oasAPI is a complete document.
func oasAPI(id string, members object) object {
	d := description(id)
	d["x-tyk-api-gateway"] = extension(id, members)
	return d
}

// policy gives access to APIs; members replace existing ones.
func policy(id string, members object, apis ...string) object {
	rights := object{}
	for _, api := range apis {
		rights[api] = object{"api_id": api, "api_name": api, "versions": []string{"Default"}}
	}
	p := object{"id": id, "name": id, "active": true, "access_rights": rights}
	maps.Copy(p, members)
	return p
}

func policyPath(id string) string { return policies + "/" + id }
