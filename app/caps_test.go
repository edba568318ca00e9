package app_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/identity"
)

// entries returns n members, each with a name of its own.
func entries(n int, format string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// Each door refuses lists that are longer than they may be, naming field and figure,
// and does so before anything reaches the writer.
func TestCapsAtTheDoors(t *testing.T) {
	a, err := app.New(app.WithAdminSecret("admin-secret"))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Stop(t.Context()) })
	first, err := a.Bootstrap(t.Context(), identity.First{Email: "admin@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	call := func(method, path, body string) (int, string) {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Authorization", first.AccessKey)
		r.Header.Set("Admin-Auth", "admin-secret")
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	must := func(method, path, body string) map[string]any {
		t.Helper()
		code, text := call(method, path, body)
		out := map[string]any{}
		if err := json.Unmarshal([]byte(text), &out); code > 201 || err != nil {
			t.Fatal(method, path, code, text)
		}
		return out
	}
	const access = `"a%d":{"versions":["Default"]}`
	must("POST", "/api/portal/policies", `{"id":"p","name":"P","rate":1,"per":1,"access_rights":{`+entries(5, access)+`}}`)
	must("POST", "/api/clientidps", `{"client_idp_id":"corp","name":"c","jwks_uri":"https://x/k"}`)
	must("POST", "/api/apis", `{"api_definition":{"api_id":"one","name":"one","proxy":{"listen_path":"/one/","target_url":"http://up.example.com"}}}`)
	document := `{"openapi":"3.0.3","info":{"title":"x","version":"1"},"paths":{},"x-tyk-api-gateway":{"info":{"id":"two","name":"two","state":{"active":true}},` +
		`"server":{"listenPath":{"value":"/two/"}%s},"upstream":{"url":"http://up.example.com"}}}`
	must("POST", "/api/apis/oas", fmt.Sprintf(document, ""))
	policy := func(n int) string {
		return `{"id":"q","name":"Q","rate":1,"per":1,"access_rights":{` + entries(n, access) + `}}`
	}
	classic := func(member string) string {
		return `{"api_definition":{"api_id":"one","name":"one","proxy":{"listen_path":"/one/","target_url":"http://up.example.com"}` + member + `}}`
	}
	for _, c := range []struct{ method, path, body, field, most string }{
		{"POST", "/api/portal/policies", policy(90_000), "access_rights", "5000"},
		{"PUT", "/api/portal/policies/p", policy(5_001), "access_rights", "5000"},
		{"PATCH", "/api/portal/policies/p", `{"access_rights":{` + entries(5_001, access) + `}}`, "access_rights", "5000"},
		{"POST", "/api/portal/policies", `{"name":"Q","access_rights_array":[` + entries(5_001, `{"api_id":"a%d"}`) + `]}`, "access_rights_array", "5000"},
		{"POST", "/api/clientidps", `{"name":"c","jwks_uri":"https://x/k","api_mappings":{` + entries(20_001, `"a%d":{}`) + `}}`, "api_mappings", "20000"},
		{"PUT", "/api/clientidps/corp", `{"name":"c","jwks_uri":"https://x/k","api_mappings":{"a":{"scope_to_policy":{` + entries(1_001, `"s%d":"p"`) + `}}}}`, "scope_to_policy", "1000"},
		{"PATCH", "/api/clientidps/corp/mappings", `{` + entries(20_001, `"a%d":{}`) + `}`, "api_mappings", "20000"},
		{"PATCH", "/api/clientidps/corp/mappings", `{"a":{"scope_to_policy":{` + entries(1_001, `"s%d":"p"`) + `}}}`, "scope_to_policy", "1000"},
		{"PUT", "/api/clientidps/corp/mappings/a", `{"scope_to_policy":{` + entries(1_001, `"s%d":"p"`) + `}}`, "scope_to_policy", "1000"},
		{"POST", "/api/apis", strings.ReplaceAll(classic(`,"tags":[`+entries(1_001, `"t%d"`)+`]`), "one", "three"), "tags", "1000"},
		{"PUT", "/api/apis/one", classic(`,"version_data":{"versions":{` + entries(1_001, `"v%d":{"name":"v"}`) + `}}`), "version_data.versions", "1000"},
		{"PUT", "/api/apis/one", classic(`,"jwt_default_policies":[` + entries(1_001, `"p%d"`) + `]`), "jwt_default_policies", "1000"},
		{"PUT", "/api/apis/one/access", `{"userIds":[` + entries(1_001, `"u%d"`) + `],"userGroupIds":[]}`, "userIds", "1000"},
		{"PUT", "/api/apis/oas/two", fmt.Sprintf(document, `,"gatewayTags":{"enabled":true,"tags":[`+entries(1_001, `"t%d"`)+`]}`), "tags", "1000"},
		{"PUT", "/api/apis/oas/two/categories", `{"categories":[` + entries(1_001, `"c%d"`) + `]}`, "categories", "1000"},
		{"POST", "/admin/organisations", `{"apis":[` + entries(10_001, `{"api_id":"a%d"}`) + `]}`, "apis", "10000"},
		{"POST", "/admin/organisations/import", `{"event_options":{` + entries(101, `"e%d":{}`) + `}}`, "event_options", "100"},
		{"PUT", "/admin/organisations/" + string(first.OrgID), `{"additional_permissions":{` + entries(201, `"p%d":"x"`) + `}}`, "additional_permissions", "200"},
		{"POST", "/admin/policies/import", `{"Data":[` + entries(10_001, `{"id":"p%d"}`) + `]}`, "Data", "10000"},
		{"POST", "/admin/apis/import", `{"apis":[` + entries(10_001, `{"api_definition":{"api_id":"a%d"}}`) + `]}`, "apis", "10000"},
	} {
		code, text := call(c.method, c.path, c.body)
		if code != 400 || !strings.Contains(text, c.field) || !strings.Contains(text, c.most) {
			t.Errorf("%s %s: %d %.300s; want %s and %s", c.method, c.path, code, text, c.field, c.most)
		}
	}
	must("PUT", "/api/portal/policies/p", policy(5_000))
}
