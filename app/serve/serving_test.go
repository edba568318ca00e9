package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/config"
)

// TestServing: announcements wait until requests are served, which is the last step of
// a start. With two connections allowed, the third one closes the first.
func TestServing(t *testing.T) {
	s, report := config.Load(nil, "", []string{"SVC_DB_STORAGE_MAIN_TYPE=memory", "SVC_DB_HOMEDIR=" + t.TempDir(), "SVC_DB_SHUTDOWN_GRACEPERIOD=0s", "SVC_DB_LIMITS_CONNECTIONS=2"}, config.Options{})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	c, err := Compose(t.Context(), s, log, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.serving(); !errors.Is(err, errNotServing) {
		t.Errorf("before anything is served: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := c.serve(ctx, s, log, &sockets{main: l}, security{}, func() {
		if err := c.serving(); err != nil {
			t.Error(err)
		}
		var conns []net.Conn
		for range 3 {
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			conns = append(conns, conn)
		}
		if n, err := conns[0].Read(make([]byte, 1)); err == nil || n > 0 {
			t.Errorf("%d bytes, %v", n, err)
		}
		for _, conn := range conns {
			_ = conn.Close()
		}
		cancel()
	}); err != nil {
		t.Fatal(err)
	}
}

// TestConnectionsAreBounded: the number of connections is bounded by the settings, and
// by the number of files that the process may open.
func TestConnectionsAreBounded(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	for setting, want := range map[int]int{2: 2, 1 << 30: openFiles() / 4 * 3} {
		var s config.Settings
		s.Limits.Connections = setting
		if c := connections(s, log); want == 0 || c.Most() != want {
			t.Errorf("limits.connections %d: %d connections at most, want %d", setting, c.Most(), want)
		}
	}
	var s config.Settings
	if connections(s, log) != nil {
		t.Error("limits.connections 0: there is a bound")
	}
}

// TestSpared: only connections with calls of gateways with the node secret are spared.
func TestSpared(t *testing.T) {
	for secret, want := range map[string]bool{"node": true, "": false} {
		var s config.Settings
		s.Limits.Connections, s.NodeSecret = 2, config.Secret(secret)
		c := connections(s, slog.New(slog.DiscardHandler))
		for path, node := range map[string]bool{"/system/apis": true, "/register/ping": true, "/api/apis": false, "/systematic": false} {
			for _, presented := range []string{"node", "", "Node"} {
				r := httptest.NewRequest(http.MethodGet, path, nil)
				r.Header.Set("Authorization", presented)
				if have := c.Spared(r); have != (want && node && presented == "node") {
					t.Errorf("secret %q, %s with %q: %t", secret, path, presented, have)
				}
			}
		}
	}
}
