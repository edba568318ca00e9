package quick_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/gzip/quick"
)

// TestPacker checks that texts are compressed independently, and that a result is not
// overwritten by the next one.
func TestPacker(t *testing.T) {
	pack := quick.Packer()
	texts := []string{strings.Repeat("a line of a text\n", 5_000), "", "short", strings.Repeat("x", 1<<20)}
	var packed [][]byte
	for _, text := range texts {
		packed = append(packed, pack([]byte(text)))
	}
	for i, text := range texts {
		z, err := gzip.NewReader(bytes.NewReader(packed[i]))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(z); err != nil || string(got) != text {
			t.Errorf("%d bytes, %v; want %d", len(got), err, len(text))
		}
		if len(text) > 1000 && len(packed[i]) > len(text)/10 {
			t.Errorf("%d bytes hardly compressed: %d", len(text), len(packed[i]))
		}
	}
}
