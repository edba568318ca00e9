package http_test

import (
	"context"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/ports/load"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// TestVisitorsTakeTurns: public reads of the portal take turns, so that the rest of the
// service has a free processor. A page and its operations share one turn; probes and writes
// take none.
func TestVisitorsTakeTurns(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // one processor for visitors
	room := load.NewRoom(0, nil)
	var now, most atomic.Int64
	read := func(context.Context, struct{}) (string, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for was := most.Load(); n > was && !most.CompareAndSwap(was, n); was = most.Load() {
		}
		time.Sleep(time.Millisecond)
		return "read", nil
	}
	plain := func(context.Context, struct{}) (string, error) { return "plain", nil }
	example := operation.Example(nil, "read")
	ops := operation.Group{Surface: operation.Portal, Name: "texts", Path: "/portal/api/texts", Tag: "Texts", Style: operation.Style{Faults: operation.PortalFaults()}}.Rows(
		operation.GET("read", "", "Read", read, operation.Visited(), example),
		operation.GET("probe", "/probe", "Probe", plain, operation.Public(), operation.Early(), example),
		operation.POST("write", "", "Write", plain, operation.Public(), example))
	h, err := httpadapter.Handler(ops, httpadapter.Config{Room: room, Guard: func(next operation.Handler) operation.Handler { return next }, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(ctx context.Context, method, path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, method, path, nil))
		return w
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if w := ask(t.Context(), "GET", "/portal/api/texts"); w.Code != 200 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("%d at once", most.Load())
	}
	ctx, page := room.Begin(t.Context())
	if err := page.Visit(ctx, "a page"); err != nil {
		t.Fatal("a turn was not given back:", err)
	}
	if w := ask(ctx, "GET", "/portal/api/texts"); w.Code != 200 {
		t.Errorf("what works for a page waits for it: %d %s", w.Code, w.Body)
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if w := ask(late, "GET", "/portal/api/texts"); w.Code == 200 {
		t.Errorf("without a turn: %d %s", w.Code, w.Body)
	}
	for _, c := range [][2]string{{"GET", "/portal/api/texts/probe"}, {"POST", "/portal/api/texts"}} {
		if w := ask(t.Context(), c[0], c[1]); w.Code != 200 {
			t.Errorf("%v waits for visitors: %d %s", c, w.Code, w.Body)
		}
	}
	page.End()
}

// TestVisitors: turns are taken in the name of the calling network, as trusted proxies report
// it.
func TestVisitors(t *testing.T) {
	by := httpadapter.Visitors([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")})
	for _, c := range []struct{ peer, forwarded, want string }{
		{"192.0.2.7:1234", "", "192.0.2.7"},
		{"192.0.2.7:1234", "198.51.100.1", "192.0.2.7"},
		{"10.0.0.1:1234", "198.51.100.1", "198.51.100.1"},
		{"[2001:db8:1:2:3::4]:80", "", "2001:db8:1:2::/64"},
		{"[::ffff:192.0.2.7]:80", "", "192.0.2.7"},
		{"@", "", "@"},
	} {
		req := httptest.NewRequest("GET", "/", nil)
		if req.RemoteAddr = c.peer; c.forwarded != "" {
			req.Header.Set("X-Forwarded-For", c.forwarded)
		}
		if got := by(req); got != c.want {
			t.Errorf("%v: %s", c, got)
		}
	}
}
