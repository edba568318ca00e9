package portal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/theme"
)

// assetPrefix begins the addresses of files of the theme.
const assetPrefix = "/assets/"

// asset is a file of a theme.
type asset struct {
	text      []byte
	tag       string
	mediaType string
}

func assetOf(name string, text []byte) *asset {
	sum := sha256.Sum256(text)
	out := &asset{text, `"` + hex.EncodeToString(sum[:8]) + `"`, mime.TypeByExtension(path.Ext(name))}
	switch path.Ext(name) {
	case ".js", ".mjs":
		out.mediaType = "text/javascript; charset=utf-8"
	case ".html", ".htm", ".xhtml", ".xml", "":
		out.mediaType = "text/plain; charset=utf-8" // no asset is a page
	}
	if out.mediaType == "" {
		out.mediaType = "application/octet-stream"
	}
	return out
}

func assetsOf(t theme.Content) map[string]*asset {
	out := map[string]*asset{}
	for name, text := range t.Files {
		if at, ok := strings.CutPrefix(name, "assets/"); ok {
			out[at] = assetOf(name, text)
		}
	}
	return out
}

// asset answers with a file of the theme that is shown or, if it lacks it, of the
// standard one.
func (s *server) asset(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	h.Set("Cache-Control", "no-cache")
	name := r.PathValue("path")
	found := s.assets[name]
	if t, err := s.Theme(r.Context()); err == nil && t.Name != s.Standard.Name {
		if text := t.Files["assets/"+name]; text != nil {
			found = assetOf(name, text)
		}
	}
	if found == nil {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	h.Set("Content-Type", found.mediaType)
	h.Set("ETag", found.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(found.text))
}
