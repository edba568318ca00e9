package app_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"mime/multipart"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	port "github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

// bodyRules look at what is stored, and add to it.
const bodyRules = `package dashboard_users
body = input.request.body
deny["forbidden"] { body.info.title == "forbidden" }
deny["forbidden"] { body["x-mark"] == "forbidden" }
deny["forbidden"] { body.api_definition.name == "forbidden"; body.api_definition.proxy.listen_path }
deny["forbidden"] { body.name == "forbidden"; body.rate == 7 }
deny["forbidden"] { body.access_rights.secret.api_name == "forbidden" }
deny["forbidden"] { body.orders.scope_to_policy.write == "forbidden"; body.orders.scope_to_policy.read == "gold" }
patch_request[{"info": {"description": "stamped"}}] { body["x-tyk-api-gateway"] }
patch_request[{"api_definition": {"config_data": {"stamp": "stamped"}}}] { body.api_definition.proxy.listen_path }
patch_request[{"tags": ["stamped"]}] { body.rate == 7 }
patch_request[{"stamped": {}}] { body.orders.scope_to_policy.read == "gold" }
`

func withOPA(text string) app.Option {
	return app.WithRules(func(t app.Tools) (rules.Engine, error) {
		return opa.New(opa.Config{Logger: t.Log, OrgRules: func(context.Context, tenant.ID) (string, error) { return text, nil }}, t.Operations())
	})
}

// withRulesAPI opens the API of rules, which do not decide.
var withRulesAPI = app.WithRulesAPI(func(t app.Tools) (rules.Workshop, error) {
	return opa.New(opa.Config{Logger: t.Log, Lookup: t.Get}, t.Operations())
})

// file is a form with a file, packed or not.
func file(t *testing.T, name, text string, packed bool) (contentType, body string) {
	t.Helper()
	content := []byte(text)
	if packed {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil || z.Close() != nil {
			t.Fatal(err)
		}
		content = b.Bytes()
	}
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	w, err := m.CreateFormFile("file", name)
	if err == nil {
		_, err = w.Write(content)
	}
	if err != nil || m.Close() != nil {
		t.Fatal(err)
	}
	return m.FormDataContentType(), b.String()
}

// Rules decide about what is stored, and patch it, whatever the body looks like.
func TestRulesSeeWhatIsStored(t *testing.T) {
	const (
		plain   = `{"openapi":"3.0.3","info":{"title":"%s","version":"1"},"servers":[{"url":"http://up.example"}],"paths":{}}`
		inYAML  = "openapi: 3.0.3\ninfo: {title: %s, version: '1'}\nservers: [{url: 'http://up.example'}]\npaths: {}\n"
		full    = `{"openapi":"3.0.3","info":{"title":"%s","version":"1"},"paths":{},"x-tyk-api-gateway":{"info":{"name":"N","state":{"active":true}},"upstream":{"url":"http://up.example/"},"server":{"listenPath":{"value":"/n/"}}}}`
		fullYML = "openapi: 3.0.3\ninfo: {title: %s, version: '1'}\npaths: {}\nx-tyk-api-gateway: {info: {name: N, state: {active: true}}, upstream: {url: 'http://up.example/'}, server: {listenPath: {value: /n/}}}\n"
		proxied = `{"openapi":"3.0.3","info":{"title":"%s","version":"1"},"paths":{},"x-tyk-api-gateway":{"info":{"name":"P","state":{"active":true}},"upstream":{"url":"http://up.example/"},"server":{"listenPath":{"value":"/p/"}}}}`
		graph   = `{"openapi":"3.0.3","info":{"title":"%s","version":"1"},"servers":[{"url":"http://up.example"}],"paths":{"/a":{"get":{"operationId":"a","responses":{"200":{"description":"d","content":{"application/json":{"schema":{"type":"object","properties":{"id":{"type":"string"}}}}}}}}}}}`
		yaml    = "application/x-yaml"
		merge   = operation.MergePatch
		steps   = operation.JSONPatch
		stream  = "/api/apis/streams"
	)
	for _, c := range []struct {
		name, method, path, kind, body, read string
	}{
		{"OAS create", "POST", "/api/apis/oas", "", full, "/api/apis/oas/%s"},
		{"OAS create in YAML", "POST", "/api/apis/oas", yaml, fullYML, "/api/apis/oas/%s"},
		{"OAS create over a template", "POST", "/api/apis/oas?templateID=%s", "", strings.Replace(full, "%s", "T", 1), "/api/apis/oas/%s"},
		{"OAS replace in YAML", "PUT", "/api/apis/oas/doc", yaml, fullYML, "/api/apis/oas/doc"},
		{"OAS patch", "PATCH", "/api/apis/oas/doc", "", plain, "/api/apis/oas/doc"},
		{"OAS patch in YAML", "PATCH", "/api/apis/oas/doc", yaml, inYAML, "/api/apis/oas/doc"},
		{"OAS patch, a form", "PATCH", "/api/apis/oas/doc", "form", plain, "/api/apis/oas/doc"},
		{"OAS patch, an archive", "PATCH", "/api/apis/oas/doc", "zip", plain, "/api/apis/oas/doc"},
		{"OAS import", "POST", "/api/apis/oas/import", "", plain, "/api/apis/oas/%s"},
		{"OAS import in YAML", "POST", "/api/apis/oas/import", yaml, inYAML, "/api/apis/oas/%s"},
		{"OAS import, a form", "POST", "/api/apis/oas/import", "form", inYAML, "/api/apis/oas/%s"},
		{"OAS import, an archive", "POST", "/api/apis/oas/import", "zip", plain, "/api/apis/oas/%s"},
		{"OAS import, an address", "POST", "/api/apis/oas/import", "", `{"url":"https://specs.example/%s"}`, "/api/apis/oas/%s"},
		{"streams create in YAML", "POST", stream, yaml, fullYML, stream + "/%s"},
		{"streams replace in YAML", "PUT", stream + "/flow", yaml, fullYML, stream + "/flow"},
		{"streams patch, an archive", "PATCH", stream + "/flow", "zip", plain, stream + "/flow"},
		{"MCP create in YAML", "POST", "/api/mcps", yaml, strings.Replace(fullYML, "name: N", "name: M", 1), "/api/mcps/%s"},
		{"MCP replace", "PUT", "/api/mcps/proxy", "", proxied, "/api/mcps/proxy"},
		{"a data graph", "POST", "/api/data-graphs/data-sources/import", "", graph, "/api/apis/%s"},
		{"classic merge patch", "PATCH", "/api/apis/old", merge, `{"api_definition":{"name":"%s"}}`, "/api/apis/old"},
		{"classic JSON patch", "PATCH", "/api/apis/old", steps, `[{"op":"replace","path":"/api_definition/name","value":"%s"}]`, "/api/apis/old"},
		{"policy with a list", "POST", "/api/portal/policies", "", `{"id":"list","name":"L","rate":7,"access_rights_array":[{"api_id":"secret","api_name":"%s"}]}`, "/api/portal/policies/list"},
		{"policy becomes a list", "PUT", "/api/portal/policies/gold", "", `{"name":"L","rate":7,"access_rights_array":[{"api_id":"secret","api_name":"%s"}]}`, "/api/portal/policies/gold"},
		{"policy merge patch", "PATCH", "/api/portal/policies/gold", merge, `{"name":"%s"}`, "/api/portal/policies/gold"},
		{"policy JSON patch", "PATCH", "/api/portal/policies/gold", steps, `[{"op":"replace","path":"/name","value":"%s"}]`, "/api/portal/policies/gold"},
		{"mappings", "PATCH", "/api/clientidps/corp/mappings", "", `{"orders":{"scope_to_policy":{"write":"%s"}}}`, "/api/clientidps/corp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := furnished(t, withOPA(bodyRules))
			send := func(word string) (int, string) {
				body := strings.Replace(c.body, "%s", word, 1)
				kind := c.kind
				switch kind {
				case "form":
					kind, body = file(t, "openapi.yaml", body, false)
				case "zip":
					kind, body = file(t, "openapi.json", body, true)
				}
				r := httptest.NewRequestWithContext(t.Context(), c.method, strings.Replace(c.path, "%s", word, 1), strings.NewReader(body))
				r.Header.Set("Authorization", callers["admin"][1])
				if kind != "" {
					r.Header.Set("Content-Type", kind)
				}
				w := httptest.NewRecorder()
				a.ServeHTTP(w, r)
				return w.Code, w.Body.String()
			}
			before := everything(t, a)
			if code, text := send("forbidden"); code != 403 || !strings.Contains(text, "access denied: forbidden") {
				t.Errorf("not denied: %d %s", code, text)
			}
			if everything(t, a) != before {
				t.Error("denied, and stored")
			}
			code, text := send("fine")
			if code != 200 {
				t.Fatalf("not allowed: %d %s", code, text)
			}
			_, id, _ := strings.Cut(text, `"ID":"`)
			id, _, _ = strings.Cut(id, `"`)
			if code, after := fetch(t, a, "GET", strings.Replace(c.read, "%s", id, 1), "admin", ""); code != 200 || !strings.Contains(after, "stamped") {
				t.Error("not patched: ", after)
			}
		})
	}
}

// visits counts who is asked.
type visits struct {
	pages
	n int
}

func (v *visits) Fetch(ctx context.Context, r port.Request) (port.Answer, error) {
	v.n++
	return v.pages.Fetch(ctx, r)
}

// Nothing is fetched for users who might not be allowed to store it; what rules
// cannot see is not stored.
func TestRulesFetchNothingForStrangers(t *testing.T) {
	from := &visits{pages: web}
	const imports = "/api/apis/oas/import"
	a := service(t, nobodyWatches(), app.WithFetcher(from), app.WithLogger(slog.New(slog.DiscardHandler)),
		withOPA("package dashboard_users\ndeny[\"no\"] { input.request.body.info.title == \"never\" }"))
	for _, body := range []string{`{"url":"https://specs.example/web.yaml"}`, `{"url":"https://specs.example/none.yaml"}`} {
		if code, text := fetch(t, a, "POST", imports, "nobody", body); code != 403 || from.n != 0 {
			t.Error(code, text, from.n)
		}
	}
	if code, text := fetch(t, a, "POST", imports, "writer", `{"url":"https://specs.example/none.yaml"}`); code != 400 || from.n != 1 {
		t.Error(code, text, from.n)
	}
	if code, text := fetch(t, a, "POST", imports, "writer", `{"url":"https://specs.example/web.yaml"}`); code != 200 || from.n != 2 {
		t.Error("once is enough:", code, text, from.n)
	}
	if code, text := fetch(t, a, "POST", imports+"?listenPath=/mine/", "nobody", `{"openapi":"3.0.3","info":{"title":"Mine","version":"1"},"servers":[{"url":"http://up.example"}],"paths":{}}`); code != 200 {
		t.Error("rules may allow what the map does not:", code, text)
	}
}

// meddler changes a policy while somebody else's patch is being decided about.
type meddler struct {
	app   **app.App
	times int
	saw   []string
}

func (m *meddler) Decide(ctx context.Context, c *operation.Call) (rules.Verdict, error) {
	if c.Spec.ID != "policies.patch" {
		return rules.Verdict{}, nil
	}
	body, err := c.Settle(ctx)
	m.saw = append(m.saw, string(body))
	if m.times > 0 {
		m.times--
		_, err = (*m.app).Do(ctx, "policies.replace", &operation.Call{Token: callers["admin"][1], Path: map[string]string{"id": "gold"},
			Body: []byte(fmt.Sprintf(`{"name":"Gold","rate":%d}`, m.times+100))})
	}
	return rules.Verdict{}, err
}

// What is stored is what was decided about, also when somebody else writes meanwhile.
func TestRulesDecideAnew(t *testing.T) {
	for _, c := range []struct{ times, status, saw int }{{0, 200, 1}, {2, 200, 3}, {100, 503, 9}} {
		var a *app.App
		m := &meddler{app: &a, times: c.times}
		a = furnished(t, app.WithRules(func(app.Tools) (rules.Engine, error) { return m, nil }))
		code, text := fetch(t, a, "PATCH", "/api/portal/policies/gold", "admin", `{"tags":["t"]}`)
		if code != c.status || len(m.saw) != c.saw {
			t.Errorf("%d changes: %d %s, decided %d times", c.times, code, text, len(m.saw))
		}
		if last := m.saw[len(m.saw)-1]; c.times == 2 && !strings.Contains(last, `"rate":100`) {
			t.Error("decided about", last)
		}
	}
}

// everything is what lists say.
func everything(t *testing.T, a *app.App) string {
	t.Helper()
	var out strings.Builder
	for _, path := range []string{"/api/apis?p=0", "/api/mcps?p=0", "/api/portal/policies?p=0", "/api/clientidps?p=0"} {
		_, text := fetch(t, a, "GET", path, "admin", "")
		out.WriteString(text)
	}
	return out.String()
}

// furnished is a service with an API of each class, a policy, a provider and templates.
func furnished(t *testing.T, opts ...app.Option) *app.App {
	t.Helper()
	specs := pages{}
	for _, word := range []string{"fine", "forbidden"} {
		specs["https://specs.example/"+word] = fmt.Sprintf("openapi: 3.0.3\ninfo: {title: %s, version: '1'}\nservers: [{url: 'http://up.example'}]\npaths: {}\n", word)
	}
	opts = append([]app.Option{app.WithFetcher(specs), app.WithLogger(slog.New(slog.DiscardHandler)),
		app.WithDefinitions(app.Definitions{APIs: apis.Settings{Streams: true}})}, opts...)
	a := service(t, nobodyWatches(), opts...)
	document := func(id, more string) string {
		return `{"openapi":"3.0.3","info":{"title":"D","version":"1"},"paths":{},"x-tyk-api-gateway":{"info":{"name":"` + id + `","id":"` + id +
			`","state":{"active":true}},"upstream":{"url":"http://up.example/"},"server":{"listenPath":{"value":"/` + id + `/"}}}` + more + `}`
	}
	for _, c := range [][2]string{
		{"/api/apis/oas", document("doc", "")}, {"/api/apis/streams", document("flow", `,"x-tyk-streaming":{"streams":{}}`)}, {"/api/mcps", document("proxy", "")},
		{"/api/apis", `{"api_definition":{"name":"Old","api_id":"old","active":true,"use_keyless":true,"proxy":{"listen_path":"/old/","target_url":"http://up.example/"}}}`},
		{"/api/portal/policies", `{"id":"gold","name":"Gold","rate":7,"per":1}`},
		{"/api/clientidps", `{"client_idp_id":"corp","name":"Corp","jwks_uri":"https://i.example/jwks","api_mappings":{"orders":{"scope_to_policy":{"read":"gold"}}}}`},
		{"/api/assets", `{"id":"fine","kind":"oas-template","name":"Fine","data":{"x-mark":"fine"}}`},
		{"/api/assets", `{"id":"forbidden","kind":"oas-template","name":"Bad","data":{"x-mark":"forbidden"}}`},
	} {
		if code, text := fetch(t, a, "POST", c[0], "admin", c[1]); code > 201 {
			t.Fatal(c[0], code, text)
		}
	}
	return a
}

// Rules that look something up see no credentials: their authors would read them in what
// rules say or change.
func TestRulesSeeNoKeys(t *testing.T) {
	const text = "package dashboard_users\ndeny[x] { input.request.path == \"/api/assets\"; x := json.marshal(TykAPIGet(concat(\"\", [\"/api/users/\", input.user.id]))) }" +
		"\ndeny[x] { input.request.path == \"/api/hooks\"; x := json.marshal([TykAPIGet(\"/api/users/search?q=ann%40example\"), TykAPIGet(\"/api/users/search?q=bob\")]) }"
	a, err := app.New(app.WithLogger(slog.New(slog.DiscardHandler)), app.WithRules(func(t app.Tools) (rules.Engine, error) {
		return opa.New(opa.Config{Logger: t.Log, Lookup: t.Get, OrgRules: func(context.Context, tenant.ID) (string, error) { return text, nil }}, t.Operations())
	}))
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.Bootstrap(t.Context(), identity.First{Email: "ann@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/api/assets", "/api/hooks"} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
		r.Header.Set("Authorization", b.AccessKey)
		a.ServeHTTP(w, r)
		if got := w.Body.String(); w.Code != 403 || strings.Count(got, "ann@example.com") != 1 || strings.Contains(got, b.AccessKey) {
			t.Error(path, w.Code, got)
		}
	}
}

// The operation that sets passwords is guarded by ResetPassword, which rules find among the
// permissions of the request: those written for other services look for it there.
func TestRulesFindResetPassword(t *testing.T) {
	const text = `package dashboard_users
request_permission[p] { e := input.permissions[_]; regex.match(e.rx, input.request.path); p := e.permission }
deny["missing"] { p := request_permission[_]; p != "ResetPassword"; p != "*"; not input.user.user_permissions[p]; not input.user.user_permissions.IsAdmin }
deny["not yours"] { request_permission.ResetPassword; split(input.request.path, "/")[3] != input.user.id; not input.user.user_permissions.ResetPassword }
`
	a := service(t, nobodyWatches(), withOPA(text))
	_, me := fetch(t, a, "GET", "/api/users/me", "reader", "")
	_, id, _ := strings.Cut(me, `"id":"`)
	path := "/api/users/" + id[:24] + "/actions/reset"
	if code, answer := fetch(t, a, "POST", path, "admin", `{"new_password":"a-long-passphrase"}`); code != 403 || !strings.Contains(answer, "access denied: not yours") {
		t.Errorf("of another: %d %s", code, answer)
	}
	if code, answer := fetch(t, a, "POST", path, "reader", `{"new_password":"a-long-passphrase"}`); code != 200 {
		t.Errorf("one's own: %d %s", code, answer)
	}
}
