package menu_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/menu"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
)

func item(id, parent table.ID) menu.Item {
	return menu.Item{Base: table.Base{ID: id}, ParentID: parent}
}

func TestFits(t *testing.T) {
	chain := []menu.Item{item(1, 0), item(2, 1), item(3, 2), item(4, 3), item(5, 4), item(9, 0)}
	for name, c := range map[string]struct {
		item menu.Item
		want bool
	}{
		"a new one on top":       {item(0, 0), true},
		"a new one below":        {item(0, 4), true},
		"a new one too deep":     {item(0, 5), false},
		"below none of the menu": {item(0, 7), false},
		"on top":                 {item(5, 0), true},
		"below itself":           {item(2, 2), false},
		"below its own below":    {item(1, 5), false},
		"elsewhere":              {item(5, 9), true},
		"with all that is below": {item(1, 9), false},
		"as it was":              {item(3, 2), true},
	} {
		if got := menu.Fits(c.item, chain); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestItems(t *testing.T) {
	for path, want := range map[string]bool{
		"/blog": true, "blog": true, "": true, "https://a.example/x:y": true, "HTTP://a.example": true, "/a:b": true, "#top": true,
		"javascript:alert(1)": false, "JavaScript:alert(1)": false, "data:text/html,x": false, "//evil.example": false, `\\evil.example`: false, "java\tscript:x": false, "mailto:a@b.example": false,
	} {
		text, _ := json.Marshal(map[string]string{"Title": "x", "Path": path})
		if wrong := tabletest.Apply(t, new(menu.Item), string(text), true); (len(wrong) == 0) != want {
			t.Errorf("%q: %q", path, wrong)
		}
	}
}

func TestSort(t *testing.T) {
	all := []menu.Item{{Base: table.Base{ID: 1}, Position: 2}, {Base: table.Base{ID: 3}, Position: 1}, {Base: table.Base{ID: 2}, Position: 1}}
	menu.Sort(all)
	if got := fmt.Sprint(all[0].ID, all[1].ID, all[2].ID); got != "2 3 1" {
		t.Error(got)
	}
}

// TestTables: the fields of menus and their items.
func TestTables(t *testing.T) {
	tabletest.Sound[menu.Menu](t, `{"Name":"Footer"}`)
	tabletest.Sound[menu.Item](t, `{"Title":"Blog","Path":"/blog"}`)
	if i := (menu.Item{MenuID: 3}); i.Table().Parent(i) != 3 {
		t.Error("an item is not below its menu")
	}
}
