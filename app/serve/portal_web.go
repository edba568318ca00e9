package serve

import (
	"net/http"
	"strings"

	"github.com/rs/cors"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	consoles "github.com/gatehouse-io/gatehouse/adapters/web/console"
	pages "github.com/gatehouse-io/gatehouse/adapters/web/portal"
	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// portalWeb adds to every answer of the portal the headers that the operator has set,
// and lets pages of other sites call where the operator says so. What is served beside
// the portal stays as it is.
func (c *Composition) portalWeb(s config.Settings, h http.Handler) http.Handler {
	p := s.Portal
	if p.EnableHTTPProfiler {
		h = profiled(h)
	}
	if len(p.ResponseHeaders) == 0 && !p.CORS.Enable {
		return h
	}
	answer := h
	if p.CORS.Enable {
		headers := p.CORS.Headers
		if len(headers) == 0 {
			headers = []string{"Origin"} // which browsers send anyway: no list at all would stand for some
		}
		answer = cors.New(cors.Options{
			AllowedOrigins: each(p.CORS.Origins, asSent), AllowedHeaders: headers, AllowedMethods: each(p.CORS.Methods, strings.ToUpper),
			MaxAge: p.CORS.MaxAge, AllowCredentials: p.CORS.AllowCredentials, OptionsSuccessStatus: http.StatusNoContent,
		}).Handler(h)
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
	theirs := c.inPortal(s.Console.Enabled)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if theirs(r) {
			web.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// asSent is an origin as browsers send it: without a slash at the end.
func asSent(origin string) string { return strings.TrimSuffix(origin, "/") }

// each returns what becomes of each text.
func each(texts []string, become func(string) string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = become(text)
	}
	return out
}

// inPortal tells what is for the portal from what is for the dashboard beside it. Pages may
// be at any address that the dashboard and its console leave.
func (c *Composition) inPortal(console bool) func(*http.Request) bool {
	var own, dashboard httpadapter.Paths
	for _, o := range c.Operations() {
		if o.Surface == operation.Portal {
			own.Add(o)
		} else {
			dashboard.Add(o)
		}
	}
	return func(r *http.Request) bool {
		path := r.URL.Path
		switch {
		case pages.Owns(r):
			return true
		case dashboard.Has(r) && path != "/": // where there is no console, the pages begin there
			return false
		case own.Has(r) || strings.HasPrefix(path+"/", portal.Prefix+"/") || strings.HasPrefix(path+"/", live.Prefix+"/"):
			return true
		}
		return pages.Shows(path) && !(console && (path == "/" || strings.HasPrefix(path, consoles.Prefix)))
	}
}
