package classicportal_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/resources/classicportal"
	core "github.com/gatehouse-io/gatehouse/core/classicportal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestKeep: of each part an organisation has the latest pieces, and no call changes the
// pieces of another part or organisation.
func TestKeep(t *testing.T) {
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	n, now := 0, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ops := map[string]operation.Operation{}
	for _, o := range classicportal.Registration().Operations(crud.Tools{
		Store: db, NewID: func() string { n++; return fmt.Sprintf("%03d", 999-n) },
		Now: func() time.Time { now = now.Add(time.Millisecond); return now },
	}) {
		ops[o.ID] = o
	}
	send := func(org tenant.ID, part string) string {
		t.Helper()
		scope, err := tenant.Of(org)
		if err != nil {
			t.Fatal(err)
		}
		o := ops["portal."+part]
		out, err := o.Do(t.Context(), &operation.Call{Spec: &o.Spec, Scope: scope, Body: []byte(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		return out.(operation.Receipt).Message
	}
	kept := func(org tenant.ID) (ids []string) {
		t.Helper()
		scope, err := tenant.Of(org)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.View(t.Context(), scope, func(r store.Reader) error {
			for rec, err := range r.Scan(t.Context(), store.Query{Kind: core.Kind}) {
				if err != nil {
					return err
				}
				ids = append(ids, rec.ID)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return ids
	}
	foreign := send("other", "pages")
	css := send("acme", "css")
	_ = send("acme", "cname")
	cname := send("acme", "cname")
	var pages []string
	for range 25 {
		pages = append(pages, send("acme", "pages"))
	}
	want := append(pages[5:], css, cname)
	slices.Sort(want)
	if have := kept("acme"); !slices.Equal(have, want) {
		t.Errorf("%v are kept, want %v", have, want)
	}
	if have := kept("other"); !slices.Equal(have, []string{foreign}) {
		t.Errorf("%v are kept of the other organisation", have)
	}
}
