package relay

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/ports/notify"
)

// lately is how long ago gateways may have come back for a process that takes over to tell
// them to reload: the process before it may not have got to that. A longer time would only
// cause reloads that gateways do not need.
const lately = 30 * time.Second

// returns is whether gateways came back that have not been told to reload everything.
type returns struct {
	news chan struct{}
	mu   sync.Mutex
	at   time.Time // when the last of them came, by the real clock; zero: there are none
}

// watch notes when gateways come back that may have missed announcements. All processes
// watch and the one with the lease tells gateways: a process that began to watch when it
// took over would take a gateway that is away then for one that never was there.
func (r *Relay) watch(ctx context.Context, w notify.Watcher) {
	for w.Missed(ctx) == nil {
		r.back.mu.Lock()
		r.back.at = time.Now()
		r.back.mu.Unlock()
		select {
		case r.back.news <- struct{}{}:
		default:
		}
	}
}

// welcome tells all gateways to reload everything, each time when some came back, until
// run ends.
func (r *Relay) welcome(run context.Context, items chan<- item) {
	select {
	case <-r.back.news: // it may be old
	default:
	}
	for {
		if r.back.due() {
			r.config.Logger.Info("gateways listen again that did not for a while; all are told to reload everything")
			hand(run, items, item{out: announcements(0, signal.CatchUp())})
		}
		select {
		case <-r.back.news:
		case <-run.Done():
			return
		}
	}
}

// due reports whether gateways came back lately.
func (b *returns) due() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.at.IsZero() && time.Since(b.at) < lately
}

// told notes that announcements were delivered, in attempts that began at a time: gateways
// that were back by then have heard them.
func (b *returns) told(began time.Time, out []notify.Announcement) {
	if !slices.ContainsFunc(out, func(a notify.Announcement) bool { return a.Rev == 0 }) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.at.After(began) {
		b.at = time.Time{}
	}
}
