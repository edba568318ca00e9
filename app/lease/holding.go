package lease

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// How often the cursor is saved at most. After a crash, work since the last save is
// repeated; commits that caused no work are only read again.
const (
	saveTold   = 100 * time.Millisecond
	saveSilent = time.Second
)

// perTTL is how often, during one TTL, the holder renews the lease and waiting
// processes ask for it.
const perTTL = 5

// Holding is the lease while this process holds it, with the progress of the work.
type Holding struct {
	l       *Lease
	at      store.Revision // when the lease was taken
	began   time.Time      // just before the store granted the lease, by the real clock, whatever Now returns
	moved   chan struct{}
	lastTry time.Time // time of the last attempt to save
	yielded bool      // see Yield; used by the goroutine of the work

	mu    sync.Mutex
	done  store.Revision
	told  bool // something visible was done since done was last saved
	saved store.Revision
	gone  bool
}

// acquire returns nil while another process has the lease.
func (l *Lease) acquire(ctx context.Context) (*Holding, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, l.config.TTL/3)
	defer cancel()
	at, ok, err := l.config.Leases.Acquire(ctx, l.config.Name, l.config.Holder, l.config.TTL)
	if err != nil || !ok {
		return nil, err
	}
	return &Holding{l: l, began: began, moved: make(chan struct{}, 1), at: at, done: at, saved: at}, nil
}

// keep renews the lease and saves the cursor, so that the work never waits for the
// store. It calls lose when the lease is lost, or could not be renewed in time.
func (h *Holding) keep(ctx context.Context, lose context.CancelFunc) {
	expire := func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if ctx.Err() == nil {
			h.gone = true
			lose()
		}
	}
	expiry := time.AfterFunc(h.l.config.TTL-time.Since(h.began), expire)
	defer expiry.Stop()
	renew := time.NewTicker(h.l.config.TTL / perTTL)
	defer renew.Stop()
	save := time.NewTimer(saveSilent)
	defer save.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-renew.C:
			next, err := h.l.acquire(ctx)
			switch {
			case err != nil:
				h.failed(ctx, err)
			case next == nil:
				expire()
			default:
				h.l.config.Trouble(nil)
				expiry.Reset(h.l.config.TTL - time.Since(next.began))
			}
		case <-h.moved:
			every := saveSilent
			h.mu.Lock()
			if h.told {
				every = saveTold
			}
			h.mu.Unlock()
			save.Reset(max(0, every-time.Since(h.lastTry)))
		case <-save.C:
			if err := h.save(ctx); errors.Is(err, store.ErrStale) {
				expire()
			} else if err != nil {
				h.failed(ctx, err)
				save.Reset(saveSilent)
			}
		}
	}
}

func (h *Holding) failed(ctx context.Context, err error) {
	if ctx.Err() == nil {
		h.l.config.Trouble(err)
	}
}

// Began returns the revision that the work had reached when the lease was taken.
func (h *Holding) Began() store.Revision { return h.at }

// Reached notes the revision that the work has reached. told means that repeating the
// work would be visible.
func (h *Holding) Reached(to store.Revision, told bool) {
	h.mu.Lock()
	h.done, h.told = to, h.told || told
	h.mu.Unlock()
	select {
	case h.moved <- struct{}{}:
	default:
	}
}

// Yield says that the work returns because this process cannot do it at the moment: another
// process that waits for the lease gets it before this one asks again.
func (h *Holding) Yield() { h.yielded = true }

func (h *Holding) save(ctx context.Context) error {
	h.lastTry = time.Now()
	h.mu.Lock()
	to, saved := h.done, h.saved
	h.told = false
	h.mu.Unlock()
	if to == saved {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, h.l.config.TTL/3)
	defer cancel()
	err := h.l.config.Leases.Advance(ctx, h.l.config.Name, h.l.config.Holder, to)
	if err == nil {
		h.mu.Lock()
		h.saved = to
		h.mu.Unlock()
	}
	return err
}
