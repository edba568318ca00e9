// Package menus has the operations on the menus of the portal
// (docs/wire/portal-content.md#menus).
package menus

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/portal/menu"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// The kinds of menus and their items.
var (
	Kind  = portal.KindOf[menu.Menu]()
	Items = portal.KindOf[menu.Item]()
)

const ours = "This operation is an addition of this project."

// Resources returns the registrations of menus and their items.
func Resources() []crud.Registrar {
	return []crud.Registrar{
		portal.Resource[menu.Menu, Listed, Shown]{
			Kind: Kind, Name: "portal-menus", Path: "/menus", Param: "menu_id", One: "a menu", Many: "menus",
			List: func(_ context.Context, _ store.Reader, m menu.Menu) (Listed, error) {
				return Listed{m.ID, m.CID, m.Name}, nil
			},
			Show: show, Sample: menu.Menu{Name: "Footer"}, Hooks: portal.Hooks[menu.Menu]{After: discard},
			Rows: func(o portal.Operations[menu.Menu, Listed, Shown]) []operation.Row {
				n := operation.Notes(ours)
				return []operation.Row{o.ListRow(n), o.CreateRow(n), o.GetRow(n), o.UpdateRow(n), o.DeleteRow(n)}
			},
		},
		portal.Resource[menu.Item, Item, Item]{
			Kind: Items, Name: "portal-menu-items", Path: "/menus/{menu_id}/items", Param: "item_id", One: "a menu item", Many: "menu items",
			Above: &portal.Above{Kind: menu.Kind, Param: "menu_id"},
			List:  showItem, Show: showItem,
			Sequence: func(ctx context.Context, r store.Reader, id table.ID) (out []table.ID, err error) {
				all, err := Of(ctx, r, id)
				for _, i := range all {
					out = append(out, i.ID)
				}
				return out, err
			},
			Sample: menu.Item{MenuID: 1, Title: "Blog", Path: "/blog", Position: 1},
			Begin:  func(i *menu.Item, parent table.ID) { i.MenuID = parent },
			Hooks:  portal.Hooks[menu.Item]{Check: fits, After: lift},
			Rows: func(o portal.Operations[menu.Item, Item, Item]) []operation.Row {
				n := operation.Notes(ours)
				return []operation.Row{o.ListRow(n), o.CreateRow(n, portal.Unprocessable()), o.GetRow(n), o.UpdateRow(n),
					o.DeleteRow(operation.Notes(ours + " Items below the deleted item move up one level."))}
			},
		},
	}
}

// Listed is a menu in lists.
type Listed struct {
	ID   table.ID `json:"ID"`
	CID  string   `json:"CID"`
	Name string   `json:"Name"`
}

// Shown is the full representation of a menu, with its items in order.
type Shown struct {
	Listed
	Items     []Item `json:"Items"`
	CreatedAt string `json:"CreatedAt"`
	UpdatedAt string `json:"UpdatedAt"`
}

// Item is an item of a menu.
type Item struct {
	ID        table.ID `json:"ID"`
	CID       string   `json:"CID"`
	MenuID    table.ID `json:"MenuID"`
	Title     string   `json:"Title"`
	Path      string   `json:"Path"`
	Position  int64    `json:"Position"`
	ParentID  table.ID `json:"ParentID"`
	CreatedAt string   `json:"CreatedAt"`
	UpdatedAt string   `json:"UpdatedAt"`
}

func show(ctx context.Context, r store.Reader, m menu.Menu) (Shown, error) {
	out := Shown{Listed{m.ID, m.CID, m.Name}, []Item{}, table.Stamp(m.CreatedAt), table.Stamp(m.UpdatedAt)}
	all, err := Of(ctx, r, m.ID)
	for _, i := range all {
		shown, _ := showItem(ctx, r, i) // showItem reads nothing
		out.Items = append(out.Items, shown)
	}
	return out, err
}

func showItem(_ context.Context, _ store.Reader, i menu.Item) (Item, error) {
	return Item{i.ID, i.CID, i.MenuID, i.Title, i.Path, i.Position, i.ParentID, table.Stamp(i.CreatedAt), table.Stamp(i.UpdatedAt)}, nil
}

// Of returns the items of a menu, in order.
func Of(ctx context.Context, r store.Reader, id table.ID) (out []menu.Item, err error) {
	if id == 0 {
		return nil, nil
	}
	out, err = store.Collect(portal.All(ctx, r, Items, id))
	menu.Sort(out)
	return out, err
}

// fits refuses an item over the limit, and a parent that the item cannot have.
func fits(ctx context.Context, r store.Reader, c *portal.Change[menu.Item]) error {
	if c.Op == store.Deleted {
		return nil
	}
	all, err := Of(ctx, r, c.New.MenuID)
	if err != nil {
		return err
	}
	wrong := table.Problems{}
	if c.Op == store.Created && len(all) >= table.MaxList {
		wrong = append(wrong, "a menu has 1000 items at most")
	}
	if !menu.Fits(c.New, all) {
		wrong.Invalid("ParentID")
	}
	return wrong.Err()
}

// lift moves the children of a deleted item to the item's parent.
func lift(ctx context.Context, w store.Writer, c *portal.Change[menu.Item]) error {
	if c.Op != store.Deleted {
		return nil
	}
	all, err := Of(ctx, w, c.Old.MenuID)
	for _, i := range all {
		if err == nil && i.ParentID == c.Old.ID {
			_, err = portal.Edit(ctx, w, Items, i.ID, c.At, func(i menu.Item) (menu.Item, error) {
				i.ParentID = c.Old.ParentID
				return i, nil
			})
		}
	}
	return err
}

// discard deletes the items of a deleted menu.
func discard(ctx context.Context, w store.Writer, c *portal.Change[menu.Menu]) error {
	if c.Op != store.Deleted {
		return nil
	}
	all, err := Of(ctx, w, c.Old.ID)
	for _, i := range all {
		if err == nil {
			err = portal.Remove(ctx, w, Items, i.ID, c.At)
		}
	}
	return err
}

// Found stores the initial menu of a portal.
func Found(ctx context.Context, w store.Writer, at crud.Stamp) error {
	_, err := portal.Add(ctx, w, Kind, at, menu.Menu{Name: menu.Primary})
	return err
}
