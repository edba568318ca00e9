package portal

import (
	"crypto/rand"
	"io"
	"net/http"
	"strings"
	"sync"
)

// addresses has the patterns of all pages and files.
var addresses = sync.OnceValue(func() *http.ServeMux {
	mux := http.NewServeMux()
	for _, list := range pages {
		for pattern := range list {
			mux.HandleFunc(pattern, http.NotFound)
		}
	}
	mux.HandleFunc(assetPattern, http.NotFound)
	mux.HandleFunc(viewerPattern, http.NotFound)
	return mux
})

// readable are the methods of read-only addresses.
var readable = []string{http.MethodGet, http.MethodHead}

// methods returns the methods of the page or file at an address; none: there is neither, or
// a content page that an admin has made.
func methods(r *http.Request) (out []string) {
	if below(r.URL.Path, notPages) {
		return nil
	}
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		as := *r
		as.Method = method
		if _, pattern := addresses().Handler(&as); pattern != "" {
			out = append(out, method)
		}
	}
	return out
}

// arrival reports whether a path is the one to which single sign-on sends administrators.
func arrival(path string) bool { return strings.TrimSuffix(path, "/") == "/admin" }

// Owns reports whether a request is for a page or a file of the portal, no matter what else
// is served beside the portal.
func Owns(r *http.Request) bool { return arrival(r.URL.Path) || len(methods(r)) > 0 }

// Shows reports whether a content page can be at a path: admins choose the paths.
func Shows(path string) bool { return !below(path, notPages) }

// reading returns the request as a read, without its body.
func reading(r *http.Request) *http.Request {
	as := *r
	as.Method, as.Body = http.MethodGet, http.NoBody
	return &as
}

// unasked answers a method that a page's address does not support: with a page for browsers,
// and in the API's format for programs.
func (s *server) unasked(w http.ResponseWriter, r *http.Request, allowed []string) {
	h := w.Header()
	h.Set("Allow", strings.Join(allowed, ", "))
	if browses(r) {
		v := &visit{server: s, w: w, r: reading(r), nonce: rand.Text()}
		v.secure()
		defer v.hold()()
		enters := v.meet
		if r.Method == http.MethodGet || r.Method == http.MethodHead { // with the same access checks as other reads of pages
			enters = v.arrive
		}
		if enters() {
			v.notice(http.StatusMethodNotAllowed, "This page cannot be asked for in this way.")
		}
		return
	}
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusMethodNotAllowed)
	_, _ = io.WriteString(w, "{\n\t\"errors\": [\n\t\t\"method not allowed\"\n\t]\n}") // the client may have disconnected
}
