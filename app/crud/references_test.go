package crud_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// shelf is a resource that refers to notes: by references that the store indexes, and
// by others that are searched.
type shelf struct {
	ID    string    `json:"id"`
	OrgID tenant.ID `json:"org_id"`
	Name  string    `json:"name"`
	Top   string    `json:"top"`
	Rest  []string  `json:"rest"`
	Exact []string  `json:"exact"`
}

var shelves = &store.Kind[shelf]{
	Name: "shelf",
	ID:   func(s shelf) string { return s.ID },
	Org:  func(s shelf) tenant.ID { return s.OrgID },
	Refs: func(s shelf) []integrity.Ref {
		if s.Top == "" {
			return nil
		}
		return []integrity.Ref{{Target: integrity.Target{Kind: "note", ID: s.Top}, Field: "top", OnDelete: integrity.Tolerate}}
	},
}

// titled is the kind of notes, which have two IDs: the title and the ID.
var titled = func() *store.Kind[note] {
	k := *notes.Kind
	k.Name, k.Alias = "note", "title"
	return &k
}()

func library() *crud.References {
	return crud.NewReferences(
		crud.Facts[note]{Kind: titled, Name: func(n note) string { return n.Title }}.Registration(),
		crud.Facts[shelf]{Kind: shelves, Name: func(s shelf) string { return s.Name }, Uses: func(s shelf) iter.Seq[crud.Use] {
			return func(yield func(crud.Use) bool) {
				for i, id := range s.Exact {
					if !yield(crud.Use{Target: integrity.Target{Kind: "note", ID: id}, Where: fmt.Sprintf("exact.%d", i), Exact: true}) {
						return
					}
				}
				for i, id := range s.Rest {
					if !yield(crud.Use{Target: integrity.Target{Kind: "note", ID: id}, Where: fmt.Sprintf("rest.%d", i)}) {
						return
					}
				}
			}
		}, Sight: func(v crud.Viewer) crud.Seeing[shelf] {
			if v.All {
				return nil
			}
			return func(_ context.Context, _ store.Reader, s shelf) (bool, error) { return s.Name == v.Who.ID, nil }
		}}.Registration())
}

// everybody sees every shelf; pine sees those of that wood.
var everybody, pine = crud.Viewer{All: true}, crud.Viewer{Who: operation.Principal{ID: "pine"}}

// furnished returns a store with notes a and b, and shelves that refer to a, b and c.
func furnished(t *testing.T) (store.Store, tenant.Scope) {
	t.Helper()
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	one, err := tenant.Of("o")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Update(t.Context(), one, func(w store.Writer) error {
		for _, n := range []note{{"1", "o", "a"}, {"2", "o", "b"}} {
			if err := titled.Insert(t.Context(), w, n); err != nil {
				return err
			}
		}
		for _, s := range []shelf{{"s1", "o", "oak", "a", []string{"2", "c"}, nil}, {"s2", "o", "pine", "c", []string{"1"}, nil}} {
			if err := shelves.Insert(t.Context(), w, s); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return db, one
}

func lines(t *testing.T, refs iter.Seq2[store.Reference, error]) (out []string) {
	t.Helper()
	for r, err := range refs {
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%s %s %q %s", r.Kind, r.ID, r.Name, r.Where)
		if r.To != nil {
			line += fmt.Sprintf(" -> %s %s", r.To.Kind, r.To.ID)
		}
		out = append(out, line)
	}
	return out
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// TestExactReferences: a reference that gateways follow only by the ID for clients leads to no
// target by another ID of it, in every direction.
func TestExactReferences(t *testing.T) {
	db, one := furnished(t)
	g := library()
	_, err := db.Update(t.Context(), one, func(w store.Writer) error {
		return shelves.Insert(t.Context(), w, shelf{ID: "s3", OrgID: "o", Name: "elm", Exact: []string{"1", "b"}})
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, rehearsal := store.Rehearse(t.Context(), g.Onlooker(&operation.Call{Spec: &operation.Spec{Surface: operation.Admin}}))
	_, err = db.Update(ctx, one, func(w store.Writer) error {
		for name, want := range map[string][]string{
			"a": {`shelf s1 "oak" top`, `shelf s2 "pine" rest.0`}, "b": {`shelf s1 "oak" rest.0`, `shelf s3 "elm" exact.1`},
		} {
			target, err := crud.TargetOf(t.Context(), titled, w, name)
			if err != nil {
				return err
			}
			same(t, "who names "+name, lines(t, g.To(t.Context(), w, target)), want)
		}
		rec, err := w.Get(t.Context(), "shelf", "s3")
		if err != nil {
			return err
		}
		same(t, "what s3 names", lines(t, g.Named(t.Context(), w, everybody, rec)), []string{`note 1 "" exact.0`, `note b "b" exact.1`})
		_, err = titled.Delete(ctx, w, "a", nil)
		return err
	})
	if err != nil || len(rehearsal.References) != 2 {
		t.Errorf("without a, s1 and s2 lead nowhere: %+v, %v", rehearsal.References, err)
	}
}

func TestReferences(t *testing.T) {
	db, one := furnished(t)
	g := library()
	err := db.View(t.Context(), one, func(r store.Reader) error {
		a, err := crud.TargetOf(t.Context(), titled, r, "a")
		if err != nil {
			return err
		}
		same(t, "who names a", lines(t, g.To(t.Context(), r, a)), []string{`shelf s1 "oak" top`, `shelf s2 "pine" rest.0`})
		same(t, "indexed alone", lines(t, (*crud.References)(nil).To(t.Context(), r, a)), []string{`shelf s1 "" top`})
		rec, err := r.Get(t.Context(), "shelf", "s1")
		if err != nil {
			return err
		}
		same(t, "what s1 names", lines(t, g.Named(t.Context(), r, everybody, rec)), []string{`note a "a" top`, `note 2 "b" rest.0`, `note c "" rest.1`})
		same(t, "what leads nowhere", lines(t, g.Dangling(t.Context(), r, everybody, "shelf")),
			[]string{`shelf s1 "oak" rest.1 -> note c`, `shelf s2 "pine" top -> note c`})
		if _, err := crud.TargetOf(t.Context(), titled, r, "c"); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	list, err := g.Of(t.Context(), db, one, everybody, func(r store.Reader) (crud.Target, error) { return crud.TargetOf(t.Context(), titled, r, "2") })
	if err != nil || len(list) != 1 || list[0].ID != "s1" {
		t.Error(list, err)
	}
}

// A viewer who does not see a shelf cannot learn of it from any reference.
func TestSight(t *testing.T) {
	db, one := furnished(t)
	g := library()
	asks := func(v crud.Viewer) (who, dangling []string) {
		list, err := g.Of(t.Context(), db, one, v, func(r store.Reader) (crud.Target, error) { return crud.TargetOf(t.Context(), titled, r, "a") })
		if err != nil {
			t.Fatal(err)
		}
		for _, ref := range list {
			who = append(who, ref.ID)
		}
		err = db.View(t.Context(), one, func(r store.Reader) error {
			dangling = lines(t, g.Dangling(t.Context(), r, v, "shelf"))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return who, dangling
	}
	who, _ := asks(everybody)
	same(t, "who names a", who, []string{"s1", "s2"})
	who, _ = asks(pine)
	same(t, "who names a, to pine", who, []string{"s2"})
	ctx, r := store.Rehearse(t.Context(), g.Onlooker(&operation.Call{Spec: &operation.Spec{Surface: operation.Management}, Principal: pine.Who}))
	if _, err := db.Update(ctx, one, func(w store.Writer) error {
		for _, id := range []string{"s1", "s2"} {
			if _, err := shelves.Edit(ctx, w, id, nil, func(s shelf) (shelf, error) { s.Top, s.Name = "gone", "birch"; return s, nil }); err != nil {
				return err
			}
		}
		_, err := titled.Delete(ctx, w, "a", nil)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var changed []string
	for _, c := range r.Changes {
		changed = append(changed, c.Kind+" "+c.ID)
	}
	same(t, "what changes, to pine", changed, []string{"shelf s2", "note 1"})
}

func TestAftermath(t *testing.T) {
	db, one := furnished(t)
	rehearse := func(scope tenant.Scope, fn func(context.Context, store.Writer) error) []string {
		ctx, r := store.Rehearse(t.Context(), library().Onlooker(&operation.Call{Spec: &operation.Spec{}}))
		if _, err := db.Update(ctx, scope, func(w store.Writer) error { return fn(ctx, w) }); err != nil {
			t.Fatal(err)
		}
		return lines(t, func(yield func(store.Reference, error) bool) {
			for _, ref := range r.References {
				if !yield(ref, nil) {
					return
				}
			}
		})
	}
	same(t, "a note goes", rehearse(one, func(ctx context.Context, w store.Writer) error {
		_, err := titled.Delete(ctx, w, "a", nil)
		return err
	}), []string{`shelf s1 "oak" top -> note a`, `shelf s2 "pine" rest.0 -> note a`})
	same(t, "a note gets another title", rehearse(one, func(ctx context.Context, w store.Writer) error {
		_, err := titled.Edit(ctx, w, "a", nil, func(n note) (note, error) { n.Title = "z"; return n, nil })
		return err
	}), []string{`shelf s1 "oak" top -> note a`})
	same(t, "a missing note comes", rehearse(one, func(ctx context.Context, w store.Writer) error {
		return titled.Insert(ctx, w, note{"3", "o", "c"})
	}), nil)
	same(t, "a shelf changes", rehearse(one, func(ctx context.Context, w store.Writer) error {
		_, err := shelves.Edit(ctx, w, "s2", nil, func(s shelf) (shelf, error) { s.Top, s.Rest = "a", []string{"b", "x"}; return s, nil })
		return err
	}), []string{`shelf s2 "pine" rest.1 -> note x`})
	same(t, "everyone", rehearse(tenant.Everyone("test"), func(ctx context.Context, w store.Writer) error {
		return shelves.Insert(ctx, w, shelf{ID: "s3", OrgID: "p", Top: "nothing"})
	}), nil)
}

// TestReferencesByPermission checks that a reference reveals nothing that the caller
// may not read: neither which resource refers to another one, nor the names of its
// targets. That a target exists is no secret: it does not count as missing because the
// caller may not read it.
func TestReferencesByPermission(t *testing.T) {
	db, one := furnished(t)
	g := crud.NewReferences(
		crud.Facts[note]{Kind: titled, Name: func(n note) string { return n.Title }, Permission: func(note) access.Permission { return access.Hooks }}.Registration(),
		crud.Facts[shelf]{Kind: shelves, Name: func(s shelf) string { return s.Name }, Permission: func(shelf) access.Permission { return access.Assets }}.Registration())
	for _, c := range []struct {
		viewer      crud.Viewer
		who, called []string
	}{
		{everybody, []string{`shelf s1 "oak" top`}, []string{`note a "a" top`}},
		{crud.Viewer{Who: operation.Principal{Permissions: access.Map{"hooks": access.LevelRead}}, Door: access.Assets}, []string{`shelf s1 "oak" top`}, []string{`note a "a" top`}},
		{crud.Viewer{Who: operation.Principal{Permissions: access.Map{"hooks": access.LevelRead}}}, nil, []string{`note a "a" top`}},
		{crud.Viewer{Who: operation.Principal{Permissions: access.Map{"hooks": access.LevelDeny}}, Door: access.Assets}, []string{`shelf s1 "oak" top`}, []string{`note a "" top`}},
	} {
		found, err := g.Of(t.Context(), db, one, c.viewer, func(r store.Reader) (crud.Target, error) { return crud.TargetOf(t.Context(), titled, r, "a") })
		if err != nil {
			t.Fatal(err)
		}
		same(t, "who names a", lines(t, func(yield func(store.Reference, error) bool) {
			for _, ref := range found {
				if !yield(ref, nil) {
					return
				}
			}
		}), c.who)
		err = db.View(t.Context(), one, func(r store.Reader) error {
			rec, err := r.Get(t.Context(), "shelf", "s1")
			if err != nil {
				return err
			}
			same(t, "what a shelf names", lines(t, g.Named(t.Context(), r, c.viewer, rec)), c.called)
			same(t, "what leads nowhere", lines(t, g.Dangling(t.Context(), r, c.viewer, "shelf")), []string{`shelf s2 "pine" top -> note c`})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
