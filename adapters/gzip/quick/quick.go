// Package quick compresses texts to gzip streams (RFC 1952). It prefers speed over size.
package quick

import (
	"bytes"

	"github.com/klauspost/compress/gzip"
)

// Packer returns a function that compresses a text. The function must not be called
// concurrently: it reuses its compressor, which takes longer to create than a short text
// takes to compress.
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
		_, _ = z.Write(text) // writing to a bytes.Buffer cannot fail
		_ = z.Close()        // as above
		return bytes.Clone(out.Bytes())
	}
}
