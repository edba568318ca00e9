package session

import (
	"context"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Sessions that are over are forgotten this often, and so many in one unit of work.
const (
	pruneEvery = time.Minute
	pruneMost  = 100
)

// Run forgets sessions that are over, and sends mails, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	var posts sync.WaitGroup
	defer posts.Wait()
	for range mailsAtOnce {
		posts.Go(func() { s.post(ctx) })
	}
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		if n, err := s.Prune(ctx); err != nil && ctx.Err() == nil {
			s.users.Log.Warn("old sessions could not be forgotten; trying again later", "error", err)
		} else if n > 0 {
			s.users.Log.Info("old sessions forgotten", "sessions", n)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// Prune forgets sessions, nonces and resets that are over and returns how many there were.
func (s *Service) Prune(ctx context.Context) (n int, err error) {
	ctx = store.Attribute(ctx, store.Attribution{Actor: "sessions", Operation: "sessions.prune"})
	now := s.users.Now()
	n, err = prune(ctx, s.users.Store, sessions, now)
	if err != nil {
		return n, err
	}
	more, err := prune(ctx, s.users.Store, nonces, now)
	if n += more; err != nil {
		return n, err
	}
	more, err = prune(ctx, s.users.Store, resets, now)
	return n + more, err
}

// perishable is what ends by itself.
type perishable interface{ Over(now time.Time) bool }

// prune deletes what is over of a kind.
func prune[T perishable](ctx context.Context, st store.Store, k *store.Kind[T], now time.Time) (n int, err error) {
	over := map[tenant.ID][]string{}
	err = st.View(ctx, tenant.Everyone("forget sessions"), func(r store.Reader) error {
		for v, err := range k.Find(ctx, r, store.Query{}) {
			if err != nil {
				return err
			}
			if v.Value.Over(now) {
				over[k.Org(v.Value)] = append(over[k.Org(v.Value)], k.ID(v.Value))
			}
		}
		return nil
	})
	for org, ids := range over {
		for len(ids) > 0 && err == nil {
			unit := ids[:min(len(ids), pruneMost)]
			ids = ids[len(unit):]
			if err = forget(ctx, st, k, org, unit, now); err == nil {
				n += len(unit)
			}
		}
	}
	return n, err
}

// forget deletes some of one organisation in one unit of work, as far as they are still
// there and still over.
func forget[T perishable](ctx context.Context, st store.Store, k *store.Kind[T], org tenant.ID, ids []string, now time.Time) error {
	scope, err := tenant.Of(org)
	if err != nil {
		return err
	}
	_, err = st.Update(ctx, scope, func(w store.Writer) error {
		for _, id := range ids {
			v, err := k.Get(ctx, w, id)
			if err == nil && v.Value.Over(now) {
				_, err = k.Delete(ctx, w, id, nil)
			}
			if err != nil && fault.KindOf(err) != fault.NotFound { // another replica was quicker
				return err
			}
		}
		return nil
	})
	return err
}
