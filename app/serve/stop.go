package serve

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"
)

// Bounds of stopping.
const (
	drainTimeout = 5 * time.Second  // for writes and announcements under way
	stopTimeout  = 20 * time.Second // for requests under way, and then for background work
)

// stopper ends the service so that gateways survive it. A gateway that is fetching
// what has changed and finds its connection refused never fetches again, so the
// service goes on answering for a while after the last announcement.
type stopper struct {
	drain   func(context.Context) error
	grace   time.Duration
	log     *slog.Logger
	leaving atomic.Bool
}

// farewell asks clients, while the service stops, not to keep their connections:
// the next one goes to a process that stays, if there is one.
func (s *stopper) farewell(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.leaving.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// stop ends the servers: at once if serving has failed, else after the grace.
func (s *stopper) stop(ctx context.Context, servers []*http.Server, failed <-chan error, failure error) error {
	ctx = context.WithoutCancel(ctx)
	if failure == nil {
		s.log.Info("stopping: changes are refused, and gateways are answered a while longer; a second signal ends at once", "grace", s.grace)
	}
	s.leaving.Store(true)
	draining, drained := context.WithTimeout(ctx, drainTimeout)
	if err := s.drain(draining); err != nil {
		s.log.Warn("changes or announcements were still under way when the time for them was over", "error", err)
	}
	drained()
	if failure == nil {
		select {
		case <-time.After(s.grace):
		case failure = <-failed:
		}
	}
	stopping, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	errs := []error{failure}
	for _, srv := range servers {
		errs = append(errs, srv.Shutdown(stopping))
	}
	return errors.Join(errs...)
}
