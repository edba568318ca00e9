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

// TestDriftCommand: the command lists differences, and its exit code says whether there
// are any.
func TestDriftCommand(t *testing.T) {
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
	provider := func(name, url string) {
		t.Helper()
		send("POST", "/portal-api/providers", token, `{"Name":"`+name+`","Configuration":{"MetaData":{"URL":"`+url+`","Secret":"`+first.AccessKey+`"}}}`)
	}
	s := newShell(t)
	drift := func(more ...string) []string {
		return append([]string{"portal", "drift", "--url", server.URL}, more...)
	}
	s.says(1, "GATEHOUSE_PORTAL_TOKEN is not set: put", drift()...)
	t.Setenv("GATEHOUSE_PORTAL_TOKEN", "wrong")
	s.says(1, "the portal answers 401: unauthorized", drift()...)
	t.Setenv("GATEHOUSE_PORTAL_TOKEN", token)
	s.says(0, "", drift()...)
	provider("Ours", "http://localhost:3000")
	s.says(0, `"Ours": in step`, drift()...)
	send("POST", "/api/portal/policies", first.AccessKey, `{"id":"gold","name":"Gold","rate":10,"per":1,"quota_max":-1,"partitions":{"quota":true,"rate_limit":true}}`)
	s.says(3, `"Ours": 1 difference, 0 problems…  plan "Gold", policy "gold": unknown; changed at the dashboard…gatehouse: the portal and its dashboards differ`, drift("--provider", "1")...)
	s.says(3, `"Drift": "unknown"`, drift("--json")...)
	s.says(1, "the portal answers 404: record not found", drift("--provider", "../providers")...)
	provider("Away", "http://localhost:1")
	s.says(1, "the portal answers 422: Failed to sync provider Away", drift()...)
	server.Close()
	s.says(1, "the portal does not answer", drift()...)
}
