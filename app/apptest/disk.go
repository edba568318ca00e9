package apptest

import (
	"context"
	"sync/atomic"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Disk is a store whose units of work fail with store.ErrFull while Full returns true.
type Disk struct {
	*memdb.DB
	Full *atomic.Bool
}

// Update implements store.Store.
func (d Disk) Update(ctx context.Context, s tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	if d.Full.Load() {
		return 0, store.ErrFull
	}
	return d.DB.Update(ctx, s, fn)
}
