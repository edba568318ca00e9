package policies

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

type listIn struct {
	Scope tenant.Scope
	Who   operation.Principal
	operation.Paging
	Active string `query:"active" doc:"Any value: only policies with active: true."`
}

// List returns a page of the organisation's policies, oldest first.
func (s *Service) List(ctx context.Context, in listIn) (out operation.Page[policy.View], err error) {
	if in.Active != "" || !s.viewer(in.Who).All {
		return s.Search(ctx, searchIn{Scope: in.Scope, Who: in.Who, Paging: in.Paging, Active: in.Active})
	}
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		page, err := operation.List(ctx, Kind, r, in.Paging, s.PageSize)
		out = operation.Page[policy.View]{Items: policy.Views(page.Items), Pages: page.Pages}
		return err
	})
	return out, err
}

type searchIn struct {
	Scope tenant.Scope
	Who   operation.Principal
	operation.Paging
	Text      string `query:"q" doc:"Identifier of a policy, or part of its name; letter case is ignored."`
	PolicyIDs string `query:"policy_ids" doc:"Identifiers of policies, separated by commas. Selects these policies and overrides q."`
	Active    string `query:"active" doc:"Any value: only policies with active: true."`
	State     string `query:"state" oneof:"active,draft,deny" doc:"Only policies in this state."`
	Sort      string `query:"sort" oneof:"date_created,-date_created,name,-name,state,-state" doc:"Member to sort by; a leading - means descending."`
	APIID     string `query:"api_id" doc:"Identifiers of APIs, separated by commas. Selects policies that give access to at least one of them."`
	AuthType  string `query:"auth_type" doc:"Authentication methods, separated by commas. Selects policies that name at least one of them, or that have an API with it. ba means basic."`
}

// Search returns a page of the policies that match all conditions.
func (s *Service) Search(ctx context.Context, in searchIn) (out operation.Page[policy.View], err error) {
	order, err := policy.Order(in.Sort)
	if err != nil {
		return out, err
	}
	ids := operation.Commas(in.PolicyIDs)
	if slices.ContainsFunc(ids, func(id string) bool { return !policy.ValidLetters(id, s.Settings.UnsafeIDs) }) {
		return out, fault.New(fault.Invalid, codeSearchID, "Policy ID is not in hex format.").At("policy_ids")
	}
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		f := policy.Filter{Text: in.Text, State: policy.State(in.State), ActiveOnly: in.Active != "", APIs: operation.Commas(in.APIID),
			AuthTypes: policy.Plain(operation.Commas(in.AuthType))}
		candidates := s.candidates(ctx, r, &f, ids)
		apis, err := s.facts(ctx, r, s.viewer(in.Who), f.AuthTypes)
		if err != nil {
			return err
		}
		admits, takes := f.Admits(), f.Takes(apis.takes)
		found := store.Where(candidates, func(l *policy.Listed) bool {
			return admits(l) && takes(l) && (apis.all || policy.VisibleThrough(l.APIs(), apis.visible))
		})
		by := func(a, b listed) int { return order(&a.Value, &b.Value) }
		if in.Sort == "" && len(ids) == 0 && in.APIID == "" && !in.Scope.All() {
			by = nil // all policies of an organisation are sorted by ID already
		}
		page, err := operation.Select(found, in.Paging, s.PageSize, by)
		if err != nil {
			return err
		}
		list, err := column.Resources(page.Items)
		out = operation.Page[policy.View]{Items: policy.Views(list), Pages: page.Pages}
		return err
	})
	return out, err
}

// column holds the fields of each policy that lists need.
var column = store.Column[policy.Policy, policy.Listed]{Kind: Kind, Of: policy.Policy.Listed}

// listed is a row of column.
type listed = *store.Row[policy.Listed]

// facts are the facts about APIs that a list of policies needs.
type facts struct {
	all  bool // the viewer sees every policy
	apis map[policy.Handle]fact
}

// fact is what facts has about one API that exists.
type fact struct{ takes, visible bool }

// facts reads all APIs once, unless the list needs no facts about them.
func (s *Service) facts(ctx context.Context, r store.Reader, v apidef.Viewer, methods []string) (facts, error) {
	out := facts{all: v.All}
	if v.All && len(methods) == 0 {
		return out, nil
	}
	n, err := r.Count(ctx, store.Query{Kind: apidef.Kind})
	if err != nil {
		return out, err
	}
	takes := doc.Overlap(methods)
	out.apis = make(map[policy.Handle]fact, n)
	for a, err := range (store.Column[apidef.API, apidef.Listed]{Kind: s.APIs, Of: apidef.API.Listed}).All(ctx, r) {
		if err != nil {
			return out, err
		}
		out.apis[a.Value.Handle()] = fact{takes(a.Value.AuthTypes()), a.Value.VisibleTo(v)}
	}
	return out, nil
}

func (f facts) takes(id policy.Handle) (takes, exists bool) {
	a, exists := f.apis[id]
	return a.takes, exists
}

func (f facts) visible(id policy.Handle) (visible, exists bool) {
	a, exists := f.apis[id]
	return a.visible, exists
}

// scattered is the number of policies from which reading all of them costs less than
// fetching each by an index.
const scattered = 256

// candidates yields, without duplicates, the policies that the filter has to check:
// those with the given IDs, or those that the index finds if they are few, or all. If
// candidates has applied the text of the filter already, it removes the text from f.
func (s *Service) candidates(ctx context.Context, r store.Reader, f *policy.Filter, ids []string) iter.Seq2[listed, error] {
	if len(ids) > 0 {
		f.Text = ""
		return distinct(named(ctx, r, ids))
	}
	if policy.ValidID(f.Text, s.Settings.UnsafeIDs) {
		if p, err := column.Get(ctx, r, f.Text); fault.KindOf(err) != fault.NotFound {
			f.Text = ""
			return func(yield func(listed, error) bool) { yield(p, err) }
		}
	}
	if len(f.APIs) == 0 {
		return column.Containing(ctx, r, strings.ToLower(f.Text))
	}
	var few []listed
	for p, err := range distinct(indexed(ctx, r, f.APIs)) {
		if few = append(few, p); err != nil || len(few) > scattered {
			return column.Containing(ctx, r, strings.ToLower(f.Text))
		}
	}
	return func(yield func(listed, error) bool) {
		for _, p := range few {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// indexed yields the policies that the index has under the given APIs, and those that
// are too broad to be indexed by API.
func indexed(ctx context.Context, r store.Reader, apis []string) iter.Seq2[listed, error] {
	return func(yield func(listed, error) bool) {
		for _, id := range append([]string{anyAPI}, apis...) {
			for p, err := range column.Find(ctx, r, store.Query{Index: byAPI, Value: store.Indexed(id)}) {
				if !yield(p, err) {
					return
				}
			}
		}
	}
}

// named yields the policies with the given IDs, as far as they exist.
func named(ctx context.Context, r store.Reader, ids []string) iter.Seq2[listed, error] {
	return func(yield func(listed, error) bool) {
		for _, id := range ids {
			if !policy.ValidID(id, true) { // too long for the ID of a policy
				continue
			}
			p, err := column.Get(ctx, r, id)
			if fault.KindOf(err) != fault.NotFound && !yield(p, err) {
				return
			}
		}
	}
}

// distinct yields each policy once.
func distinct(seq iter.Seq2[listed, error]) iter.Seq2[listed, error] {
	return func(yield func(listed, error) bool) {
		seen := map[string]bool{}
		for p, err := range seq {
			if err == nil {
				if seen[p.Value.ID()] {
					continue
				}
				seen[p.Value.ID()] = true
			}
			if !yield(p, err) {
				return
			}
		}
	}
}
