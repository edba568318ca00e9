package crud

import (
	"cmp"
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Selection is the filter and the order of a list.
type Selection[T any] struct {
	Keep  func(T) bool    // nil: all. With Keep, a list reads all records of the kind.
	Order operation.Order // the zero Order: oldest first
}

// unpaged and paged are the inputs of lists. Filters are query parameters.
type unpaged[F any] struct {
	Scope  tenant.Scope
	Who    operation.Principal
	Filter F `params:""`
}

type paged[F any] struct {
	unpaged[F]
	operation.Paging
}

// none has no filter.
type none struct{}

// List lists resources.
func (o Operations[T, D]) List(opts ...operation.Option) operation.Row {
	return ListBy(o, func(none) (s Selection[T], err error) { return s, nil }, opts...)
}

// ListBy lists the resources that a filter selects: a struct of fields with the tags
// query and doc.
func ListBy[T, D, F any](o Operations[T, D], by func(F) (Selection[T], error), opts ...operation.Option) operation.Row {
	list := func(ctx context.Context, in paged[F]) (out operation.Page[T], err error) {
		s, err := by(in.Filter)
		if err != nil {
			return out, err
		}
		err = o.Store.View(ctx, in.Scope, func(r store.Reader) (err error) {
			out, err = o.page(ctx, r, in.Who, s, in.Paging)
			return err
		})
		if o.Shown != nil {
			for i, v := range out.Items {
				out.Items[i] = o.Shown(v, in.Who)
			}
		}
		return out, err
	}
	opts = slices.Concat([]operation.Option{operation.Lists(o.Item(o.Example())), operation.Example(nil, operation.Page[T]{Items: []T{o.Example()}, Pages: 1})}, opts)
	summary := "List " + o.Words.Many
	if !o.Unpaged {
		return operation.GET("list", "", summary, list, opts...)
	}
	return operation.GET("list", "", summary, func(ctx context.Context, in unpaged[F]) (operation.Page[T], error) {
		return list(ctx, paged[F]{in, operation.Paging{P: "0"}})
	}, opts...)
}

// page returns a page of the resources in a selection that the caller sees.
func (o Operations[T, D]) page(ctx context.Context, r store.Reader, who operation.Principal, s Selection[T], p operation.Paging) (operation.Page[T], error) {
	sees := o.Sight.of(o.viewer(who))
	if sees == nil && s.Keep == nil {
		return operation.List(ctx, o.Kind, r, p, o.PageSize, s.Order)
	}
	q := store.Query{Index: s.Order.Index, Prefix: s.Order.Prefix, Desc: s.Order.Desc, Sorted: s.Order.Index != ""}
	var all []T
	for v, err := range o.Kind.Find(ctx, r, q) {
		if err != nil {
			return operation.Page[T]{}, err
		}
		if s.Keep != nil && !s.Keep(v.Value) {
			continue
		}
		if ok, err := sees.see(ctx, r, v.Value); err != nil {
			return operation.Page[T]{}, err
		} else if ok {
			all = append(all, v.Value)
		}
	}
	return operation.Slice(all, p, o.PageSize)
}

// one returns a resource that the caller sees. For others it returns a NotFound fault.
func (o Operations[T, D]) one(ctx context.Context, r store.Reader, in address) (store.Stored[T], error) {
	v, err := o.Kind.Get(ctx, r, in.ID)
	if err != nil {
		return v, err
	}
	return v, o.admit(ctx, r, in.Who, v.Value)
}

// admit returns a NotFound fault for a resource that the caller does not see.
func (o Operations[T, D]) admit(ctx context.Context, r store.Reader, who operation.Principal, v T) error {
	ok, err := o.Sight.of(o.viewer(who)).see(ctx, r, v)
	if err == nil && !ok {
		return o.Kind.Absent()
	}
	return err
}

// Get fetches one resource.
func (o Operations[T, D]) Get(opts ...operation.Option) operation.Row {
	return operation.GET("get", o.path(), "Fetch "+o.Words.One, func(ctx context.Context, in address) (operation.Entity[T], error) {
		var v store.Stored[T]
		err := o.Store.View(ctx, in.Scope, func(r store.Reader) (err error) {
			v, err = o.one(ctx, r, in)
			return err
		})
		if err == nil && o.Shown != nil {
			v.Value = o.Shown(v.Value, in.Who)
		}
		return operation.EntityOf(v.Value, v.Serial), err
	}, o.options(opts, operation.Faulting(o.missing()), operation.Example(nil, operation.Entity[T]{Value: o.Example()}))...)
}

// Referrers lists the records that refer to one resource.
func (o Operations[T, D]) Referrers(summary string, example []store.Reference, opts ...operation.Option) operation.Row {
	return operation.GET("references", o.path()+"/references", summary, func(ctx context.Context, in address) ([]store.Reference, error) {
		return o.References.Of(ctx, o.Store, in.Scope, o.viewer(in.Who), func(r store.Reader) (Target, error) {
			v, err := o.one(ctx, r, in)
			if err != nil {
				return Target{}, err
			}
			return TargetFrom(o.Kind, v.Value), nil
		})
	}, o.options(opts, operation.Faulting(o.missing()), operation.Example(nil, example))...)
}

// path returns the path of one resource.
func (o Operations[T, D]) path() string { return "/{" + cmp.Or(o.Words.Param, "id") + "}" }

// options returns the options of an operation on one resource: those that all such
// operations have, then own, then more.
func (o Operations[T, D]) options(more []operation.Option, own ...operation.Option) []operation.Option {
	return slices.Concat([]operation.Option{operation.Identifier(cmp.Or(o.Words.Param, "id"), cmp.Or(o.Words.ParamDoc, "Identifier of the resource."))}, own, more)
}
