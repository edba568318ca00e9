// Package finder is a full-text search for products, over their texts and the operations
// in their documentation (docs/wire/portal-showcase.md#search). It keeps the index in
// memory, and reads changes at the next search.
package finder

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/gatehouse-io/gatehouse/app/portal/documents"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/tutorials"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/search"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Config is the configuration of a Finder.
type Config struct {
	Store     store.Store
	Scope     tenant.Scope // of the portal
	Documents documents.Config
}

// maxRead is how many bytes of documents one search reads at most: after a start, several
// searches share the work.
const maxRead = 2 << 20

// Finder searches for products.
type Finder struct {
	Config
	filling sync.Mutex
	at      []store.Revision    // revisions of the last read
	partial bool                // documents are still unread
	known   map[table.ID]page   // indexed content by product
	read    map[string]outlined // documents by name
	mu      sync.RWMutex
	index   *search.Index
}

// page is the searchable content of a product.
type page struct {
	head  []search.Entry // all but operations
	texts []text
}

// text is a document of an API.
type text struct {
	name, api string
	rev       store.Revision
	read      bool
}

// outlined is the result of reading a document.
type outlined struct {
	rev     store.Revision
	failed  bool
	entries []search.Entry
}

// New returns a Finder with an empty index.
func New(c Config) *Finder {
	return &Finder{Config: c, known: map[table.ID]page{}, read: map[string]outlined{}, index: search.New()}
}

// Find returns the products that match a query, among those that may allows.
func (f *Finder) Find(ctx context.Context, query string, may func(product int) bool) ([]search.Hit, error) {
	if err := f.refresh(ctx); err != nil {
		return nil, err
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.index.Find(query, may), nil
}

// refresh reads the changes since the last search.
func (f *Finder) refresh(ctx context.Context) error {
	f.filling.Lock()
	defer f.filling.Unlock()
	var now []store.Revision
	pages := map[table.ID]page{}
	moved := false
	err := f.Store.View(ctx, f.Scope, func(r store.Reader) (err error) {
		for _, kind := range append([]string{product.Kind}, append(tutorials.Touched(), documents.Touched()...)...) {
			rev, err := r.Touched(ctx, kind)
			if err != nil {
				return err
			}
			now = append(now, rev)
		}
		if moved = !slices.Equal(now, f.at); moved || f.partial {
			pages, err = gather(ctx, r)
		}
		return err
	})
	if err != nil || !moved && !f.partial {
		return err
	}
	f.partial = false
	f.outline(ctx, pages, moved)
	f.settle(pages)
	f.at = now
	return nil
}

// gather reads the searchable content of each product.
func gather(ctx context.Context, r store.Reader) (map[table.ID]page, error) {
	out := map[table.ID]page{}
	revs, err := documents.Revisions(ctx, r)
	if err != nil {
		return nil, err
	}
	for v, err := range products.Kind.Find(ctx, r, store.Query{}) {
		if err != nil {
			return nil, err
		}
		if v.Value.Away() {
			continue
		}
		p := v.Value
		found := page{head: []search.Entry{{Sort: search.Product, Title: p.Title(), Text: p.Description + "\n" + search.Plain(p.Content)}}}
		all, err := documents.Readables(ctx, r, p)
		if err != nil {
			return nil, err
		}
		for _, d := range all {
			found.head = append(found.head, search.Entry{Sort: search.API, Title: d.Name, Text: d.Description, API: d.Alias})
			if name := d.Text(); name != "" {
				found.texts = append(found.texts, text{name: name, api: d.Alias, rev: revs[name]})
			}
		}
		taught, err := tutorials.Published(ctx, r, p.ID)
		if err != nil {
			return nil, err
		}
		for _, t := range taught {
			said := t.Content
			if t.MarkdownEnabled && t.MarkdownContent != "" {
				said = t.MarkdownContent
			}
			found.head = append(found.head, search.Entry{Sort: search.Tutorial, Title: t.Title, Text: t.Lede + "\n" + search.Plain(said)})
		}
		out[p.ID] = found
	}
	return out, nil
}

// outline reads new documents, up to maxRead. A document that cannot be read is skipped
// until something changes.
func (f *Finder) outline(ctx context.Context, pages map[table.ID]page, moved bool) {
	left := maxRead
	live := map[string]bool{}
	for id, p := range pages {
		for i, t := range p.texts {
			live[t.name] = true
			was, had := f.read[t.name]
			if had && was.rev == t.rev && !(was.failed && moved) {
				pages[id].texts[i].read = true
				continue
			}
			if left <= 0 || ctx.Err() != nil {
				f.partial = true
				continue
			}
			all, size, err := f.Documents.Outline(ctx, f.Store, f.Scope, t.name)
			left -= size
			var list []search.Entry
			for _, o := range all {
				list = append(list, search.Entry{Sort: search.Operation, Title: cmp.Or(o.Summary, o.Name), Text: o.Method + " " + o.Path + " " + o.Name + "\n" + o.Description, API: t.api, Anchor: o.Anchor()})
			}
			f.read[t.name] = outlined{t.rev, err != nil, list}
			pages[id].texts[i].read = true
		}
	}
	for name := range f.read {
		if !live[name] {
			delete(f.read, name)
		}
	}
}

// settle updates the index to pages. It waits for running searches.
func (f *Finder) settle(pages map[table.ID]page) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id := range f.known {
		if _, stays := pages[id]; !stays {
			f.index.Drop(int(id))
			delete(f.known, id)
		}
	}
	for id, p := range pages {
		if was, had := f.known[id]; had && slices.Equal(was.head, p.head) && slices.Equal(was.texts, p.texts) {
			continue
		}
		all := slices.Clone(p.head)
		for _, t := range p.texts {
			if o := f.read[t.name]; t.read && o.rev == t.rev {
				all = append(all, o.entries...)
			}
		}
		f.index.Put(int(id), all)
		f.known[id] = p
	}
}
