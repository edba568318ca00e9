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

// quieten refuses writes and ends announcements.
func (s *stopper) quieten(ctx context.Context) {
	s.leaving.Store(true)
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	if err := s.drain(ctx); err != nil {
		s.log.Warn("changes or announcements were still under way when the time for them was over", "error", err)
	}
}

// stop ends the servers: at once if serving has failed, else after the grace.
func (s *stopper) stop(ctx context.Context, servers []*http.Server, failed <-chan error, failure error) error {
	ctx = context.WithoutCancel(ctx)
	if failure == nil {
		s.log.Info("stopping: changes are refused, and gateways are answered a while longer; a second signal ends at once", "grace", s.grace)
	}
	s.quieten(ctx)
	if failure == nil {
		select {
		case <-time.After(s.grace):
		case failure = <-failed:
		}
	}
	return errors.Join(failure, shutdown(ctx, servers))
}

func shutdown(ctx context.Context, servers []*http.Server) error {
	stopping, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	var errs []error
	for _, srv := range servers {
		errs = append(errs, srv.Shutdown(stopping))
	}
	return errors.Join(errs...)
}
