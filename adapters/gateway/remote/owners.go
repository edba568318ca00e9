package remote

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// For how long the organisation of a key is cached. A key that is deleted and created
// again elsewhere can belong to another organisation. Lists of its old organisation named
// it before; if they name it for a moment longer, that reveals nothing new. When we write
// a key, its entry is removed. An entry that a list of all keys no longer names is removed
// at once.
const (
	trustOwn     = 30 * time.Second
	trustForeign = 10 * time.Minute
	mostOwners   = 200_000
)

// owners caches to which organisations keys belong. Entries are found by a digest: if
// gateways do not hash, the names of keys are the keys.
type owners struct {
	now system.Clock

	mu        sync.Mutex
	known     map[digest]owner
	round     uint64
	forgotten uint64 // how often keys have been removed
}

type digest [16]byte

type owner struct {
	org   tenant.ID
	read  time.Time
	round uint64 // the last list of all keys that named the key
}

func digestOf(name string) (d digest) {
	sum := sha256.Sum256([]byte(name))
	copy(d[:], sum[:])
	return d
}

// forget removes keys.
func (o *owners) forget(names ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.forgotten++
	for _, name := range names {
		delete(o.known, digestOf(name))
	}
}

// epoch returns a token for learn, to be taken before the read.
func (o *owners) epoch() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.forgotten
}

// begin starts a list of all keys, and returns its round.
func (o *owners) begin() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.round++
	return o.round
}

// end removes the keys that the list of all keys has not named.
func (o *owners) end(round uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for d, known := range o.known {
		if known.round < round {
			delete(o.known, d)
		}
	}
}

// of reports whether a key belongs to an organisation. If known is false, the key must be
// read.
func (o *owners) of(org tenant.ID, name string, round uint64) (mine, known bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	d := digestOf(name)
	k, ok := o.known[d]
	trust := trustForeign
	if k.org == org {
		trust = trustOwn
	}
	if !ok || o.now().Sub(k.read) > trust {
		return false, false
	}
	k.round = max(k.round, round)
	o.known[d] = k
	return k.org == org, true
}

// learn stores what was read since epoch, unless a key has been removed in the meantime.
func (o *owners) learn(org tenant.ID, name string, round, epoch uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.forgotten != epoch {
		return
	}
	if len(o.known) >= mostOwners {
		clear(o.known)
	}
	o.known[digestOf(name)] = owner{org, o.now(), max(round, o.round)}
}

// enter waits for room among the concurrent session reads; it returns false if ctx ends
// before.
func (c *Client) enter(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case c.room <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// of returns the named keys that belong to an organisation. all says that names are all
// existing keys.
func (c *Client) of(ctx context.Context, org tenant.ID, names []string, all bool) ([]string, error) {
	var round uint64
	if all {
		round = c.owners.begin()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		mine  []string
		mu    sync.Mutex
		tasks sync.WaitGroup
	)
	keep := func(name string) {
		mu.Lock()
		defer mu.Unlock()
		mine = append(mine, name)
	}
	for _, name := range names {
		if ours, known := c.owners.of(org, name, round); known {
			if ours {
				keep(name)
			}
			continue
		}
		if !addressable(name) {
			continue // such a name cannot be requested
		}
		if !c.enter(ctx) {
			break
		}
		tasks.Go(func() {
			defer func() { <-c.room }()
			epoch := c.owners.epoch()
			switch s, err := c.session(ctx, byHash(org, name)); {
			case errors.Is(err, gateway.ErrUnknown): // it was deleted meanwhile
			case err != nil:
				cancel(err)
			default:
				owner := tenant.ID(s.Get("org_id").Text())
				c.owners.learn(owner, name, round, epoch)
				if owner == org {
					keep(name)
				}
			}
		})
	}
	tasks.Wait()
	if err := context.Cause(ctx); err != nil {
		if !errors.Is(err, gateway.ErrUnreachable) {
			err = errors.Join(gateway.ErrUnreachable, err)
		}
		return nil, err
	}
	if all {
		c.owners.end(round)
	}
	return mine, nil
}
