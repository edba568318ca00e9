package portal_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/adapters/web/portal/viewers"
	"github.com/gatehouse-io/gatehouse/app"
)

// TestViewers opens the pages of viewers: each has its own policy, which no other page has.
func TestViewers(t *testing.T) {
	w := newWorld(t)
	w.stocked()
	const at = "/portal/catalogue-products/pets/main/docs"
	plain := w.shows(w.open(at), 200, at+"?embed=1")
	if p := plain.header.Get("Content-Security-Policy"); strings.Contains(p, "unsafe") || strings.Contains(p, "blob:") || strings.Contains(plain.text, viewers.Prefix) {
		t.Error("the plain view is not strict", p)
	}
	p := w.shows(w.open(at+"?embed=1"), 200, "<elements-api", at+"/download", viewers.Address(viewers.Elements))
	policy := p.header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "script-src 'nonce-", "style-src 'self' 'unsafe-inline'", "connect-src 'self'", "frame-ancestors 'none'", "form-action 'none'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("%q lacks %q", policy, part)
		}
	}
	if strings.Contains(policy, "unsafe-eval") || strings.Count(policy, "unsafe") != 1 {
		t.Error(policy)
	}
	w.upload("PUT", "/portal-api/products/1/spec-details/1/graphql/schema", "a.json", []byte(`{"data":{"__schema":{"queryType":{"name":"Query"},"types":[{"kind":"OBJECT","name":"Query","description":"</template><script>alert(1)</script>","fields":[{"name":"a","args":[],"type":{"kind":"SCALAR","name":"String"}}]},{"kind":"SCALAR","name":"String"}]}}}`))
	p = w.shows(w.open(at+"?embed=1"), 200, viewers.Address(viewers.GraphiQL), "&lt;script&gt;")
	if strings.Contains(p.header.Get("Content-Security-Policy"), "unsafe") || strings.Contains(p.text, "<script>alert") {
		t.Error(p.header, p.text)
	}
	w.shows(w.open("/portal/catalogue-products/none/main/docs?embed=1"), 404, "Page not found")
	for _, name := range []string{"redoc 2.5.4 (MIT)", "@stoplight/elements 9.0.25 (Apache-2.0)", "graphiql 4.1.2 (MIT)"} {
		w.shows(w.open("/licences"), 200, name)
	}
}

// TestLargeSchema shows the beginning of a schema that exceeds a page, and says so. The whole
// schema can be downloaded.
func TestLargeSchema(t *testing.T) {
	w := newWorld(t)
	w.stocked()
	const at, note = "/portal/catalogue-products/pets/main/docs", "The schema has more than this page shows"
	for _, c := range []struct {
		marks int
		cut   bool
	}{{1000, false}, {900_000, true}} {
		w.upload("PUT", "/portal-api/products/1/spec-details/1/graphql/schema", "a.json", []byte(`{"data":{"__schema":{"queryType":{"name":"Query"},"types":[{"kind":"OBJECT","name":"Query","description":"`+strings.Repeat("<", c.marks)+`","fields":[{"name":"a","args":[],"type":{"kind":"SCALAR","name":"String"}}]},{"kind":"SCALAR","name":"String"}]}}}`))
		p := w.shows(w.open(at), 200, "__schema", "&lt;&lt;")
		if strings.Contains(p.text, note) != c.cut || len(p.text) > 1<<20+10_000 {
			t.Errorf("%d marks: a page of %d bytes, %v", c.marks, len(p.text), strings.Contains(p.text, note))
		}
		if p := w.open(at + "/download"); strings.Count(p.text, "<") != c.marks {
			t.Errorf("%d marks: a download of %d bytes", c.marks, len(p.text))
		}
	}
}

// TestDescribedElsewhere shows a description on another host, which the portal fetches instead of
// the browser; an unavailable one is reported.
func TestDescribedElsewhere(t *testing.T) {
	host := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/pets.json" || r.Header.Get("Cookie") != "" {
			http.NotFound(rw, r)
			return
		}
		_, _ = rw.Write([]byte(`{"openapi":"3.0.3","info":{"title":"Far pets","version":"1"},"paths":{"/cats":{"get":{"summary":"List far cats","responses":{}}}}}`))
	}))
	t.Cleanup(host.Close)
	allowed := fetch.Config{MaxBytes: 1 << 20, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	for _, c := range []fetch.Config{allowed, {MaxBytes: 1 << 20}, {MaxBytes: 50, Allow: allowed.Allow}} {
		w := newWorldWith(t, func(p *app.Portal) { p.Reader = fetch.New(c) })
		w.stocked()
		const at = "/portal/catalogue-products/pets/main/docs"
		w.api("PUT", "/portal-api/products/1/spec-details/1", `{"OASUrl":"`+host.URL+`/pets.json"}`)
		w.shows(w.open("/portal/catalogue-products/pets"), 200, `href="`+at+`"`)
		if c.Allow == nil || c.MaxBytes < 100 { // in the private network, and too large
			w.shows(w.open(at), 502, "cannot be read there now", host.URL)
			continue
		}
		w.shows(w.open(at), 200, "Far pets", "List far cats")
		w.shows(w.open(at+"?embed=1"), 200, "<elements-api", at+"/download")
		w.shows(w.open(at+"/download"), 200, "Far pets")
		w.api("PUT", "/portal-api/products/1/spec-details/1", `{"OASUrl":"`+host.URL+`/none.json"}`)
		w.shows(w.open(at), 502, "cannot be read there now", host.URL)
	}
}

// TestViewerFiles: files may be cached for ever under their version, and load nothing from other
// hosts.
func TestViewerFiles(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{viewers.Redoc, viewers.Elements, viewers.ElementsStyle, viewers.React, viewers.ReactDOM, viewers.GraphiQL, viewers.GraphiQLStyle, viewers.Start} {
		p := w.shows(w.open(viewers.Address(name)), 200)
		if !strings.Contains(p.header.Get("Cache-Control"), "immutable") || p.header.Get("ETag") == "" || !strings.HasPrefix(p.header.Get("Content-Type"), "text/") {
			t.Error(name, p.header)
		}
		for _, host := range []string{"cdn.redoc.ly", "unpkg.com", "@font-face"} {
			if strings.Contains(p.text, host) {
				t.Error(name, "names", host)
			}
		}
	}
	if p := w.open("/viewers/redoc.js"); p.header.Get("Cache-Control") != "no-cache" {
		t.Error(p.header)
	}
	w.shows(w.open("/viewers/../viewers.go"), 404)
	w.shows(w.open("/viewers/none.js"), 404)
}
