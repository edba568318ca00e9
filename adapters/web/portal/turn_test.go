package portal_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pages "github.com/gatehouse-io/gatehouse/adapters/web/portal"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	"github.com/gatehouse-io/gatehouse/ports/load"
)

// TestPagesTakeTurns: only as many pages are rendered at once as visitors have processors, so
// that writes find one free. The operations of a page wait for no turn of their own.
func TestPagesTakeTurns(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // one processor for visitors
	var now, most atomic.Int64
	var room *load.Room
	w := newWorldWith(t, func(p *app.Portal) {
		p.Pages = fronted(func(c *pages.Config) {
			worn := c.Theme
			room, c.Theme = c.Room, func(ctx context.Context) (theme.Content, error) {
				n := now.Add(1)
				defer now.Add(-1)
				for was := most.Load(); n > was && !most.CompareAndSwap(was, n); was = most.Load() {
				}
				time.Sleep(time.Millisecond)
				return worn(ctx)
			}
		})
	})
	ask := func(ctx context.Context, method, path string) *httptest.ResponseRecorder {
		req := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(""))
		req.Header.Set("Accept", "text/html")
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		rec := httptest.NewRecorder()
		w.app.ServeHTTP(rec, req)
		return rec
	}
	var all sync.WaitGroup
	for range 4 {
		for _, c := range []struct {
			method, path string
			status       int
		}{
			{"GET", "/", 200}, {"GET", "/portal/catalogue-products", 200}, {"GET", "/portal/catalogue-products/none", 404}, {"GET", "/no/page", 404}, {"GET", "/auth/password/login", 200},
			{"POST", "/auth/password/login", 400}, {"PUT", "/blog", 405},
		} {
			all.Go(func() {
				if got := ask(t.Context(), c.method, c.path); got.Code != c.status {
					t.Errorf("%s %s: %d", c.method, c.path, got.Code)
				}
			})
		}
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("%d pages were made at once", most.Load())
	}

	_, other := room.Begin(t.Context())
	if err := other.Visit(t.Context(), "other"); err != nil {
		t.Fatal("a turn was not given back:", err)
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if got := ask(late, "GET", "/"); got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" || !strings.Contains(got.Body.String(), "Too many people") {
		t.Errorf("without a turn: %d %v %s", got.Code, got.Header(), got.Body)
	}
	other.End()
}
