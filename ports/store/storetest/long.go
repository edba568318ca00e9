package storetest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Long returns a JSON document of about n bytes, with multi-byte characters and some that JSON
// escapes. Documents with different seeds have nothing in common.
func Long(seed string, n int) []byte {
	unit := seed + `é€𝄞 \"\\\n` + "\u2028" + strings.Repeat(seed, 90/len(seed)) + " "
	return []byte(`{"text":"` + strings.Repeat(unit, n/len(unit)) + `"}`)
}

// longTests are about documents that back ends store in parts.
var longTests = []test{
	{"long documents", func(t *testing.T, b Backend) {
		long := [][]byte{Long("a", 2_200_000), Long("b", 1_200_000), []byte(`{}`), Long("c", 1<<20), Long("d", 1<<20+200), append(Long("d", 1<<20+200), ' ')}
		var revs []store.Revision
		put := func(id string, text []byte) {
			t.Helper()
			revs = append(revs, update(t, b, "a", func(ctx context.Context, w store.Writer) error {
				r := store.Record{Org: "a", Kind: "long", ID: id, Doc: text}
				if old, err := w.Get(ctx, "long", id); err == nil {
					r.Rev = old.Rev
				}
				return w.Put(ctx, r)
			}))
			if got := viewed(t, b, id); !bytes.Equal(got, text) {
				t.Errorf("after %d: %d bytes, not %d", revs[len(revs)-1], len(got), len(text))
			}
		}
		put("0", Long("x", 1_100_000))
		for _, text := range long {
			put("1", text)
		}
		update(t, b, "a", func(ctx context.Context, w store.Writer) error { return w.Delete(ctx, "long", "1") })
		put("1", long[0])
		if got := snapped(t, b, "1"); !bytes.Equal(got, long[0]) {
			t.Errorf("in the snapshot: %d bytes, not %d", len(got), len(long[0]))
		}
		for i, text := range long {
			if got, err := store.At(t.Context(), b, scope(t, "a"), "long", "1", revs[i+1]); err != nil || !bytes.Equal(got, text) {
				t.Errorf("at %d: %d bytes, not %d; %v", revs[i+1], len(got), len(text), err)
			}
		}
		n := 0
		for _, err := range b.History(t.Context(), scope(t, "a"), "long", "1") {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
		same(t, "commits", n, len(long)+2)
	}},
	{"long documents among others", func(t *testing.T, b Backend) {
		want := map[string]string{}
		update(t, b, "a", func(ctx context.Context, w store.Writer) error {
			for i := range 30 {
				id := fmt.Sprint(i)
				text := []byte(`{"n":1}`)
				if i%10 == 3 {
					text = Long(id, 1_200_000)
				}
				want[id] = string(text)
				if err := w.Put(ctx, store.Record{Org: "a", Kind: "long", ID: id, Doc: text}); err != nil {
					return err
				}
			}
			return nil
		})
		view(t, b, "a", func(ctx context.Context, r store.Reader) error {
			for rec, err := range r.Scan(ctx, store.Query{Kind: "long"}) {
				if err != nil || string(rec.Doc) != want[rec.ID] {
					t.Errorf("%s: %d bytes, %v", rec.ID, len(rec.Doc), err)
				}
				delete(want, rec.ID)
			}
			return nil
		})
		same(t, "left", len(want), 0)
	}},
}

func viewed(t *testing.T, b Backend, id string) (text []byte) {
	t.Helper()
	view(t, b, "a", func(ctx context.Context, r store.Reader) error {
		rec, err := r.Get(ctx, "long", id)
		text = rec.Doc
		return err
	})
	return text
}

func snapped(t *testing.T, b Backend, id string) (text []byte) {
	t.Helper()
	if err := b.Snapshot(t.Context(), func(s store.State) error {
		for rec, err := range s.Records {
			if err != nil {
				return err
			}
			if rec.Org == tenant.ID("a") && rec.Kind == "long" && rec.ID == id {
				text = rec.Doc
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return text
}
