package gatewaysim

import (
	"encoding/json"
	"net/http/httptest"
	"testing"
	"time"
)

// Answers to the heartbeat (docs/wire/gateway-nodes.md#heartbeat), and nonces (#nonces there).
func TestHeartbeatNonce(t *testing.T) {
	for name, tt := range map[string]struct {
		answer reply
		nonce  string
	}{
		"200 with a nonce":    {reply{status: 200, body: `{"Nonce":"fresh"}`}, "fresh"},
		"200 without a nonce": {reply{status: 200, body: `{"Status":"OK"}`}, ""},
		"500 keeps it":        {reply{status: 500, body: `{"Nonce":"ignored"}`}, "from-load"},
		"404 keeps it":        {reply{status: 404, body: `{"Nonce":"ignored"}`}, "from-load"},
		"dropped keeps it":    {reply{drop: true}, "from-load"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.always(pathIdPs, reply{status: 200, body: `{"Message":[],"Nonce":"from-load"}`})
			f.always(pathPing, reply{status: 500})
			g := loaded(t, f.config())
			f.always(pathPing, tt.answer)
			n := f.count(pathPing)
			// Two more heartbeats were sent after the answer was set: the second has the nonce
			// of the first answer.
			until(t, g, "heartbeats", func(State) bool { return f.count(pathPing) >= n+3 })
			if got := f.last(t, pathPing).header.Get("x-tyk-nonce"); got != tt.nonce {
				t.Errorf("nonce %q, want %q", got, tt.nonce)
			}
			if s := g.State(); len(s.APIs) != 1 || s.Wedged != "" || s.Registrations != 1 {
				t.Errorf("state %+v", s)
			}
		})
	}
}

// A 403 to the heartbeat, even with recovery words, is a safe way to make a gateway register
// and reload.
func TestHeartbeatRefused(t *testing.T) {
	for _, body := range []string{"", "Nonce failed", `{"Message":"No node ID Found"}`} {
		f := newFake(t)
		g := loaded(t, f.config())
		f.always(pathRegister, reply{status: 200, body: `{"Message":{"NodeID":"node-2"},"Nonce":"NONCE"}`})
		f.once(pathPing, reply{status: 403, body: body})
		until(t, g, "a second registration", func(s State) bool { return s.NodeID == "node-2" && s.Reloads >= 3 })
		if s := g.State(); s.Wedged != "" || s.Refusals != 1 || !s.Registered {
			t.Errorf("%q: state %+v", body, s)
		}
	}
}

func TestOldAPIsServeDuringRegistration(t *testing.T) {
	f := newFake(t)
	g := loaded(t, f.config())
	f.always(pathRegister, reply{status: 500})
	f.once(pathPing, reply{status: 403})
	until(t, g, "refused registrations", func(State) bool { return g.Requests()[Request{pathRegister, 500}] > 2 })
	if s := g.State(); s.Registered || g.Decide("a1", "").Status != 200 {
		t.Errorf("state %+v", s)
	}
}

// The probe only reads health: it never registers, and accepts a 403.
func TestProbe(t *testing.T) {
	f := newFake(t)
	cfg := f.config()
	cfg.Intervals.Heartbeat, cfg.Intervals.Probe = time.Hour, 5*time.Millisecond
	g := loaded(t, cfg)
	until(t, g, "the one heartbeat", func(s State) bool { return s.Heartbeats > 0 })
	f.always(pathPing, reply{status: 403, body: "Nonce failed"})
	until(t, g, "refused probes", func(s State) bool { return s.Refusals > 3 })
	if s := g.State(); !s.DashboardUp || s.Registrations != 1 || s.Wedged != "" {
		t.Errorf("after 403: %+v", s)
	}
	hello(t, g, "pass", "pass")
	f.always(pathPing, reply{status: 500})
	until(t, g, "bad health", func(s State) bool { return !s.DashboardUp })
	hello(t, g, "warn", "fail")
	f.always(pathPing, reply{status: 200, body: `{"Nonce":"from-probe"}`})
	until(t, g, "good health", func(s State) bool { return s.DashboardUp && s.Nonce == "from-probe" })
	hello(t, g, "pass", "pass")
}

func hello(t *testing.T, g *Gateway, status, dashboard string) {
	t.Helper()
	w := httptest.NewRecorder()
	g.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/hello", nil))
	var body struct {
		Status  string
		Details map[string]component
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != 200 {
		t.Fatalf("/hello: %d %s", w.Code, w.Body)
	}
	if d := body.Details["dashboard"]; body.Status != status || d.Status != dashboard || d.Type != "system" {
		t.Errorf("/hello: %s, want %s with dashboard %s", w.Body, status, dashboard)
	}
}

// A control plane that is away between loads has no effect.
func TestDashboardAway(t *testing.T) {
	f := newFake(t)
	g := loaded(t, f.config())
	until(t, g, "a heartbeat", func(s State) bool { return s.Heartbeats > 0 })
	f.Server.CloseClientConnections()
	f.Server.Listener.Close()
	until(t, g, "failing heartbeats", func(State) bool { return g.Requests()[Request{pathPing, 0}] > 2 })
	w := httptest.NewRecorder()
	g.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/ready", nil))
	if s := g.State(); s.Wedged != "" || !s.Ready || w.Code != 200 || g.Decide("a1", "").Status != 200 {
		t.Errorf("ready %d, state %+v", w.Code, s)
	}
}
