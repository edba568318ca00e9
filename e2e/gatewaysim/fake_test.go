package gatewaysim

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeDashboard answers node calls from a script and records them.
type fakeDashboard struct {
	*httptest.Server

	mu     sync.Mutex
	next   map[string][]reply // by path, each used once
	usual  map[string]reply   // by path, when next is empty
	calls  []call
	nonces int
}

// reply is an answer. In its body NONCE stands for a fresh nonce.
type reply struct {
	status int
	body   string
	drop   bool // close the connection instead
}

type call struct {
	method, path, query, proto string
	header                     http.Header
	body                       string
}

func newFake(t *testing.T) *fakeDashboard {
	t.Helper()
	f := &fakeDashboard{next: map[string][]reply{}, usual: map[string]reply{
		pathRegister: {status: 200, body: `{"Status":"OK","Message":{"NodeID":"node-1"},"Nonce":"NONCE"}`},
		pathPing:     {status: 200, body: `{"Status":"OK","Message":"pong","Nonce":"NONCE"}`},
		pathNode:     {status: 200, body: `{"Status":"OK","Message":"bye","Nonce":"NONCE"}`},
		pathQuota:    {status: 200, body: `{"Status":"OK","Message":"noted","Nonce":"NONCE"}`},
		pathPolicies: feed(),
		pathAPIs:     feed(apiEntry(keyless("a1", "/a1/"))),
		pathIdPs:     feed(),
	}}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

func (f *fakeDashboard) serve(w http.ResponseWriter, r *http.Request) {
	body := make([]byte, 4096)
	n, _ := r.Body.Read(body)
	f.mu.Lock()
	f.calls = append(f.calls, call{r.Method, r.URL.Path, r.URL.RawQuery, r.Proto, r.Header.Clone(), string(body[:n])})
	answer := f.usual[r.URL.Path]
	if queue := f.next[r.URL.Path]; len(queue) > 0 {
		answer, f.next[r.URL.Path] = queue[0], queue[1:]
	}
	f.nonces++
	text := strings.ReplaceAll(answer.body, "NONCE", fmt.Sprintf("nonce-%d", f.nonces))
	f.mu.Unlock()
	if answer.drop {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(answer.status)
	_, _ = w.Write([]byte(text))
}

// always sets the usual answer of a path; once queues answers before it.
func (f *fakeDashboard) always(path string, r reply) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.usual[path] = r
}

func (f *fakeDashboard) once(path string, rs ...reply) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next[path] = append(f.next[path], rs...)
}

func (f *fakeDashboard) seen() []call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

func (f *fakeDashboard) count(path string) int {
	n := 0
	for _, c := range f.seen() {
		if c.path == path {
			n++
		}
	}
	return n
}

// last returns the last call of a path.
func (f *fakeDashboard) last(t *testing.T, path string) call {
	t.Helper()
	calls := f.seen()
	for _, c := range slices.Backward(calls) {
		if c.path == path {
			return c
		}
	}
	t.Fatalf("%s was never called", path)
	return call{}
}

// feed is a 200 with a list of raw entries.
func feed(entries ...string) reply {
	return reply{status: 200, body: `{"Status":"OK","Message":[` + strings.Join(entries, ",") + `],"Nonce":"NONCE"}`}
}

func apiEntry(definition string) string { return `{"api_definition":` + definition + `,"oas":null}` }

func keyless(id, path string) string {
	return fmt.Sprintf(`{"api_id":%q,"name":"n","org_id":"o1","use_keyless":true,
		"proxy":{"listen_path":%q,"target_url":"http://127.0.0.1:9999/"},
		"version_data":{"not_versioned":true,"versions":{"Default":{"name":"Default"}}}}`, id, path)
}

// with replaces top-level members of a JSON object.
func with(object string, members map[string]any) string {
	var m map[string]any
	if err := json.Unmarshal([]byte(object), &m); err != nil {
		panic(err)
	}
	for name, v := range members {
		m[name] = v
	}
	out, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// quick makes every interval short; a test overrides the ones that must be rare.
func quick() Intervals {
	return Intervals{
		Heartbeat: 10 * time.Millisecond, Probe: time.Hour, Retry: 5 * time.Millisecond,
		LoadRetry: 5 * time.Millisecond, Tick: 10 * time.Millisecond, Debounce: 10 * time.Millisecond,
		RedisRetry: 10 * time.Millisecond, RedisCheck: 200 * time.Millisecond,
	}
}

func (f *fakeDashboard) config() Config {
	return Config{DashboardURL: f.URL, NodeSecret: "node-secret-1", Hostname: "host-1", Intervals: quick()}
}

// start runs a gateway for the duration of the test.
func start(t *testing.T, cfg Config) *Gateway {
	t.Helper()
	g := New(cfg)
	if err := g.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Kill)
	return g
}

// loaded is a gateway that has finished its two initial loads.
func loaded(t *testing.T, cfg Config) *Gateway {
	t.Helper()
	g := start(t, cfg)
	until(t, g, "two loads", func(s State) bool { return s.Reloads >= 2 })
	return g
}

func until(t *testing.T, g *Gateway, what string, cond func(State) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := g.WaitFor(ctx, cond); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// reload requests a full load and waits for its result.
func reload(t *testing.T, g *Gateway) {
	t.Helper()
	before := g.State()
	g.Reload()
	until(t, g, "a reload", func(s State) bool {
		return s.Reloads+s.ReloadsFailed > before.Reloads+before.ReloadsFailed || s.Wedged != "" || s.Crashed != ""
	})
}

func raws(texts ...string) []json.RawMessage {
	list := make([]json.RawMessage, len(texts))
	for i, text := range texts {
		list[i] = json.RawMessage(text)
	}
	return list
}

// hangOn serves f but never answers one path until release is closed.
func hangOn(path string, release <-chan struct{}, f *fakeDashboard) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			<-release
			return
		}
		f.serve(w, r)
	})
}
