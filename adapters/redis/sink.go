package redis

import (
	"context"
	"errors"
	"math"
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
	turn   chan struct{} // holds a value while a delivery runs, even one that was given up: order

	// About listeners; guarded by turn.
	size     int       // at the last delivery; 0: unknown, or there was none
	connects int64     // connections made up to the last delivery
	cut      bool      // the last delivery, by a connection that broke or was not made
	back     time.Time // when Redis was first seen again after an interruption
}

var _ notify.Sink = (*Sink)(nil)

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
	return s.client.wrap("publish", within(ctx, func(ctx context.Context) error {
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
		if _, answered := errors.AsType[goredis.Error](err); err != nil && !answered && ctx.Err() == nil {
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
	_, err = node.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for _, m := range messages {
			p.Publish(ctx, signal.Channel, m)
		}
		return nil
	})
	if err == nil {
		s.size, s.connects, s.cut, s.back = size, connects, false, time.Time{}
	}
	return err
}

// lookEvery is how often listeners are counted while they are waited for.
const lookEvery = 50 * time.Millisecond

// gather returns how many listen. Pub/sub keeps nothing for those who do not, and
// what interrupted this connection interrupted theirs: after that, it waits until
// as many listen as before, or until the grace is over.
func (s *Sink) gather(ctx context.Context, node goredis.Cmdable) (int, error) {
	size, err := listeners(ctx, node)
	if err != nil {
		return 0, err
	}
	want := s.wanted()
	if size >= want {
		return size, nil
	}
	if s.back.IsZero() {
		s.back = time.Now()
		s.client.log.Info("the connection to Redis was interrupted; announcements wait for gateways to listen again", "listening", size, "before", s.size)
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for size < want && time.Since(s.back) < s.client.grace {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-tick.C:
		}
		if size, err = listeners(ctx, node); err != nil {
			return 0, err
		}
	}
	return size, nil
}

// wanted returns how many listeners are enough not to wait.
func (s *Sink) wanted() int {
	switch {
	case s.cut && s.size == 0:
		return math.MaxInt // nobody knows how many there were
	case s.cut || s.connects > 0 && s.connects != s.client.connects.Load():
		return max(s.size, 1)
	default:
		return 0
	}
}

// listeners returns how many listen at a node, or 0 when it does not say: the user
// may be allowed to publish only, or the command be disabled.
func listeners(ctx context.Context, node goredis.Cmdable) (int, error) {
	n, err := node.PubSubNumSub(ctx, signal.Channel).Result()
	if err != nil && (strings.HasPrefix(err.Error(), "NOPERM") || strings.HasPrefix(err.Error(), "ERR unknown command")) {
		return 0, nil
	}
	return int(n[signal.Channel]), err
}
