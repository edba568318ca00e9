package redis_test

import (
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse-io/gatehouse/adapters/redis"
)

// TestPublisher: subscribers receive a message unchanged; a message without
// subscribers, or one that Redis refuses, is an error.
func TestPublisher(t *testing.T) {
	s := newServer(t)
	p := redis.NewPublisher(open(t, redis.Config{Addrs: []string{s.addr}}))
	if err := p.Publish(t.Context(), "gatehouse.events.a", []byte("lost")); err == nil || !strings.Contains(err.Error(), "no client listens") {
		t.Error(err)
	}
	c := goredis.NewClient(&goredis.Options{Addr: s.addr})
	t.Cleanup(func() { _ = c.Close() })
	sub := c.Subscribe(t.Context(), "gatehouse.events.a")
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Publish(t.Context(), "gatehouse.events.a", []byte("{\"id\":\"1\"}")); err != nil {
		t.Fatal(err)
	}
	select {
	case m := <-sub.Channel():
		if m.Payload != "{\"id\":\"1\"}" {
			t.Error(m.Payload)
		}
	case <-time.After(10 * time.Second):
		t.Error("nothing was heard")
	}
	s.stop()
	if err := p.Publish(t.Context(), "gatehouse.events.a", []byte("away")); err == nil || strings.Contains(err.Error(), "no client listens") {
		t.Error(err)
	}
}
