package portal

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"sync"
)

// zips is a pool of compressors.
var zips = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// packed compresses a text.
func packed(text []byte) []byte {
	z, _ := zips.Get().(*gzip.Writer)
	defer zips.Put(z)
	var out bytes.Buffer
	z.Reset(&out)
	_, _ = z.Write(text) // writes to memory
	_ = z.Close()        // writes to memory
	return out.Bytes()
}

// takesGzip reports whether a browser accepts gzip.
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, quality, _ := strings.Cut(strings.ReplaceAll(part, " ", ""), ";")
		if strings.EqualFold(name, "gzip") {
			return strings.Trim(quality, "q=.0") != "" || quality == ""
		}
	}
	return false
}
