package sqlite_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestLogIsWrittenBack: the write-ahead log stays short under constant writes, although
// no commit runs a checkpoint itself.
func TestLogIsWrittenBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	s := open(t, path)
	const size, rounds, most = 1 << 20, 50, 96 << 20
	for i := range rounds {
		if _, err := s.Update(t.Context(), acme, func(w store.Writer) error {
			r := store.Record{Org: "a", Kind: "k", ID: "1", Doc: bytes.Repeat([]byte{'0' + byte(i%10)}, size)}
			if old, err := w.Get(t.Context(), "k", "1"); err == nil {
				r.Rev = old.Rev
			}
			return w.Put(t.Context(), r)
		}); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() > most {
		t.Errorf("%d MiB were written, and the log has %d: %v", rounds*size>>20, info.Size()>>20, err)
	}
}
