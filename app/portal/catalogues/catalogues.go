// Package catalogues holds what there is to catalogues.
package catalogues

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Kind is how catalogues are stored.
var Kind = portal.KindOf[catalogue.Catalogue]()

// Registration is what there is to catalogues.
func Registration() crud.Registration {
	return crud.Facts[catalogue.Catalogue]{Kind: Kind, Sample: func(at crud.Stamp) (catalogue.Catalogue, error) {
		return portal.Sampled(catalogue.First()[0], at), nil
	}}.Registration()
}

// Found stores the catalogues that a portal begins with.
func Found(ctx context.Context, w store.Writer, at crud.Stamp) error {
	for _, c := range catalogue.First() {
		if _, err := portal.Add(ctx, w, Kind, at, c); err != nil {
			return err
		}
	}
	return nil
}
