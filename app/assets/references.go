package assets

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/asset"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Registration is what assets bring: they name nothing.
func Registration() crud.Registration {
	return crud.Facts[asset.Asset]{
		Kind: Kind, Name: func(v asset.Asset) string { return v.Name },
		Sample: func(at crud.Stamp) (asset.Asset, error) {
			return asset.New(at.ID, at.Org, at.Now, asset.Draft{ID: "our-defaults", Kind: asset.Template, Name: "Our defaults", Data: []byte("{}")})
		},
	}.Registration()
}

// ListReferences returns who names an asset. A template leaves no trace in what
// is made of it (contract dashboard.md 17), so that nobody does.
func (s *Service) ListReferences(ctx context.Context, in byID) ([]store.Reference, error) {
	return s.References.Of(ctx, s.Store, in.Scope, crud.Viewer{Who: in.Who, Door: access.Assets}, func(r store.Reader) (crud.Target, error) { return crud.TargetOf(ctx, Kind, r, in.ID) })
}
