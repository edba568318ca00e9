package redis_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse-io/gatehouse/adapters/redis"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
	"github.com/gatehouse-io/gatehouse/ports/analytics"
)

// lists returns a server of the test's own, and claims of gateways' lists on it.
func lists(t *testing.T) (*goredis.Client, *redis.Claims) {
	t.Helper()
	addr := harness.NewRedis(t).Addr()
	rdb := goredis.NewClient(&goredis.Options{Addr: addr})
	t.Cleanup(func() { _ = rdb.Close() })
	c, err := redis.Open(redis.Config{Addrs: []string{addr}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return rdb, redis.NewClaims(c)
}

var bounds = analytics.Bounds{Entries: 100, Bytes: 1 << 20, Largest: 1000}

// TestClaims goes through the life of a claim.
func TestClaims(t *testing.T) {
	rdb, q := lists(t)
	ctx := t.Context()
	l := analytics.List{Name: "analytics-tyk-system-analytics_3_protobuf", Protobuf: true}
	if _, ok, err := q.Claim(ctx, l, "0"); ok || err != nil {
		t.Fatal("a list that is not there:", ok, err)
	}
	if open, err := q.Open(ctx); len(open) != 0 || err != nil {
		t.Fatal(open, err)
	}
	for i := range 50 {
		rdb.RPush(ctx, l.Name, fmt.Sprint("entry", i))
	}
	rdb.Expire(ctx, l.Name, time.Minute)
	c, ok, err := q.Claim(ctx, l, "1")
	if !ok || err != nil || c.Entries != 50 || c.Claim != "{"+l.Name+"}.c-1" {
		t.Fatal(c, ok, err)
	}
	if left := rdb.TTL(ctx, c.Claim).Val(); left != -1 {
		t.Error("the claim expires in", left)
	}
	rdb.RPush(ctx, l.Name, "later")
	if _, ok, err := q.Claim(ctx, l, "1"); ok || err != nil {
		t.Error("a name that is taken:", ok, err)
	}
	if _, ok, err := q.Claim(ctx, l, "0"); !ok || err != nil {
		t.Error(ok, err)
	}
	open, err := q.Open(ctx)
	if err != nil || len(open) != 2 || open[0].Entries != 1 || open[1] != c {
		t.Fatal(open, err)
	}
	var got []string
	for {
		some, err := q.Read(ctx, c, int64(len(got)), analytics.Bounds{Entries: 7, Bytes: 1 << 20, Largest: 100})
		if err != nil {
			t.Fatal(err)
		}
		if len(some) == 0 {
			break
		}
		got = append(got, some...)
	}
	if len(got) != 50 || got[0] != "entry0" || got[49] != "entry49" {
		t.Error(got)
	}
	for _, c := range open {
		if err := q.Release(ctx, c); err != nil {
			t.Error(err)
		}
	}
	if keys := rdb.Keys(ctx, "*").Val(); len(keys) != 0 {
		t.Error(keys)
	}
}

// TestReadBounds: one read returns no more than its limit, whatever the list contains.
func TestReadBounds(t *testing.T) {
	rdb, q := lists(t)
	l := analytics.Lists()[1]
	sizes := []int{10, 5000, 400, 400, 400, 10}
	for _, n := range sizes {
		rdb.RPush(t.Context(), l.Name, strings.Repeat("x", n))
	}
	c, _, err := q.Claim(t.Context(), l, "1")
	if err != nil {
		t.Fatal(err)
	}
	var got [][]int
	for from := int64(0); ; {
		some, err := q.Read(t.Context(), c, from, analytics.Bounds{Entries: 100, Bytes: 900, Largest: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if len(some) == 0 {
			break
		}
		var lengths []int
		for _, e := range some {
			lengths = append(lengths, len(e))
		}
		got, from = append(got, lengths), from+int64(len(some))
	}
	if fmt.Sprint(got) != "[[10] [1001] [400 400] [400 10]]" {
		t.Error(got)
	}
}

// TestLevels returns how much the lists hold, and for how long.
func TestLevels(t *testing.T) {
	rdb, q := lists(t)
	all := analytics.Lists()
	if len(all) != 23 || !slices.Contains(all, analytics.List{Name: "host-checker:tyk-uptime-analytics", Uptime: true}) ||
		!slices.Contains(all, analytics.List{Name: "analytics-tyk-system-analytics_9"}) {
		t.Error(all)
	}
	rdb.RPush(t.Context(), all[0].Name, "a", "b")
	rdb.RPush(t.Context(), all[22].Name, "a")
	rdb.Expire(t.Context(), all[22].Name, time.Minute)
	levels, err := q.Levels(t.Context(), all)
	if err != nil || len(levels) != 23 || levels[0] != (analytics.Level{Entries: 2}) || levels[1].Entries != 0 || levels[22].Entries != 1 || levels[22].Expires < 50*time.Second {
		t.Error(levels, err)
	}
}

// TestLastMillisecond: a list that expires within a millisecond must not become one without expiry.
func TestLastMillisecond(t *testing.T) {
	f := newFake(t, nil, func(command []string) string {
		switch strings.ToUpper(command[0]) {
		case "LLEN":
			return ":1\r\n"
		case "PTTL":
			return ":0\r\n"
		}
		return ok(command)
	})
	c, err := redis.Open(redis.Config{Addrs: []string{f.addr}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	levels, err := redis.NewClaims(c).Levels(t.Context(), analytics.Lists()[:1])
	if err != nil || levels[0].Entries != 1 || levels[0].Expires <= 0 {
		t.Error(levels, err)
	}
}

// TestClaimsWithoutRedis: a server that is away or does not answer causes an error in time.
func TestClaimsWithoutRedis(t *testing.T) {
	f := newFake(t, nil, func(command []string) string {
		if strings.EqualFold(command[0], "HELLO") {
			return ok(command)
		}
		return ""
	})
	c, err := redis.Open(redis.Config{Addrs: []string{f.addr}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	q := redis.NewClaims(c)
	if _, _, err := q.Claim(ctx, analytics.Lists()[0], "1"); err == nil {
		t.Error("claimed")
	}
	if _, err := q.Levels(ctx, analytics.Lists()); err == nil {
		t.Error("levels")
	}
	if _, err := q.Read(ctx, analytics.Claim{Claim: "c"}, 0, bounds); err == nil {
		t.Error("read")
	}
}

// TestFull: when lists have filled Redis, the collector can still claim, read and release them,
// which frees memory. While a claim waits because the database is away, no further list is claimed,
// so that lists can expire.
func TestFull(t *testing.T) {
	rdb, q := lists(t)
	ctx := t.Context()
	l, busy := analytics.List{Name: "host-checker:tyk-uptime-analytics", Uptime: true}, analytics.List{Name: "analytics-tyk-system-analytics"}
	fill := func() {
		t.Helper()
		rdb.ConfigSet(ctx, "maxmemory", "0")
		for i := range 50 {
			rdb.RPush(ctx, l.Name, fmt.Sprint("entry", i))
			rdb.RPush(ctx, busy.Name, fmt.Sprint("entry", i))
		}
		rdb.ConfigSet(ctx, "maxmemory-policy", "noeviction")
		rdb.ConfigSet(ctx, "maxmemory", "1")
		if err := rdb.RPush(ctx, l.Name, "more").Err(); err == nil {
			t.Fatal("Redis is not full")
		}
	}
	claim := func(l analytics.List, unique string) analytics.Claim {
		t.Helper()
		c, ok, err := q.Claim(ctx, l, unique)
		if !ok || err != nil || c.Entries == 0 {
			t.Fatal(c, ok, err)
		}
		return c
	}
	fill()
	c := claim(l, "1")
	if open, err := q.Open(ctx); err != nil || !slices.Equal(open, []analytics.Claim{c}) {
		t.Error("the claim would be lost with the process:", open, err)
	}
	fill()
	if _, ok, err := q.Claim(ctx, l, "2"); ok || err != nil {
		t.Error("another one while the first waits:", ok, err)
	}
	other := claim(busy, "3")
	if some, err := q.Read(ctx, c, 0, bounds); err != nil || len(some) != 50 {
		t.Error(len(some), err)
	}
	if err := q.Release(ctx, c); err != nil {
		t.Error(err)
	}
	for _, c := range []analytics.Claim{other, claim(l, "4")} {
		if err := q.Release(ctx, c); err != nil {
			t.Error(err)
		}
	}
	if keys := rdb.Keys(ctx, "*").Val(); len(keys) != 0 {
		t.Error("left:", keys)
	}
}

// TestClaimsUser: the permissions in the guide of the collector suffice.
func TestClaimsUser(t *testing.T) {
	rdb, _ := lists(t)
	ctx := t.Context()
	text, err := os.ReadFile("../../docs/guide-collector.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ = bytes.Cut(text, []byte("The user of Redis needs "))
	text, _, _ = bytes.Cut(text, []byte(" on `"))
	rule := []any{"acl", "setuser", "collector", "on", ">secret", "resetkeys", "~*analytics*", "-@all"}
	for i, word := range strings.Split(string(text), "`") {
		if i%2 == 1 {
			rule = append(rule, "+"+strings.ToLower(word))
		}
	}
	if err := rdb.Do(ctx, rule...).Err(); err != nil {
		t.Fatal(err)
	}
	c, err := redis.Open(redis.Config{Addrs: []string{rdb.Options().Addr}, Username: "collector", Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	q := redis.NewClaims(c)
	for _, l := range analytics.Lists() {
		rdb.RPush(ctx, l.Name, "entry")
		if levels, err := q.Levels(ctx, []analytics.List{l}); err != nil || levels[0].Entries != 1 {
			t.Fatal(levels, err)
		}
		claim, ok, err := q.Claim(ctx, l, "1")
		if !ok || err != nil {
			t.Fatal(err)
		}
		if open, err := q.Open(ctx); err != nil || len(open) != 1 {
			t.Fatal(open, err)
		}
		if some, err := q.Read(ctx, claim, 0, bounds); err != nil || len(some) != 1 {
			t.Fatal(some, err)
		}
		if err := q.Release(ctx, claim); err != nil {
			t.Fatal(err)
		}
		if err := q.Share(ctx, l, time.Minute); err != nil {
			t.Fatal(err)
		}
		if shared, err := q.Shared(ctx, []analytics.List{l}); err != nil || len(shared) != 1 {
			t.Fatal(shared, err)
		}
	}
}
