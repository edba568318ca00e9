package crud

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// known caches the targets that a viewer sees, for lookups of many references.
type known struct {
	g      *References
	r      store.Reader
	viewer Viewer
	views  map[string]*view // by kind; nil: the kind has no registration
	names  map[integrity.Target]*called
}

func (g *References) remember(r store.Reader, v Viewer) *known {
	return &known{g: g, r: r, viewer: v, views: map[string]*view{}, names: map[integrity.Target]*called{}}
}

func (k *known) view(kind string) *view {
	v, made := k.views[kind]
	if s := k.g.source(kind); !made && s != nil {
		of := s.view(k.viewer)
		v = &of
	}
	k.views[kind] = v
	return v
}

// only drops the references from resources that the viewer does not see or may not
// read.
func (k *known) only(ctx context.Context, refs iter.Seq2[store.Reference, error]) iter.Seq2[store.Reference, error] {
	return func(yield func(store.Reference, error) bool) {
		for ref, err := range refs {
			var name *called
			if err == nil {
				name, err = k.name(ctx, integrity.Target{Kind: ref.Kind, ID: ref.ID})
			}
			if (name != nil && k.viewer.reads(name.needs) || err != nil) && !yield(ref, err) || err != nil {
				return
			}
		}
	}
}

// name returns the name of a target, or nil if it does not exist or the viewer does not
// see it, which the viewer must not be able to tell apart. Targets of kinds without a
// registration count as existing.
func (k *known) name(ctx context.Context, t integrity.Target) (*called, error) {
	if name, seen := k.names[t]; seen {
		return name, nil
	}
	found := called{id: t.ID}
	name := &found
	if v := k.view(t.Kind); v != nil {
		of, ok, err := v.lookup(ctx, k.r, t.ID)
		if err != nil {
			return nil, err
		}
		if found = of; !ok {
			name = nil
		}
	}
	k.names[t] = name
	return name, nil
}

// Named yields the references of a record, in their order: kind, ID and name of the
// target, and the place of the reference. A target that does not exist, to which the
// reference does not lead, or that the viewer does not see or may not read, has no name.
func (g *References) Named(ctx context.Context, r store.Reader, v Viewer, rec store.Record) iter.Seq2[store.Reference, error] {
	return func(yield func(store.Reference, error) bool) {
		h, err := g.holder(rec)
		if err != nil {
			yield(store.Reference{}, err)
			return
		}
		targets := g.remember(r, v)
		for _, u := range h.uses {
			name, err := targets.name(ctx, u.Target)
			ref := store.Reference{Kind: u.Kind, ID: u.ID, Where: u.Where}
			if name != nil && u.follows(name.id) && v.reads(name.needs) {
				ref.Name = name.name
			}
			if !yield(ref, err) || err != nil {
				return
			}
		}
	}
}

// Dangling yields the references of a kind's resources whose target does not exist, or
// is not seen by the viewer. The two are treated alike, because the difference would
// reveal what exists.
func (g *References) Dangling(ctx context.Context, r store.Reader, v Viewer, kind string) iter.Seq2[store.Reference, error] {
	return func(yield func(store.Reference, error) bool) {
		targets := g.remember(r, v)
		for rec, err := range r.Scan(ctx, store.Query{Kind: kind}) {
			if err != nil {
				yield(store.Reference{}, err)
				return
			}
			if !g.lost(ctx, targets, rec, yield) {
				return
			}
		}
	}
}

// lost yields the dangling references of one record, also those that dangle only at
// gateways.
func (g *References) lost(ctx context.Context, targets *known, rec store.Record, yield func(store.Reference, error) bool) bool {
	h, err := g.holder(rec)
	if errors.Is(err, store.ErrDamaged) {
		return true
	}
	if err != nil {
		yield(store.Reference{}, err)
		return false
	}
	for _, u := range h.uses {
		name, err := targets.name(ctx, u.Target)
		if name != nil && u.follows(name.id) {
			continue
		}
		if !yield(store.Reference{Kind: rec.Kind, ID: h.ids[0], Name: h.name, Where: u.Where, To: &u.Target}, err) || err != nil {
			return false
		}
	}
	return true
}

// Onlooker returns what the caller of a dry run may know: the records that it sees, and
// the references that dangle after the change of a record, its own and those of other
// records. In units of work across organisations it yields no references, because no
// record refers to those that span organisations.
func (g *References) Onlooker(c *operation.Call) store.Onlooker {
	v := Viewer{Who: c.Principal, Door: c.Spec.Permission, All: c.Spec.Surface != operation.Management}
	k := g.remember(nil, v)
	return store.Onlooker{
		Aftermath: func(ctx context.Context, r store.Reader, before, after *store.Record) iter.Seq2[store.Reference, error] {
			k := g.remember(r, v)
			return func(yield func(store.Reference, error) bool) {
				if w, ok := r.(store.Writer); ok && w.Scope().All() {
					return
				}
				if before != nil && !g.orphans(ctx, k, *before, after, yield) {
					return
				}
				if after != nil {
					g.lost(ctx, k, *after, yield)
				}
			}
		},
		Sees: func(ctx context.Context, r store.Reader, rec store.Record) (bool, error) {
			of := k.view(rec.Kind)
			if of == nil {
				return true, nil
			}
			return of.sees(ctx, r, rec)
		},
	}
}

// orphans yields the references of other records to IDs that a record had before and
// has no more.
func (g *References) orphans(ctx context.Context, k *known, before store.Record, after *store.Record, yield func(store.Reference, error) bool) bool {
	h, err := g.holder(before)
	if errors.Is(err, store.ErrDamaged) {
		return true
	}
	if err != nil {
		yield(store.Reference{}, err)
		return false
	}
	gone := Target{Kind: before.Kind, IDs: h.ids}
	if after != nil {
		now, err := g.holder(*after)
		if err != nil {
			yield(store.Reference{}, err)
			return false
		}
		gone.IDs = slices.DeleteFunc(gone.IDs, func(id string) bool { return slices.Contains(now.ids, id) })
	}
	if len(gone.IDs) == 0 {
		return true
	}
	for ref, err := range k.only(ctx, g.To(ctx, k.r, gone)) {
		ref.To = &integrity.Target{Kind: gone.Kind, ID: gone.IDs[0]}
		if !yield(ref, err) || err != nil {
			return false
		}
	}
	return true
}
