// Package console serves the operations console: browser pages that use only the public
// API. The command in build makes the files in dist from src and vendor; all are in the
// repository, so that building a program with the console needs no other tool.
package console

import (
	"crypto/rand"
	"net/http"
	"strings"
)

// Config says how the console is served. The zero Config serves it.
type Config struct {
	// Servers are origins of other control planes, such as https://plane.example.com, that
	// the console may call. The browser calls no other host.
	Servers []string
}

// Prefix is the prefix of the paths of the console's files.
const Prefix = "/console/"

// Front returns a middleware that serves the console in front of an API: GET / for clients
// that accept HTML, and the files below Prefix. The API answers all other requests, also
// GET / from programs.
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
			name, forGood := strings.CutPrefix(name, version+"/") // files of another version are not served: the files of a page belong together
			if f, known := files[name]; reads && below && known {
				f.send(w, r, forGood)
				return
			}
			api.ServeHTTP(w, r)
		})
	}
}

// wantsHTML reports whether a client names HTML. Programs that accept anything get JSON.
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

// page serves the one page of the console, which scripts fill in the browser.
func (c Config) page(w http.ResponseWriter, r *http.Request, version string) {
	nonce := rand.Text()
	h := w.Header()
	secure(h)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept")
	// The page runs only scripts with the nonce, and calls only this service and the
	// configured servers. Trusted Types are a second protection against injected scripts:
	// no text becomes markup.
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
	_, _ = w.Write([]byte(text)) // the browser may have disconnected
}

func secure(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}
