package portal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

// assetPrefix is the prefix of the addresses of theme files.
const assetPrefix = "/assets/"

// asset is a file of a theme.
type asset struct {
	text      []byte
	sum       string
	mediaType string
	packed    func() []byte // nil: the file is not compressed
}

func assetOf(name string, text []byte) *asset {
	sum := sha256.Sum256(text)
	out := &asset{text: text, sum: hex.EncodeToString(sum[:8]), mediaType: mime.TypeByExtension(path.Ext(name))}
	switch path.Ext(name) {
	case ".js", ".mjs":
		out.mediaType = "text/javascript; charset=utf-8"
	case ".html", ".htm", ".xhtml", ".xml", "":
		out.mediaType = "text/plain; charset=utf-8" // an asset must not be rendered as a page
	}
	if out.mediaType == "" {
		out.mediaType = "application/octet-stream"
	}
	if strings.HasPrefix(out.mediaType, "text/") || strings.HasPrefix(out.mediaType, "image/svg") || strings.HasPrefix(out.mediaType, "application/json") {
		out.packed = sync.OnceValue(func() []byte { return packed(text) })
	}
	return out
}

// asset serves a file of the current theme or, if the theme lacks it, of the standard
// one.
func (s *server) asset(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	h.Set("Cache-Control", "no-cache")
	found := s.standard.assets[r.PathValue("path")]
	if t, err := s.worn(r.Context()); err == nil && t.assets[r.PathValue("path")] != nil {
		found = t.assets[r.PathValue("path")]
	}
	if found == nil {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	if r.URL.Query().Get("v") == found.sum {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	text, tag := found.text, found.sum
	if found.packed != nil {
		h.Add("Vary", "Accept-Encoding")
		if takesGzip(r) {
			h.Set("Content-Encoding", "gzip")
			text, tag = found.packed(), tag+"-gzip"
		}
	}
	h.Set("Content-Type", found.mediaType)
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}

// assetAt returns the address of a theme file with a version, so that browsers can cache
// it: another file has another address.
func (v *visit) assetAt(name string) string {
	for _, t := range []*dressed{v.shown, v.standard} {
		if a := t.assets[name]; a != nil {
			return assetPrefix + name + "?v=" + a.sum
		}
	}
	return assetPrefix + name
}
