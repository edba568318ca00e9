package store

import (
	"context"
	"sync/atomic"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

type requestKey struct{}

// Request returns a context for one request of a client. A store that must ask
// elsewhere how current it is asks once per request: what was current when the
// request began is current enough for all of its reads. A request within another one,
// which the change log tells of separately, brings the outer one along: what follows in
// that one reads what the inner one wrote, and all that was there before.
func Request(ctx context.Context) context.Context {
	outer, _ := ctx.Value(requestKey{}).(*request)
	return context.WithValue(ctx, requestKey{}, &request{outer: outer})
}

// request is what is remembered of a request while it is carried out.
type request struct {
	current atomic.Uint64 // the revision it has been brought to
	wrote   atomic.Bool   // a unit of work of it was committed
	outer   *request      // the one within which it is carried out, or nil
}

// NoteWritten notes that a unit of work of the request changes something. Back ends
// call it with the context of the unit when they log its commit.
func NoteWritten(ctx context.Context) {
	if q, ok := ctx.Value(requestKey{}).(*request); ok {
		q.wrote.Store(true)
	}
}

// Written reports whether the change log tells of the request.
func Written(ctx context.Context) bool {
	q, ok := ctx.Value(requestKey{}).(*request)
	return ok && q.wrote.Load()
}

// Current returns the revision that NoteCurrent has noted for the request, or 0.
func Current(ctx context.Context) Revision {
	if q, ok := ctx.Value(requestKey{}).(*request); ok {
		return Revision(q.current.Load())
	}
	return 0
}

// NoteCurrent notes the revision a request has been brought to.
func NoteCurrent(ctx context.Context, rev Revision) {
	q, _ := ctx.Value(requestKey{}).(*request)
	for ; q != nil; q = q.outer {
		for at := q.current.Load(); at < uint64(rev) && !q.current.CompareAndSwap(at, uint64(rev)); {
			at = q.current.Load()
		}
	}
}

// Sized is a store that knows what the records of an organisation take, in bytes: their
// documents, and what there is beside each, as far as it knows its commits. It answers at once.
type Sized interface{ Size(org tenant.ID) int64 }

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
