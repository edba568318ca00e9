// Package menu models the menus of the portal (docs/wire/portal-content.md#menus).
package menu

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Kind and ItemKind are the names of the resources in storage.
const (
	Kind     = "portal-menu"
	ItemKind = "portal-menu-item"
)

// Primary is the menu of a new portal.
const Primary = "Primary"

// Menu is one menu. Themes refer to it by name.
type Menu struct {
	table.Base
	Name string
}

// Table implements table.Row.
func (Menu) Table() *table.Table[Menu] { return menus }

var menus = &table.Table[Menu]{
	Kind: Kind, Noun: "menu",
	Base: func(m *Menu) *table.Base { return &m.Base },
	Fields: []table.Field[Menu]{
		{Name: "Name", At: func(m *Menu) any { return &m.Name }, Required: true, Max: 255, Doc: "Name of the menu. Themes show the menus Primary and Footer."},
	},
	Unique: []table.Unique[Menu]{{Name: "name", Taken: "Name has already been taken", Of: func(m Menu) string { return m.Name }}},
}

// Item is an entry of a menu.
type Item struct {
	table.Base
	MenuID   table.ID
	Title    string
	Path     string   `json:",omitempty"`
	Position int64    `json:",omitempty"`
	ParentID table.ID `json:",omitempty"` // the parent item; 0: none
}

// Table implements table.Row.
func (Item) Table() *table.Table[Item] { return items }

var items = &table.Table[Item]{
	Kind: ItemKind, Noun: "menu item",
	Base:   func(i *Item) *table.Base { return &i.Base },
	Parent: func(i Item) table.ID { return i.MenuID },
	Fields: []table.Field[Item]{
		{Name: "Title", At: func(i *Item) any { return &i.Title }, Required: true, Max: 255},
		{Name: "Path", At: func(i *Item) any { return &i.Path }, Max: 2048, Valid: func(i Item) bool { return isTarget(i.Path) }, Doc: "Path in the portal, or an address that begins with http:// or https://."},
		{Name: "Position", At: func(i *Item) any { return &i.Position }, Doc: "Number by which items are sorted."},
		{Name: "ParentID", Also: []string{"Parent"}, At: func(i *Item) any { return &i.ParentID }, Target: ItemKind, Doc: "Parent item in the same menu; 0: none."},
	},
}

// isTarget reports whether an item may link to a URL: within the portal, or of another site.
// Browsers execute some other schemes.
func isTarget(path string) bool {
	lower := strings.ToLower(path)
	if strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://") {
		return true
	}
	begin, _, _ := strings.Cut(path, "/")
	return !strings.Contains(begin, ":") && !strings.HasPrefix(path, "//") && !strings.ContainsAny(path, "\\\t\r\n")
}

// MaxDepth is the maximum nesting of the items of a menu.
const MaxDepth = 5

// Fits reports whether an item can be at its position among all items of its menu: its parent
// exists, it is not below itself, and it is not nested too deep.
func Fits(item Item, all []Item) bool {
	if item.ParentID == 0 {
		return true
	}
	above := map[table.ID]table.ID{}
	for _, i := range all {
		above[i.ID] = i.ParentID
	}
	if item.ID != 0 {
		above[item.ID] = item.ParentID
	}
	if _, ours := above[item.ParentID]; !ours {
		return false
	}
	depth := func(id table.ID) int {
		n := 0
		for ; id != 0 && n <= MaxDepth; id = above[id] {
			n++
		}
		return n
	}
	if item.ID == 0 {
		return depth(item.ParentID) < MaxDepth
	}
	for id := range above { // items below this one move with it
		if depth(id) > MaxDepth {
			return false
		}
	}
	return true
}

// Sort sorts items into the order in which they are shown.
func Sort(all []Item) {
	slices.SortFunc(all, func(a, b Item) int {
		if a.Position != b.Position {
			return table.Compare(&a.Position, &b.Position)
		}
		return table.Compare(&a.ID, &b.ID)
	})
}
