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
	drainTimeout = 5 * time.Second  // for writes and announcements in progress
	stopTimeout  = 20 * time.Second // for requests in progress, and then for background work
)

// stopper stops the service in a way that gateways survive. A gateway whose connection
// is refused during a reload never reloads again, so the service goes on responding for
// a while after the last announcement.
type stopper struct {
	drain   func(context.Context) error
	grace   time.Duration
	log     *slog.Logger
	leaving atomic.Bool
}

// farewell makes clients close their connections while the service stops, so that their
// next connection goes to another process, if there is one.
func (s *stopper) farewell(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.leaving.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
