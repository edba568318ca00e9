package http_test

import (
	"net/http/httptest"
	"net/netip"
	"testing"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
)

// Only trusted proxies may name the caller, and callers cannot forge that.
func TestRemote(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/64")}
	for _, c := range []struct {
		peer      string
		forwarded []string
		want      string
	}{
		{"198.51.100.7:5", []string{"203.0.113.9"}, "198.51.100.7:5"},
		{"192.0.2.1:5", nil, "192.0.2.1:5"},
		{"192.0.2.1:5", []string{"203.0.113.9"}, "203.0.113.9"},
		{"192.0.2.1:5", []string{"10.0.0.1, 203.0.113.9"}, "203.0.113.9"},
		{"192.0.2.1:5", []string{"10.0.0.1", "203.0.113.9, 192.0.2.77"}, "203.0.113.9"},
		{"192.0.2.1:5", []string{"203.0.113.9, nonsense"}, "192.0.2.1:5"},
		{"192.0.2.1:5", []string{"192.0.2.8"}, "192.0.2.1:5"},
		{"[2001:db8::1]:5", []string{"2001:db8:9::1"}, "2001:db8:9::1"},
		{"[::ffff:192.0.2.1]:5", []string{"203.0.113.9"}, "203.0.113.9"},
	} {
		s := serve(t, func(cfg *httpadapter.Config) { cfg.Proxies = proxies })
		r := httptest.NewRequest("GET", "/api/things/x", nil)
		r.RemoteAddr = c.peer
		r.Header["X-Forwarded-For"] = c.forwarded
		s.handler.ServeHTTP(httptest.NewRecorder(), r)
		if got := s.last().Remote; got != c.want {
			t.Errorf("%s %q: %s, want %s", c.peer, c.forwarded, got, c.want)
		}
	}
}
