package upgrade

import (
	"context"
	"errors"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// outdatedKeys finds records of all kinds that this version would not find: the version
// that stored them had other indexes. It returns how many records it had to check, and the
// last of their revisions.
func (s *Service) outdatedKeys(ctx context.Context, r store.Reader, byOrg map[tenant.ID][]target) (n int, last store.Revision, err error) {
	done, err := s.checked(ctx, r)
	if err != nil {
		return 0, 0, err
	}
	type named struct {
		org tenant.ID
		target
	}
	known := map[named]bool{}
	for org, list := range byOrg {
		for _, t := range list {
			known[named{org, t}] = true
		}
	}
	for _, k := range s.Kinds {
		if len(k.Indexes) == 0 && k.Refs == nil {
			continue
		}
		for rec, err := range r.Scan(ctx, store.Query{Kind: k.Name}) {
			if err != nil {
				return n, last, err
			}
			if rec.Rev <= done {
				continue
			}
			n, last = n+1, max(last, rec.Rev)
			_, others, err := rederived(k, rec) // one that cannot be read is left for others to report
			t := target{k.Name, rec.ID}
			if err == nil && others && rec.Org != "" && !known[named{rec.Org, t}] {
				byOrg[rec.Org] = append(byOrg[rec.Org], t)
			}
		}
	}
	return n, last, nil
}

// rederived returns a record with the keys that this version gives it, and whether it had
// others. Whether its last write was announced says nothing about its value.
func rederived(k *store.Kind[any], rec store.Record) (store.Record, bool, error) {
	rec.Keys = slices.DeleteFunc(slices.Clone(rec.Keys), func(k store.Key) bool { return k.Index == signal.Quiet })
	return k.Rederived(rec)
}

// rekey stores a record anew that is found by other keys than this version gives it. Its
// document stays as it is.
func (s *Service) rekey(ctx context.Context, w store.Writer, org tenant.ID, t target, c *Counts, said *[]func()) error {
	i := slices.IndexFunc(s.Kinds, func(k *store.Kind[any]) bool { return k.Name == t.kind })
	if i < 0 {
		return nil
	}
	rec, err := w.Get(ctx, t.kind, t.id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	rec, others, err := rederived(s.Kinds[i], rec)
	if err != nil || !others {
		return nil //nolint:nilerr // others report records that cannot be read
	}
	if err := w.Put(ctx, rec); err != nil {
		return err
	}
	c.Others++
	*said = append(*said, func() {
		s.Log.Debug("a record is found by its new keys", "kind", t.kind, "id", t.id, "org_id", string(org))
	})
	return nil
}
