package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatehouse-io/gatehouse/app/collector"
	"github.com/gatehouse-io/gatehouse/app/health"
	"github.com/gatehouse-io/gatehouse/app/replicated"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

func newHealth(b basics, s probing, kept storage, a *App, st store.Store, c *replicated.Store, records *collector.Service) *health.Service {
	checks := append([]health.Check{{Name: "store", Type: "datastore", Run: storeCheck(b, kept, st, c)}}, s.checks...)
	if records.Queue != nil {
		checks = append(checks, health.Check{Name: "analytics", Type: "system", Run: func(context.Context) (health.Status, error) {
			// It warns of whatever makes numbers wrong or late. Requests are answered all the same.
			switch s := records.Status(); {
			case len(s.Others) > 0:
				return health.Warn, errors.New(collector.Sharing(s.Others))
			case s.Full:
				return health.Warn, errors.New("too many records wait to be stored; gateways lose further ones")
			case s.Trouble != nil:
				return health.Warn, errors.New("records of gateways cannot be claimed or stored; the log says why")
			}
			return health.Pass, nil
		}})
	}
	return &health.Service{Checks: checks, Now: b.now, Version: s.version, Path: s.healthPath, Stopping: a.writes.Closed}
}

// storeCheck fails once reads have been stale for longer than allowed.
func storeCheck(b basics, s storage, st store.Store, c *replicated.Store) func(context.Context) (health.Status, error) {
	return func(ctx context.Context) (health.Status, error) {
		if w, ok := s.store.(interface{ Trouble(context.Context) error }); ok {
			// Details are left out. That a database elsewhere does not answer is not among these errors: the
			// copy in memory knows since when.
			err := w.Trouble(ctx)
			for _, known := range []error{store.ErrFull, store.ErrReplaced, store.ErrElsewhere, store.ErrHidden, store.ErrGone, store.ErrFile, store.ErrDamaged} {
				if errors.Is(err, known) {
					return health.Fail, fmt.Errorf("nothing can be written: %w", known)
				}
			}
		}
		if c != nil {
			select {
			case <-c.Loaded():
			default:
				return health.Fail, errors.New("nothing has been loaded yet")
			}
			if t := c.Trouble(); t != nil {
				away := b.now().Sub(t.Since)
				err := fmt.Errorf("the store has been away for %s", away.Round(1e9))
				if away > s.staleness {
					return health.Fail, err
				}
				return health.Warn, err
			}
		}
		f, ok := st.(store.ChangeLog)
		if !ok {
			return health.Pass, nil
		}
		if _, err := f.Head(ctx); err != nil {
			return health.Warn, errors.New("the store does not answer")
		}
		return health.Pass, nil
	}
}
