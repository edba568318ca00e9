package gzip_test

import (
	"bytes"
	library "compress/gzip"
	"crypto/rand"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/gzip"
	"github.com/gatehouse-io/gatehouse/ports/compress"
)

// check compares the unpacked answer with the expected one, and returns the compressed
// length.
func check(t testing.TB, o compress.Opening, before, tail string) int {
	t.Helper()
	plain, packed := o.Close([]byte(tail))
	stream := bytes.Join(packed, nil)
	z, err := library.NewReader(bytes.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil || string(text) != before+tail || !bytes.Equal(text, bytes.Join(plain, nil)) {
		t.Fatalf("%d bytes, %v; want %d", len(text), err, len(before+tail))
	}
	return len(stream)
}

func TestAnswers(t *testing.T) {
	noise := make([]byte, 200_000)
	_, _ = rand.Read(noise)
	var c gzip.Coding
	for name, texts := range map[string][]string{
		"nothing": nil, "an empty part": {""}, "short ones": {"a", ",", "b"}, "long ones": {strings.Repeat("abc", 100_000), strings.Repeat("abc", 10)},
		"noise": {string(noise), "x", string(noise)},
	} {
		t.Run(name, func(t *testing.T) {
			var parts []compress.Part
			for _, text := range texts {
				parts = append(parts, c.Pack([]byte(text)))
			}
			o := c.Join(parts)
			for _, tail := range []string{"", "nonce", string(noise[:65_535]), string(noise[:65_536]), string(noise)} {
				check(t, o, strings.Join(texts, ""), tail)
			}
		})
	}
	if long := strings.Repeat(`{"api_id":"a"},`, 1000); check(t, c.Join([]compress.Part{c.Pack([]byte(long))}), long, "") > len(long)/10 {
		t.Error("hardly compressed")
	}
}

// TestShared checks that concurrent answers share parts and an opening, and that each
// part is compressed once.
func TestShared(t *testing.T) {
	var c gzip.Coding
	text := strings.Repeat("a part of several answers, ", 100)
	part := c.Pack([]byte(text))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			own := strings.Repeat(string(rune('a'+i)), 100)
			o := c.Join([]compress.Part{part, c.Pack([]byte(own)), part})
			for _, tail := range []string{"1", "2"} {
				check(t, o, text+own+text, tail)
			}
			if _, packed := o.Close(nil); &packed[1][0] != &part.Packed[0] || &packed[3][0] != &part.Packed[0] {
				t.Error("the part was copied")
			}
		})
	}
	all.Wait()
}

func FuzzAnswers(f *testing.F) {
	f.Add("one", "two", "tail")
	f.Add(strings.Repeat("x", 33), "", "")
	f.Fuzz(func(t *testing.T, a, b, tail string) {
		var c gzip.Coding
		check(t, c.Join([]compress.Part{c.Pack([]byte(a)), c.Pack([]byte(b))}), a+b, tail)
	})
}
