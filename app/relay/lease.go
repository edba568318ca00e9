package relay

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// How often the cursor is moved at most. A crash repeats what was announced since;
// commits that announced nothing cost no more than being read again.
const (
	saveTold   = 100 * time.Millisecond
	saveSilent = time.Second
)

// perTTL is how often a lease is renewed while it lasts, and asked for by those who
// wait for it.
const perTTL = 5

// holding is the right to tell the sink, and how far it has been told.
type holding struct {
	r       *Relay
	began   time.Time // just before the store granted the lease, in real time whatever Now says
	moved   chan struct{}
	lastTry time.Time // of saving

	mu    sync.Mutex
	done  store.Revision
	told  bool // something was announced since done was last saved
	saved store.Revision
	gone  bool
}

// acquire returns nil while another process has the lease.
func (r *Relay) acquire(ctx context.Context) (*holding, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, r.config.TTL/3)
	defer cancel()
	at, ok, err := r.config.Leases.Acquire(ctx, r.Name(), r.config.Holder, r.config.TTL)
	if err != nil || !ok {
		return nil, err
	}
	return &holding{r: r, began: began, moved: make(chan struct{}, 1), done: at, saved: at}, nil
}

// keep renews the lease and saves the cursor, so that delivering never waits for
// the store. It calls lose when the lease is gone, which it assumes to be so when
// it could not be renewed in time.
func (l *holding) keep(ctx context.Context, lose context.CancelFunc) {
	expire := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if ctx.Err() == nil {
			l.gone = true
			lose()
		}
	}
	expiry := time.AfterFunc(l.r.config.TTL-time.Since(l.began), expire)
	defer expiry.Stop()
	renew := time.NewTicker(l.r.config.TTL / perTTL)
	defer renew.Stop()
	save := time.NewTimer(saveSilent)
	defer save.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-renew.C:
			next, err := l.r.acquire(ctx)
			switch {
			case err != nil:
				l.failed(ctx, err)
			case next == nil:
				expire()
			default:
				l.r.lease.over()
				expiry.Reset(l.r.config.TTL - time.Since(next.began))
			}
		case <-l.moved:
			save.Reset(l.due())
		case <-save.C:
			if err := l.save(ctx); errors.Is(err, store.ErrStale) {
				expire()
			} else if err != nil {
				l.failed(ctx, err)
				save.Reset(saveSilent)
			}
		}
	}
}

func (l *holding) failed(ctx context.Context, err error) {
	if ctx.Err() == nil {
		l.r.lease.fail(err)
	}
}

// reached notes that the sink needs nothing up to a revision any more.
func (l *holding) reached(to store.Revision, told bool) {
	l.r.position.Store(uint64(to))
	l.mu.Lock()
	l.done, l.told = to, l.told || told
	l.mu.Unlock()
	select {
	case l.moved <- struct{}{}:
	default:
	}
}

// due returns how long saving can wait.
func (l *holding) due() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	every := saveSilent
	if l.told {
		every = saveTold
	}
	return max(0, every-time.Since(l.lastTry))
}

func (l *holding) save(ctx context.Context) error {
	l.lastTry = time.Now()
	l.mu.Lock()
	to, saved := l.done, l.saved
	l.told = false
	l.mu.Unlock()
	if to == saved {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.r.config.TTL/3)
	defer cancel()
	err := l.r.config.Leases.Advance(ctx, l.r.Name(), l.r.config.Holder, to)
	if err == nil {
		l.mu.Lock()
		l.saved = to
		l.mu.Unlock()
	}
	return err
}

func (l *holding) lost() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

// giveBack lets another process go on exactly where this one stopped.
func (l *holding) giveBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, l.r.config.TTL/3)
	defer cancel()
	if err := errors.Join(l.save(ctx), l.r.config.Leases.Release(ctx, l.r.Name(), l.r.config.Holder)); err != nil {
		l.r.config.Logger.Warn("the lease of a sink could not be given back; it expires by itself", "error", err)
	}
}
