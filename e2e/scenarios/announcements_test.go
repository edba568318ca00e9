package scenarios

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
)

// announcement is a message to gateways (docs/wire/announcements.md#message).
type announcement struct {
	Command   string `json:"command"`
	Payload   string `json:"payload"`
	Signature string `json:"signature"`
	Algorithm int    `json:"algorithm"`
}

// listen subscribes to the announcements of a Redis server.
func listen(t *testing.T, addr string) <-chan *redis.Message {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = c.Close() })
	sub := c.Subscribe(t.Context(), gatewaysim.Channel)
	t.Cleanup(func() { _ = sub.Close() })
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	return sub.Channel(redis.WithChannelSize(10_000))
}

// countUntil counts, by payload, the provider announcements before the first one with the
// payload end. Announcements are in the order of their commits, so none about an earlier
// write comes later.
func countUntil(t *testing.T, messages <-chan *redis.Message, end string) map[string]int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	count := map[string]int{}
	for {
		select {
		case <-ctx.Done():
			t.Fatalf("%s was not announced in time; seen before: %v", end, count)
		case m := <-messages:
			var a announcement
			if err := json.Unmarshal([]byte(m.Payload), &a); err != nil {
				t.Fatal(err)
			}
			if a.Algorithm != 5 || a.Signature != gatewaysim.Signature(a.Command, a.Payload, nodeSecret) {
				t.Fatalf("badly signed: %s", m.Payload)
			}
			if a.Command == "GroupReload" || a.Payload == "" {
				continue // this subscriber looked like a gateway that came back
			}
			if a.Command != "ClientIdPChanged" {
				t.Fatalf("unexpected announcement %s", m.Payload)
			}
			if a.Payload == end {
				return count
			}
			count[a.Payload]++
		}
	}
}
