package gatewaysim

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// The answer table of docs/wire/gateway-nodes.md#registration: the effect of the first answer.
func TestRegistrationAnswers(t *testing.T) {
	const ok = `{"Status":"OK","Message":{"NodeID":"first"},"Nonce":"n"}`
	for name, tt := range map[string]struct {
		first    reply
		accepted bool // at once, without a retry
	}{
		"200":                           {reply{status: 200, body: ok}, true},
		"200 whatever the status says":  {reply{status: 200, body: `{"Status":"Error","Message":{"NodeID":"first"},"Nonce":"n"}`}, true},
		"200 in other letter case":      {reply{status: 200, body: `{"status":"OK","message":{"nodeid":"first"},"nonce":"n"}`}, true},
		"409 with status OK":            {reply{status: 409, body: ok}, true},
		"409 with another status":       {reply{status: 409, body: `{"Status":"Error","Message":{"NodeID":"first"},"Nonce":"n"}`}, false},
		"409 without a status":          {reply{status: 409, body: `{"Message":{"NodeID":"first"}}`}, false},
		"200 whose message is text":     {reply{status: 200, body: `{"Status":"OK","Message":"first","Nonce":"n"}`}, false},
		"200 whose message is null":     {reply{status: 200, body: `{"Status":"OK","Message":null}`}, false},
		"200 without node id":           {reply{status: 200, body: `{"Status":"OK","Message":{}}`}, false},
		"200 with an empty node id":     {reply{status: 200, body: `{"Status":"OK","Message":{"NodeID":""}}`}, false},
		"200 with a node id of numbers": {reply{status: 200, body: `{"Status":"OK","Message":{"NodeID":7}}`}, false},
		"200 with a JSON list":          {reply{status: 200, body: `[]`}, false},
		"403":                           {reply{status: 403, body: ok}, false},
		"500":                           {reply{status: 500, body: ok}, false},
		"201":                           {reply{status: 201, body: ok}, false},
		"dropped connection":            {reply{drop: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.once(pathRegister, tt.first)
			g := loaded(t, f.config())
			want, calls := "node-1", 2
			if tt.accepted {
				want, calls = "first", 1
			}
			s := g.State()
			if s.NodeID != want || !s.Registered || s.Registrations != 1 {
				t.Errorf("state %+v, want node %q registered once", s, want)
			}
			if n := f.count(pathRegister); n != calls && !tt.first.drop { // the transport may repeat a dropped call itself
				t.Errorf("%d registrations, want %d", n, calls)
			}
		})
	}
}

func TestRegistrationKeepsTrying(t *testing.T) {
	f := newFake(t)
	f.once(pathRegister, slices.Repeat([]reply{{status: 503}, {status: 409, body: `{"Status":"busy"}`}}, 5)...)
	g := loaded(t, f.config())
	if n := g.Requests()[Request{pathRegister, 503}]; n != 5 {
		t.Errorf("%d answers 503 counted, want 5", n)
	}
}

func TestRegistrationWaitsBetweenTries(t *testing.T) {
	f := newFake(t)
	f.always(pathRegister, reply{status: 500})
	cfg := f.config()
	cfg.Intervals.Retry = time.Hour
	g := start(t, cfg)
	until(t, g, "a refusal", func(s State) bool { return s.LastError != "" })
	if n := f.count(pathRegister); n != 1 || g.State().Registered {
		t.Errorf("%d registrations, state %+v", n, g.State())
	}
}

// A 200 that is not JSON makes the gateway continue with a made-up id, until a 403 to a
// heartbeat makes it register again.
func TestRegistrationWithoutJSON(t *testing.T) {
	f := newFake(t)
	f.once(pathRegister, reply{status: 200, body: "<html>"})
	f.always(pathPing, reply{status: 500})
	g := start(t, f.config())
	until(t, g, "a heartbeat", func(State) bool { return f.count(pathPing) > 0 })
	s := g.State()
	if !strings.HasPrefix(s.NodeID, "solo-") || s.Registered {
		t.Fatalf("state %+v, want a solo node", s)
	}
	c := f.last(t, pathPing)
	if c.header.Get("x-tyk-nodeid") != s.NodeID {
		t.Errorf("heartbeat of %q, want %q", c.header.Get("x-tyk-nodeid"), s.NodeID)
	}
	f.once(pathPing, reply{status: 403, body: "who are you"})
	until(t, g, "a registration", func(s State) bool { return s.Registered && s.NodeID == "node-1" })
}

func TestSoloNodeHasNoNonce(t *testing.T) {
	f := newFake(t)
	f.once(pathRegister, reply{status: 200, body: "not json"})
	g := start(t, f.config())
	until(t, g, "a load", func(State) bool { return f.count(pathPolicies) > 0 })
	for _, c := range f.seen() {
		if c.path == pathPolicies {
			if v, ok := c.header["X-Tyk-Nonce"]; !ok || v[0] != "" {
				t.Errorf("nonce header %q (present %v), want present and empty", v, ok)
			}
			return
		}
	}
}

// The header table of docs/wire/gateway-nodes.md#headers, and the headers of all calls.
func TestHeaders(t *testing.T) {
	f := newFake(t)
	g := loaded(t, f.config())
	until(t, g, "a heartbeat", func(s State) bool { return s.Heartbeats > 0 })
	err := g.ReportQuota(t.Context(), QuotaTrigger{Message: "Quota trigger reached", OrgID: "o1", Key: "k", TriggerLimit: 40, UsagePercentage: 41})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	session := g.State().SessionID
	type has struct{ node, session, host bool }
	for path, want := range map[string]has{
		pathRegister: {false, true, true}, pathPing: {true, true, true}, pathNode: {true, true, true},
		pathAPIs: {true, true, false}, pathPolicies: {true, true, false}, pathIdPs: {true, true, false},
		pathQuota: {true, false, false},
	} {
		c := f.last(t, path)
		h := c.header
		_, node := h["X-Tyk-Nodeid"]
		_, nonce := h["X-Tyk-Nonce"]
		if got := (has{node, h.Get("x-tyk-session-id") == session, h.Get("x-tyk-hostname") == "host-1"}); got != want || nonce != node {
			t.Errorf("%s: headers %v, want %+v", path, h, want)
		}
		if h.Get("Authorization") != "node-secret-1" || h.Get("User-Agent") != "Go-http-client/1.1" || h.Get("Accept-Encoding") != "gzip" {
			t.Errorf("%s: headers %v", path, h)
		}
		if c.proto != "HTTP/1.1" || c.query != "" || h.Get("Content-Type") != "" {
			t.Errorf("%s: %+v", path, c)
		}
	}
	if m := f.last(t, pathNode).method; m != http.MethodDelete {
		t.Errorf("deregistered with %s", m)
	}
	const body = `{"Message":"Quota trigger reached","OriginatingRequest":"","org_id":"o1","key":"k","trigger_limit":40,"usage_percentage":41}`
	if c := f.last(t, pathQuota); c.method != http.MethodPost || c.body != body {
		t.Errorf("quota trigger %s %s", c.method, c.body)
	}
}

func TestQuotaTriggerErrors(t *testing.T) {
	f := newFake(t)
	g := New(f.config())
	if err := g.ReportQuota(t.Context(), QuotaTrigger{}); !errors.Is(err, ErrNotRunning) {
		t.Errorf("not running: %v", err)
	}
	f.always(pathQuota, reply{status: 500})
	g = loaded(t, f.config())
	if err := g.ReportQuota(t.Context(), QuotaTrigger{}); err == nil {
		t.Error("a 500 went unnoticed")
	}
	f.always(pathQuota, reply{drop: true})
	if err := g.ReportQuota(t.Context(), QuotaTrigger{}); err == nil {
		t.Error("a dropped connection went unnoticed")
	}
}

// The start-up sequence of docs/wire/gateway-nodes.md#registration.
func TestStartSequence(t *testing.T) {
	f := newFake(t)
	cfg := f.config()
	cfg.Intervals.Heartbeat = time.Hour
	g := loaded(t, cfg)
	until(t, g, "the heartbeat", func(s State) bool { return s.Heartbeats == 1 })
	var loads []string
	ping := -1
	for _, c := range f.seen() {
		if c.path == pathPing {
			ping = len(loads)
			continue
		}
		loads = append(loads, c.path)
	}
	want := []string{pathRegister, pathPolicies, pathAPIs, pathIdPs, pathPolicies, pathAPIs, pathIdPs}
	if !slices.Equal(loads, want) || ping < 4 {
		t.Errorf("calls %v with the heartbeat before number %d", loads, ping)
	}
}

func TestRestartIsANewProcess(t *testing.T) {
	f := newFake(t)
	g := loaded(t, f.config())
	first := g.State().SessionID
	g.Kill()
	if s := g.State(); s.Running || g.Decide("a1", "").Status != 0 {
		t.Errorf("a killed gateway still answers: %+v", s)
	}
	if n := f.count(pathNode); n != 0 {
		t.Errorf("a killed gateway deregistered")
	}
	if err := g.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := g.Start(t.Context()); !errors.Is(err, ErrRunning) {
		t.Errorf("second start: %v", err)
	}
	until(t, g, "two loads", func(s State) bool { return s.Reloads >= 2 })
	if second := g.State().SessionID; second == first || len(second) != 36 {
		t.Errorf("session ids %q, %q", first, second)
	}
}

func TestStop(t *testing.T) {
	f := newFake(t)
	g := New(f.config())
	if err := g.Stop(t.Context()); err != nil {
		t.Errorf("stop before start: %v", err)
	}
	for name, r := range map[string]reply{"refused": {status: 403}, "dropped": {drop: true}} {
		g := loaded(t, f.config())
		f.always(pathNode, r)
		if err := g.Stop(t.Context()); err == nil || g.State().Running {
			t.Errorf("%s: error %v, state %+v", name, err, g.State())
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	for name, cfg := range map[string]Config{
		"no url":           {},
		"relative url":     {DashboardURL: "/x"},
		"other scheme":     {DashboardURL: "ftp://x"},
		"null definition":  {DashboardURL: "http://x", LocalAPIs: raws("null")},
		"wrong type":       {DashboardURL: "http://x", LocalAPIs: raws(`{"active":"true"}`)},
		"bad policy id":    {DashboardURL: "http://x", LocalPolicies: raws(`{"_id":"x"}`)},
		"policy as a list": {DashboardURL: "http://x", LocalPolicies: raws(`[]`)},
	} {
		if err := New(cfg).Start(t.Context()); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
