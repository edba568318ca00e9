package providers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/provider"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// longest bounds the duration of one run; the next one continues where it ended.
const longest = 10 * time.Minute

// CodeFailed is the fault code for a failed synchronisation of a provider.
const CodeFailed = "portal_provider.failed"

// Synchronise synchronises a provider with its dashboard when its turn comes, and records
// the outcome.
func (s *Service) Synchronise(ctx context.Context, id table.ID) (synchronise.Report, error) {
	return s.synchroniseUnless(ctx, id, func(time.Time) bool { return false })
}

// synchroniseUnless is Synchronise, unless another run has done it meanwhile: enough
// decides, given the end of the last attempt.
func (s *Service) synchroniseUnless(ctx context.Context, id table.ID, enough func(time.Time) bool) (report synchronise.Report, err error) {
	err = s.turns.do(ctx, id, maxRuns, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, longest)
		defer cancel()
		p, tried, err := s.find(ctx, id.String())
		if err == nil && !enough(tried) {
			report, err = s.attempt(ctx, p)
		}
		return err
	})
	return report, err
}

// attempt synchronises a provider that has its turn. A cancelled run says nothing about
// the dashboard.
func (s *Service) attempt(ctx context.Context, p provider.Provider) (report synchronise.Report, err error) {
	way, err := s.reach(p)
	if err == nil {
		report, err = synchronise.Run(ctx, way, records{s, p.ID})
	}
	if err == nil {
		err = s.learn(ctx, p.ID, report.APIs)
	}
	for i, problem := range report.Problems {
		if i == told {
			s.Log.Warn("more problems of a synchronisation are not logged", "provider_id", int64(p.ID), "problems", len(report.Problems))
			break
		}
		s.Log.Warn("a product or plan could not be synchronised", "provider_id", int64(p.ID), "record", problem.Record, "policy", problem.Policy.Name(), "code", problem.Fault.Code, "error", problem.Fault.Message)
	}
	if report.Writes+report.Stored > 0 {
		s.Log.Info("synchronised", "provider_id", int64(p.ID), "written", report.Writes, "stored", report.Stored)
	}
	if err == nil && s.Then != nil {
		if err := s.Then(ctx, s.Scope, p.ID); err != nil && ctx.Err() == nil {
			s.Log.Error("a dashboard could not be told what else it has to know; the next synchronisation tries again", "provider_id", int64(p.ID), "error", err)
		}
	}
	failed := failure(p, err)
	if ctx.Err() == nil && (err == nil || failed != nil) {
		if noted := s.note(ctx, p.ID, err == nil); noted != nil {
			return report, noted
		}
	}
	if failed != nil {
		err = failed
	}
	return report, err
}

// learn updates the dashboard's data about APIs in records.
func (s *Service) learn(ctx context.Context, id table.ID, apis sync.Index) error {
	for _, shelf := range s.Shelves {
		var keys []string
		err := s.Store.View(ctx, s.Scope, func(r store.Reader) (err error) {
			keys, err = shelf.News(ctx, r, id, apis)
			return err
		})
		if err != nil {
			return err
		}
		for _, key := range keys { // in one unit of work others would have to wait
			_, err := s.Store.Update(ctx, s.Scope, func(w store.Writer) error { return shelf.Learn(ctx, w, key, apis) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// find returns a provider by its number or its CID, and the time of its last attempt.
func (s *Service) find(ctx context.Context, name string) (p provider.Provider, tried time.Time, err error) {
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		if p, err = portal.Find(ctx, r, Kind, name); err != nil {
			return err
		}
		state, err := states.Get(ctx, r, p.ID.Key())
		if fault.KindOf(err) == fault.NotFound {
			err = nil
		}
		tried = state.Value.TriedAt
		return err
	})
	return p, tried, err
}

// failure is the fault for a failed operation of a dashboard; nil: the error has another
// cause.
func failure(p provider.Provider, err error) error {
	for _, known := range []error{dashboard.ErrUnreachable, dashboard.ErrRefused, dashboard.ErrGone, dashboard.ErrChanged, synchronise.ErrTooMuch} {
		if errors.Is(err, known) {
			return fault.New(fault.Invalid, CodeFailed, "Failed to sync provider %s: TykPro.Sync. %s", p.Name, err).Because(err)
		}
	}
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == CodeSealed {
		return fault.New(fault.Invalid, CodeFailed, "Failed to sync provider %s: TykPro.Sync. %s", p.Name, f.Message).Because(err)
	}
	return nil
}

// told is how many problems of a run are logged; drift shows all.
const told = 20

// The operations of background commits. Those that record attempts do not concern users.
const (
	refreshing = "portal-providers.refresh"
	Noting     = "portal-providers.noted"
)

// note records the outcome of an attempt. It ignores a provider that was deleted
// meanwhile.
func (s *Service) note(ctx context.Context, id table.ID, ok bool) error {
	if store.AttributionOf(ctx, s.Scope).Operation == refreshing {
		ctx = store.Attribute(ctx, store.Attribution{Actor: "portal", Operation: Noting})
	}
	_, err := s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		_, err := states.Edit(ctx, w, id.Key(), nil, func(v provider.State) (provider.State, error) { return v.Tried(ok, s.Now()), nil })
		return fault.AbsentFine(err)
	})
	return err
}

// all returns the numbers of all providers.
func (s *Service) all(ctx context.Context) (ids []table.ID, err error) {
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		ids = nil
		for p, err := range portal.All(ctx, r, Kind, 0) {
			if err != nil {
				return err
			}
			ids = append(ids, p.ID)
		}
		return nil
	})
	return ids, err
}

// All synchronises all providers, one after the other, and returns one fault for all that
// failed.
func (s *Service) All(ctx context.Context) error {
	ids, err := s.all(ctx)
	if err != nil {
		return err
	}
	var failed []string
	for _, id := range ids {
		_, err := s.Synchronise(ctx, id)
		switch f, ok := errors.AsType[*fault.Error](err); {
		case ok && f.Kind != fault.Internal && f.Kind != fault.NotFound:
			failed = append(failed, f.Message)
		case err != nil && fault.KindOf(err) != fault.NotFound:
			return err
		}
	}
	if len(failed) > 0 {
		return fault.Several(fault.Invalid, CodeFailed, failed)
	}
	return nil
}

// Retry after this time when the store does not answer.
const again = time.Second

// Run synchronises all providers at the start and at each interval, until ctx ends. At an
// interval it skips providers that another process has just tried.
func (s *Service) Run(ctx context.Context) error {
	if s.Scope.IsZero() || s.Every <= 0 {
		return nil
	}
	ctx = store.Attribute(ctx, store.Attribution{Actor: "portal", Operation: refreshing})
	for fresh := time.Duration(0); ; fresh = s.Every / 2 {
		wait := s.Every
		if err := s.refresh(ctx, fresh); err != nil && ctx.Err() == nil {
			wait = min(again, s.Every)
			s.Log.Warn("the providers of the portal could not be read; trying again", "error", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// refresh synchronises the providers whose last attempt is older than fresh.
func (s *Service) refresh(ctx context.Context, fresh time.Duration) error {
	ids, err := s.all(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		_, err := s.synchroniseUnless(ctx, id, func(tried time.Time) bool { // a time far in the future is from before the clock was put back
			return fresh > 0 && s.Now().Sub(tried).Abs() < fresh
		})
		if err != nil && ctx.Err() == nil && fault.KindOf(err) != fault.NotFound {
			s.Log.Warn("a provider could not be synchronised", "provider_id", int64(id), "error", err)
		}
	}
	return nil
}

// records are the products and plans of a provider, for synchronisation.
type records struct {
	s  *Service
	id table.ID
}

// List implements synchronise.Records.
func (k records) List(ctx context.Context) (out []sync.Record, err error) {
	err = k.s.Store.View(ctx, k.s.Scope, func(r store.Reader) error {
		out = nil
		for _, shelf := range k.s.Shelves {
			list, err := shelf.List(ctx, r, k.id)
			if err != nil {
				return err
			}
			out = append(out, list...)
		}
		return nil
	})
	return out, err
}

// Store implements synchronise.Records.
func (k records) Store(ctx context.Context, seen *sync.Record, r sync.Record) error {
	return k.write(ctx, r.Kind, func(w store.Writer, shelf Shelf, at crud.Stamp) error {
		if _, err := portal.Find(ctx, w, Kind, k.id.String()); err != nil { // it was deleted meanwhile
			return err
		}
		return shelf.Store(ctx, w, k.id, seen, r, at)
	})
}

// Forget implements synchronise.Records.
func (k records) Forget(ctx context.Context, r sync.Record) error {
	return k.write(ctx, r.Kind, func(w store.Writer, shelf Shelf, _ crud.Stamp) error { return shelf.Forget(ctx, w, k.id, r) })
}

func (k records) write(ctx context.Context, kind sync.Kind, fn func(store.Writer, Shelf, crud.Stamp) error) error {
	at := k.s.Stamp(k.s.Scope)
	for _, shelf := range k.s.Shelves {
		if shelf.Kind() == kind {
			_, err := k.s.Store.Update(ctx, k.s.Scope, func(w store.Writer) error { return fn(w, shelf, at) })
			return err
		}
	}
	return fmt.Errorf("portal: no place for a %s", kind)
}
