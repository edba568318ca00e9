// Package viewers embeds third-party programs that show documentation in browsers, as
// published. The command in build maintains them; licences.txt lists them.
package viewers

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
)

//go:embed packages start.js
var packages embed.FS

// Licences names the packages with their licences.
//
//go:embed licences.txt
var Licences string

// Prefix is the prefix of the addresses of the files.
const Prefix = "/viewers/"

// Names of the files that pages load.
const (
	Redoc         = "redoc.js"
	Elements      = "elements.js"
	ElementsStyle = "elements.css"
	React         = "react.js"
	ReactDOM      = "react-dom.js"
	GraphiQL      = "graphiql.js"
	GraphiQLStyle = "graphiql.css"
	Start         = "start.js" // our own file
)

// sources are the embedded paths of the files.
var sources = map[string]string{
	Redoc: "packages/redoc/bundles/redoc.standalone.js", Elements: "packages/@stoplight/elements/web-components.min.js", ElementsStyle: "packages/@stoplight/elements/styles.min.css",
	React: "packages/react/umd/react.production.min.js", ReactDOM: "packages/react-dom/umd/react-dom.production.min.js", GraphiQL: "packages/graphiql/graphiql.min.js", GraphiQLStyle: "packages/graphiql/graphiql.min.css", Start: "start.js",
}

// elsewhere replaces addresses on other hosts from which packages would load something:
// a logo, and a library for diagrams. Fonts in styles are removed: the pages have their
// own.
var (
	elsewhere = strings.NewReplacer("https://cdn.redoc.ly/redoc/logo-mini.svg", "data:,", "https://unpkg.com/mermaid@9.4.3/dist/mermaid.min.js", "data:,")
	fonts     = regexp.MustCompile(`@font-face\s*\{[^}]*\}`)
	maps      = regexp.MustCompile(`(?m)^(//|/\*)# sourceMappingURL=.*$`)
)

// file is one file, prepared for sending.
type file struct {
	version string // the first characters of its SHA-256
	packed  []byte
	plain   []byte
}

// files are prepared on first use: most portals use only some of them.
var files = func() map[string]func() *file {
	out := map[string]func() *file{}
	for name := range sources {
		out[name] = sync.OnceValue(func() *file { return load(name) })
	}
	return out
}()

func load(name string) *file {
	raw, err := packages.ReadFile(sources[name])
	if err != nil {
		panic("viewers: the program was built without " + name) // the file is embedded: it is missing only in a broken build
	}
	text := maps.ReplaceAllString(elsewhere.Replace(string(raw)), "")
	if strings.HasSuffix(name, ".css") {
		text = fonts.ReplaceAllString(text, "")
	}
	sum := sha256.Sum256([]byte(text))
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // writes to memory
	_ = w.Close()
	return &file{hex.EncodeToString(sum[:8]), b.Bytes(), []byte(text)}
}

// Address returns the address of a file, with its version.
func Address(name string) string { return Prefix + name + "?v=" + files[name]().version }

// Serve serves a file.
func Serve(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, Prefix)
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	ready, known := files[name]
	if !known {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	f := ready()
	h.Set("Content-Type", "text/javascript; charset=utf-8")
	if strings.HasSuffix(name, ".css") {
		h.Set("Content-Type", "text/css; charset=utf-8")
	}
	h.Add("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if r.URL.Query().Get("v") == f.version {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	text, tag := f.plain, `"`+f.version+`"`
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		text, tag = f.packed, `"`+f.version+`-gzip"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}
