package audit

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// pruneEvery is how often old records are deleted. maxForgotten is how many segments of
// one organisation a unit of work deletes at most, so that it is short.
const (
	pruneEvery   = time.Minute
	maxForgotten = 32
)

// prune deletes the oldest records that exceed MaxAge or MaxBytes. A signed floor says
// up to which record, so that the remaining trail can still be verified.
func (s *Service) prune(ctx context.Context) error {
	if s.MaxAge == 0 && s.MaxBytes == 0 {
		return nil
	}
	s.turn.Lock()
	defer s.turn.Unlock()
	due := map[tenant.ID][]old{}
	err := s.store.View(ctx, tenant.Everyone("audit"), func(r store.Reader) (err error) {
		due, err = s.due(ctx, r)
		return err
	})
	if err != nil {
		return err
	}
	for _, org := range slices.Sorted(maps.Keys(due)) {
		for list := range slices.Chunk(due[org], maxForgotten) {
			if err := s.forget(ctx, org, list); err != nil {
				return err
			}
		}
	}
	return nil
}

// due returns the oldest segments of each trail that are too old or too many. The last
// segment is never among them.
func (s *Service) due(ctx context.Context, r store.Reader) (map[tenant.ID][]old, error) {
	all, weights := map[tenant.ID][]old{}, map[tenant.ID]int64{}
	for v, err := range segments.Find(ctx, r, store.Query{}) {
		if err != nil {
			return nil, err
		}
		seg := v.Value
		all[seg.OrgID] = append(all[seg.OrgID], old{seg.ID, seg.Checkpoint, int64(seg.Weight()), seg.Checkpoint.Time})
		weights[seg.OrgID] += int64(seg.Weight())
	}
	oldest := int64(0)
	if s.MaxAge > 0 {
		oldest = s.steady().Add(-s.MaxAge).Unix()
	}
	for org, list := range all {
		for i := len(list) - 2; i >= 0; i-- { // a segment counts as at least as old as the next one: the clock may have been ahead
			list[i].at = min(list[i].at, list[i+1].at)
		}
		n, left := 0, weights[org]
		for n < len(list)-1 && (list[n].at < oldest || s.MaxBytes > 0 && left > s.MaxBytes) {
			left -= list[n].weight
			n++
		}
		if all[org] = list[:n]; n == 0 {
			delete(all, org)
		}
	}
	return all, nil
}

// old is a segment without its records.
type old struct {
	id         string
	checkpoint audit.Checkpoint
	weight     int64
	at         int64
}

// forget deletes segments and moves the floor to the last of them. No other process
// writes to them, because only the last segment of a trail grows.
func (s *Service) forget(ctx context.Context, org tenant.ID, list []old) error {
	scope, err := tenant.Of(org)
	if err != nil {
		return err
	}
	last := list[len(list)-1].checkpoint
	floor := audit.Checkpoint{Kind: audit.Floor, OrgID: org, First: 1, Before: audit.Genesis, Seq: last.Seq, Hash: last.Hash, Time: s.now().Unix()}.
		Sign(s.Signer.SigningKey(), s.Signer.Sign)
	ctx = store.Attribute(ctx, store.Attribution{Actor: Operation, Operation: Operation})
	_, err = s.store.Update(ctx, scope, func(w store.Writer) error {
		for _, seg := range list {
			if _, err := segments.Delete(ctx, w, seg.id, nil); err != nil && fault.KindOf(err) != fault.NotFound {
				return err
			}
		}
		_, err := heads.Edit(ctx, w, headID(org), nil, func(h audit.Head) (audit.Head, error) {
			if h.Floor == nil || h.Floor.Seq < floor.Seq {
				h.Floor = &floor
			}
			return h, nil
		})
		return err
	})
	return err
}
