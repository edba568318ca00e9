package portal_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/e2e/browser"
)

// frames opens many pages in one: each in a frame, a few at a time. For every page it
// reports values that became more than text, and payloads that ran.
var frames = `(async paths => {
const planted = (d, w) => ` + strings.NewReplacer("document.", "d.", "window.", "w.").Replace(planted) + `;
const found = [];
const open = path => new Promise(done => {
	const f = document.createElement('iframe');
	f.onload = () => setTimeout(() => {
		const here = f.contentWindow.location.pathname;
		if (!path.startsWith(here)) found.push(path + ' went to ' + here);
		if (!f.contentDocument.body.innerText.trim()) found.push(path + ' is empty');
		for (const what of planted(f.contentDocument, f.contentWindow)) found.push(path + ': ' + what);
		if (window.pwned !== undefined) found.push(path + ' has run in the window around');
		f.remove();
		done();
	}, 20);
	f.src = path;
	document.body.append(f);
});
for (let i = 0; i < paths.length; i += 10) await Promise.all(paths.slice(i, i + 10).map(open));
return found.slice(0, 20);
})`

// gallery is a host that shows the answers of a handler in frames.
func gallery(t testing.TB, pages http.Handler) *browser.Tab {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /frames", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = rw.Write([]byte("<!doctype html><title>Frames</title><link rel=icon href=data:,><body>"))
	})
	mux.Handle("/", pages)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	b := browser.Open(t, server.URL)
	b.Go("/frames")
	return b
}

// TestFrames checks that the detection of scripts finds scripts.
func TestFrames(t *testing.T) {
	t.Parallel()
	bad := []string{"<p>x<script>window.pwned=1</script>", "<p>x<img src=x onerror=window.pwned=1>", "<p>x<a href=javascript:window.pwned=1>x</a>", "<p>x<iframe srcdoc=x></iframe>", "", "<p>x<script>parent.pwned=1</script>"}
	b := gallery(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		if n, err := strconv.Atoi(r.URL.Path[1:]); err == nil {
			_, _ = rw.Write([]byte("<!doctype html><body>" + bad[n]))
		}
	}))
	b.Expect("/x")
	for n := range bad {
		if found := browser.Value[[]string](b, frames+fmt.Sprintf(`(["/%d"])`, n)); len(found) == 0 {
			t.Errorf("%q is not found", bad[n])
		}
	}
}

// clean checks that values became only text on the pages.
func clean(b *browser.Tab, paths []string) {
	b.T.Helper()
	for len(paths) > 0 {
		part := paths[:min(60, len(paths))]
		paths = paths[len(part):]
		text, err := json.Marshal(part)
		must(b.T, err)
		if found := browser.Value[[]string](b, frames+"("+string(text)+")"); len(found) > 0 {
			b.T.Errorf("%q", found)
		}
	}
}

// seen serves the pages of an agent, for frames. Without their policy only the markup itself
// keeps scripts away.
func (a *agent) seen(policy bool) http.Handler {
	a.w.t.Helper()
	at, err := url.Parse(a.w.at)
	must(a.w.t, err)
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(at)
			r.Out.Header = http.Header{"Accept": r.In.Header["Accept"], "User-Agent": {"agent"}}
			for _, c := range a.jar.Cookies(at) {
				r.Out.AddCookie(c)
			}
		},
		ModifyResponse: func(resp *http.Response) error {
			h := resp.Header
			h.Del("X-Frame-Options")
			if csp := h.Get("Content-Security-Policy"); policy {
				h.Set("Content-Security-Policy", strings.ReplaceAll(csp, "frame-ancestors 'none'", "frame-ancestors 'self'"))
			} else {
				h.Del("Content-Security-Policy")
			}
			return nil
		},
	}
}
