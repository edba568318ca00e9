package portal_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	pages "github.com/gatehouse-io/gatehouse/adapters/web/portal"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestStoreAway: while the store is unavailable, pages answer 503 and Retry-After, whether the
// theme or the page's data cannot be read: load balancers and programs treat 500 and 502 as
// permanent.
func TestStoreAway(t *testing.T) {
	var away atomic.Value // whether the store is unavailable
	away.Store("")
	w := newWorldWith(t, func(p *app.Portal) {
		p.Pages = func(of app.Pages) func(http.Handler) http.Handler {
			front := fronted(func(c *pages.Config) {
				themed := c.Theme
				c.Theme = func(ctx context.Context) (theme.Content, error) {
					if away.Load() == "theme" {
						return theme.Content{}, store.ErrUnavailable
					}
					return themed(ctx)
				}
			})(of)
			return func(api http.Handler) http.Handler {
				return front(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					if path, _ := away.Load().(string); path != "" && strings.HasPrefix(r.URL.Path, path) {
						rw.WriteHeader(http.StatusServiceUnavailable)
						_, _ = rw.Write([]byte(`{"errors":["the store is away"]}`))
						return
					}
					api.ServeHTTP(rw, r)
				}))
			}
		}
	})
	for _, what := range []string{"theme", "/portal/api/catalogue-products", "/portal/api/site"} {
		away.Store(what)
		r := httptest.NewRequest(http.MethodGet, "/portal/catalogue-products", nil)
		r.Header.Set("Accept", "text/html")
		got := httptest.NewRecorder()
		w.app.ServeHTTP(got, r)
		if got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" || !strings.Contains(got.Body.String(), "Something went wrong") {
			t.Errorf("%s: %d %s", what, got.Code, got.Body)
		}
	}
}
