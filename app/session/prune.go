package session

import (
	"context"
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

// Run forgets sessions that are over until ctx ends.
func (s *Service) Run(ctx context.Context) error {
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

// Prune forgets sessions that are over and returns how many there were.
func (s *Service) Prune(ctx context.Context) (n int, err error) {
	ctx = store.Attribute(ctx, store.Attribution{Actor: "sessions", Operation: "sessions.prune"})
	over, now := map[tenant.ID][]string{}, s.users.Now()
	err = s.users.Store.View(ctx, tenant.Everyone("forget sessions"), func(r store.Reader) error {
		for v, err := range sessions.Find(ctx, r, store.Query{}) {
			if err != nil {
				return err
			}
			if v.Value.Over(now) {
				over[v.Value.OrgID] = append(over[v.Value.OrgID], v.Value.ID)
			}
		}
		return nil
	})
	for org, ids := range over {
		for len(ids) > 0 && err == nil {
			unit := ids[:min(len(ids), pruneMost)]
			ids = ids[len(unit):]
			if err = s.forget(ctx, org, unit, now); err == nil {
				n += len(unit)
			}
		}
	}
	return n, err
}

func (s *Service) forget(ctx context.Context, org tenant.ID, ids []string, now time.Time) error {
	scope, err := tenant.Of(org)
	if err != nil {
		return err
	}
	_, err = s.users.Store.Update(ctx, scope, func(w store.Writer) error {
		for _, id := range ids {
			v, err := sessions.Get(ctx, w, id)
			if err == nil && v.Value.Over(now) {
				_, err = sessions.Delete(ctx, w, id, nil)
			}
			if err != nil && fault.KindOf(err) != fault.NotFound { // another replica was quicker
				return err
			}
		}
		return nil
	})
	return err
}
