package serve

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/rs/cors"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// portalWeb adds to every answer of the portal the headers that the operator has set,
// and lets pages of other sites call where the operator says so. What is served beside
// the portal stays as it is.
func (c *Composition) portalWeb(p config.Portal, h http.Handler) http.Handler {
	if p.EnableHTTPProfiler {
		h = profiled(h)
	}
	if len(p.ResponseHeaders) == 0 && !p.CORS.Enable {
		return h
	}
	answer := h
	if p.CORS.Enable {
		answer = sharing(p).Handler(h)
	}
	web := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, header := range p.ResponseHeaders {
			w.Header().Set(header["Key"], header["Value"])
		}
		answer.ServeHTTP(w, r)
	}))
	if p.Serve != config.PortalShared {
		return web
	}
	theirs := c.inPortal()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if theirs(r.URL.Path) {
			web.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// sharing is cross-origin resource sharing as the operator has set it.
func sharing(p config.Portal) *cors.Cors {
	headers := p.CORS.Headers
	if len(headers) == 0 {
		headers = []string{"Origin"} // which browsers send anyway: no list at all would stand for some
	}
	return cors.New(cors.Options{
		AllowedOrigins: p.CORS.Origins, AllowedHeaders: headers, AllowedMethods: p.CORS.Methods,
		MaxAge: p.CORS.MaxAge, AllowCredentials: p.CORS.AllowCredentials, OptionsSuccessStatus: http.StatusNoContent,
	})
}

// inPortal tells the paths of the portal from those of the dashboard beside it.
func (c *Composition) inPortal() func(path string) bool {
	own, dashboard := map[string]bool{}, map[string]bool{}
	for _, o := range c.Operations() {
		if o.Surface == operation.Portal {
			own[o.Path] = true
		} else {
			dashboard[o.Path] = true
		}
	}
	return func(path string) bool {
		path = cmp.Or(strings.TrimSuffix(path, "/"), "/")
		return path == portal.Prefix || strings.HasPrefix(path, portal.Prefix+"/") || own[path] && !dashboard[path]
	}
}
