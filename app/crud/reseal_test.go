package crud_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// safe is a resource with a sealed text.
type safe struct {
	ID, Text string
	Org      tenant.ID
}

// oldKeys opens texts of an old key, and calls a function before.
type oldKeys struct {
	secret.Keys
	opening func(sealed string)
}

func (k oldKeys) Seal(plain string) (string, error) { return "new " + plain, nil }

func (k oldKeys) Open(sealed string) (plain string, current bool, err error) {
	k.opening(sealed)
	key, plain, _ := strings.Cut(sealed, " ")
	return plain, key == "new", nil
}

// TestResealOfDeleted: a record that another process deletes while texts are sealed again does not end
// the work: a service would not start.
func TestResealOfDeleted(t *testing.T) {
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	org, err := tenant.Of("a")
	if err != nil {
		t.Fatal(err)
	}
	k := &store.Kind[safe]{Name: "safe", ID: func(v safe) string { return v.ID }, Org: func(v safe) tenant.ID { return v.Org }}
	update := func(fn func(store.Writer) error) {
		t.Helper()
		if _, err := db.Update(t.Context(), org, fn); err != nil {
			t.Fatal(err)
		}
	}
	update(func(w store.Writer) error {
		for _, id := range []string{"1", "2", "3"} {
			if err := k.Insert(t.Context(), w, safe{ID: id, Text: "old " + id, Org: "a"}); err != nil {
				return err
			}
		}
		return nil
	})
	gone := false
	keys := oldKeys{opening: func(sealed string) {
		if sealed == "old 2" && !gone {
			gone = true
			update(func(w store.Writer) error {
				_, err := k.Delete(t.Context(), w, "2", nil)
				return err
			})
		}
	}}
	ks := crud.Kinds{crud.Facts[safe]{Kind: k, Sealed: func(v *safe) *string { return &v.Text }}.Registration()}
	if n, err := ks.Reseal(t.Context(), db, keys); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	err = db.View(t.Context(), org, func(r store.Reader) error {
		v, err := k.Get(t.Context(), r, "3")
		if v.Value.Text != "new 3" {
			t.Errorf("%q", v.Value.Text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
