package crud

import (
	"context"
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

// forgetAtOnce is how many records one unit of work forgets: others write in between.
const forgetAtOnce = 100

// Forget deletes the records of a kind that are over, in small units of work, and returns
// how many there were. It looks where in reaches.
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
	for org, ids := range found {
		for len(ids) > 0 && err == nil {
			unit := ids[:min(len(ids), forgetAtOnce)]
			ids = ids[len(unit):]
			if err = forget(ctx, st, k, org, unit, over); err == nil {
				n += len(unit)
			}
		}
	}
	return n, err
}

// forget deletes some of one organisation in one unit of work, as far as they are still
// there and still over.
func forget[T any](ctx context.Context, st store.Store, k *store.Kind[T], org tenant.ID, ids []string, over func(T) bool) error {
	scope, err := tenant.Of(org)
	if err != nil {
		return err
	}
	_, err = st.Update(ctx, scope, func(w store.Writer) error {
		for _, id := range ids {
			v, err := k.Get(ctx, w, id)
			if err == nil && over(v.Value) {
				_, err = k.Delete(ctx, w, id, nil)
			}
			if err != nil && fault.KindOf(err) != fault.NotFound { // another process was quicker
				return err
			}
		}
		return nil
	})
	return err
}
