package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed dist
var dist embed.FS

//go:embed index.html
var index string

// Names of the files that the page needs.
const (
	script = "console.js"
	style  = "console.css"
)

// file is one file of the console, prepared for sending.
type file struct {
	version       string // the first characters of its SHA-256
	mediaType     string
	plain, packed []byte
}

// load reads and compresses the embedded files once. Their version is the first characters of
// a SHA-256 of all files.
func load() (out map[string]*file, version string) {
	out = map[string]*file{}
	all := sha256.New()
	names, err := fs.ReadDir(dist, "dist")
	for _, entry := range names {
		var text []byte
		if text, err = fs.ReadFile(dist, path.Join("dist", entry.Name())); err != nil {
			break
		}
		sum := sha256.Sum256(text)
		all.Write(sum[:])
		mediaType := mime.TypeByExtension(path.Ext(entry.Name()))
		switch path.Ext(entry.Name()) {
		case ".js":
			mediaType = "text/javascript; charset=utf-8"
		case ".txt":
			mediaType = "text/plain; charset=utf-8"
		}
		var packed bytes.Buffer // writing to a bytes.Buffer cannot fail
		w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		_, _ = w.Write(text)
		_ = w.Close()
		out[entry.Name()] = &file{version: hex.EncodeToString(sum[:8]), mediaType: mediaType, plain: text, packed: packed.Bytes()}
	}
	if err != nil || out[script] == nil || out[style] == nil {
		panic("console: the program was built without the console's files") // the files are embedded: they are missing only in a broken build
	}
	return out, hex.EncodeToString(all.Sum(nil)[:8])
}

// send serves the file. forGood says that the address contains the version, so that the file
// may be cached for ever.
func (f *file) send(w http.ResponseWriter, r *http.Request, forGood bool) {
	h := w.Header()
	secure(h)
	h.Set("Content-Type", f.mediaType)
	h.Add("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if forGood {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	text, tag := f.plain, `"`+f.version+`"`
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && len(f.packed) < len(f.plain) {
		text, tag = f.packed, `"`+f.version+`-gzip"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}
