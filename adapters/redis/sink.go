package redis

import (
	"context"
	"errors"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/ports/notify"
)

// Sink publishes announcements.
type Sink struct {
	client *Client
	sign   signal.Signer
	turn   chan struct{} // a semaphore, held while Redis is called, even after the caller has given up: it keeps calls in order

	// About subscribers; guarded by turn.
	audience audience
	heard    bool      // whether a gateway received the last delivery
	size     int       // subscribers at the last delivery; 0: unknown, or there was none
	connects int64     // number of connections made up to the last delivery
	cut      bool      // whether a broken or failed connection ended the last delivery
	back     time.Time // when Redis was first reachable again after an interruption
}

var _ notify.Watcher = (*Sink)(nil)

// NewSink returns a Sink that signs with a node secret (signal.Secret) or with a
// key (KeyFile).
func NewSink(c *Client, sign signal.Signer) *Sink {
	return &Sink{client: c, sign: sign, turn: make(chan struct{}, 1)}
}

// Name implements notify.Sink.
func (*Sink) Name() string { return "redis" }

// Deliver implements notify.Sink.
func (s *Sink) Deliver(ctx context.Context, as []notify.Announcement) error {
	if len(as) == 0 {
		return nil
	}
	messages := make([][]byte, len(as))
	for i, a := range as {
		var err error
		if messages[i], err = a.Signal.Message(s.sign); err != nil {
			return s.client.wrap("sign", err)
		}
	}
	return s.client.wrap("publish", s.client.within(ctx, func(ctx context.Context) error {
		select {
		case s.turn <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		defer func() { <-s.turn }()
		if err := ctx.Err(); err != nil {
			return err
		}
		err := s.publish(ctx, messages)
		if err != nil && !answered(err) && !errors.Is(err, notify.ErrUnheard) && ctx.Err() == nil {
			s.cut, s.back = true, time.Time{}
		}
		return err
	}))
}

func (s *Sink) publish(ctx context.Context, messages [][]byte) error {
	node, err := s.client.node(ctx)
	if err != nil {
		return err
	}
	size, err := s.gather(ctx, node)
	if err != nil {
		return err
	}
	connects := s.client.connects.Load()
	replies, err := node.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for _, m := range messages {
			p.Publish(ctx, signal.Channel, m)
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.size, s.connects, s.cut, s.back = size, connects, false, time.Time{}
	if s.heard = s.client.heard(replies); !s.heard {
		return notify.ErrUnheard // pub/sub stores nothing: the message is lost
	}
	s.audience.told = true
	return nil
}

// heard reports whether every message had a subscriber. A node of a cluster counts only its
// own subscribers, so in a cluster heard assumes that there are some.
func (c *Client) heard(replies []goredis.Cmder) bool {
	if _, cluster := c.rdb.(*goredis.ClusterClient); cluster {
		return true
	}
	for _, r := range replies {
		if n, ok := r.(*goredis.IntCmd); ok && n.Val() == 0 {
			return false
		}
	}
	return true
}

// countEvery is how often subscribers are counted while waiting for them.
const countEvery = 50 * time.Millisecond

// gather returns the number of subscribers, 0 if it is unknown. An interruption of this
// connection also interrupts the connections of gateways: gather then waits until there are
// as many subscribers as before, or until the grace period ends. The first delivery of a
// process, and a delivery after one that no gateway received, waits as long for one
// subscriber.
func (s *Sink) gather(ctx context.Context, node goredis.Cmdable) (int, error) {
	size, known, err := s.count(ctx, node)
	if err != nil {
		return 0, err
	}
	want := 0 // how many subscribers are enough not to wait
	switch {
	case s.cut || s.connects > 0 && s.connects != s.client.connects.Load():
		want = max(s.size, 1)
	case !s.heard:
		want = 1
	}
	if size >= want || !known && !s.cut {
		return size, nil
	}
	if s.back.IsZero() {
		s.back = time.Now()
		s.client.log.Debug("announcements wait for gateways to listen", "listening", size, "before", s.size, "interrupted", s.cut)
	}
	tick := time.NewTicker(countEvery)
	defer tick.Stop()
	for size < want && time.Since(s.back) < s.client.grace {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-tick.C:
		}
		if size, _, err = s.count(ctx, node); err != nil {
			return 0, err
		}
	}
	return size, nil
}

// count counts the subscribers of a node and records gateways that came back. The number is
// unknown when the node does not answer it: the user may be allowed to publish only, or the
// command may be disabled.
func (s *Sink) count(ctx context.Context, node goredis.Cmdable) (n int, known bool, err error) {
	counts, err := node.PubSubNumSub(ctx, signal.Channel).Result()
	if err != nil && (strings.HasPrefix(err.Error(), "NOPERM") || strings.HasPrefix(err.Error(), "ERR unknown command")) {
		return 0, false, nil
	}
	if n, known = int(counts[signal.Channel]), err == nil; known {
		s.audience.see(n, time.Now(), s.client.grace)
	}
	return n, known, err
}
