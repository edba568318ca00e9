package policies

import (
	"cmp"
	"context"
	"iter"
	"slices"

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
	Active string `query:"active" doc:"Any value: only policies that say active: true."`
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
	Text      string `query:"q" doc:"Identifier of a policy, or part of names, in any case."`
	PolicyIDs string `query:"policy_ids" doc:"Identifiers, separated by commas: these policies, whatever q says."`
	Active    string `query:"active" doc:"Any value: only policies that say active: true."`
	State     string `query:"state" doc:"active, draft or deny."`
	Sort      string `query:"sort" doc:"date_created, name or state, with - in front for descending."`
	APIID     string `query:"api_id" doc:"Identifiers of APIs, separated by commas: policies that give access to any of them."`
	AuthType  string `query:"auth_type" doc:"Authentication methods, separated by commas: policies that name any of them, or have an API that takes it; ba is basic."`
}

// Search returns a page of the policies that all conditions select.
func (s *Service) Search(ctx context.Context, in searchIn) (out operation.Page[policy.View], err error) {
	order, err := policy.Order(in.Sort)
	if err != nil {
		return out, err
	}
	ids := operation.Commas(in.PolicyIDs)
	if !all(ids, func(id string) bool { return policy.ValidID(id, s.Settings.UnsafeIDs) }) {
		return out, fault.New(fault.Invalid, codeSearchID, "Policy ID is not in hex format.").At("policy_ids")
	}
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		found, err := s.selected(ctx, r, in, ids)
		if err != nil {
			return err
		}
		slices.SortFunc(found, order)
		page, err := operation.Slice(found, in.Paging, s.PageSize)
		out = operation.Page[policy.View]{Items: policy.Views(page.Items), Pages: page.Pages}
		return err
	})
	return out, err
}

func all(list []string, ok func(string) bool) bool {
	return !slices.ContainsFunc(list, func(v string) bool { return !ok(v) })
}

// selected returns the policies that all conditions select and the caller sees.
func (s *Service) selected(ctx context.Context, r store.Reader, in searchIn, ids []string) (found []policy.Policy, err error) {
	f := policy.Filter{Text: in.Text, State: policy.State(in.State), ActiveOnly: in.Active != "", APIs: operation.Commas(in.APIID), AuthTypes: operation.Commas(in.AuthType)}
	d, v := s.definitions(), s.viewer(in.Who)
	if !v.All || len(f.AuthTypes) > 0 {
		if err := d.loadAll(ctx, r); err != nil {
			return nil, err
		}
	}
	var failed error
	authTypes := func(p policy.Policy) []string {
		types, err := d.authTypes(ctx, r, p)
		failed = cmp.Or(failed, err)
		return types
	}
	for p, err := range s.candidates(ctx, r, &f, ids) {
		if err = cmp.Or(err, failed); err != nil {
			return nil, err
		}
		if !f.Admits(p.Value, authTypes) {
			continue
		}
		ok, err := d.visible(ctx, r, p.Value, v)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, p.Value)
		}
	}
	return found, failed
}

// candidates yields the policies among which the filter has to select, found by
// the narrowest condition that an index serves; none comes twice. A text that is
// settled here is taken out of the filter.
func (s *Service) candidates(ctx context.Context, r store.Reader, f *policy.Filter, ids []string) iter.Seq2[store.Stored[policy.Policy], error] {
	if len(ids) > 0 {
		f.Text = ""
		return distinct(named(ctx, r, ids))
	}
	if policy.ValidID(f.Text, s.Settings.UnsafeIDs) {
		if p, err := Kind.Get(ctx, r, f.Text); fault.KindOf(err) != fault.NotFound {
			f.Text = ""
			return func(yield func(store.Stored[policy.Policy], error) bool) { yield(p, err) }
		}
	}
	if len(f.APIs) == 0 {
		return Kind.Find(ctx, r, store.Query{})
	}
	return distinct(func(yield func(store.Stored[policy.Policy], error) bool) {
		for _, id := range f.APIs {
			for p, err := range naming(ctx, r, id) {
				if !yield(p, err) {
					return
				}
			}
		}
	})
}

// named yields the policies with the given identifiers that exist.
func named(ctx context.Context, r store.Reader, ids []string) iter.Seq2[store.Stored[policy.Policy], error] {
	return func(yield func(store.Stored[policy.Policy], error) bool) {
		for _, id := range ids {
			p, err := Kind.Get(ctx, r, id)
			if fault.KindOf(err) != fault.NotFound && !yield(p, err) {
				return
			}
		}
	}
}

// distinct leaves out policies that came before.
func distinct(seq iter.Seq2[store.Stored[policy.Policy], error]) iter.Seq2[store.Stored[policy.Policy], error] {
	return func(yield func(store.Stored[policy.Policy], error) bool) {
		seen := map[string]bool{}
		for p, err := range seq {
			if err == nil && seen[p.Value.ID()] {
				continue
			}
			if err == nil {
				seen[p.Value.ID()] = true
			}
			if !yield(p, err) {
				return
			}
		}
	}
}
