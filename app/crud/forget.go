package crud

import (
	"context"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Every calls do after each pause until ctx ends, and returns the error of ctx.
func Every(ctx context.Context, pause time.Duration, do func()) error {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			do()
		}
	}
}

// forgetAtOnce is how many records one unit of work deletes: other writers get their
// turn in between.
const forgetAtOnce = 100

// Forget deletes the records of a kind for which over returns true, in small units of
// work, and returns how many there were. It covers the organisations of the scope.
func Forget[T any](ctx context.Context, st store.Store, in tenant.Scope, k *store.Kind[T], over func(T) bool) (n int, err error) {
	found := map[tenant.ID][]string{}
	err = st.View(ctx, in, func(r store.Reader) error {
		for v, err := range k.Find(ctx, r, store.Query{}) {
			if err != nil {
				return err
			}
			if over(v.Value) {
				found[k.Org(v.Value)] = append(found[k.Org(v.Value)], k.ID(v.Value))
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for org, ids := range found {
		scope, err := tenant.Of(org)
		if err != nil {
			return n, err
		}
		for unit := range slices.Chunk(ids, forgetAtOnce) {
			_, err := st.Update(ctx, scope, func(w store.Writer) error {
				for _, id := range unit {
					v, err := k.Get(ctx, w, id)
					if err == nil && over(v.Value) { // still
						_, err = k.Delete(ctx, w, id, nil)
					}
					if err != nil && fault.KindOf(err) != fault.NotFound { // another process was quicker
						return err
					}
				}
				return nil
			})
			if err != nil {
				return n, err
			}
			n += len(unit)
		}
	}
	return n, nil
}
