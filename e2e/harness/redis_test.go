package harness_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

func dial(t *testing.T, addr string) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestRedisStopsAndStartsOnItsAddress(t *testing.T) {
	server := harness.NewRedis(t)
	addr, client := server.Addr(), dial(t, server.Addr())
	if err := client.Set(within(t), "key", "value", 0).Err(); err != nil {
		t.Fatal(err)
	}
	server.Stop(t)
	if err := client.Ping(within(t)).Err(); err == nil {
		t.Fatal("a stopped server answers")
	}
	server.Start(t)
	if server.Addr() != addr {
		t.Fatalf("the address became %s", server.Addr())
	}
	if n, err := dial(t, addr).Exists(within(t), "key").Result(); err != nil || n != 0 {
		t.Errorf("the key exists %d times (%v); a Redis for announcements keeps nothing", n, err)
	}
}

func TestSharedRedisCarriesMessages(t *testing.T) {
	client := dial(t, harness.Redis(t).Addr())
	subscription := client.Subscribe(within(t), t.Name())
	defer subscription.Close()
	if _, err := subscription.Receive(within(t)); err != nil {
		t.Fatal(err)
	}
	if err := client.Publish(within(t), t.Name(), "hello").Err(); err != nil {
		t.Fatal(err)
	}
	message, err := subscription.ReceiveMessage(within(t))
	if err != nil || message.Payload != "hello" {
		t.Errorf("received %v, %v", message, err)
	}
}
