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

// portalWeb adds the configured headers to every response of the portal, and allows
// calls of other origins if the settings do. Responses of the dashboard beside the
// portal are not changed.
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
			headers = []string{"Origin"} // browsers send it anyway; an empty list would stand for some default headers
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

// asSent returns an origin in the form that browsers send: without a slash at the end.
func asSent(origin string) string { return strings.TrimSuffix(origin, "/") }

// each applies a function to each text.
func each(texts []string, become func(string) string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = become(text)
	}
	return out
}

// inPortal returns a function that reports whether a request is for the portal, and not
// for the dashboard beside it. Pages may have any path that the dashboard and its
// console do not use.
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
		case dashboard.Has(r) && path != "/": // without the console, the start page of the portal is there
			return false
		case own.Has(r) || strings.HasPrefix(path+"/", portal.Prefix+"/") || strings.HasPrefix(path+"/", live.Prefix+"/"):
			return true
		}
		return pages.Shows(path) && !(console && (path == "/" || strings.HasPrefix(path, consoles.Prefix)))
	}
}
