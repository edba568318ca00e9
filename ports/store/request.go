package store

import (
	"context"
	"sync/atomic"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

type requestKey struct{}

// Request returns a context for one request of a client. A store that must ask
// elsewhere how current it is asks once per request: what was current when the
// request began is current enough for all of its reads.
func Request(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey{}, new(atomic.Uint64))
}

// Current returns the revision that NoteCurrent has noted for the request, or 0.
func Current(ctx context.Context) Revision {
	if n, ok := ctx.Value(requestKey{}).(*atomic.Uint64); ok {
		return Revision(n.Load())
	}
	return 0
}

// NoteCurrent notes the revision a request has been brought to.
func NoteCurrent(ctx context.Context, rev Revision) {
	if n, ok := ctx.Value(requestKey{}).(*atomic.Uint64); ok && uint64(rev) > n.Load() {
		n.Store(uint64(rev))
	}
}

// Stale is a store that can answer from what it last knew while its primary is
// away. Gateways would rather have the configuration of a minute ago than none.
type Stale interface {
	// ViewStale runs fn over the last known state, or returns ErrUnavailable
	// when there has never been one.
	ViewStale(ctx context.Context, s tenant.Scope, fn func(Reader) error) error
}

// ViewLastKnown reads the current state, or the last known one while the store
// is away. stale says which.
func ViewLastKnown(ctx context.Context, st Store, s tenant.Scope, fn func(Reader) error) (stale bool, err error) {
	if err = st.View(ctx, s, fn); err == nil {
		return false, nil
	}
	if old, ok := st.(Stale); ok && ctx.Err() == nil {
		return true, old.ViewStale(ctx, s, fn)
	}
	return false, err
}
