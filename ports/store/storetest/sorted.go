package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

func byRank(prefix string) store.Query {
	return store.Query{Kind: "thing", Index: "rank", Sorted: true, Prefix: prefix}
}

// ranked stores things with a rank of a family, a NUL and a number. Every third thing has no
// rank, and another organisation has the same things.
func ranked(t *testing.T, b Backend, n int) {
	for _, org := range []tenant.ID{"a", "b"} {
		update(t, b, org, func(ctx context.Context, w store.Writer) error {
			for i := range n {
				v := thing{ID: fmt.Sprintf("%04d", i*7919%10007), Org: org, Name: fmt.Sprint(i)}
				if i%3 > 0 {
					v.Rank = fmt.Sprintf("f%d\x00%03d", i%3, i/6)
				}
				if err := things.Insert(ctx, w, v); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// expected returns the expected result of a query by rank in an organisation: rank and ID.
func expected(t testing.TB, b Backend, prefix string) (out []string) {
	t.Helper()
	view(t, b, "a", func(ctx context.Context, r store.Reader) error {
		out = nil
		for v, err := range things.Find(ctx, r, store.Query{}) {
			if err != nil {
				return err
			}
			if v.Value.Rank != "" && strings.HasPrefix(v.Value.Rank, prefix) {
				out = append(out, line(v.Value))
			}
		}
		slices.Sort(out)
		return nil
	})
	return out
}

// line is a text that sorts as things do by rank and ID.
func line(v thing) string { return v.Rank + "\x00" + v.ID }

func found(ctx context.Context, r store.Reader, q store.Query) (out []string, err error) {
	for v, err := range things.Find(ctx, r, q) {
		if err != nil {
			return nil, err
		}
		out = append(out, line(v.Value))
	}
	return out, nil
}

// checkRanks compares queries by rank with the expected results.
func checkRanks(t testing.TB, r store.Reader, prefix string, want []string) {
	t.Helper()
	backwards := slices.Clone(want)
	slices.Reverse(backwards)
	for _, desc := range []bool{false, true} {
		list := want
		if desc {
			list = backwards
		}
		for _, window := range [][2]int{{0, 0}, {0, 1}, {0, 3}, {2, 3}, {max(0, len(list)-2), 5}, {len(list), 5}, {1, 0}} {
			q := byRank(prefix)
			q.Desc, q.Offset, q.Limit = desc, window[0], window[1]
			end := len(list)
			if q.Limit > 0 {
				end = min(end, q.Offset+q.Limit)
			}
			part := list[min(q.Offset, len(list)):end]
			got, err := found(t.Context(), r, q)
			if err != nil {
				t.Error(err)
			}
			same(t, fmt.Sprintf("%q %v %v", prefix, desc, window), got, part)
			page, total, err := things.Page(t.Context(), r, q)
			if err != nil || total != len(list) || len(page) != len(part) {
				t.Errorf("%q %v %v: page of %d of %d, %v", prefix, desc, window, len(page), total, err)
				continue
			}
			for i, v := range page {
				same(t, fmt.Sprintf("%q %v %v: %d", prefix, desc, window, i), line(v.Value), part[i])
			}
		}
	}
}

var prefixes = []string{"", "f1\x00", "f2\x00", "f1", "f", "f1\x0000", "f3\x00", "x"}

var sortedTests = []test{
	{"lists in order of an index", func(t *testing.T, b Backend) {
		ranked(t, b, 700) // more than back ends fetch at once
		for _, prefix := range prefixes {
			want := expected(t, b, prefix)
			view(t, b, "a", func(_ context.Context, r store.Reader) error { checkRanks(t, r, prefix, want); return nil })
		}
	}},
	{"lists in descending order of ID", func(t *testing.T, b Backend) {
		for _, id := range []string{"b", "a", "d", "c"} {
			insert(t, b, thing{ID: id, Org: "a", Name: id, Owner: "o"})
			insert(t, b, thing{ID: id, Org: "b", Name: id})
		}
		a := scope(t, "a")
		same(t, "all", ids(t, b, a, store.Query{Desc: true}), []string{"a/d", "a/c", "a/b", "a/a"})
		same(t, "window", ids(t, b, a, store.Query{Desc: true, Offset: 1, Limit: 2}), []string{"a/c", "a/b"})
		same(t, "one", ids(t, b, a, store.Query{Desc: true, Limit: 1}), []string{"a/d"})
		same(t, "after", ids(t, b, a, store.Query{Desc: true, After: "c"}), []string{"a/b", "a/a"})
		same(t, "by key", ids(t, b, a, store.Query{Desc: true, Index: "owner", Value: "o", Limit: 1}), []string{"a/d"})
		same(t, "everyone", ids(t, b, tenant.Everyone("test"), store.Query{Desc: true, Limit: 5}), []string{"b/d", "b/c", "b/b", "b/a", "a/d"})
	}},
	{"order and counts follow every change", func(t *testing.T, b Backend) {
		ranked(t, b, 30)
		edit(t, b, "a", "1", func(v *thing) { v.Rank = "f2\x00zzz" })  // moves into another family
		edit(t, b, "a", "2", func(v *thing) { v.Rank = "" })           // leaves the index
		edit(t, b, "a", "3", func(v *thing) { v.Rank = "f1\x00" })     // enters the index, before all others
		edit(t, b, "a", "4", func(v *thing) { v.N = 9 })               // rank unchanged
		edit(t, b, "a", "5", func(v *thing) { v.Rank = "f1\x00\x01" }) // unusual bytes keep their order
		edit(t, b, "a", "6", func(v *thing) { v.Rank = "f1\x01" })
		edit(t, b, "a", "7", func(v *thing) { v.Rank = "plain" })
		remove(t, b, "a", "8")
		insert(t, b, thing{ID: "9999", Org: "a", Name: "8", Rank: "f1\x00000"}) // the rank of another thing
		for _, prefix := range prefixes {
			want := expected(t, b, prefix)
			view(t, b, "a", func(_ context.Context, r store.Reader) error { checkRanks(t, r, prefix, want); return nil })
		}
	}},
	{"a unit sees its own order", func(t *testing.T, b Backend) {
		ranked(t, b, 12)
		update(t, b, "a", func(ctx context.Context, w store.Writer) error {
			err := errors.Join(
				editIn(ctx, w, "1", func(v *thing) { v.Rank = "f2\x00zzz" }),
				editIn(ctx, w, "2", func(v *thing) { v.Rank = "" }),
				things.Insert(ctx, w, thing{ID: "5", Org: "a", Name: "new", Rank: "f1\x00000"}))
			_, err2 := things.Delete(ctx, w, "4", nil)
			var all []string
			for v := range things.Find(ctx, w, store.Query{}) {
				if v.Value.Rank != "" {
					all = append(all, line(v.Value))
				}
			}
			slices.Sort(all)
			for _, prefix := range prefixes {
				checkRanks(t, w, prefix, slices.DeleteFunc(slices.Clone(all), func(s string) bool { return !strings.HasPrefix(s, prefix) }))
			}
			n, err3 := w.Count(ctx, store.Query{Kind: "thing"})
			same(t, "count", n, 12)
			return errors.Join(err, err2, err3)
		})
	}},
	{"an order is of one organisation", func(t *testing.T, b Backend) {
		check := func(r store.Reader) {
			if _, err := found(t.Context(), r, byRank("")); !errors.Is(err, store.ErrScope) {
				t.Error(err)
			}
			if _, err := r.Count(t.Context(), byRank("")); !errors.Is(err, store.ErrScope) {
				t.Error(err)
			}
		}
		everyone := tenant.Everyone("test")
		err := b.View(t.Context(), everyone, func(r store.Reader) error { check(r); return nil })
		_, err2 := b.Update(t.Context(), everyone, func(w store.Writer) error { check(w); return nil })
		if err := errors.Join(err, err2); err != nil {
			t.Error(err)
		}
	}},
	{"a failed unit leaves the counts", func(t *testing.T, b Backend) {
		ranked(t, b, 6)
		want := expected(t, b, "")
		boom := errors.New("boom")
		if _, err := b.Update(t.Context(), scope(t, "a"), func(w store.Writer) error {
			return errors.Join(things.Insert(t.Context(), w, thing{ID: "x", Org: "a", Name: "x", Rank: "f1\x00"}), boom)
		}); !errors.Is(err, boom) {
			t.Fatal(err)
		}
		view(t, b, "a", func(ctx context.Context, r store.Reader) error {
			n, err := r.Count(ctx, store.Query{Kind: "thing"})
			same(t, "things", n, 6)
			checkRanks(t, r, "", want)
			return err
		})
	}},
}
