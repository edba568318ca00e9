package gatewaysim

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

var loadPaths = []string{pathPolicies, pathAPIs, pathIdPs}

// docs/wire/gateway-nodes.md#recovery-words: recovery words and network errors inside a load wedge.
func TestWedge(t *testing.T) {
	for _, path := range loadPaths {
		for name, r := range map[string]reply{
			"Nonce failed":     {status: 403, body: `{"Status":"Error","Message":"Nonce failed"}`},
			"nonce":            {status: 403, body: "bad nonce"},
			"No node ID Found": {status: 403, body: "No node ID Found"},
			"dropped":          {drop: true},
		} {
			t.Run(strings.TrimPrefix(path, "/")+" "+name, func(t *testing.T) {
				f := newFake(t)
				g := loaded(t, f.config())
				good := f.usual[path]
				f.always(path, r) // always, since the transport repeats a GET that fails on a reused connection
				g.Reload()
				until(t, g, "the wedge", func(s State) bool { return s.Wedged != "" && s.Registrations == 2 })
				f.always(path, good)
				stuck(t, f, g)
			})
		}
	}
}

// stuck checks that a wedged gateway sends heartbeats and serves but never loads.
func stuck(t *testing.T, f *fakeDashboard, g *Gateway) {
	t.Helper()
	calls := f.count(pathPolicies) + f.count(pathAPIs) + f.count(pathIdPs)
	beats := g.State().Heartbeats
	g.Reload()
	until(t, g, "heartbeats", func(s State) bool { return s.Heartbeats > beats+5 })
	if n := f.count(pathPolicies) + f.count(pathAPIs) + f.count(pathIdPs); n != calls {
		t.Errorf("a wedged gateway loaded")
	}
	if s := g.State(); !s.Running || g.Decide("a1", "").Status != 200 {
		t.Errorf("a wedged gateway must serve on: %+v", s)
	}
	g.Kill()
	if err := g.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	until(t, g, "a restart clears it", func(s State) bool { return s.Reloads >= 2 && s.Wedged == "" })
}

func TestWedgeAtStartLeavesItUnready(t *testing.T) {
	f := newFake(t)
	f.once(pathPolicies, reply{status: 403, body: "Nonce failed"})
	g := start(t, f.config())
	until(t, g, "the wedge and heartbeats", func(s State) bool { return s.Wedged != "" && s.Heartbeats > 3 })
	w := httptest.NewRecorder()
	g.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/ready", nil))
	if want := `{"message":"A successful API reload did not happen","status":"error"}`; w.Code != 503 || strings.TrimSpace(w.Body.String()) != want {
		t.Errorf("/ready: %d %s", w.Code, w.Body)
	}
}

func TestWedgeOnRegistryRefresh(t *testing.T) {
	f := newFake(t)
	g := loaded(t, f.config())
	f.once(pathIdPs, reply{status: 403, body: "No node ID Found"})
	p := g.view().p
	p.tasks.Go(func() { _ = p.locked(p.loadIdPs) })
	until(t, g, "the wedge", func(s State) bool { return s.Wedged != "" && s.Registrations == 2 })
	stuck(t, f, g)
}

func TestWedgeWhenDashboardIsDown(t *testing.T) {
	f := newFake(t)
	cfg := f.config()
	g := loaded(t, cfg)
	f.CloseClientConnections()
	f.Listener.Close()
	g.Reload()
	until(t, g, "the wedge", func(s State) bool { return strings.Contains(s.Wedged, "network error") })
}

func TestWedgeOnTimeout(t *testing.T) {
	f := newFake(t)
	hang := make(chan struct{})
	slow := httptest.NewServer(f.Config.Handler)
	slow.Config.Handler = hangOn(pathAPIs, hang, f)
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(hang) })
	cfg := f.config()
	cfg.DashboardURL, cfg.Timeout = slow.URL, 2*time.Second
	g := start(t, cfg)
	until(t, g, "the wedge", func(s State) bool { return strings.Contains(s.Wedged, pathAPIs) })
}

// Other errors fail one load only; the next one succeeds.
func TestFailedLoad(t *testing.T) {
	for _, path := range loadPaths {
		for name, r := range map[string]reply{
			"403 neutral":            {status: 403, body: "Session not current"},
			"403 other letter case":  {status: 403, body: "Nonce FAILED, no node id found"},
			"500 with recovery word": {status: 500, body: "Nonce failed"},
			"404":                    {status: 404, body: "404 page not found"},
			"empty body":             {status: 200},
			"bare list":              {status: 200, body: `[]`},
			"message is an object":   {status: 200, body: `{"Message":{},"Nonce":"n"}`},
			"nonce of wrong type":    {status: 200, body: `{"Message":[],"Nonce":5}`},
		} {
			t.Run(strings.TrimPrefix(path, "/")+" "+name, func(t *testing.T) {
				f := newFake(t)
				f.always(pathIdPs, feed(`{"client_idp_id":"idp-a","api_mappings":{"a1":{}}}`))
				g := loaded(t, f.config())
				f.once(path, r)
				before := g.State()
				reload(t, g)
				s := g.State()
				if s.Wedged != "" || len(s.APIs) != 1 || len(s.IdPs) != 1 || s.Registrations != 1 {
					t.Errorf("state %+v", s)
				}
				if failed := s.ReloadsFailed + s.IdPRefreshesFailed; failed != before.ReloadsFailed+before.IdPRefreshesFailed+1 {
					t.Errorf("%d failures counted", failed)
				}
				if path == pathIdPs && s.ReloadsFailed != 0 {
					t.Error("a registry refresh failed the whole reload")
				}
				reload(t, g)
				if after := g.State(); after.Reloads <= s.Reloads {
					t.Errorf("the next reload failed: %+v", after)
				}
			})
		}
	}
}

// An error that docs/wire/gateway-nodes.md#recovery-words does not list only fails the load.
func TestUntrustedDashboardDoesNotWedge(t *testing.T) {
	f := newFake(t)
	secure := httptest.NewTLSServer(http.HandlerFunc(f.serve))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(secure.Close)
	p := newProcess(t.Context(), New(Config{DashboardURL: secure.URL}))
	if err := p.reload(); err == nil || p.state.Wedged != "" || p.state.ReloadsFailed != 1 {
		t.Errorf("error %v, state %+v", err, p.state)
	}
}

func TestNetworkErrors(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{io.EOF, true}, {io.ErrUnexpectedEOF, true}, {&net.DNSError{Err: "no such host", IsNotFound: true}, true},
		{os.ErrDeadlineExceeded, true}, {context.DeadlineExceeded, true},
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, true},
		{&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, true},
		{&net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.EPIPE)}, true},
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ENETUNREACH)}, true},
		{errors.New("x509: certificate signed by unknown authority"), false},
		{http.ErrSchemeMismatch, false},
	} {
		if got := isNetworkError(&url.Error{Op: "Get", URL: "http://x", Err: tt.err}); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.err, got, tt.want)
		}
	}
}

func TestFirstFailureEndsTheLoad(t *testing.T) {
	f := newFake(t)
	g := loaded(t, f.config())
	f.once(pathPolicies, reply{status: 500})
	apis := f.count(pathAPIs)
	reload(t, g)
	if n := f.count(pathAPIs); n != apis {
		t.Error("APIs were fetched after the policies failed")
	}
}

func TestNonceIsReplacedByEvery200(t *testing.T) {
	f := newFake(t)
	f.always(pathPing, reply{status: 500})
	g := loaded(t, f.config())
	f.always(pathPolicies, reply{status: 200, body: `{"Message":[],"Nonce":"p"}`})
	f.always(pathAPIs, reply{status: 200, body: `{"Message":[` + apiEntry(keyless("a1", "/a1/")) + `]}`})
	reload(t, g)
	if got := f.last(t, pathAPIs).header.Get("x-tyk-nonce"); got != "p" {
		t.Errorf("the API feed was asked with %q", got)
	}
	if v, ok := f.last(t, pathIdPs).header["X-Tyk-Nonce"]; !ok || v[0] != "" {
		t.Errorf("an absent nonce must empty it, got %q", v)
	}
}

func TestInitialLoadBacksOff(t *testing.T) {
	f := newFake(t)
	f.once(pathPolicies, reply{status: 500}, reply{status: 500}, reply{status: 403, body: "not yet"})
	cfg := f.config()
	cfg.Intervals.LoadRetry = 20 * time.Millisecond
	began := time.Now()
	g := loaded(t, cfg)
	if s := g.State(); s.ReloadsFailed != 3 || !s.Ready {
		t.Errorf("state %+v", s)
	}
	if took := time.Since(began); took < 140*time.Millisecond {
		t.Errorf("three retries took %v, less than 20+40+80 ms", took)
	}
}

// Without APIs, now or before, the registry is not requested.
func TestNothingToLoad(t *testing.T) {
	f := newFake(t)
	f.always(pathAPIs, reply{status: 200, body: `{"Message":null,"Nonce":"NONCE"}`})
	g := loaded(t, f.config())
	if s := g.State(); f.count(pathIdPs) != 0 || !s.Ready {
		t.Errorf("%d registry calls, state %+v", f.count(pathIdPs), s)
	}
	f.always(pathAPIs, feed(apiEntry(keyless("a1", "/a1/"))))
	reload(t, g)
	f.always(pathAPIs, feed())
	reload(t, g)
	if n := f.count(pathIdPs); n != 2 {
		t.Errorf("%d registry calls, want one with APIs and one when they went", n)
	}
	if d := g.Decide("a1", ""); d.Status != 404 {
		t.Errorf("a removed API answers %d", d.Status)
	}
	reload(t, g)
	if n := f.count(pathIdPs); n != 2 {
		t.Error("the registry was asked for with nothing loaded")
	}
}

func TestLocalDefinitions(t *testing.T) {
	f := newFake(t)
	f.always(pathAPIs, feed())
	f.always(pathIdPs, feed(`{"client_idp_id":"idp-a","api_mappings":{"local":{"scope_to_policy":{"r":"p"}}}}`))
	cfg := f.config()
	cfg.LocalAPIs = raws(keyless("local", "/local/"))
	cfg.LocalPolicies = raws(`{"id":"p","org_id":"o1","name":"P"}`)
	g := loaded(t, cfg)
	s := g.State()
	if len(s.APIs) != 1 || len(s.Policies) != 1 || s.Policies[0] != (Policy{"o1", "p", "P"}) || len(s.IdPs) != 1 {
		t.Errorf("state %+v", s)
	}
	if b := g.Bindings("local"); len(b) != 1 || b[0].ScopeToPolicy["r"] != "p" {
		t.Errorf("bindings %+v", b)
	}
}

// Several reload requests before a tick cause one reload.
func TestOneReloadPerTick(t *testing.T) {
	f := newFake(t)
	cfg := f.config()
	cfg.Intervals.Tick = 150 * time.Millisecond
	g := loaded(t, cfg)
	for range 5 {
		g.Reload()
	}
	until(t, g, "the reload", func(s State) bool { return s.Reloads == 3 })
	beats := g.State().Heartbeats
	until(t, g, "two more ticks", func(s State) bool { return s.Heartbeats > beats+30 })
	if s := g.State(); s.Reloads > 4 { // one more if a tick fell among the five
		t.Errorf("%d reloads", s.Reloads)
	}
}

func TestCrash(t *testing.T) {
	for name, entry := range map[string]string{
		"null definition":   `{"api_definition":null}`,
		"absent definition": `{"oas":null}`,
		"null entry":        `null`,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			g := loaded(t, f.config())
			f.once(pathAPIs, feed(apiEntry(keyless("a1", "/a1/")), entry))
			reload(t, g)
			if s := g.State(); s.Crashed == "" || s.Running || g.Decide("a1", "").Status != 0 || f.count(pathNode) != 0 {
				t.Errorf("state %+v", s)
			}
			if err := g.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			until(t, g, "a restart", func(s State) bool { return s.Reloads >= 2 && s.Crashed == "" })
		})
	}
}

func TestContextEndsTheProcess(t *testing.T) {
	f := newFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	g := New(f.config())
	if err := g.Start(ctx); err != nil {
		t.Fatal(err)
	}
	until(t, g, "a load", func(s State) bool { return s.Ready })
	cancel()
	until(t, g, "the end", func(s State) bool { return !s.Running })
	if err := g.Stop(t.Context()); err != nil || f.count(pathNode) != 0 {
		t.Errorf("stop after the end: %v", err)
	}
}

func TestWaitForGivesUp(t *testing.T) {
	g := New(newFake(t).config())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.WaitFor(ctx, func(State) bool { return false }); err == nil || ctx.Err() == nil {
		t.Errorf("error %v", err)
	}
}
