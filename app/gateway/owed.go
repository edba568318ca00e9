package gateway

import (
	"context"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// debts are the feeds that nodes may have got in an old version, or not at all, because
// this process could not reach the store. Another process may have announced a change
// meanwhile, and nodes do not reload by themselves.
type debts struct {
	mu    sync.Mutex
	feeds map[*kept]store.Revision // revision that the nodes got; 0: none
	told  time.Time                // when nodes were told to reload last
}

// tellEvery bounds how often nodes are told to reload: while the store comes and goes,
// each reload may fail like the one before.
const tellEvery = 10 * time.Second

// owe notes the revision that a node got of a feed; 0: none.
func (d *debts) owe(f *kept, got store.Revision) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.feeds == nil {
		d.feeds = map[*kept]store.Revision{}
	}
	if old, known := d.feeds[f]; !known || got < old {
		d.feeds[f] = got
	}
}

// take returns and clears the debts. It returns nil if nodes were told less than
// tellEvery ago.
func (d *debts) take(now time.Time) map[*kept]store.Revision {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now.Sub(d.told) < tellEvery {
		return nil
	}
	all := d.feeds
	d.feeds = nil
	return all
}

// Catching is the operation that tells nodes to reload after they got an old feed. Its
// commits change no resource.
const Catching = "gateway.catch_up"

// settle announces a reload, once the store is available again, if nodes have an old
// feed or none.
func (n *Nodes) settle(ctx context.Context) {
	owed := n.debts.take(n.now())
	if len(owed) == 0 {
		return
	}
	err := n.tell(ctx, owed)
	if err == nil {
		return
	}
	for f, got := range owed {
		n.debts.owe(f, got)
	}
	if ctx.Err() == nil {
		n.log.Debug("gateways may have old feeds; they are told when the store is back", "error", err)
	}
}

func (n *Nodes) tell(ctx context.Context, owed map[*kept]store.Revision) error {
	behind := ""
	err := n.store.View(ctx, tenant.Everyone("gateway feed"), func(r store.Reader) error {
		behind = ""
		for f, got := range owed {
			_, now, err := f.touched(ctx, r)
			if err != nil {
				return err
			}
			if got != now || got == 0 {
				behind = f.source.Name
			}
		}
		return nil
	})
	if err != nil || behind == "" {
		return err
	}
	ctx = store.Request(store.Attribute(ctx, store.Attribution{Actor: Catching, Operation: Catching}))
	_, err = n.store.Update(ctx, tenant.Everyone("gateways that got old feeds"), func(w store.Writer) error {
		return notify.Post(ctx, w, signal.CatchUp()...)
	})
	if err == nil {
		n.debts.mu.Lock()
		n.debts.told = n.now()
		n.debts.mu.Unlock()
		n.log.Info("the store was away while gateways loaded, and has changed: all are told to reload everything", "feed", behind)
	}
	return err
}
