package serve

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/identity"
)

// consoleWorld returns the handler of a program with settings.
func consoleWorld(t *testing.T, environ ...string) http.Handler {
	t.Helper()
	s, report := config.Load(nil, "", append([]string{"SVC_DB_STORAGE_MAIN_TYPE=memory"}, environ...), config.Options{})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	c, err := Compose(t.Context(), s, slog.New(slog.DiscardHandler), "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.handler(s, slog.New(slog.DiscardHandler))
}

// TestConsoleIsServed: at /, browsers get the console, and programs the response of the
// API. The setting switches the console off.
func TestConsoleIsServed(t *testing.T) {
	for _, c := range []struct {
		environ, accept string
		page            bool
	}{{"", "text/html", true}, {"", "application/json", false}, {"SVC_DB_CONSOLE_ENABLED=false", "text/html", false}} {
		var environ []string
		if c.environ != "" {
			environ = []string{c.environ}
		}
		h := consoleWorld(t, environ...)
		r, w := httptest.NewRequest(http.MethodGet, "/", http.NoBody), httptest.NewRecorder()
		r.Header.Set("Accept", c.accept)
		if h.ServeHTTP(w, r); w.Code != http.StatusOK || strings.Contains(w.Header().Get("Content-Type"), "html") != c.page {
			t.Errorf("%q, %s: %d %v", c.environ, c.accept, w.Code, w.Header())
		}
	}
}

// TestConsolesElsewhere: a console of another origin may call the API only if the
// settings name the origin, and never with a cookie.
func TestConsolesElsewhere(t *testing.T) {
	h := consoleWorld(t, "SVC_DB_CONSOLE_ORIGINS=https://console.example.com")
	for origin, allowed := range map[string]string{"https://console.example.com": "https://console.example.com", "https://evil.example.com": "", "null": ""} {
		for _, method := range []string{http.MethodOptions, http.MethodGet} {
			r, w := httptest.NewRequest(method, "/api/apis", http.NoBody), httptest.NewRecorder()
			r.Header.Set("Origin", origin)
			r.Header.Set("Access-Control-Request-Method", "PUT")
			r.Header.Set("Access-Control-Request-Headers", "authorization,content-type,if-match")
			h.ServeHTTP(w, r)
			if got := w.Header(); got.Get("Access-Control-Allow-Origin") != allowed || got.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s of %s: %v", method, origin, got)
			}
		}
	}
	r, w := httptest.NewRequest(http.MethodPost, "/login", http.NoBody), httptest.NewRecorder()
	r.Header.Set("Origin", "https://console.example.com")
	if h.ServeHTTP(w, r); w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Error("another origin may log in")
	}
}

// TestWithoutAnalytics: without a database for traffic every view is empty, also that
// of a key that made no calls.
func TestWithoutAnalytics(t *testing.T) {
	s, report := config.Load(nil, "", []string{"SVC_DB_STORAGE_MAIN_TYPE=memory", "SVC_DB_STORAGE_ANALYTICS_TYPE=none"}, config.Options{})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	c, err := Compose(t.Context(), s, slog.New(slog.DiscardHandler), "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop(t.Context()) })
	first, err := c.Bootstrap(t.Context(), identity.First{Email: "admin@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/api/usage", "/api/activity/mcp/keys/00000000"} {
		r, w := httptest.NewRequest(http.MethodGet, path+"/1/1/2026/2/1/2026", http.NoBody), httptest.NewRecorder()
		r.Header.Set("Authorization", first.AccessKey)
		if c.ServeHTTP(w, r); w.Code != 200 || !strings.Contains(w.Body.String(), `"data":[]`) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
