package classic

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

type listIn struct {
	Scope tenant.Scope
	Who   operation.Principal
	operation.Paging
	Text       string `query:"q" doc:"Part of the name or of the listen path; letter case is ignored."`
	Sort       string `query:"sort" oneof:"name,-name,created_at,-created_at,updated_at,-updated_at" doc:"Member to sort by; a leading - means descending. Default: -created_at."`
	Type       string `query:"api_type" oneof:"tcp,rest,graphql,udg,subgraph,supergraph,internal,streams,graph" doc:"Only APIs of this kind. graph selects GraphQL APIs of all kinds."`
	Category   string `query:"category" doc:"Categories, separated by commas. Selects APIs with at least one of them."`
	AuthType   string `query:"auth_type" doc:"Authentication methods, separated by commas, such as keyless,authToken."`
	Tags       string `query:"tags" doc:"Gateway tags, separated by commas."`
	BaseAPIs   string `query:"base_apis" doc:"Any value: child versions are left out."`
	Compliance string `query:"compliance_status" oneof:"compliant,non_compliant,in_process,not_evaluated" doc:"This service evaluates no governance rules: not_evaluated selects every API, and any other status selects none."`
	Compressed string `query:"compressed" oneof:"1" doc:"1: objects are shorter and have no OpenAPI document."`
}

// List returns a page of the organisation's APIs, without MCP proxies.
func (s *Service) List(ctx context.Context, in listIn) (operation.Page[apidef.View], error) {
	out := operation.Page[apidef.View]{Items: []apidef.View{}, Pages: 1}
	if err := apidef.CheckType(in.Type); err != nil {
		return out, err
	}
	switch in.Compliance {
	case "", "not_evaluated":
	case "compliant", "non_compliant", "in_process": // APIs are not evaluated, so none has this status
		return out, nil
	default:
		return out, fault.New(fault.Invalid, apis.CodeInvalid, "compliance_status must be one of compliant, non_compliant, in_process, not_evaluated, not %q", in.Compliance).At("compliance_status")
	}
	page, err := s.APIs.List(ctx, in.Scope, in.Who, apis.Selection{Sort: in.Sort, Paging: in.Paging, Bases: in.BaseAPIs != "", Filter: apidef.Filter{
		Text: in.Text, Type: in.Type, Categories: operation.Commas(in.Category), AuthTypes: operation.Commas(in.AuthType), Tags: operation.Commas(in.Tags),
	}})
	for _, a := range page.Items {
		out.Items = append(out.Items, a.View(in.Compressed == "1"))
	}
	out.Pages = max(1, page.Pages)
	return out, err
}

type searchIn struct {
	Scope tenant.Scope
	Who   operation.Principal
	operation.Paging
	Text string `query:"q" doc:"Part of the name or of the listen path; letter case is ignored."`
}

// Search returns the APIs whose name or listen path contains a text.
func (s *Service) Search(ctx context.Context, in searchIn) (operation.Page[apidef.View], error) {
	return s.List(ctx, listIn{Scope: in.Scope, Who: in.Who, Paging: in.Paging, Text: in.Text})
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

// CategoryCounts is the response of the list of categories.
type CategoryCounts struct {
	Categories []CategoryCount `json:"categories"`
}

// Categories counts the APIs of each category, sorted by name.
func (s *Service) Categories(ctx context.Context, in mine) (CategoryCounts, error) {
	out := CategoryCounts{Categories: []CategoryCount{}}
	groups, err := s.Groups(ctx, in)
	for name, ids := range groups {
		out.Categories = append(out.Categories, CategoryCount{name, len(ids)})
	}
	slices.SortFunc(out.Categories, func(a, b CategoryCount) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}

// Groups has the API IDs of each category.
type Groups map[string][]string

// MarshalJSON implements json.Marshaler: without groups it returns an empty object.
func (g Groups) MarshalJSON() ([]byte, error) {
	if g == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string][]string(g))
}

// Groups returns the API IDs of each category.
func (s *Service) Groups(ctx context.Context, in mine) (out Groups, err error) {
	err = s.APIs.Store.View(ctx, in.Scope, func(r store.Reader) error {
		out = Groups{}
		for a, err := range s.APIs.Select(ctx, r, s.APIs.Viewer(in.Who, apidef.Classic, access.Read), apis.Selection{}) {
			if err != nil {
				return err
			}
			for name := range a.Value.Categories().All() {
				out[name] = append(out[name], a.Value.APIID())
			}
		}
		return nil
	})
	return out, err
}
