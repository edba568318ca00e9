// Package pages has the operations on the content pages of the portal and their blocks
// (docs/wire/portal-content.md#pages).
package pages

import (
	"context"
	"log/slog"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/portal/page"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// The kinds of pages and their blocks.
var (
	Kind   = portal.KindOf[page.Page]()
	Blocks = portal.KindOf[page.Block]()
)

// Config is the configuration of the package.
type Config struct {
	// Refers returns the names of the blocks that a template of the current theme refers to;
	// known is false if the theme has no such template.
	Refers func(ctx context.Context, r store.Reader, template string) (names []string, known bool, err error)
	Log    *slog.Logger
}

// Resources returns the registrations of pages and blocks.
func (c Config) Resources() []crud.Registrar {
	return []crud.Registrar{
		portal.Resource[page.Page, Listed, Shown]{
			Kind: Kind, Name: "portal-pages", Path: "/pages", Param: "page_id", One: "a page", Many: "pages",
			List: func(_ context.Context, _ store.Reader, p page.Page) (Listed, error) { return listed(p), nil },
			Show: func(_ context.Context, _ store.Reader, p page.Page) (Shown, error) {
				return Shown{listed(p), table.Stamp(p.CreatedAt), table.Stamp(p.UpdatedAt)}, nil
			},
			Sample: page.Page{Title: "About us", Path: "/about-us", Status: page.Published, Template: "flip_flop"},
			Hooks:  portal.Hooks[page.Page]{Before: placed, After: c.after},
		},
		portal.Resource[page.Block, ListedBlock, ShownBlock]{
			Kind: Blocks, Name: "portal-content-blocks", Path: "/pages/{page_id}/content-blocks", Param: "content-block_id", One: "a content block", Many: "content blocks",
			Above:   &portal.Above{Kind: page.Kind, Param: "page_id", All: "all"},
			PerPage: blocksPerPage,
			List:    func(_ context.Context, _ store.Reader, b page.Block) (ListedBlock, error) { return listedBlock(b), nil },
			Show: func(_ context.Context, _ store.Reader, b page.Block) (ShownBlock, error) {
				return ShownBlock{listedBlock(b), table.Stamp(b.CreatedAt), table.Stamp(b.UpdatedAt)}, nil
			},
			Sample: page.Block{PageID: 1, Name: "HeaderDescription", Content: "<p>Everything is connected.</p>"},
			Begin:  func(b *page.Block, parent table.ID) { b.PageID = parent },
			Hooks:  portal.Hooks[page.Block]{Before: room},
			Rows: func(o portal.Operations[page.Block, ListedBlock, ShownBlock]) []operation.Row {
				return []operation.Row{
					o.ListRow(operation.Notes("`all` instead of the page selects the blocks of all pages.")),
					o.CreateRow(portal.Unprocessable()), o.GetRow(), o.UpdateRow(), o.DeleteRow(),
				}
			},
		},
	}
}

// blocksPerPage is the page size of block lists, so large that clients which look for a
// block find it on the first page.
const blocksPerPage = 100

// room refuses a block over the limit.
func room(ctx context.Context, w store.Writer, c *portal.Change[page.Block]) error {
	if c.Op != store.Created {
		return nil
	}
	n, err := portal.Count(ctx, w, Blocks, c.Parent)
	if err != nil || n < table.MaxList {
		return err
	}
	return table.Problems{"a page has 1000 content blocks at most"}.Err()
}

// placed refuses a path that the portal itself uses. An existing page keeps such a path, so
// that its other members can be changed.
func placed(_ context.Context, _ store.Writer, c *portal.Change[page.Page]) error {
	if c.Op == store.Deleted || page.Address(c.New.Path) == page.Address(c.Old.Path) || !page.Taken(c.New.Path) {
		return nil
	}
	return table.Problems{"Path is an address of the portal itself, where the page would never be shown"}.Err()
}

// after adds the blocks of a new template to a page, and deletes the blocks of a deleted
// page.
func (c Config) after(ctx context.Context, w store.Writer, ch *portal.Change[page.Page]) error {
	if ch.Op == store.Deleted {
		have, err := Of(ctx, w, ch.Old.ID)
		for _, b := range have {
			if err == nil {
				err = portal.Remove(ctx, w, Blocks, b.ID, ch.At)
			}
		}
		return err
	}
	if ch.New.Template == ch.Old.Template {
		return nil
	}
	return c.fill(ctx, w, ch.New, ch.At, nil)
}

// fill adds a block for each name that the template of a page refers to, with its content if
// there is any.
func (c Config) fill(ctx context.Context, w store.Writer, p page.Page, at crud.Stamp, content map[string]string) error {
	names, known, err := c.Refers(ctx, w, p.Template)
	if err != nil {
		return err
	}
	if !known && p.Template != "" {
		c.Log.Warn("the active theme has no template of the name that a page asks for; the page shows that it is not found until a theme has it", "page", int64(p.ID))
	}
	have, err := Of(ctx, w, p.ID)
	if err != nil {
		return err
	}
	for _, name := range page.Missing(names, have) {
		if _, err := portal.Add(ctx, w, Blocks, at, page.Block{PageID: p.ID, Name: name, Content: content[name]}); err != nil {
			return err
		}
	}
	return nil
}

// Of returns the blocks of a page.
func Of(ctx context.Context, r store.Reader, id table.ID) ([]page.Block, error) {
	return store.Collect(portal.All(ctx, r, Blocks, id))
}

// Found stores the initial pages of a portal, from the theme.
func (c Config) Found(ctx context.Context, w store.Writer, at crud.Stamp, seeds []theme.Page) error {
	for _, seed := range seeds {
		p, err := portal.Add(ctx, w, Kind, at, page.Page{Title: seed.Title, Path: seed.Path, Template: seed.Template, Status: page.Published})
		if err != nil {
			return err
		}
		if err := c.fill(ctx, w, p, at, seed.Blocks); err != nil {
			return err
		}
	}
	return nil
}
