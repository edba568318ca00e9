package delivery

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/lease"
	"github.com/gatehouse-io/gatehouse/core/delivery"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/deliver"
	"github.com/gatehouse-io/gatehouse/ports/retry"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Bounds of one batch of commits, and of one unit of work.
const (
	maxCommits = 500
	maxStored  = 250
)

// tell makes deliveries of the commits since the lease was last held, and of those that
// follow, until ctx ends.
func (s *Service) tell(ctx context.Context, h *lease.Holding, q *queue) {
	commits := make(chan store.Commit, maxCommits)
	go s.read(ctx, h.Began(), commits)
	trouble := s.trouble("deliveries cannot be made of changes; trying again")
	past := &past{store: s.store}
	for {
		var batch []store.Commit
		select {
		case <-ctx.Done():
			return
		case c := <-commits:
			batch = append(batch, c)
		}
		for more := true; more && len(batch) < maxCommits; {
			select {
			case c := <-commits:
				batch = append(batch, c)
			default:
				more = false
			}
		}
		pause := retry.New(s.Pause/100+1, s.Pause)
		for {
			n, err := s.record(ctx, batch, past, q)
			if ctx.Err() != nil {
				return
			}
			if trouble(err); err == nil {
				h.Reached(batch[len(batch)-1].Rev, n > 0)
				break
			}
			_ = pause.Wait(ctx)
		}
	}
}

// read sends the commits after a revision to a channel, in order, until ctx ends.
func (s *Service) read(ctx context.Context, after store.Revision, commits chan<- store.Commit) {
	trouble := s.trouble("changes cannot be read; deliveries wait")
	pause := retry.New(s.Pause/100+1, s.Pause)
	for ; ctx.Err() == nil; _ = pause.Wait(ctx) {
		for c, err := range s.store.Follow(ctx, after) {
			if errors.Is(err, store.ErrExpired) {
				after = s.behind(ctx, after)
				break
			}
			if ctx.Err() != nil {
				return
			}
			if trouble(err); err != nil {
				break
			}
			select {
			case commits <- c:
				after = c.Rev
				pause.Reset()
			case <-ctx.Done():
				return
			}
		}
	}
}

// behind returns the revision after which changes can be read, if those after a
// revision cannot.
func (s *Service) behind(ctx context.Context, after store.Revision) store.Revision {
	head, err := s.store.Head(ctx)
	if err == nil && head < after {
		s.log.Warn("the store was put back to what it was; events are made of what follows", "after", after, "head", head)
		return head
	}
	// Commits before the oldest one were pruned, and their events are lost.
	if oldest, err := s.store.Oldest(ctx); err == nil && oldest > after+1 {
		s.log.Error("the change log was pruned before events were made of it; they are lost", "from", after+1, "to", oldest-1)
		return oldest - 1
	}
	return after
}

// listener is a lane that gets an event.
type listener struct {
	audience deliver.Audience
	lane     deliver.Lane
}

// topic is an event of an organisation.
type topic struct {
	org   tenant.ID
	event string
}

// record stores the deliveries of commits and adds their lanes to the queue. It can be
// repeated: each delivery is stored once. n is the number of deliveries.
func (s *Service) record(ctx context.Context, batch []store.Commit, past *past, q *queue) (n int, err error) {
	heard, err := s.listeners(ctx, batch)
	if err != nil {
		return 0, err
	}
	var out []delivery.Delivery
	for _, c := range batch {
		if c.By.Operation == Operation {
			continue
		}
		index := 0
		for _, ch := range c.Changes {
			if ch.Kind == delivery.Kind { // a delivery that an admin sends again
				if key := ch.Key(byLane); key != "" && ch.Op != store.Deleted && s.serves(ch.Org, key) {
					q.add(ch.Org, key)
				}
				continue
			}
			made, err := s.of(ctx, c, ch, heard, past, &index)
			if err != nil {
				return 0, err
			}
			out = append(out, made...)
		}
	}
	for part := range slices.Chunk(out, maxStored) {
		if err := s.keep(ctx, part); err != nil {
			return 0, err
		}
		for _, d := range part {
			q.add(d.OrgID, d.Key())
		}
	}
	return len(out), nil
}

// listeners finds the listeners of the events that commits may cause.
func (s *Service) listeners(ctx context.Context, batch []store.Commit) (map[topic][]listener, error) {
	heard := map[topic][]listener{}
	for _, c := range batch {
		for _, ch := range c.Changes {
			for _, name := range s.sources[ch.Kind].Names {
				heard[topic{ch.Org, name}] = nil
			}
		}
	}
	if len(heard) == 0 {
		return nil, nil
	}
	err := s.store.View(ctx, tenant.Everyone("who listens to events"), func(r store.Reader) error {
		for t := range heard {
			heard[t] = nil
			for _, a := range s.audiences {
				lanes, err := a.Lanes(ctx, r, t.org, t.event)
				if err != nil {
					return err
				}
				for _, l := range lanes {
					heard[t] = append(heard[t], listener{a, l})
				}
			}
		}
		return nil
	})
	return heard, err
}

// of returns the deliveries that one change causes.
func (s *Service) of(ctx context.Context, c store.Commit, ch store.Change, heard map[topic][]listener, past *past, index *int) (out []delivery.Delivery, err error) {
	src := s.sources[ch.Kind]
	if !slices.ContainsFunc(src.Names, func(n string) bool { return len(heard[topic{ch.Org, n}]) > 0 }) {
		return nil, nil
	}
	before, after, err := past.documents(ctx, c.Rev, ch)
	if err != nil {
		return nil, err
	}
	if before == nil && after == nil {
		s.log.Error("no event tells of a change: its documents cannot be read", "kind", ch.Kind, "id", ch.ID, "org_id", string(ch.Org))
		return nil, nil
	}
	events, err := src.Of(before, after)
	if err != nil {
		s.log.Error("no event tells of a change: its documents cannot be understood", "kind", ch.Kind, "id", ch.ID, "org_id", string(ch.Org), "error", err)
		return nil, nil
	}
	for _, e := range events {
		e.Org, e.At, e.By = ch.Org, c.At, c.By.Actor
		for _, l := range heard[topic{ch.Org, e.Name}] {
			if c.At.Before(l.lane.Since) && (l.lane.Seen == 0 || c.Rev < l.lane.Seen) {
				continue
			}
			body, err := l.audience.Body(e)
			if err != nil {
				return nil, err
			}
			out = append(out, delivery.New(ch.Org, l.audience.Name(), l.lane.Name, e.Name, delivery.Origin{Revision: uint64(c.Rev), Index: *index, At: c.At}, body))
		}
		*index++
	}
	return out, nil
}

// keep stores deliveries that are not stored yet. They rest at once if their lane is
// full.
func (s *Service) keep(ctx context.Context, list []delivery.Delivery) error {
	_, err := s.store.Update(ctx, tenant.Everyone(Operation), func(w store.Writer) error {
		pending := map[string]int{}
		for _, d := range list {
			known := false
			for rec, err := range w.Scan(ctx, store.Query{Kind: delivery.Kind, ID: d.ID}) {
				if err != nil {
					return err
				}
				known = known || rec.Org == d.OrgID
			}
			if known {
				continue
			}
			key := d.Key()
			if _, ok := pending[key]; !ok {
				n, err := w.Count(ctx, store.Query{Kind: delivery.Kind, Index: byLane, Value: key})
				if err != nil {
					return err
				}
				pending[key] = n
			}
			if d.State == delivery.Pending && pending[key] >= delivery.MaxPending {
				d = d.Rests(s.now(), "too many deliveries wait for this receiver; send it again when they are done")
			}
			if d.State == delivery.Pending {
				pending[key]++
			}
			if err := deliveries.Insert(ctx, w, d); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// resume adds the lanes with deliveries that were pending when this process began.
func (s *Service) resume(ctx context.Context, q *queue) {
	pause := retry.New(s.Pause/100+1, s.Pause)
	for ctx.Err() == nil {
		err := s.store.View(ctx, tenant.Everyone(Operation), func(r store.Reader) error {
			for rec, err := range r.Scan(ctx, store.Query{Kind: delivery.Kind, Index: byState, Value: string(delivery.Pending)}) {
				if err != nil {
					return err
				}
				for _, k := range rec.Keys {
					if k.Index == byLane && s.serves(rec.Org, k.Value) {
						q.add(rec.Org, strings.Clone(k.Value))
					}
				}
			}
			return nil
		})
		if err == nil {
			return
		}
		s.complain(ctx, "deliveries cannot be read; trying again", err)
		_ = pause.Wait(ctx)
	}
}
