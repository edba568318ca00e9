// Package upgrade changes stored records to the forms that this version writes, at
// every start (docs/wire/start.md#what-a-start-brings-up-to-date).
package upgrade

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Service upgrades stored records.
type Service struct {
	Store store.Store
	APIs  *apis.Repository
	Kinds []*store.Kind[any] // whose records are found by the keys that this version gives them
	Log   *slog.Logger
	Batch int // records per unit of work; 0: 500
}

// Counts says how many records were upgraded.
type Counts struct{ APIs, Policies, Others int }

// target is a record that is not up to date.
type target struct{ kind, id string }

// add returns the sum of two counts.
func (c Counts) add(d Counts) Counts {
	return Counts{c.APIs + d.APIs, c.Policies + d.Policies, c.Others + d.Others}
}

// batch is what one unit of work upgrades.
type batch struct {
	org     tenant.ID
	targets []target
}

// Run upgrades the records of every organisation. It writes only records that change,
// and nothing when it runs again. Replicas that start at the same time share the work.
// At the end it tells gateways, once, to reload everything. An upgrade that is interrupted
// continues at the next start, which also tells them of what the earlier one has changed.
func (s *Service) Run(ctx context.Context) (total Counts, err error) {
	ctx = store.Attribute(ctx, store.Attribution{Actor: "upgrade", Operation: "upgrade"})
	size := s.Batch
	if size <= 0 {
		size = 500
	}
	var batches []batch // of the records that are not up to date
	n, byOrg := 0, map[tenant.ID][]target{}
	checked, last := 0, store.Revision(0) // of the records whose keys were checked
	var owing []tenant.ID
	err = s.Store.View(ctx, tenant.Everyone("upgrade"), func(r store.Reader) (err error) {
		clear(byOrg)
		if err := errors.Join(s.outdatedAPIs(ctx, r, byOrg), s.outdatedPolicies(ctx, r, byOrg)); err != nil {
			return err
		}
		if checked, last, err = s.outdatedKeys(ctx, r, byOrg); err != nil {
			return err
		}
		owing, err = owed(ctx, r)
		return err
	})
	for _, org := range slices.Sorted(maps.Keys(byOrg)) {
		n += len(byOrg[org])
		for part := range slices.Chunk(byOrg[org], size) {
			batches = append(batches, batch{org, part})
		}
	}
	if err != nil {
		return total, err
	}
	if n > 0 {
		s.Log.Info("records of an older form are upgraded", "records", n, "batches", len(batches))
	}
	done := 0
	for _, b := range batches {
		c, err := s.upgrade(ctx, b)
		if err != nil {
			return total, fmt.Errorf("upgrade of organisation %s: %w", b.org, err)
		}
		total, done = total.add(c), done+len(b.targets)
		s.Log.Info("upgraded", "done", done, "of", n, "org_id", string(b.org))
	}
	if total != (Counts{}) || len(owing) > 0 {
		if err := s.settle(ctx); err != nil {
			return total, err
		}
	}
	if n > 0 {
		s.Log.Info("the upgrade is complete", "apis", total.APIs, "policies", total.Policies, "others", total.Others)
	}
	if checked >= worthMarking && n == total.APIs+total.Policies+total.Others { // records that stay as they are come up again
		return total, s.mark(ctx, last)
	}
	return total, nil
}

// outdatedAPIs finds APIs that need an upgrade. It logs and skips those that cannot be
// read.
func (s *Service) outdatedAPIs(ctx context.Context, r store.Reader, byOrg map[tenant.ID][]target) error {
	for rec, err := range r.Scan(ctx, store.Query{Kind: apidef.Kind}) {
		if err != nil {
			return err
		}
		a, err := apis.Kind.Decode(rec)
		var notes []string
		if err == nil {
			_, notes, err = upgradedAPI(a)
		}
		if err != nil {
			s.Log.Warn("an API cannot be upgraded", "id", rec.ID, "org_id", string(rec.Org), "error", err)
		} else if (len(notes) > 0 || misplaced(rec, a) || a.Abridged()) && rec.Org != "" {
			byOrg[rec.Org] = append(byOrg[rec.Org], target{apidef.Kind, rec.ID})
		}
	}
	return nil
}

func (s *Service) outdatedPolicies(ctx context.Context, r store.Reader, byOrg map[tenant.ID][]target) error {
	for rec, err := range r.Scan(ctx, store.Query{Kind: policy.Kind}) {
		if err != nil {
			return err
		}
		p, err := policies.Kind.Decode(rec)
		var changed bool
		if err == nil {
			_, changed, err = policies.Upgraded(p)
		}
		if err != nil {
			s.Log.Warn("a policy cannot be upgraded", "id", rec.ID, "org_id", string(rec.Org), "error", err)
		} else if changed && rec.Org != "" {
			byOrg[rec.Org] = append(byOrg[rec.Org], target{policy.Kind, rec.ID})
		}
	}
	return nil
}

// attempts is how often a unit of work is tried when other writers interfere.
const attempts = 10

// upgrade upgrades one batch. A record whose new form the store refuses, for example
// because another record has its ID, stays as it is: it prevents neither the upgrade of
// other records nor the start of the service.
func (s *Service) upgrade(ctx context.Context, b batch) (c Counts, err error) {
	c, err = s.attempt(ctx, b)
	switch fault.KindOf(err) {
	case fault.Conflict, fault.Stale, fault.Invalid:
	default:
		if !errors.Is(err, store.ErrTaken) {
			return c, err
		}
	}
	if len(b.targets) == 1 {
		s.Log.Warn("a record cannot be upgraded and stays as it is", "kind", b.targets[0].kind, "id", b.targets[0].id, "org_id", string(b.org), "error", err)
		return Counts{}, nil
	}
	c = Counts{}
	for i := range b.targets {
		one, err := s.upgrade(ctx, batch{b.org, b.targets[i : i+1]})
		if err != nil {
			return c, err
		}
		c = c.add(one)
	}
	return c, nil
}

// attempt upgrades one batch completely or not at all.
func (s *Service) attempt(ctx context.Context, b batch) (c Counts, err error) {
	scope, err := tenant.Of(b.org)
	if err != nil {
		return c, err
	}
	var notes []func()
	err = s.again(ctx, scope, func(w store.Writer) error {
		c, notes = Counts{}, nil
		for _, t := range b.targets {
			if err := s.one(ctx, quiet{w}, b.org, t, &c, &notes); err != nil {
				return err
			}
		}
		if c == (Counts{}) {
			return nil
		}
		return owe(ctx, w, b.org)
	})
	if err == nil {
		for _, say := range notes {
			say()
		}
	}
	return c, err
}

// again tries a unit of work until no other writer interferes.
func (s *Service) again(ctx context.Context, scope tenant.Scope, fn func(store.Writer) error) (err error) {
	for range attempts {
		if _, err = s.Store.Update(ctx, scope, fn); !errors.Is(err, store.ErrStale) {
			break
		}
	}
	return err
}

// one upgrades one record.
func (s *Service) one(ctx context.Context, w store.Writer, org tenant.ID, t target, c *Counts, said *[]func()) error {
	switch t.kind {
	case policy.Kind:
		changed, err := policies.Upgrade(ctx, w, t.id)
		if changed {
			c.Policies++
			*said = append(*said, func() { s.Log.Info("policy upgraded: id is its _id", "id", t.id, "org_id", string(org)) })
		}
		if changed || err != nil {
			return err
		}
	case apidef.Kind:
		notes, err := s.upgradeAPI(ctx, w, t.id)
		if len(notes) > 0 {
			c.APIs++
			*said = append(*said, func() {
				s.Log.Info("API upgraded", "id", t.id, "org_id", string(org), "changes", notes)
			})
		}
		if len(notes) > 0 || err != nil {
			return err
		}
	}
	return s.rekey(ctx, w, org, t, c, said)
}

// quiet is a writer that does not announce each record.
type quiet struct{ store.Writer }

// Put implements store.Writer.
func (w quiet) Put(ctx context.Context, r store.Record) error {
	r.Keys = append(slices.Clip(r.Keys), store.Key{Index: signal.Quiet, Value: "upgrade"})
	return w.Writer.Put(ctx, r)
}
