package menus_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/menus"
	"github.com/gatehouse-io/gatehouse/core/portal/menu"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestBounds states the maximum number of items of a menu.
func TestBounds(t *testing.T) {
	p := apptest.NewPortal(t)
	ops := p.Operations(menus.Resources()...)
	if _, err := p.Tools.Store.Update(t.Context(), p.Scope, func(w store.Writer) error {
		at := crud.Stamp{ID: "x", Org: p.Scope.Org(), Now: p.Tools.Now}
		if err := menus.Found(t.Context(), w, at); err != nil {
			return err
		}
		for i := range table.MaxList {
			if _, err := portal.Add(t.Context(), w, menus.Items, at, menu.Item{MenuID: 1, Title: fmt.Sprint(i)}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	o := ops["portal-menu-items.create"]
	_, err := o.Do(t.Context(), &operation.Call{Spec: &o.Spec, Scope: p.Scope, Path: map[string]string{"menu_id": "1"}, Body: []byte(`{"Title":"one more"}`)})
	if err == nil || !strings.Contains(err.Error(), "1000 items") {
		t.Error(err)
	}
	o = ops["portal-menus.delete"]
	if _, err := o.Do(t.Context(), &operation.Call{Spec: &o.Spec, Scope: p.Scope, Path: map[string]string{"menu_id": "1"}}); err != nil {
		t.Fatal(err)
	}
	if err := p.Tools.Store.View(t.Context(), p.Scope, func(r store.Reader) error {
		n, err := r.Count(t.Context(), store.Query{Kind: menu.ItemKind})
		if n != 0 {
			t.Errorf("%d items are left", n)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}
