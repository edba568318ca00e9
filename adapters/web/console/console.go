// Package console serves the operations console: pages of a browser that are a client of
// the public API and nothing more. The files in dist are built from src and vendor by the
// command in build; both are kept, so that a program with the console needs no other tool.
package console

import (
	"crypto/rand"
	"net/http"
	"strings"
)

// Config says how the console is served. The zero Config serves it.
type Config struct {
	// Servers are origins of other control planes, such as https://plane.example.com,
	// that the console may be pointed at. The browser calls no other host.
	Servers []string
}

// Prefix is the beginning of the paths of the console's files.
const Prefix = "/console/"

// Front returns what puts the console in front of an API: GET / for those who accept
// HTML, and the files below Prefix. The API answers everything else, GET / for programs
// among it.
func Front(c Config) func(http.Handler) http.Handler {
	files, version := load()
	return func(api http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			reads := r.Method == http.MethodGet || r.Method == http.MethodHead
			if reads && r.URL.Path == "/" && wantsHTML(r.Header) {
				c.page(w, r, version)
				return
			}
			name, below := strings.CutPrefix(r.URL.Path, Prefix)
			name, forGood := strings.CutPrefix(name, version+"/") // a page finds no file of another version: its parts fit together
			if f, known := files[name]; reads && below && known {
				f.send(w, r, forGood)
				return
			}
			api.ServeHTTP(w, r)
		})
	}
}

// wantsHTML reports whether a client names HTML. Programs that take anything get JSON.
func wantsHTML(h http.Header) bool {
	for _, value := range h.Values("Accept") {
		for part := range strings.SplitSeq(value, ",") {
			kind, parameters, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(kind), "text/html") && !strings.HasSuffix(strings.ReplaceAll(parameters, " ", ""), "q=0") {
				return true
			}
		}
	}
	return false
}

// page answers the one page there is. What it shows is made in the browser.
func (c Config) page(w http.ResponseWriter, r *http.Request, version string) {
	nonce := rand.Text()
	h := w.Header()
	secure(h)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept")
	// The page runs what carries the nonce, and calls this service and the servers that the
	// operator has named. Scripts of values are stopped a second time by Trusted Types: no
	// text becomes markup.
	h.Set("Content-Security-Policy", strings.Join([]string{
		"default-src 'none'", "script-src 'nonce-" + nonce + "'", "style-src 'self' 'nonce-" + nonce + "'", "img-src 'self' data:",
		"connect-src " + strings.Join(append([]string{"'self'"}, c.Servers...), " "), "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
		"require-trusted-types-for 'script'", "trusted-types 'none'",
	}, "; "))
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	if r.Method == http.MethodHead {
		return
	}
	text := strings.NewReplacer("{nonce}", nonce, "{files}", Prefix+version, "{servers}", strings.Join(c.Servers, " ")).Replace(index)
	_, _ = w.Write([]byte(text)) // a browser that is gone needs no page
}

func secure(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}
