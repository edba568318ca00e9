package apis

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

type listIn struct {
	Scope tenant.Scope
	Who   operation.Principal
	operation.Paging
	Text       string `query:"q" doc:"Part of the name or of the listen path, in any case."`
	Sort       string `query:"sort" doc:"name, created_at or updated_at, with - in front for descending; -created_at when absent."`
	Type       string `query:"api_type" doc:"tcp, rest, graphql, udg, subgraph, supergraph, internal, streams, or graph for any GraphQL."`
	Category   string `query:"category" doc:"Categories, separated by commas: APIs with any of them."`
	AuthType   string `query:"auth_type" doc:"Methods of authentication, separated by commas, such as keyless,authToken."`
	Tags       string `query:"tags" doc:"Gateway tags, separated by commas."`
	BaseAPIs   string `query:"base_apis" doc:"Any value leaves out child versions."`
	Compliance string `query:"compliance_status" doc:"Governance is not evaluated here: not_evaluated selects every API, another status none."`
	Compressed string `query:"compressed" doc:"1: shorter objects, without the OpenAPI document."`
}

// List returns a page of the organisation's APIs, MCP proxies aside.
func (s Classic) List(ctx context.Context, in listIn) (operation.Page[apidef.View], error) {
	out := operation.Page[apidef.View]{Items: []apidef.View{}, Pages: 1}
	if err := apidef.CheckType(in.Type); err != nil {
		return out, err
	}
	if in.Compliance != "" && in.Compliance != "not_evaluated" {
		return out, checkCompliance(in.Compliance)
	}
	page, err := s.page(ctx, in.Scope, in.Who, selection{family: apidef.Classic, sort: in.Sort, paging: in.Paging, bases: in.BaseAPIs != "", filter: apidef.Filter{
		Text: in.Text, Type: in.Type, Categories: operation.Commas(in.Category), AuthTypes: operation.Commas(in.AuthType), Tags: operation.Commas(in.Tags),
	}})
	for _, a := range page.Items {
		out.Items = append(out.Items, a.View(in.Compressed != ""))
	}
	out.Pages = max(1, page.Pages)
	return out, err
}

type searchIn struct {
	Scope tenant.Scope
	Who   operation.Principal
	operation.Paging
	Text string `query:"q" doc:"Part of the name or of the listen path, in any case."`
}

// Search returns the APIs whose name or listen path contains a text.
func (s Classic) Search(ctx context.Context, in searchIn) (operation.Page[apidef.View], error) {
	return s.List(ctx, listIn{Scope: in.Scope, Who: in.Who, Paging: in.Paging, Text: in.Text})
}

// selection is what a list is asked for.
type selection struct {
	family apidef.Class // MCP, or anything else for all others
	filter apidef.Filter
	bases  bool // without child versions
	sort   string
	paging operation.Paging
}

// plain reports whether the store has the list in the order that is wanted.
func (s selection) plain() bool {
	return s.filter.Everything() && !s.bases && (s.sort == "" || s.sort == "created_at" || s.sort == "-created_at")
}

// listed is an API in the column that lists look at.
type listed = *store.Row[apidef.Listed]

// column returns what lists look at of each API.
func (l *Library) column() store.Column[apidef.API, apidef.Listed] {
	return store.Column[apidef.API, apidef.Listed]{Kind: l.kind, Of: apidef.API.Listed}
}

// page returns one page of the APIs that the caller may see.
func (l *Library) page(ctx context.Context, scope tenant.Scope, who operation.Principal, s selection) (out operation.Page[apidef.API], err error) {
	order, err := apidef.Order(s.sort)
	if err != nil {
		return out, err
	}
	v := l.viewer(who)
	err = l.Store.View(ctx, scope, func(r store.Reader) error {
		if s.plain() && v.All {
			out, err = operation.List(ctx, l.kind, r, s.paging, l.PageSize,
				operation.Order{Index: bySequence, Prefix: apidef.Family(s.family), Desc: s.sort != "created_at"})
			return err
		}
		found, err := l.selected(ctx, r, v, s)
		if err != nil {
			return err
		}
		page, err := operation.Select(found, s.paging, l.PageSize, func(a, b listed) int { return order(&a.Value, &b.Value) })
		if err != nil {
			return err
		}
		out.Pages = page.Pages
		out.Items, err = l.column().Resources(page.Items)
		return err
	})
	return out, err
}

// selected returns all APIs of a selection that a viewer sees, in no order.
func (l *Library) selected(ctx context.Context, r store.Reader, v apidef.Viewer, s selection) ([]listed, error) {
	if s.bases {
		s.filter.Hide = map[string]bool{}
		for a, err := range l.column().All(ctx, r) {
			if err != nil {
				return nil, err
			}
			for _, id := range a.Value.ChildIDs() {
				s.filter.Hide[id] = true
			}
		}
	}
	var found []listed
	admits := s.filter.Admits()
	for a, err := range l.column().All(ctx, r) {
		if err != nil {
			return nil, err
		}
		if a.Value.IsMCP() == (s.family == apidef.MCP) && admits(&a.Value) && a.Value.VisibleTo(v) {
			found = append(found, a)
		}
	}
	return found, nil
}

// all returns every API of the organisation's lists that the caller may see, in no
// order.
func (l *Library) all(ctx context.Context, scope tenant.Scope, who operation.Principal) (found []listed, err error) {
	err = l.Store.View(ctx, scope, func(r store.Reader) error {
		found, err = l.selected(ctx, r, l.viewer(who), selection{})
		return err
	})
	return found, err
}

type mine struct {
	Scope tenant.Scope
	Who   operation.Principal
}

// CategoryCount says how many APIs have a category.
type CategoryCount struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// CategoryCounts is the answer to the list of categories.
type CategoryCounts struct {
	Categories []CategoryCount `json:"categories"`
}

// Categories counts the APIs of each category, in order of name.
func (s Classic) Categories(ctx context.Context, in mine) (CategoryCounts, error) {
	out := CategoryCounts{Categories: []CategoryCount{}}
	groups, err := s.groups(ctx, in)
	for name, ids := range groups {
		out.Categories = append(out.Categories, CategoryCount{name, len(ids)})
	}
	slices.SortFunc(out.Categories, func(a, b CategoryCount) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}

// Groups maps each category to the API IDs that have it.
type Groups map[string][]string

// MarshalJSON implements json.Marshaler: no groups are an empty object.
func (g Groups) MarshalJSON() ([]byte, error) {
	if g == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string][]string(g))
}

// Groups returns the API IDs of each category.
func (s Classic) Groups(ctx context.Context, in mine) (Groups, error) { return s.groups(ctx, in) }

func (l *Library) groups(ctx context.Context, in mine) (Groups, error) {
	all, err := l.all(ctx, in.Scope, in.Who)
	out := Groups{}
	for _, a := range all {
		for _, name := range a.Value.Categories() {
			out[name] = append(out[name], a.Value.APIID())
		}
	}
	return out, err
}
