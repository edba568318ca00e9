package local

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Shelf stores objects of organisations, with their secret parts sealed.
type Shelf struct {
	Store   store.Store
	Secrets secret.Keys
}

func (s Shelf) view(ctx context.Context, org tenant.ID, fn func(store.Reader) error) error {
	scope, err := tenant.Of(org)
	if err == nil {
		err = s.Store.View(ctx, scope, fn)
	}
	return classify(err)
}

// update runs a unit of work of its own, as Keys.update does.
func (s Shelf) update(ctx context.Context, org tenant.ID, fn func(store.Writer) error) error {
	scope, err := tenant.Of(org)
	if err == nil {
		_, err = s.Store.Update(store.Request(store.Attribute(ctx, store.Attribution{Actor: Operation, Operation: Operation})), scope, fn)
	}
	return classify(err)
}
