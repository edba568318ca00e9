package console_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// holding lets a test delay when the page is notified of what it has drawn: the UI library waits
// for the next frame, which takes a while on a busy machine.
const holding = `{
const frame = window.requestAnimationFrame, later = window.setTimeout;
window.held = [];
window.requestAnimationFrame = f => window.hold ? (window.held.push(f), 0) : frame.call(window, f);
window.setTimeout = (f, ms, ...a) => window.hold && ms < 100 ? (window.held.push(f), 0) : later.call(window, f, ms, ...a);
}`

// TestPartComesMeanwhile: a script that is preloaded arrives after a page that needs it was drawn,
// and before that page listens. The page appears nevertheless.
func TestPartComesMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at, err := url.Parse(w.at)
	must(t, err)
	asked, given := make(chan struct{}), make(chan struct{})
	var once sync.Once
	forward := httputil.NewSingleHostReverseProxy(at)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/work.js") {
			once.Do(func() { close(asked) })
			<-given
		}
		forward.ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	b := open(t, server.URL)
	b.Expect("/api/users/me")
	_, err = chromedp.Call(b.Ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: holding})
	must(t, err)
	b.load("")
	b.Fill("E-mail address", address)
	b.Fill("Password", password)
	b.Click("Sign in")
	b.See("Needs attention")
	<-asked
	must(t, b.Run("window.hold = true; 0", nil))
	b.visit("registry")
	b.See("Loading the page")
	close(given)
	b.Wait("performance.getEntriesByType('resource').some(e => e.name.endsWith('/work.js') && e.responseEnd)")
	must(t, b.Run("new Promise(done => { const c = new MessageChannel(); c.port1.onmessage = done; c.port2.postMessage(0); }).then(() => import(performance.getEntriesByType('resource').find(e => e.name.endsWith('/work.js')).name)).then(() => 0)", nil))
	must(t, b.Run("window.hold = false; window.held.splice(0).forEach(f => f()); 0", nil))
	b.Wait("document.querySelector('h1')?.innerText.includes('Registry')")
}

// TestAddressChangesMeanwhile: the address changes after the first page was drawn, and before the
// console listens to the address. The console follows.
func TestAddressChangesMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := open(t, w.at)
	b.Expect("/api/users/me")
	_, err := chromedp.Call(b.Ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: holding})
	must(t, err)
	b.load("")
	b.Fill("E-mail address", address)
	b.Fill("Password", password)
	must(t, b.Run("window.hold = true; 0", nil))
	b.Click("Sign in")
	b.Wait("document.querySelector('#nav a')")
	b.visit("policies")
	b.Wait("location.hash === '#/policies'")
	must(t, b.Run("window.hold = false; window.held.splice(0).forEach(f => f()); 0", nil))
	b.Wait("document.querySelector('h1')?.innerText.includes('Policies')")
}
