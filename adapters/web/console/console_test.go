package console_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/web/console"
)

// api stands for the API behind the console.
var api = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusNotFound)
	_, _ = io.WriteString(w, `{"path":"`+r.URL.Path+`"}`)
})

func ask(c console.Config, method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, http.NoBody)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	console.Front(c)(api).ServeHTTP(w, r)
	return w
}

// TestWhoGetsThePage: browsers get the console at /, programs get the API's answer, and the
// console takes only its own files' paths from the API.
func TestWhoGetsThePage(t *testing.T) {
	for _, c := range []struct {
		method, path, accept string
		status               int
	}{
		{"GET", "/", "text/html,application/xhtml+xml,*/*;q=0.8", 200}, {"HEAD", "/", "text/html", 200}, {"GET", "/", "TEXT/HTML; q=0.5", 200},
		{"GET", "/", "", 404}, {"GET", "/", "*/*", 404}, {"GET", "/", "application/json", 404}, {"GET", "/", "text/html;q=0", 404}, {"POST", "/", "text/html", 404},
		{"GET", "/console/console.js", "", 200}, {"HEAD", "/console/console.css", "", 200}, {"GET", "/console/licences.txt", "", 200}, {"GET", "/console/icon.svg", "", 200},
		{"GET", "/console/", "text/html", 404}, {"GET", "/console/other.js", "", 404}, {"GET", "/console/../console.go", "", 404}, {"GET", "/console/sub/console.js", "", 404},
		{"POST", "/console/console.js", "", 404}, {"GET", "/api/apis", "text/html", 404}, {"GET", "/login", "text/html", 404},
	} {
		if got := ask(console.Config{}, c.method, c.path, "Accept", c.accept); got.Code != c.status {
			t.Errorf("%s %s, Accept %q: %d, not %d", c.method, c.path, c.accept, got.Code, c.status)
		}
	}
}

// TestPolicy: the page runs scripts with its nonce, which differs each time, and calls only
// this service and the configured servers.
func TestPolicy(t *testing.T) {
	nonce := regexp.MustCompile(`script-src 'nonce-([A-Z2-7]{26})'`)
	seen := map[string]bool{}
	for range 3 {
		w := ask(console.Config{Servers: []string{"https://plane.example.com"}}, "GET", "/", "Accept", "text/html")
		policy, page := w.Header().Get("Content-Security-Policy"), w.Body.String()
		m := nonce.FindStringSubmatch(policy)
		if m == nil || seen[m[1]] {
			t.Fatalf("no nonce of its own: %s", policy)
		}
		seen[m[1]] = true
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'", "connect-src 'self' https://plane.example.com;"} {
			if !strings.Contains(policy, want) {
				t.Errorf("the policy lacks %s: %s", want, policy)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Count(page, "<script") != strings.Count(page, `nonce="`+m[1]+`" src="/console/`) || strings.Contains(page, "{") {
			t.Errorf("the page has a script without the nonce, or a place that was not filled:\n%s", page)
		}
		h := w.Header()
		if h.Get("X-Frame-Options") != "DENY" || h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("headers: %v", h)
		}
	}
}

// TestFiles: files are compressed, have an entity tag, and may be cached for ever under the
// address in the page.
func TestFiles(t *testing.T) {
	page := ask(console.Config{}, "GET", "/", "Accept", "text/html").Body.String()
	for _, name := range []string{"console.js", "console.css", "chunk.js", "icon.svg"} {
		at := regexp.MustCompile(`/console/[0-9a-f]{16}/` + name).FindString(page)
		w := ask(console.Config{}, "GET", at, "Accept-Encoding", "gzip")
		z, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		text, err := io.ReadAll(z)
		want, more := os.ReadFile("dist/" + name)
		if err != nil || more != nil || string(text) != string(want) || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %v %v %v", at, err, more, w.Header())
		}
		if again := ask(console.Config{}, "GET", at, "Accept-Encoding", "gzip", "If-None-Match", w.Header().Get("ETag")); again.Code != http.StatusNotModified {
			t.Errorf("%s: %d for the same tag", at, again.Code)
		}
		if old := ask(console.Config{}, "GET", "/console/0123456789abcdef/"+name); old.Code != http.StatusNotFound {
			t.Errorf("%s: %d for a file of another version", name, old.Code)
		}
		if plain := ask(console.Config{}, "GET", "/console/"+name); plain.Body.String() != string(want) || plain.Header().Get("Cache-Control") != "no-cache" || plain.Header().Get("ETag") == w.Header().Get("ETag") {
			t.Errorf("%s: %v", name, plain.Header())
		}
	}
}

// TestFirstLoad: the files that a browser loads before sign-in are small. Pages, editor and
// YAML are loaded later. The page preloads the imports of the first script, which saves a
// round trip.
func TestFirstLoad(t *testing.T) {
	const limit = 30_000
	page, first := ask(console.Config{}, "GET", "/", "Accept", "text/html").Body.String(), ask(console.Config{}, "GET", "/console/console.js").Body.String()
	names := []string{"console.js", "console.css"}
	for _, m := range regexp.MustCompile(`from"\./([a-z]+\.js)"`).FindAllStringSubmatch(first, -1) {
		names = append(names, m[1])
	}
	total := 0
	for _, name := range names {
		total += ask(console.Config{}, "GET", "/console/"+name, "Accept-Encoding", "gzip").Body.Len()
		if !strings.Contains(page, "/"+name+`"`) {
			t.Errorf("the page does not name %s", name)
		}
	}
	if total > limit {
		t.Errorf("the first load of %v has %d bytes, at most %d", names, total, limit)
	}
	for _, later := range []string{"lists.js", "work.js", "pages.js"} {
		if slices.Contains(names, later) || !strings.Contains(first, `import("./`+later+`")`) {
			t.Errorf("%s is not loaded when it is needed", later)
		}
	}
	t.Logf("first load: %d bytes compressed", total)
}
