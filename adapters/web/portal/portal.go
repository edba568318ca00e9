// Package portal serves the pages of the developer portal for browsers. Pages contain no rules
// of their own. Each page calls operations of the API in this process on behalf of the browser,
// and renders their answers with the templates of the theme (docs/guide-portal-pages.md).
package portal

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/gatehouse-io/gatehouse/adapters/web/portal/viewers"
	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	"github.com/gatehouse-io/gatehouse/ports/load"
	"github.com/gatehouse-io/gatehouse/ports/render"
	"github.com/gatehouse-io/gatehouse/ports/yaml"
)

// Config says how the pages are made.
type Config struct {
	Engine render.Engine
	YAML   yaml.Codec
	// Theme returns the current theme. Standard is the built-in one.
	Theme    func(ctx context.Context) (theme.Content, error)
	Standard theme.Content
	// Bootstrapped reports whether the portal has its first admin; nil: it has.
	Bootstrapped func(ctx context.Context) (bool, error)
	// Alone says that the portal is the only service here: its pages also answer unknown
	// addresses.
	Alone    bool
	Home     string // path of the start page, if another service answers at "/"; "": "/"
	Secure   bool   // cookies are sent over TLS only
	TLS      bool   // browsers use TLS to this service itself
	NoProof  bool   // forms need no CSRF token
	URL      string // public URL of the portal; "": the one in the request
	LoginURL string // external login page; "": the portal's own
	Pictures string // additional origin for pictures; "": only this host
	Renderer string // for OpenAPI descriptions: "stoplight" or "redoc"
	// Room is where visitors take turns, and Visitor returns in whose name a request takes a
	// turn; nil: no turns.
	Room    *load.Room
	Visitor func(*http.Request) string
	Log     *slog.Logger
}

// server serves the pages.
type server struct {
	Config
	api    http.Handler
	routes *http.ServeMux
	guard  *http.CrossOriginProtection
	hall   gallery
	begun  atomic.Bool // the portal has its first admin, which is permanent
	wardrobe
}

// Front returns a middleware that serves the pages in front of an API.
func Front(c Config) func(http.Handler) http.Handler {
	c.Home = cmp.Or(c.Home, "/")
	return func(api http.Handler) http.Handler {
		s := &server{Config: c, api: api, routes: http.NewServeMux(), guard: http.NewCrossOriginProtection(), wardrobe: wardrobe{engine: c.Engine, standard: dress(c.Engine, c.Standard)}}
		for _, list := range pages {
			for pattern, fn := range list {
				s.routes.HandleFunc(pattern, s.page(fn))
			}
		}
		s.routes.HandleFunc(assetPattern, s.asset)
		s.routes.HandleFunc(viewerPattern, viewers.Serve)
		return http.HandlerFunc(s.serve)
	}
}

// pages are all pages with fixed addresses, and the patterns of files.
var pages = []map[string]func(*visit){routes, appRoutes, cartRoutes}

const (
	assetPattern  = "GET " + assetPrefix + "{path...}"
	viewerPattern = "GET " + viewers.Prefix + "{path...}"
)

// routes are the pages with fixed addresses. Other pages are content pages.
var routes = map[string]func(*visit){
	"GET /portal/catalogue-products":                            (*visit).catalogue,
	"GET /portal/catalogue-products/{path}":                     (*visit).product,
	"GET /portal/catalogue-products/{path}/{api}/docs":          (*visit).docs,
	"GET /portal/catalogue-products/{path}/{api}/docs/download": (*visit).download,
	"GET /portal/catalogue-products/{path}/{api}/try":           (*visit).tryIt,
	"POST /portal/catalogue-products/{path}/{api}/try":          (*visit).tryIt,
	"GET /blog":                             (*visit).blog,
	"GET /blog/category/{category}":         (*visit).blog,
	"GET /blog/category/{category}/{rest}":  (*visit).blog,
	"GET /blog/{year}/{month}/{day}/{path}": (*visit).post,
	"GET /auth/password/login":              (*visit).loginForm,
	"POST /auth/password/login":             (*visit).login,
	"GET /auth/password/register":           func(v *visit) { v.registration(nil, http.StatusOK) },
	"POST /auth/password/register":          (*visit).register,
	"GET /auth/password/new":                (*visit).forgotForm,
	"GET /auth/password/recover":            (*visit).forgotForm,
	"POST /auth/password/recover":           (*visit).recoverPassword,
	"GET /auth/reset/code":                  (*visit).resetForm,
	"GET /auth/password/update/code":        (*visit).resetForm,
	"GET /auth/password/update":             (*visit).resetForm,
	"POST /auth/password/update":            (*visit).recoverPassword,
	"GET /auth/password/edit":               (*visit).password,
	"POST /auth/password/edit":              (*visit).password,
	"GET /auth/logout":                      (*visit).logout,
	"GET /auth/password/logout":             (*visit).logout,
	"POST /auth/logout":                     (*visit).logout,
	"GET /portal/private/profile":           func(v *visit) { v.profiled(nil, http.StatusOK) },
	"POST /portal/private/profile":          (*visit).changeProfile,
	"GET /portal/private/organisation":      (*visit).organisation,
	"POST /portal/private/organisation":     (*visit).askOrganisation,
	"GET /portal/private/users":             (*visit).users,
	"POST /portal/private/users/invite":     (*visit).invite,
	"GET /portal/private/users/invite":      (*visit).invite,
	"GET /licences":                         (*visit).licences,
	"GET /sitemap.xml":                      (*visit).sitemap,
}

// notPages are the path prefixes that the API answers.
var notPages = []string{"/portal-api", "/portal/api", "/api", "/tib", "/sso", "/debug", "/live", "/ready", "/robots.txt", "/.well-known", "/admin", "/system"}

// pagesOnly are the path prefixes that only the portal uses, and no dashboard.
var pagesOnly = []string{"/portal", "/blog"}

// brokered are the path prefixes for logins through identity brokers.
var brokered = []string{"/tib", "/sso"}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	if s.unbegun(r) {
		s.start(w, r)
		return
	}
	if _, pattern := s.routes.Handler(r); pattern != "" && !below(r.URL.Path, notPages) {
		s.routes.ServeHTTP(w, r)
		return
	}
	if allowed := methods(r); len(allowed) > 0 {
		s.unasked(w, r, allowed)
		return
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if at := unslashed(r); reads && at != "" {
		http.Redirect(w, r, at, http.StatusMovedPermanently)
		return
	}
	if reads && browses(r) && below(r.URL.Path, brokered) {
		s.page((*visit).recognised)(w, r)
		return
	}
	if reads && browses(r) && (arrival(r.URL.Path) || s.Alone && below(r.URL.Path, []string{"/admin"})) {
		// Single sign-on sends administrators there. The console is elsewhere, so they get the
		// portal's start page.
		http.Redirect(w, r, s.Home, http.StatusSeeOther)
		return
	}
	if s.Alone && !reads && r.Method != http.MethodOptions && !below(r.URL.Path, notPages) {
		v := &visit{server: s, w: w, r: reading(r)}
		if v.call(http.MethodGet, "/content", url.Values{"path": {r.URL.Path}}, nil).ok() { // a content page that the caller may see
			s.unasked(w, r, readable)
			return
		}
	}
	if !reads || !s.shows(r) || below(r.URL.Path, notPages) {
		s.api.ServeHTTP(w, r)
		return
	}
	s.page((*visit).content)(w, r)
}

// unslashed returns the address of the page for a request with a superfluous trailing slash;
// "": there is no such page.
func unslashed(r *http.Request) string {
	to := *r.URL
	to.Path, to.RawPath = strings.TrimSuffix(to.Path, "/"), strings.TrimSuffix(to.RawPath, "/")
	if to.Path == r.URL.Path || strings.Contains(to.Path, "//") {
		return ""
	}
	as := *r
	as.URL = &to
	if len(methods(&as)) == 0 {
		return ""
	}
	return to.RequestURI()
}

// browses reports whether a client names HTML in Accept, as browsers do.
func browses(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

// shows reports whether a request for an arbitrary address gets a page: requests of browsers
// do. Requests of other clients do if no other service can answer them, and for the start page.
func (s *server) shows(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	anything := accept == "" || strings.Contains(accept, "*/*") // such clients get a page if there is one
	return browses(r) || anything && (s.Alone || s.Home != "/" && strings.TrimSuffix(r.URL.Path, "/") == s.Home)
}

// below reports whether a path is one of the prefixes, or lies below one.
func below(path string, prefixes []string) bool {
	for _, p := range prefixes {
		if path == p || strings.HasPrefix(path, p+"/") {
			return true
		}
	}
	return false
}

// page returns the handler of a page.
func (s *server) page(fn func(*visit)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := &visit{server: s, w: w, r: r, nonce: rand.Text()}
		v.secure()
		if r.Method == http.MethodPost && !v.admitted() {
			return
		}
		defer v.hold()()
		if r.Method != http.MethodPost && !below(r.URL.Path, brokered) && v.take() != nil { // logins through brokers wait for the broker first
			v.late()
			return
		}
		if !v.arrive() {
			return
		}
		if r.Method == http.MethodPost && !v.proven() {
			return
		}
		if v.site.Viewer != nil && v.site.Viewer.ResetPassword && below(r.URL.Path, []string{"/portal/private"}) {
			v.goTo("/auth/password/edit") // until the password is changed, operations refuse, and pages would be empty
			return
		}
		fn(v)
	}
}

// secure sets the security headers of every page. Only the theme's scripts and those with the
// nonce run, nothing is loaded from other hosts, and no other page may frame it. A header that
// the operator has set takes precedence.
func (v *visit) secure() {
	h := v.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	policy := []string{
		"default-src 'none'", "script-src 'self' 'nonce-" + v.nonce + "'", "style-src 'self' 'nonce-" + v.nonce + "'", strings.TrimSpace("img-src 'self' data: " + v.Pictures), "font-src 'self'",
		"connect-src 'self'", "form-action 'self'", "base-uri 'none'",
	}
	if h.Get("X-Frame-Options") == "" { // browsers ignore this header if the policy has frame-ancestors
		policy = append(policy, "frame-ancestors 'none'")
	}
	for name, value := range map[string]string{
		"Content-Security-Policy": strings.Join(policy, "; "), "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
		"Cross-Origin-Opener-Policy": "same-origin", "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
	} {
		if h.Get(name) == "" {
			h.Set(name, value)
		}
	}
}
