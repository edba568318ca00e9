package serve

import (
	"context"
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
