package registry

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

type byAPI struct {
	byID
	API string `path:"apiId" doc:"Identifier of the API, the key in api_mappings."`
}

type writeByAPI struct {
	byAPI
	Match operation.Match
}

// GetMapping returns the mapping of one API. Its entity tag is that of the whole
// identity provider, so a precondition on it also protects the other mappings.
func (s *ClientIDPs) GetMapping(ctx context.Context, in byAPI) (operation.Entity[registry.Mapping], error) {
	p, err := s.get(ctx, in.byID)
	if err != nil {
		return operation.Entity[registry.Mapping]{}, err
	}
	m, err := p.Value.Mapping(in.API)
	return operation.EntityOf(m, p.Serial), err
}

type putMappingIn struct {
	writeByAPI
	Mapping registry.Mapping `body:""`
}

// PutMapping replaces the mapping of one API.
func (s *ClientIDPs) PutMapping(ctx context.Context, in putMappingIn) (operation.Entity[registry.IdP], error) {
	now := s.Now()
	return s.editMapping(ctx, in.writeByAPI, func(p registry.IdP) (registry.IdP, error) {
		return p.WithMapping(in.API, in.Mapping, now)
	})
}

// DeleteMapping deletes the mapping of one API.
func (s *ClientIDPs) DeleteMapping(ctx context.Context, in writeByAPI) (operation.Receipt, error) {
	now := s.Now()
	p, err := s.editMapping(ctx, in, func(p registry.IdP) (registry.IdP, error) { return p.WithoutMapping(in.API, now) })
	return operation.Receipt{Message: "client idp mapping deleted", Tag: p.Tag}, err
}

// editMapping changes one mapping if the preconditions hold for that mapping.
func (s *ClientIDPs) editMapping(ctx context.Context, in writeByAPI, fn func(registry.IdP) (registry.IdP, error)) (operation.Entity[registry.IdP], error) {
	var at store.Serial
	remember := func(s store.Serial) error { at = s; return nil }
	touched := func(registry.IdP) iter.Seq[string] { return slices.Values([]string{in.API}) }
	return s.edit(ctx, in.byID, touched, remember, func(p registry.IdP) (registry.IdP, error) {
		_, mapped := p.APIMappings.Get(in.API)
		if err := in.Match.CheckTag(operation.Tag(at), mapped); err != nil {
			return p, err
		}
		return fn(p)
	})
}

type patchIn struct {
	writeByID
	Patch doc.Patch `body:""`
	Table operation.Settled
}

// patched returns an identity provider with the patch applied, or with the whole table
// if rules have decided about the whole table.
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

// touched yields the APIs whose mappings the patch names or, if it has become a whole
// table, changes.
func (in patchIn) touched(old registry.IdP) iter.Seq[string] {
	if in.Table.Body == nil {
		return registry.Named(in.Patch)
	}
	next, err := in.patched(old, old.Updated)
	if err != nil {
		return func(func(string) bool) {} // the write fails with this error
	}
	return registry.Differing(old.APIMappings, next.APIMappings)
}

// patches returns the mappings that PatchMappings stores, for rules.
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
