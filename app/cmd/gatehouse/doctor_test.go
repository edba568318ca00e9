package main

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/identity"
)

// TestDoctorCommand: the command lists records without a counterpart, deletes them when
// the flag says so, and finds nothing afterwards.
func TestDoctorCommand(t *testing.T) {
	a, err := app.New(app.WithLogger(slog.New(slog.DiscardHandler)), app.WithPortal(app.Portal{Shared: true, Local: []string{"http://localhost:3000"}}))
	if err != nil {
		t.Fatal(err)
	}
	first, err := a.Bootstrap(t.Context(), identity.First{Email: "admin@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	token := ""
	send := func(method, path, as, body string) (answer map[string]any) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Authorization", as)
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code >= http.StatusBadRequest {
			t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
		return answer
	}
	token, _ = send("POST", "/portal-api/bootstrap", "", `{"username":"admin@example.com","password":"secret"}`)["data"].(map[string]any)["api_token"].(string)
	send("POST", "/portal-api/providers", token, `{"Name":"Ours","Configuration":{"MetaData":{"URL":"http://localhost:3000","Secret":"`+first.AccessKey+`"}}}`)
	s := newShell(t)
	doctor := func(more ...string) []string {
		return append([]string{"portal", "doctor", "--url", server.URL}, more...)
	}
	s.says(1, "GATEHOUSE_PORTAL_TOKEN is not set: put", doctor()...)
	t.Setenv("GATEHOUSE_PORTAL_TOKEN", token)
	s.says(0, "nothing is left behind", doctor()...)
	plan := send("POST", "/portal-api/plans", token, `{"Name":"Gold","ProviderID":1,"RateLimit":10,"Per":1,"Quota":-1}`)
	policy, _ := send("GET", "/api/portal/policies/"+plan["ReferenceID"].(string), first.AccessKey, "")["id"].(string)
	send("POST", "/api/apis", first.AccessKey, `{"api_definition":{"name":"Orders","api_id":"orders","active":true,"proxy":{"listen_path":"/orders/","target_url":"http://orders.example/"}}}`)
	send("POST", "/api/keys/lost", first.AccessKey, `{"alias":"Till (7)","access_rights":{"orders":{"api_id":"orders","api_name":"Orders","versions":["Default"]}},"apply_policies":["`+policy+`"],"tags":["portal-app-7"]}`)
	s.says(3, `provider 1, app 7: key without credential "Till (7)"…gatehouse: something is left behind`, doctor()...)
	s.says(3, `"Finding": "key without credential"`, doctor("--json")...)
	s.says(0, `provider 1, app 7: key without credential "Till (7)": deleted`, doctor("--fix")...)
	s.says(0, "nothing is left behind", doctor()...)
	server.Close()
	s.says(1, "the portal does not answer", doctor()...)
}
