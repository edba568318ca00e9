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

// How long it is remembered to which organisation a key belongs. A key that is deleted and
// made again elsewhere can belong to another one. Lists for its old organisation named it
// before; that they do so for a moment more tells nothing. A key of ours is forgotten when
// we write it, and one that a list no longer names is forgotten at once.
const (
	trustOwn     = 30 * time.Second
	trustForeign = 10 * time.Minute
	mostOwners   = 200_000
)

// owners remembers to which organisations keys belong, by a digest: where gateways do not
// hash, the names of keys are the keys.
type owners struct {
	now system.Clock

	mu        sync.Mutex
	known     map[digest]owner
	round     uint64
	forgotten uint64 // how often keys have been forgotten
}

type digest [16]byte

type owner struct {
	org   tenant.ID
	read  time.Time
	round uint64 // of the last list of all keys that named it
}

func digestOf(name string) (d digest) {
	sum := sha256.Sum256([]byte(name))
	copy(d[:], sum[:])
	return d
}

// forget forgets keys.
func (o *owners) forget(names ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.forgotten++
	for _, name := range names {
		delete(o.known, digestOf(name))
	}
}

// epoch is where learn begins.
func (o *owners) epoch() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.forgotten
}

// begin begins a list of all keys.
func (o *owners) begin() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.round++
	return o.round
}

// end forgets the keys that a list of all has not named.
func (o *owners) end(round uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for d, known := range o.known {
		if known.round < round {
			delete(o.known, d)
		}
	}
}

// of says whether a key belongs to an organisation; false: it must be read.
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

// learn remembers what was read since an epoch, unless a key has been forgotten after it.
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

// enter takes a place among the sessions that are read, unless ctx ends before.
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

// of returns those of the named keys that belong to an organisation. all says that these
// are all keys there are.
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
			continue // it could not be asked for
		}
		if !c.enter(ctx) {
			break
		}
		tasks.Go(func() {
			defer func() { <-c.room }()
			epoch := c.owners.epoch()
			switch s, err := c.session(ctx, byHash(org, name)); {
			case errors.Is(err, gateway.ErrUnknown): // it is gone meanwhile
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
