package crud

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Target is a resource that other records in its organisation may refer to, by any of
// its IDs. The first one is the ID that clients know.
type Target struct {
	Kind string
	Org  tenant.ID
	IDs  []string
}

// TargetOf returns a resource as a Target, or a NotFound fault.
func TargetOf[T any](ctx context.Context, k *store.Kind[T], r store.Reader, name string) (Target, error) {
	v, err := k.Get(ctx, r, name)
	if err != nil {
		return Target{}, err
	}
	return TargetFrom(k, v.Value), nil
}

// TargetFrom returns a resource as a Target.
func TargetFrom[T any](k *store.Kind[T], v T) Target {
	return Target{Kind: k.Name, Org: k.Org(v), IDs: k.Names(v)}
}

// Finder yields the references that the resources of one kind hold to a target.
type Finder func(ctx context.Context, r store.Reader, t Target) iter.Seq2[store.Reference, error]

// Use is a reference that a resource holds: its target, and the place in the resource.
type Use struct {
	integrity.Target
	Where string
	// Exact says that gateways follow the reference only by the ID that clients know.
	// With another ID of the target it dangles at gateways.
	Exact bool
}

// follows reports whether the reference leads to the target whose ID for clients is id.
func (u Use) follows(id string) bool { return !u.Exact || u.ID == id }

// view is a kind of resource as a viewer sees it.
type view struct {
	// lookup returns the name of a resource and the ID that clients know.
	lookup func(ctx context.Context, r store.Reader, id string) (v called, ok bool, err error)
	sees   func(ctx context.Context, r store.Reader, rec store.Record) (bool, error)
}

// called is the name and the ID of a resource, and the permission to read it.
type called struct {
	name, id string
	needs    access.Permission
}

// holder is a record with its references.
type holder struct {
	ids  []string
	name string
	uses []Use
}

func viewOf[T any](k *store.Kind[T], name func(T) string, permission func(T) access.Permission, sees Seeing[T]) view {
	if permission == nil {
		permission = func(T) access.Permission { return "" }
	}
	return view{
		lookup: func(ctx context.Context, r store.Reader, id string) (called, bool, error) {
			v, err := k.Get(ctx, r, id)
			switch {
			case errors.Is(err, store.ErrNotFound):
				return called{}, false, nil
			case errors.Is(err, store.ErrDamaged): // it exists, but its fields cannot be read
				return called{id: id}, sees == nil, nil
			case err != nil:
				return called{}, false, err
			}
			if sees != nil {
				if ok, err := sees(ctx, r, v.Value); !ok || err != nil {
					return called{}, false, err
				}
			}
			return called{name(v.Value), k.Names(v.Value)[0], permission(v.Value)}, true, nil
		},
		sees: func(ctx context.Context, r store.Reader, rec store.Record) (bool, error) {
			if sees == nil {
				return true, nil
			}
			v, err := k.Decode(rec)
			if errors.Is(err, store.ErrDamaged) { // its owner cannot be read
				return false, nil
			}
			if err != nil {
				return false, err
			}
			return sees(ctx, r, v)
		},
	}
}

// searching returns a Finder that reads all resources of a kind.
func searching[T any](k *store.Kind[T], name func(T) string, uses func(T) iter.Seq[Use]) Finder {
	return func(ctx context.Context, r store.Reader, t Target) iter.Seq2[store.Reference, error] {
		return func(yield func(store.Reference, error) bool) {
			for v, err := range k.Find(ctx, r, store.Query{}) {
				if err != nil {
					yield(store.Reference{}, err)
					return
				}
				for u := range uses(v.Value) {
					if u.Kind == t.Kind && slices.Contains(t.IDs, u.ID) && u.follows(t.IDs[0]) &&
						!yield(store.Reference{Kind: k.Name, ID: k.Names(v.Value)[0], Name: name(v.Value), Where: u.Where}, nil) {
						return
					}
				}
			}
		}
	}
}

// References finds references between records. A nil References has only those that the
// store indexes.
type References struct{ kinds Kinds }

// NewReferences returns the References of some kinds.
func NewReferences(kinds ...Registration) *References { return &References{kinds} }

func (g *References) source(kind string) *Registration {
	if g == nil {
		return nil
	}
	return g.kinds.named(kind)
}

// Of returns the references to the target that find returns, as far as the viewer sees
// them.
func (g *References) Of(ctx context.Context, st store.Store, s tenant.Scope, v Viewer, find func(r store.Reader) (Target, error)) ([]store.Reference, error) {
	out := []store.Reference{}
	collect := func(r store.Reader, t Target) error {
		for ref, err := range g.remember(r, v).only(ctx, g.To(ctx, r, t)) {
			if err != nil {
				return err
			}
			out = append(out, ref)
		}
		return nil
	}
	var t Target
	err := st.View(ctx, s, func(r store.Reader) (err error) {
		if t, err = find(r); err != nil || s.All() {
			return err
		}
		return collect(r, t)
	})
	if err == nil && s.All() { // IDs are unique only within an organisation
		err = Inside(ctx, st, t.Org, func(r store.Reader) error { return collect(r, t) })
	}
	return out, err
}

// Inside calls fn with a reader of one organisation.
func Inside(ctx context.Context, st store.Store, org tenant.ID, fn func(r store.Reader) error) error {
	s, err := tenant.Of(org)
	if err != nil {
		return err
	}
	return st.View(ctx, s, fn)
}

// To yields the references to a target, including those that the caller may not see.
func (g *References) To(ctx context.Context, r store.Reader, t Target) iter.Seq2[store.Reference, error] {
	return func(yield func(store.Reference, error) bool) {
		for _, id := range t.IDs {
			for rec, err := range r.Referrers(ctx, integrity.Target{Kind: t.Kind, ID: id}) {
				if err != nil {
					yield(store.Reference{}, err)
					return
				}
				for _, ref := range rec.Refs {
					if ref.Kind != t.Kind || ref.ID != id {
						continue
					}
					h, err := g.holder(rec)
					if !yield(store.Reference{Kind: rec.Kind, ID: h.ids[0], Name: h.name, Where: ref.Field}, err) || err != nil {
						return
					}
				}
			}
		}
		if g == nil {
			return
		}
		for _, s := range g.kinds {
			if s.find == nil {
				continue
			}
			for ref, err := range s.find(ctx, r, t) {
				if !yield(ref, err) || err != nil {
					return
				}
			}
		}
	}
}

// holder describes a record; one of a kind without a source has an ID only.
func (g *References) holder(rec store.Record) (holder, error) {
	if s := g.source(rec.Kind); s != nil {
		h, err := s.holder(rec)
		if err != nil {
			h.ids = []string{rec.ID}
		}
		return h, err
	}
	h := holder{ids: []string{rec.ID}}
	for _, ref := range rec.Refs {
		h.uses = append(h.uses, Use{Target: ref.Target, Where: ref.Field})
	}
	return h, nil
}
