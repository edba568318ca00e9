package apis

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Selection is the request for a list.
type Selection struct {
	Family apidef.Class // MCP, or anything else for all other classes
	Filter apidef.Filter
	Bases  bool // without child versions
	Sort   string
	Paging operation.Paging
}

// Listed is a row of the column for lists.
type Listed = *store.Row[apidef.Listed]

// column returns the fields of each API that lists need.
func (s *Repository) column() store.Column[apidef.API, apidef.Listed] {
	return store.Column[apidef.API, apidef.Listed]{Kind: s.Kind, Of: apidef.API.Listed}
}

// List returns one page of the APIs that the caller may see.
func (s *Repository) List(ctx context.Context, scope tenant.Scope, who operation.Principal, q Selection) (out operation.Page[apidef.API], err error) {
	order, err := apidef.Order(q.Sort)
	if err != nil {
		return out, err
	}
	v := s.Viewer(who, apidef.Classic, access.Read)
	err = s.Store.View(ctx, scope, func(r store.Reader) error {
		everything := q.Filter.Everything() && !q.Bases && v.All && !scope.All() // the order in the store is valid only within one organisation
		if everything && slices.Contains([]string{"", "created_at", "-created_at"}, q.Sort) {
			out, err = operation.List(ctx, s.Kind, r, q.Paging, s.PageSize,
				operation.Order{Index: bySequence, Prefix: apidef.Family(q.Family), Desc: q.Sort != "created_at"})
			return err
		}
		page, err := operation.Select(s.Select(ctx, r, v, q), q.Paging, s.PageSize, func(a, b Listed) int { return order(&a.Value, &b.Value) })
		if err != nil {
			return err
		}
		out.Pages = page.Pages
		out.Items, err = s.column().Resources(page.Items)
		return err
	})
	return out, err
}

// Select yields all APIs of a selection that a viewer sees, unordered.
func (s *Repository) Select(ctx context.Context, r store.Reader, v apidef.Viewer, q Selection) iter.Seq2[Listed, error] {
	return func(yield func(Listed, error) bool) {
		if q.Bases {
			q.Filter.Hide = map[string]bool{}
			for a, err := range s.column().All(ctx, r) {
				if err != nil {
					yield(nil, err)
					return
				}
				for _, id := range a.Value.ChildIDs() {
					q.Filter.Hide[id] = true
				}
			}
		}
		admits := q.Filter.Admits()
		store.Where(s.column().Containing(ctx, r, strings.ToLower(q.Filter.Text)), func(a *apidef.Listed) bool {
			return a.IsMCP() == (q.Family == apidef.MCP) && admits(a) && a.VisibleTo(v)
		})(yield)
	}
}
