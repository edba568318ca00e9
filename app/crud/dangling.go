package crud

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// known remembers which targets exist while many references are looked at.
type known struct {
	g     *References
	r     store.Reader
	names map[integrity.Target]*string
}

func (g *References) remember(r store.Reader) *known {
	return &known{g: g, r: r, names: map[integrity.Target]*string{}}
}

// name returns what a target is called, and nil when it does not exist. Targets
// of kinds without a source exist: nobody can tell.
func (k *known) name(ctx context.Context, t integrity.Target) (*string, error) {
	if name, seen := k.names[t]; seen {
		return name, nil
	}
	var found string
	name := &found
	if s := k.g.source(t.Kind); s != nil {
		text, ok, err := s.lookup(ctx, k.r, t.ID)
		if err != nil {
			return nil, err
		}
		if found = text; !ok {
			name = nil
		}
	}
	k.names[t] = name
	return name, nil
}

// Named yields what a record names, in the order it does: kind, identifier and
// name of what is named, and where. What does not exist has no name.
func (g *References) Named(ctx context.Context, r store.Reader, rec store.Record) iter.Seq2[store.Reference, error] {
	return func(yield func(store.Reference, error) bool) {
		h, err := g.holder(rec)
		if err != nil {
			yield(store.Reference{}, err)
			return
		}
		targets := g.remember(r)
		for _, u := range h.uses {
			name, err := targets.name(ctx, u.Target)
			ref := store.Reference{Kind: u.Kind, ID: u.ID, Where: u.Where}
			if name != nil {
				ref.Name = *name
			}
			if !yield(ref, err) || err != nil {
				return
			}
		}
	}
}

// Dangling yields the references of a kind's resources that lead nowhere.
func (g *References) Dangling(ctx context.Context, r store.Reader, kind string) iter.Seq2[store.Reference, error] {
	return func(yield func(store.Reference, error) bool) {
		targets := g.remember(r)
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

// lost yields the references of one record that lead nowhere.
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
		if name != nil {
			continue
		}
		if !yield(store.Reference{Kind: rec.Kind, ID: h.ids[0], Name: h.name, Where: u.Where, To: &u.Target}, err) || err != nil {
			return false
		}
	}
	return true
}

// After is a store.Aftermath: it yields the references that lead nowhere once a
// record has changed, its own and those of others. Across organisations nobody
// looks: what spans them is not named by anybody.
func (g *References) After(ctx context.Context, r store.Reader, before, after *store.Record) iter.Seq2[store.Reference, error] {
	return func(yield func(store.Reference, error) bool) {
		if w, ok := r.(store.Writer); ok && w.Scope().All() {
			return
		}
		if before != nil && !g.orphans(ctx, r, *before, after, yield) {
			return
		}
		if after != nil {
			g.lost(ctx, g.remember(r), *after, yield)
		}
	}
}

// orphans yields the references of others to what a record was called before.
func (g *References) orphans(ctx context.Context, r store.Reader, before store.Record, after *store.Record, yield func(store.Reference, error) bool) bool {
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
	for ref, err := range g.To(ctx, r, gone) {
		ref.To = &integrity.Target{Kind: gone.Kind, ID: gone.IDs[0]}
		if !yield(ref, err) || err != nil {
			return false
		}
	}
	return true
}
