package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

var scanTests = []test{
	{"paging", func(t *testing.T, b Backend) {
		for i := range 7 {
			insert(t, b, thing{ID: fmt.Sprint(i), Org: "a", Name: fmt.Sprint("n", i), Owner: "o"})
		}
		a := scope(t, "a")
		same(t, "second page", ids(t, b, a, store.Query{Offset: 3, Limit: 3}), []string{"a/3", "a/4", "a/5"})
		same(t, "last page", ids(t, b, a, store.Query{Offset: 6, Limit: 3}), []string{"a/6"})
		same(t, "beyond", ids(t, b, a, store.Query{Offset: 9, Limit: 3}), []string(nil))
		same(t, "by key", ids(t, b, a, store.Query{Index: "owner", Value: "o", After: "3", Limit: 2}), []string{"a/4", "a/5"})
		view(t, b, "a", func(ctx context.Context, r store.Reader) error {
			n, err := r.Count(ctx, store.Query{Kind: "thing", Index: "owner", Value: "o", Limit: 2, Offset: 1})
			same(t, "count", n, 7)
			return err
		})
	}},
	{"paging under writes", func(t *testing.T, b Backend) {
		const n = 1000
		update(t, b, "a", func(ctx context.Context, w store.Writer) error {
			for i := range n {
				if err := things.Insert(ctx, w, thing{ID: fmt.Sprintf("%04d", i*2), Org: "a", Name: fmt.Sprint("n", i)}); err != nil {
					return err
				}
			}
			return nil
		})
		seen := map[string]int{}
		for after, page := "", 0; ; page++ {
			got := ids(t, b, scope(t, "a"), store.Query{After: after, Limit: 90})
			for _, id := range got {
				seen[id]++
				after = strings.TrimPrefix(id, "a/")
			}
			if len(got) < 90 {
				break
			}
			insert(t, b, thing{ID: fmt.Sprintf("%04d", page*2+1), Org: "a", Name: fmt.Sprint("odd", page)})
			if page == 3 {
				remove(t, b, "a", "1998")
			}
		}
		for i := range n - 1 {
			if id := fmt.Sprintf("a/%04d", i*2); seen[id] != 1 {
				t.Errorf("%s seen %d times", id, seen[id])
			}
		}
	}},
	{"a snapshot does not move", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		view(t, b, "a", func(ctx context.Context, r store.Reader) error {
			first, err := things.Get(ctx, r, "x")
			if err != nil {
				return err
			}
			edit(t, b, "a", "x", func(v *thing) { v.N = 7 })
			second, err := things.Get(ctx, r, "x")
			if first.Rev != second.Rev || second.Value.N != 0 {
				t.Errorf("%+v became %+v", first, second)
			}
			return err
		})
		if v, err := get(t, b, "a", "x"); err != nil || v.Value.N != 7 {
			t.Errorf("%+v, %v", v, err)
		}
	}},
}

// follow collects commits until it has n.
func follow(t testing.TB, b Backend, after store.Revision, n int) (out []store.Commit) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for c, err := range b.Follow(ctx, after) {
		if err != nil {
			t.Fatal(err)
		}
		if out = append(out, c); len(out) == n {
			return out
		}
	}
	t.Fatalf("%d commits after %d, want %d", len(out), after, n)
	return nil
}

var changeLogTests = []test{
	{"a request knows whether the log tells of it", func(t *testing.T, b Backend) {
		ctx := store.Request(t.Context())
		try := func(ctx context.Context, fn func(store.Writer) error) { _, _ = b.Update(ctx, scope(t, "a"), fn) }
		insert := func(w store.Writer) error { return things.Insert(ctx, w, thing{ID: "1", Org: "a", Name: "x"}) }
		try(ctx, func(store.Writer) error { return nil })
		try(ctx, func(w store.Writer) error { return errors.Join(insert(w), errors.New("undone")) })
		rehearsed, _ := store.Rehearse(ctx, store.Onlooker{})
		try(rehearsed, insert)
		same(t, "nothing written", store.Written(ctx), false)
		try(ctx, insert)
		same(t, "written", store.Written(ctx), true)
	}},
	{"the change log has every commit in order and resumes", func(t *testing.T, b Backend) {
		ctx := store.Attribute(t.Context(), store.Attribution{Actor: "u", Operation: "things.create", Request: "r"})
		rev, err := b.Update(ctx, scope(t, "a"), func(w store.Writer) error {
			return things.Insert(ctx, w, thing{ID: "1", Org: "a", Name: "x", Owner: "o"})
		})
		if err != nil {
			t.Fatal(err)
		}
		update(t, b, "a", func(ctx context.Context, w store.Writer) error {
			err := things.Insert(ctx, w, thing{ID: "2", Org: "a", Name: "y"})
			return errors.Join(err, editIn(ctx, w, "2", func(v *thing) { v.N = 1 }), editIn(ctx, w, "1", func(v *thing) { v.N = 1 }))
		})
		remove(t, b, "a", "1")
		all := follow(t, b, 0, 3)
		same(t, "attribution", all[0].By, store.Attribution{Actor: "u", Operation: "things.create", Request: "r"})
		if age := time.Since(all[0].At); age < -time.Minute || age > time.Minute {
			t.Errorf("commit time %v", all[0].At)
		}
		var got []string
		for i, c := range all {
			if c.Rev != rev+store.Revision(i) {
				t.Errorf("commit %d has revision %d", i, c.Rev)
			}
			for _, ch := range c.Changes {
				got = append(got, fmt.Sprintf("%d %s %s/%s/%s %s prev %d", c.Rev, ch.Op, ch.Org, ch.Kind, ch.ID, ch.Key("name"), ch.Prev))
			}
		}
		same(t, "changes", strings.Join(got, "; "), "1 created a/thing/1 x prev 0; 2 created a/thing/2 y prev 0; 2 updated a/thing/1 x prev 1; 3 deleted a/thing/1 x prev 2")
		same(t, "resumed", follow(t, b, 2, 1)[0].Rev, 3)
	}},
	{"a follower waits for what is to come", func(t *testing.T, b Backend) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		got := make(chan store.Revision, 100)
		go func() {
			defer close(got)
			for c, err := range b.Follow(ctx, 0) {
				if err != nil {
					return
				}
				got <- c.Rev
			}
		}()
		for i := range 20 {
			want := insert(t, b, thing{ID: fmt.Sprint(i), Org: "a", Name: fmt.Sprint("n", i)})
			if rev := <-got; rev != want {
				t.Fatalf("got %d, want %d", rev, want)
			}
		}
		cancel()
		for range got {
		}
	}},
	{"a replica made from snapshot and change log equals the store", func(t *testing.T, b Backend) {
		for i := range 30 {
			insert(t, b, thing{ID: fmt.Sprint(i), Org: tenant.ID(fmt.Sprint("org", i%3)), Name: fmt.Sprint("n", i), Owner: "o"})
		}
		copied := map[string]store.Record{}
		at := load(t, b, copied)
		edit(t, b, "org0", "3", func(v *thing) { v.Text, v.Owner = strings.Repeat("é", 500), "" })
		remove(t, b, "org1", "4")
		insert(t, b, thing{ID: "new", Org: "org2", Name: "new"})
		edit(t, b, "org0", "3", func(v *thing) { v.Text = "short" })
		for _, c := range follow(t, b, at, 4) {
			for _, ch := range c.Changes {
				id := string(ch.Org) + "/" + ch.ID
				rec, err := ch.After(copied[id], c.Rev)
				if err != nil {
					t.Fatal(err)
				}
				if copied[id] = rec; ch.Op == store.Deleted {
					delete(copied, id)
				}
			}
		}
		now := map[string]store.Record{}
		load(t, b, now)
		same(t, "records", len(copied), len(now))
		for id, want := range now {
			got := copied[id]
			same(t, id, fmt.Sprint(string(got.Doc), got.Rev, got.Keys, len(got.Refs)), fmt.Sprint(string(want.Doc), want.Rev, want.Keys, len(want.Refs)))
		}
	}},
	{"a follower behind the horizon is told", func(t *testing.T, b Backend) {
		for i := range 5 {
			insert(t, b, thing{ID: fmt.Sprint(i), Org: "a", Name: fmt.Sprint("n", i)})
		}
		if n, err := b.Prune(t.Context(), store.Retention{Since: time.Now().Add(time.Hour)}); err != nil || n != 4 {
			t.Fatalf("pruned %d, %v", n, err)
		}
		for c, err := range b.Follow(t.Context(), 1) {
			if !errors.Is(err, store.ErrExpired) {
				t.Errorf("%v, %v", c, err)
			}
			break
		}
		same(t, "the last commit stays", follow(t, b, 4, 1)[0].Rev, 5)
		same(t, "revisions go on", insert(t, b, thing{ID: "9", Org: "a", Name: "z"}), 6)
		if n, err := b.Prune(t.Context(), store.Retention{Since: time.Now().Add(-time.Hour)}); err != nil || n != 0 {
			t.Errorf("pruned %d young commits, %v", n, err)
		}
	}},
	{"the log is no larger than it may be, and keeps what is young", func(t *testing.T, b Backend) {
		large := strings.Repeat("0123456789", 2000)
		for i := range 20 {
			insert(t, b, thing{ID: fmt.Sprint(i), Org: "a", Name: fmt.Sprint("n", i), Text: fmt.Sprint(i, large)})
		}
		const most = 200_000
		if n, err := b.Prune(t.Context(), store.Retention{}); err != nil || n != 0 {
			t.Errorf("without bounds: pruned %d, %v", n, err)
		}
		n, err := b.Prune(t.Context(), store.Retention{Bytes: most})
		if err != nil || n < 10 || n > 18 {
			t.Fatalf("pruned %d of 20, %v", n, err)
		}
		if oldest, err := b.Oldest(t.Context()); err != nil || int(oldest) != n+1 {
			t.Errorf("the oldest is %d, %v", oldest, err)
		}
		if n, err := b.Prune(t.Context(), store.Retention{Bytes: most}); err != nil || n > 1 {
			t.Errorf("pruned %d again, %v", n, err)
		}
		for _, err := range b.Follow(t.Context(), 0) {
			if !errors.Is(err, store.ErrExpired) {
				t.Error(err)
			}
			break
		}
		if _, err := b.Prune(t.Context(), store.Retention{Bytes: 1}); err != nil {
			t.Error(err)
		}
		same(t, "the last commit stays", follow(t, b, 19, 1)[0].Rev, 20)
		if v, err := get(t, b, "a", "3"); err != nil || v.Value.Name != "n3" {
			t.Errorf("%v, %v", v, err)
		}
	}},
}

func load(t testing.TB, b Backend, into map[string]store.Record) (at store.Revision) {
	t.Helper()
	if err := b.Snapshot(t.Context(), func(s store.State) error {
		at = s.At
		for rec, err := range s.Records {
			if err != nil {
				return err
			}
			into[string(rec.Org)+"/"+rec.ID] = rec
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return at
}

var historyTests = []test{
	{"any record as it was at any revision", func(t *testing.T, b Backend) {
		var texts []string
		add := func(rev store.Revision) {
			text := ""
			view(t, b, "a", func(ctx context.Context, r store.Reader) error {
				if rec, err := r.Get(ctx, "thing", "1"); err == nil {
					text = string(rec.Doc)
				}
				return nil
			})
			for store.Revision(len(texts)) <= rev {
				texts = append(texts, text)
			}
		}
		insert(t, b, thing{ID: "0", Org: "a", Name: "unrelated"})
		texts = []string{"", ""}
		add(insert(t, b, thing{ID: "1", Org: "a", Name: "x", Text: strings.Repeat("long ", 200)}))
		add(edit(t, b, "a", "1", func(v *thing) { v.N = 1 }))
		add(edit(t, b, "a", "0", func(v *thing) { v.N = 1 }))
		add(edit(t, b, "a", "1", func(v *thing) { v.Text = strings.Repeat("länger ", 300) }))
		add(remove(t, b, "a", "1"))
		add(insert(t, b, thing{ID: "1", Org: "a", Name: "again"}))
		for rev, want := range texts {
			got, err := store.At(t.Context(), b, scope(t, "a"), "thing", "1", store.Revision(rev))
			if want == "" && !errors.Is(err, store.ErrNotFound) || want != "" && (err != nil || string(got) != want) {
				t.Errorf("at %d: %.40q, %v; want %.40q", rev, got, err, want)
			}
		}
		if _, err := b.Prune(t.Context(), store.Retention{Since: time.Now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		if _, err := store.At(t.Context(), b, scope(t, "a"), "thing", "1", 3); !errors.Is(err, store.ErrExpired) {
			t.Errorf("beyond the horizon: %v", err)
		}
	}},
	{"history says who and what, the latest first", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		ctx := store.Attribute(t.Context(), store.Attribution{Actor: "u2", Operation: "things.edit"})
		if _, err := b.Update(ctx, scope(t, "a"), func(w store.Writer) error {
			return errors.Join(editIn(ctx, w, "1", func(v *thing) { v.N = 5 }), things.Insert(ctx, w, thing{ID: "2", Org: "a", Name: "y"}))
		}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for c, err := range b.History(t.Context(), scope(t, "a"), "thing", "1") {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(c.Rev, " ", c.By.Actor, " ", c.Changes[0].Op, " ", len(c.Changes)))
		}
		same(t, "history", strings.Join(got, "; "), "2 u2 updated 1; 1  created 1")
	}},
}
