package registry

import (
	"context"
	"iter"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

type patchIn struct {
	writeByID
	Patch doc.Patch `body:""`
	Table operation.Settled
}

// patched returns an identity provider with the patch applied, or with the whole
// table that rules have decided about.
func (in patchIn) patched(p registry.IdP, now time.Time) (registry.IdP, error) {
	if in.Table.Body == nil {
		return p.PatchMappings(in.Patch, now)
	}
	var ms registry.Mappings
	if err := ms.UnmarshalJSON(in.Table.Body); err != nil {
		return p, err
	}
	return p.WithMappings(ms, now), nil
}

// touched yields the APIs whose mappings the patch names or, once it has become a
// whole table, changes.
func (in patchIn) touched(old registry.IdP) iter.Seq[string] {
	if in.Table.Body == nil {
		return registry.Named(in.Patch)
	}
	next, err := in.patched(old, old.Updated)
	if err != nil {
		return func(func(string) bool) {} // which the write refuses
	}
	return registry.Differing(old.APIMappings, next.APIMappings)
}

// patches says to rules what PatchMappings stores: all mappings.
func (s *ClientIDPs) patches(ctx context.Context, in patchIn) (operation.Settled, error) {
	p, err := s.get(ctx, in.byID)
	if err != nil {
		return operation.Settled{}, err
	}
	next, err := in.patched(p.Value, p.Value.Updated)
	if err != nil {
		return operation.Settled{}, err
	}
	text, err := next.APIMappings.AppendJSON(nil)
	return operation.Settled{Body: text, At: p.Serial}, err
}

// PatchMappings merges a patch into the mappings, all or nothing.
func (s *ClientIDPs) PatchMappings(ctx context.Context, in patchIn) (operation.Entity[registry.IdP], error) {
	now := s.Now()
	return s.edit(ctx, in.byID, in.touched, in.Match.Check, func(p registry.IdP) (registry.IdP, error) { return in.patched(p, now) })
}
