package delivery

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/delivery"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// forgetEvery is how often old deliveries are deleted. forgetAtOnce is how many one
// unit of work deletes.
const (
	forgetEvery  = time.Minute
	forgetAtOnce = 250
)

// forget deletes deliveries that have ended long ago, or are too many, until ctx ends.
func (s *Service) forget(ctx context.Context) {
	tick := time.NewTicker(forgetEvery)
	defer tick.Stop()
	for {
		if err := s.Forget(ctx); err != nil {
			s.complain(ctx, "old deliveries cannot be forgotten; trying again later", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Forget deletes the deliveries that are due.
func (s *Service) Forget(ctx context.Context) error {
	for _, keep := range []struct {
		state delivery.State
		age   time.Duration
		most  int
	}{{delivery.Done, s.KeepDone, delivery.KeepDone}, {delivery.Failed, s.Keep, delivery.KeepFailed}} {
		due, err := s.due(ctx, keep.state, s.steady().Add(-keep.age), keep.most)
		if err != nil {
			return err
		}
		for part := range slices.Chunk(due, forgetAtOnce) {
			if err := s.remove(ctx, part, keep.state); err != nil {
				return err
			}
		}
	}
	return nil
}

// ended identifies a delivery that has ended, with its place in its lane.
type ended struct {
	org       tenant.ID
	id, place string
}

// due returns the deliveries in a state that ended before a time, and those of each
// lane except the latest most ones.
func (s *Service) due(ctx context.Context, state delivery.State, before time.Time, most int) (due []ended, err error) {
	lanes := map[string][]ended{}
	err = s.store.View(ctx, tenant.Everyone(Operation), func(r store.Reader) error {
		due = nil
		clear(lanes)
		for d, err := range deliveries.Find(ctx, r, store.Query{Index: byState, Value: string(state)}) {
			if err != nil {
				return err
			}
			if !s.Serves(d.Value.Audience) {
				continue
			}
			e := ended{d.Value.OrgID, d.Value.ID, d.Value.Place}
			if d.Value.Ended.Before(before) {
				due = append(due, e)
			} else {
				lanes[d.Value.Key()] = append(lanes[d.Value.Key()], e)
			}
		}
		return nil
	})
	for _, list := range lanes {
		if more := len(list) - most; more > 0 {
			slices.SortFunc(list, func(a, b ended) int { return strings.Compare(a.place, b.place) })
			due = append(due, list[:more]...)
		}
	}
	return due, err
}

// remove deletes those of the deliveries that are still in a state.
func (s *Service) remove(ctx context.Context, list []ended, state delivery.State) error {
	byOrg := map[tenant.ID][]string{}
	for _, e := range list {
		byOrg[e.org] = append(byOrg[e.org], e.id)
	}
	for org, ids := range byOrg {
		scope, err := tenant.Of(org)
		if err != nil {
			return err
		}
		_, err = s.store.Update(ctx, scope, func(w store.Writer) error {
			for _, id := range ids {
				for d, err := range deliveries.Find(ctx, w, store.Query{ID: id}) {
					if err != nil {
						return err
					}
					if d.Value.State != state { // sent again meanwhile
						continue
					}
					if err := w.Delete(ctx, delivery.Kind, id); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
