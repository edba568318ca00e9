package gatewaysim

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestHandler(t *testing.T) {
	i := newIssuer(t)
	g := deciding(t, []string{
		apiEntry(keyless("free", "/free/")), apiEntry(jwtAPI("jw", nil)),
		apiEntry(jwtAPI("head", map[string]any{"auth_configs": map[string]any{"jwt": map[string]any{"auth_header_name": "X-Token"}}})),
		oasEntry("bare", plainDoc, jwtMembers(nil)),
	}, []string{idpFor(i, "jw", nil), idpFor(i, "head", map[string]any{"client_idp_id": "h"})})
	server := httptest.NewServer(g.Handler())
	t.Cleanup(server.Close)
	token := i.Sign(map[string]any{"sub": "alice", "iss": i.URL(), "scope": "read"})
	get := func(path, header, value string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(header, value)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, ""
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	const allowed = `{"api_id":"jw","identity":"alice","policies":["p-read"]}` + "\n"
	for _, tt := range []struct {
		path, header, value string
		status              int
		body                string
	}{
		{"/free/x", "X", "", 200, `{"api_id":"free","identity":"","policies":[]}` + "\n"},
		{"/jw/x/y", "Authorization", "Bearer " + token, 200, allowed},
		{"/jw", "Authorization", token, 200, allowed},
		{"/jw/", "X", "", 400, "Authorization field missing"},
		{"/jw/", "Authorization", "bearer x", 403, "Key not authorized"},
		{"/head/", "X-Token", token, 200, `{"api_id":"head","identity":"alice","policies":["p-read"]}` + "\n"},
		{"/head/", "Authorization", token, 400, "Authorization field missing"},
		{"/none", "X", "", 404, "404 page not found\n"},
		{"/bare/", "Authorization", token, 0, ""},
	} {
		if status, body := get(tt.path, tt.header, tt.value); status != tt.status || body != tt.body {
			t.Errorf("%s: %d %q, want %d %q", tt.path, status, body, tt.status, tt.body)
		}
	}
	if status, _ := get("/ready", "X", ""); status != 200 {
		t.Errorf("/ready: %d", status)
	}
	g.Kill()
	for _, path := range []string{"/hello", "/ready", "/free/"} {
		if status, _ := get(path, "X", ""); status != 0 {
			t.Errorf("a dead gateway answers %s with %d", path, status)
		}
	}
}
