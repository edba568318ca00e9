package portal_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/web/portal/viewers"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/core/portal/theme"
)

// raw sends a request and returns the response undecoded.
func (w *world) raw(path string, headers ...string) *http.Response {
	w.t.Helper()
	req, err := http.NewRequest("GET", w.server.URL+path, nil)
	must(w.t, err)
	req.Header.Set("Accept", "text/html")
	req.Header.Set("Accept-Encoding", "identity")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := w.client.Do(req)
	must(w.t, err)
	w.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// TestVary: the Vary header of middleware before the pages is kept.
func TestVary(t *testing.T) {
	w := newWorldWith(t, func(p *app.Portal) {
		front := p.Pages
		p.Pages = func(p app.Pages) func(http.Handler) http.Handler {
			return func(api http.Handler) http.Handler {
				h := front(p)(api)
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Add("Vary", "Origin")
					h.ServeHTTP(w, r)
				})
			}
		}
	})
	for _, path := range []string{"/", "/assets/portal.css", viewers.Address(viewers.Redoc)} {
		if have := w.raw(path).Header.Values("Vary"); !slices.Equal(have, []string{"Origin", "Accept-Encoding"}) {
			t.Errorf("%s: %q", path, have)
		}
	}
}

// TestPacked compresses large answers, except pages with a session when another site
// links to them: the compressed length would reveal their content.
func TestPacked(t *testing.T) {
	w := newWorld(t)
	w.stocked()
	for _, path := range []string{"/", "/portal/catalogue-products", "/assets/portal.css", "/assets/icon.svg", "/sitemap.xml"} {
		z := w.raw(path, "Accept-Encoding", "br, gzip;q=0.8")
		if z.Header.Get("Content-Encoding") != "gzip" || z.Header.Get("Vary") != "Accept-Encoding" {
			t.Error(path, z.Header)
			continue
		}
		reader, err := gzip.NewReader(z.Body)
		must(t, err)
		unpacked, err := io.ReadAll(reader)
		must(t, err)
		plain, err := io.ReadAll(w.raw(path).Body)
		must(t, err)
		if mask := regexp.MustCompile(`csrf[^>]*>|nonce[^>]*>`); mask.ReplaceAllString(string(unpacked), "") != mask.ReplaceAllString(string(plain), "") {
			t.Errorf("%s: another text when it is compressed", path)
		}
	}
	for _, given := range []string{"gzip;q=0", "identity", "br"} {
		if z := w.raw("/", "Accept-Encoding", given); z.Header.Get("Content-Encoding") != "" {
			t.Error(given, z.Header)
		}
	}
	w.submit(w.open("/auth/password/login"), "/auth/password/login", "login", "admin@example.com", "password", "secret")
	for from, want := range map[string]string{"same-origin": "gzip", "none": "gzip", "cross-site": "", "same-site": ""} {
		if z := w.raw("/portal/catalogue-products?search=x", "Accept-Encoding", "gzip", "Sec-Fetch-Site", from); z.Header.Get("Content-Encoding") != want {
			t.Error(from, z.Header)
		}
	}
}

// TestAssetAddresses: files may be cached for ever, at an address that changes with
// their content.
func TestAssetAddresses(t *testing.T) {
	w := newWorld(t)
	home := w.open("/")
	at := regexp.MustCompile(`/assets/portal\.css\?v=[0-9a-f]+`).FindString(home.text)
	if got := w.raw(at).Header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
		t.Error(at, got)
	}
	for _, other := range []string{"/assets/portal.css", "/assets/portal.css?v=0"} {
		z := w.raw(other)
		if z.Header.Get("Cache-Control") != "no-cache" || w.raw(other, "If-None-Match", z.Header.Get("ETag")).StatusCode != http.StatusNotModified {
			t.Error(other, z.Header)
		}
	}
}

// TestThemeChanges shows a changed theme at once, even with the same name.
func TestThemeChanges(t *testing.T) {
	w := newWorld(t)
	upload := func(version int) {
		data, err := theme.Pack(theme.Files{
			"theme.json":                 []byte(`{"name":"Ocean","version":"1","author":"ada","templates":[{"name":"Home","template":"home","layout":"portal_layout"}]}`),
			"layouts/portal_layout.tmpl": []byte(`<body>{{yield}}</body>`), "views/home.tmpl": []byte(fmt.Sprintf(`<h1>Version %d</h1><link href="{{AssetURL "a.css"}}">`, version)),
			"assets/a.css": []byte(fmt.Sprintf("b{top:%d}", version)),
		})
		must(t, err)
		w.upload("POST", "/portal-api/themes/upload", "ocean.zip", data)
	}
	upload(1)
	w.shows(w.open("/"), 200, "Build with our APIs")
	w.api("PUT", "/portal-api/themes/Ocean/activate", "")
	for version := 1; version <= 3; version++ {
		upload(version)
		p := w.shows(w.open("/"), 200, fmt.Sprintf("Version %d", version))
		w.shows(w.open(regexp.MustCompile(`/assets/[^"]*`).FindString(p.text)), 200, fmt.Sprintf("b{top:%d}", version))
	}
	w.api("PUT", "/portal-api/themes/default/activate", "")
	w.shows(w.open("/"), 200, "Build with our APIs")
}
