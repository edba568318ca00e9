// Package quick compresses texts to gzip streams (RFC 1952), as fast as can be rather than as
// small.
package quick

import (
	"bytes"

	"github.com/klauspost/compress/gzip"
)

// Packer returns a function that compresses a text. One goroutine at once may use it: it
// keeps its compressor, which takes longer to make than a short text to compress.
func Packer() func(text []byte) []byte {
	var out bytes.Buffer
	var z *gzip.Writer
	return func(text []byte) []byte {
		out.Reset()
		if z == nil {
			z, _ = gzip.NewWriterLevel(&out, gzip.BestSpeed) // the level exists
		} else {
			z.Reset(&out)
		}
		_, _ = z.Write(text) // a buffer takes everything
		_ = z.Close()        // as above
		return bytes.Clone(out.Bytes())
	}
}
