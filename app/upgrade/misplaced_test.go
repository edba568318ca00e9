package upgrade_test

import (
	"log/slog"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
	"github.com/gatehouse-io/gatehouse/app/upgrade"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// After its upgrade, an API that an earlier version stored is indexed by its listen
// path exactly as it is spelled.
func TestMisplaced(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	upgraded := func() int {
		t.Helper()
		c, err := (&upgrade.Service{Store: w.DB, APIs: w.APIs, Log: slog.New(slog.DiscardHandler)}).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return c.APIs
	}
	w.Done("admin", "POST", "/apis", apistest.Classic("a", "A", "/a"))
	if upgraded() != 0 {
		t.Error("a new API is out of place")
	}
	a, _ := w.Stored("a")
	_, err := w.DB.Update(t.Context(), w.Scope(), func(wr store.Writer) error {
		rec, err := wr.Get(t.Context(), "api", a.Value.ID())
		if err != nil {
			return err
		}
		for i, k := range rec.Keys {
			if k.Index == "address" || k.Index == "place" {
				rec.Keys[i].Value = " /a/"
			}
		}
		return wr.Put(t.Context(), rec)
	})
	if err != nil {
		t.Fatal(err)
	}
	if upgraded() != 1 {
		t.Error("an old record is not recognised")
	}
	if upgraded() != 0 {
		t.Error("an upgrade leaves it where it was")
	}
	w.Done("admin", "POST", "/apis", apistest.Classic("b", "B", "/a/"))
	w.Want("admin", "POST", "/apis", apistest.Classic("c", "C", "/a"), 403, "Found API with same url.")
}
