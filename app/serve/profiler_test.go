package serve

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/config"
)

// TestProfiles states who can read profiles of the process, and at which paths.
func TestProfiles(t *testing.T) {
	for name, c := range map[string]struct {
		on           bool
		from, header string
		want         int
	}{
		"same machine":             {true, "127.0.0.1:1", "", 200},
		"same machine, IPv6":       {true, "[::1]:1", "", 200},
		"elsewhere":                {true, "192.0.2.1:1", "", 403},
		"a proxy on this machine":  {true, "127.0.0.1:1", "X-Forwarded-For", 403},
		"another proxy":            {true, "127.0.0.1:1", "Forwarded", 403},
		"a socket without address": {true, "@", "", 403},
		"switched off":             {false, "127.0.0.1:1", "", 404},
	} {
		t.Run(name, func(t *testing.T) {
			h := (&Composition{}).portalWeb(config.Settings{Portal: config.Portal{EnableHTTPProfiler: c.on, Serve: config.PortalOwn}}, http.NotFoundHandler())
			r := httptest.NewRequest("GET", profiles+"heap?debug=1", nil)
			r.RemoteAddr = c.from
			if c.header != "" {
				r.Header.Set(c.header, "192.0.2.1")
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != c.want || c.want == 200 && !strings.Contains(w.Body.String(), "heap profile") {
				t.Errorf("%d %.200s", w.Code, w.Body)
			}
			r.URL.Path = "/live"
			w = httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code != 404 {
				t.Errorf("/live: %d", w.Code)
			}
		})
	}
}
