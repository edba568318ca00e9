package redis

import (
	"context"
	"time"
)

// audience is what is known about the subscribers of the channel.
type audience struct {
	last, most int       // at the last count; the highest count
	until      time.Time // until then, a subscriber that appears may have been subscribed before the first count
	told       bool      // something was announced since the first count
	missed     bool      // a gateway came back that may have missed announcements
}

// see records that n subscribers listen. A subscriber that appears when there were more
// before counts as one that lost its subscription: pub/sub does not identify
// subscribers.
func (a *audience) see(n int, now time.Time, grace time.Duration) {
	if a.until.IsZero() {
		a.until = now.Add(grace)
	}
	if n > a.last && (a.last < a.most || a.told && now.Before(a.until)) {
		a.missed = true
	}
	a.last, a.most = n, max(a.most, n)
}

// watchEvery is how often subscribers are counted while there is nothing to announce. A
// gateway takes longer to subscribe again.
const watchEvery = 250 * time.Millisecond

// Missed implements notify.Watcher. It waits until no more gateways come back, so that
// gateways that return together get one announcement.
func (s *Sink) Missed(ctx context.Context) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		select {
		case s.turn <- struct{}{}:
		default:
			continue // a delivery is under way, which counts subscribers itself
		}
		before := s.audience.last
		n, known := 0, false
		node, err := s.client.node(ctx)
		if err == nil {
			n, known, err = s.count(ctx, node)
		}
		// Deliver reports that Redis is away.
		settled := err == nil && known && n <= before && s.audience.missed
		if settled { // reported once
			s.audience.missed = false
		}
		<-s.turn
		if settled {
			return nil
		}
	}
}
