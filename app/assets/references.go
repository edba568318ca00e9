package assets

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/asset"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Source is what is known about assets: they name nothing.
func Source() crud.Source {
	return crud.SourceOf(Kind, func(a asset.Asset) string { return a.Name }, nil, nil)
}

// ListReferences returns who names an asset. A template leaves no trace in what
// is made of it (contract dashboard.md 17), so that nobody does.
func (s *Service) ListReferences(ctx context.Context, in byID) ([]store.Reference, error) {
	return s.References.Of(ctx, s.Store, in.Scope, crud.Viewer{Who: in.Who, Door: access.Assets}, func(r store.Reader) (crud.Target, error) { return crud.TargetOf(ctx, Kind, r, in.ID) })
}
