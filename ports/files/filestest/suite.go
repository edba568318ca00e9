// Package filestest is the test suite that every files.Storage passes.
package filestest

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/ports/files"
)

// Run tests an empty storage. It encodes what Keep returns as JSON and decodes it again, as
// happens when it is stored in a record.
func Run(t *testing.T, s files.Storage) {
	ctx := t.Context()
	keep := func(t *testing.T, name string, content []byte) file.Content {
		t.Helper()
		c, err := s.Keep(ctx, name, content)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var out file.Content
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	outside := s.Apart()

	t.Run("contents are as they were kept", func(t *testing.T) {
		for name, content := range map[string][]byte{"empty": {}, "one": {0}, "line": []byte("a\r\nb\x00"), "large": bytes.Repeat([]byte("0123456789abcdef"), 6<<16)} {
			c := keep(t, "default/products/"+name+".png", content)
			if have, err := s.Open(ctx, c); err != nil || !bytes.Equal(have, content) {
				t.Errorf("%s: %d bytes, %v", name, len(have), err)
			}
		}
	})
	t.Run("names are apart", func(t *testing.T) {
		a, b := keep(t, "a/themes/1.zip", []byte("a")), keep(t, "b/themes/1.zip", []byte("b"))
		if err := s.Drop(ctx, "a/themes/1.zip"); err != nil {
			t.Fatal(err)
		}
		if have, err := s.Open(ctx, b); err != nil || string(have) != "b" {
			t.Errorf("%q, %v", have, err)
		}
		if _, err := s.Open(ctx, a); outside && !errors.Is(err, files.ErrAbsent) {
			t.Errorf("a file that was dropped: %v", err)
		}
		if err := s.Drop(ctx, "a/themes/1.zip"); err != nil {
			t.Errorf("dropped twice: %v", err)
		}
	})
	t.Run("hostile names", func(t *testing.T) { hostile(t, s) })
	t.Run("what is elsewhere", func(t *testing.T) {
		if _, err := s.Open(ctx, file.Content{Place: file.Place{Name: "default/products/none.png", Size: 1}}); !errors.Is(err, files.ErrAbsent) {
			t.Errorf("a file that is not there: %v", err)
		}
		if have, err := s.Open(ctx, file.Content{Data: []byte("in the record")}); err != nil || string(have) != "in the record" {
			t.Errorf("a content that is in its record: %q, %v", have, err)
		}
		c := keep(t, "default/products/size.png", []byte("12345"))
		if c.Place.Size--; outside {
			if _, err := s.Open(ctx, c); !errors.Is(err, files.ErrDamaged) {
				t.Errorf("a file of another size: %v", err)
			}
		}
	})
}

// hostile tests names that lead out of a storage.
func hostile(t *testing.T, s files.Storage) {
	ctx, outside := t.Context(), s.Apart()
	for _, name := range []string{"", ".", "..", "../x", "a/../../x", "/x", "a//x", `a\x`, "a/.x", "a x", "a\x00", strings.Repeat("a", 600)} {
		if c, err := s.Keep(ctx, name, []byte("x")); outside && !errors.Is(err, files.ErrName) || !outside && c.Place.Name != "" {
			t.Errorf("kept %q: %v", name, err)
		}
		if _, err := s.Open(ctx, file.Content{Place: file.Place{Name: name, Size: 1}}); name != "" && !errors.Is(err, files.ErrName) && !errors.Is(err, files.ErrAbsent) {
			t.Errorf("opened %q: %v", name, err)
		}
		if err := s.Drop(ctx, name); outside && !errors.Is(err, files.ErrName) {
			t.Errorf("dropped %q: %v", name, err)
		}
	}
}
