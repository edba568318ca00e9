package crud

import (
	"context"
	"slices"
	"sync"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Hooks are called around the writes of a resource. Each may be nil. If a hook returns
// an error, the write fails, and nothing is stored.
type Hooks[T, D any] struct {
	// Prepare runs before the unit of work, for slow work.
	Prepare func(ctx context.Context, c *Change[T, D]) error
	// Before and After run in the unit of work, which may run more than once. So they
	// must have no effects except through the writer and the change.
	Before func(ctx context.Context, w store.Writer, c *Change[T, D]) error
	After  func(ctx context.Context, w store.Writer, c *Change[T, D]) error
	// Done runs when the write has been stored, and not in dry runs.
	Done func(ctx context.Context, c *Change[T, D])
}

// Change is one write in the form for hooks.
type Change[T, D any] struct {
	Op    store.Op
	Scope tenant.Scope
	Who   operation.Principal
	ID    string // as in the request; empty for a new resource
	Draft D
	Old   T            // the replaced resource, from Before on, or the deleted one, in After and Done
	New   T            // the stored resource, in After and Done
	Now   system.Clock // the time of the write: that of the first call
	Memo  any          // data that hooks pass to later hooks
}

// creation and replacement are inputs of writes.
type creation[D any] struct {
	Scope tenant.Scope
	Who   operation.Principal
	Draft D `body:""`
}

type replacement[D any] struct {
	writing
	Draft D `body:""`
}

// Insert creates a resource.
func (o Operations[T, D]) Insert(opts ...operation.Option) operation.Row {
	insert := func(ctx context.Context, in creation[D]) (out store.Stored[T], err error) {
		c := &Change[T, D]{Op: store.Created, Scope: in.Scope, Who: in.Who, Draft: in.Draft, Now: sync.OnceValue(o.Now)}
		if err := o.Prepare(ctx, c); err != nil {
			return out, err
		}
		if out.Value, err = o.New(Stamp{ID: o.NewID(), Org: c.Scope.Org(), Now: c.Now}, c.Draft); err != nil {
			return out, err
		}
		scope := c.Scope
		if org := o.Kind.Org(out.Value); scope.All() && org != "" { // the caller's scope spans organisations
			if scope, err = tenant.Of(org); err != nil {
				return out, err
			}
		}
		out.Serial, err = store.Write(ctx, o.Store, scope, func(w store.Writer) (store.Serial, error) {
			if err := o.Before(ctx, w, c); err != nil {
				return 0, err
			}
			at, err := o.Kind.Create(ctx, w, out.Value)
			if err != nil {
				return 0, err
			}
			c.New = out.Value
			return at, o.After(ctx, w, c)
		})
		if err == nil {
			o.Done(ctx, c)
		}
		return out, err
	}
	faults := operation.Faulting(slices.Concat(o.Faults, []string{o.Kind.Name + ".taken"})...)
	if o.Words.Created == "" {
		return operation.POST("create", "", "Create "+o.Words.One, func(ctx context.Context, in creation[D]) (operation.Entity[T], error) {
			v, err := insert(ctx, in)
			return operation.EntityOf(v.Value, v.Serial), err
		}, slices.Concat([]operation.Option{faults, operation.Example(o.Draft, operation.Entity[T]{Value: o.Example()})}, opts)...)
	}
	return operation.POST("create", "", "Create "+o.Words.One, func(ctx context.Context, in creation[D]) (operation.Receipt, error) {
		v, err := insert(ctx, in)
		if err != nil {
			return operation.Receipt{}, err
		}
		return o.receipt(store.Created, v.Value, v.Serial), nil
	}, slices.Concat([]operation.Option{faults, operation.Example(o.Draft, o.receipt(store.Created, o.Example(), 0))}, opts)...)
}

// Home returns the scope in which a resource is changed: that of the caller or, if the
// caller's scope spans organisations, that of the resource's organisation.
func (o Operations[T, D]) Home(ctx context.Context, scope tenant.Scope, id string) (tenant.Scope, error) {
	if !scope.All() {
		return scope, nil
	}
	var rec store.Record
	err := o.Store.View(ctx, scope, func(r store.Reader) (err error) {
		rec, err = o.Kind.Raw(ctx, r, id)
		return err
	})
	if err != nil || rec.Org == "" {
		return scope, err
	}
	return tenant.Of(rec.Org)
}

// Edit replaces the fields of a resource that clients may set.
func (o Operations[T, D]) Edit(opts ...operation.Option) operation.Row {
	edit := func(ctx context.Context, in replacement[D]) (out store.Stored[T], err error) {
		c := &Change[T, D]{Op: store.Updated, Scope: in.Scope, Who: in.Who, ID: in.ID, Draft: in.Draft, Now: sync.OnceValue(o.Now)}
		if in.Scope, err = o.Home(ctx, in.Scope, in.ID); err != nil {
			return out, err
		}
		if err := o.Prepare(ctx, c); err != nil {
			return out, err
		}
		_, err = o.Store.Update(ctx, in.Scope, func(w store.Writer) (err error) {
			out, err = o.Kind.Revise(ctx, w, in.ID, in.Match.Check, func(old T) (T, error) {
				c.Old = old
				if err := o.admit(ctx, w, in.Who, old); err != nil {
					return old, err
				}
				if err := o.Before(ctx, w, c); err != nil {
					return old, err
				}
				return o.Replace(old, c.Draft, c.Now)
			})
			if err != nil {
				return err
			}
			c.New = out.Value
			return o.After(ctx, w, c)
		})
		if err == nil {
			o.Done(ctx, c)
		}
		return out, err
	}
	own := []operation.Option{operation.Faulting(slices.Concat(o.Faults, []string{o.missing(), o.Kind.Name + ".taken"})...), operation.Rehearsable(o.References.Onlooker)}
	if o.Words.Updated == "" {
		own = append(own, operation.Example(o.Draft, operation.Entity[T]{Value: o.Example()}))
		return operation.PUT("replace", o.path(), "Replace "+o.Words.One, func(ctx context.Context, in replacement[D]) (operation.Entity[T], error) {
			v, err := edit(ctx, in)
			return operation.EntityOf(v.Value, v.Serial), err
		}, o.options(opts, own...)...)
	}
	own = append(own, operation.Example(o.Draft, o.receipt(store.Updated, o.Example(), 0)))
	return operation.PUT("replace", o.path(), "Replace "+o.Words.One, func(ctx context.Context, in replacement[D]) (operation.Receipt, error) {
		v, err := edit(ctx, in)
		if err != nil {
			return operation.Receipt{}, err
		}
		return o.receipt(store.Updated, v.Value, v.Serial), nil
	}, o.options(opts, own...)...)
}

// Delete deletes a resource.
func (o Operations[T, D]) Delete(opts ...operation.Option) operation.Row {
	remove := func(ctx context.Context, in writing) (out operation.Receipt, err error) {
		c := &Change[T, D]{Op: store.Deleted, Scope: in.Scope, Who: in.Who, ID: in.ID, Now: sync.OnceValue(o.Now)}
		if in.Scope, err = o.Home(ctx, in.Scope, in.ID); err != nil {
			return out, err
		}
		if err := o.Prepare(ctx, c); err != nil {
			return out, err
		}
		_, err = o.Store.Update(ctx, in.Scope, func(w store.Writer) (err error) {
			if o.Sight != nil { // a damaged resource can be deleted, but only if all users see the resources of the kind
				if _, err := o.one(ctx, w, in.address); err != nil {
					return err
				}
			}
			if err := o.Before(ctx, w, c); err != nil {
				return err
			}
			if c.Old, err = o.Kind.Delete(ctx, w, in.ID, in.Match.Check); err != nil {
				return err
			}
			return o.After(ctx, w, c)
		})
		if err == nil {
			o.Done(ctx, c)
		}
		return o.receipt(store.Deleted, c.Old, 0), err
	}
	return operation.DELETE("delete", o.path(), "Delete "+o.Words.One, remove, o.options(opts, operation.Faulting(o.missing()), operation.Rehearsable(o.References.Onlooker),
		operation.Example(nil, o.receipt(store.Deleted, o.Example(), 0)))...)
}
