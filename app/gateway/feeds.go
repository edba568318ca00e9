// Package gateway holds the use cases of gateway nodes: they register, send heartbeats,
// and load feeds (docs/wire/gateway-nodes.md).
package gateway

import (
	"context"
	"log/slog"
	"sync"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/compress"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// kept is the encoded form of a source. It is brought up to date once for each
// revision, and shared by the requests of all nodes.
type kept struct {
	source gateway.Source
	log    *slog.Logger
	coding compress.Coding
	mu     sync.Mutex
	last   *edition
	known  map[*store.Leaf][]*entry // of last
	used   store.Revision           // revision at which a kind of Uses last changed
	owner  map[string]*entry        // of last, by name
}

// current returns the current feed, or the last known one while the store is
// unavailable, so that a gateway that starts then still gets a feed.
func (k *kept) current(ctx context.Context, st store.Store) (e *edition, stale bool, err error) {
	stale, err = store.ViewLastKnown(ctx, st, tenant.Everyone("gateway feed"), func(r store.Reader) error {
		used, rev, err := k.touched(ctx, r)
		if err != nil {
			return err
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.last == nil || k.last.rev != rev {
			fresh, err := k.entries(ctx, r, used)
			if err != nil {
				return err
			}
			fresh.rev = rev
			k.report(fresh)
			k.last = fresh
		}
		e = k.last
		return nil
	})
	return e, stale, err
}

// touched returns the revision at which a kind of source.Uses last changed, and the one
// at which any kind that the feed is made from last changed.
func (k *kept) touched(ctx context.Context, r store.Reader) (used, last store.Revision, err error) {
	for _, kind := range k.source.Uses {
		rev, err := r.Touched(ctx, kind)
		if err != nil {
			return 0, 0, err
		}
		used = max(used, rev)
	}
	last, err = r.Touched(ctx, k.source.Kind)
	return used, max(used, last), err
}

// report logs the records that are left out, once for each revision of a record.
func (k *kept) report(e *edition) {
	type version struct {
		address
		rev uint64
	}
	said := map[version]bool{}
	if k.last != nil {
		for _, l := range k.last.left {
			said[version{address{l.OrgID, l.ID}, l.Revision}] = true
		}
	}
	for _, l := range e.left {
		if !said[version{address{l.OrgID, l.ID}, l.Revision}] {
			k.log.Warn("a record is left out of what gateways load: they could not read it", "feed", k.source.Name,
				"kind", l.Kind, "id", l.ID, "org_id", string(l.OrgID), "revision", l.Revision, "problems", l.Problems)
		}
	}
}
