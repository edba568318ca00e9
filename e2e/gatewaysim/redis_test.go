package gatewaysim

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Run(m)) }

// redisAddr is a Redis to test with: GATEHOUSE_TEST_REDIS_ADDR, else a server that the
// test starts on a free port, else one from the harness.
func redisAddr(t *testing.T) string {
	t.Helper()
	if addr := os.Getenv("GATEHOUSE_TEST_REDIS_ADDR"); addr != "" {
		return addr
	}
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		return harness.Redis(t).Addr()
	}
	port := strconv.Itoa(harness.FreePort(t))
	cmd := exec.Command(binary, "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(strings.ToLower(lines.Text()), "ready to accept connections") {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return "127.0.0.1:" + port
		}
	}
	t.Fatal("redis-server ended before it was ready")
	return ""
}

// listening returns a subscribed gateway, with a unique secret so that other tests on
// the same Redis do not matter, and a function that publishes to it.
func listening(t *testing.T, f *fakeDashboard, addr, via string) (*Gateway, func(command, payload string)) {
	t.Helper()
	cfg := f.config()
	cfg.NodeSecret, cfg.Redis.Addr = newUUID(), via
	g := loaded(t, cfg)
	until(t, g, "the subscription", func(s State) bool { return s.Subscribed })
	client := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = client.Close() })
	return g, func(command, payload string) {
		t.Helper()
		raw := fmt.Sprintf(`{"command":%q,"payload":%q,"signature":%q,"algorithm":5}`,
			command, payload, Signature(command, payload, cfg.NodeSecret))
		if err := client.Publish(t.Context(), Channel, raw).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNotifications(t *testing.T) {
	addr := redisAddr(t)
	f := newFake(t)
	g, publish := listening(t, f, addr, addr)

	t.Run("full reload", func(t *testing.T) {
		f.always(pathAPIs, feed(apiEntry(keyless("a2", "/a2/"))))
		publish("ApiAdded", "a2")
		until(t, g, "the new API", func(s State) bool { return len(s.APIs) == 1 && s.APIs[0].ID == "a2" })
	})
	t.Run("registry only, merged", func(t *testing.T) {
		until(t, g, "quiet", func(s State) bool { return s.Reloads == 3 && s.IdPRefreshes == 3 })
		policies := f.count(pathPolicies)
		f.always(pathIdPs, feed(idpA))
		for range 10 {
			publish("ClientIdPChanged", "idp-a")
		}
		until(t, g, "the provider", func(s State) bool {
			return s.Notifications["ClientIdPChanged"].Accepted == 10 && len(s.IdPs) == 1
		})
		if s := g.State(); f.count(pathPolicies) != policies || s.Reloads != 3 {
			t.Errorf("a registry change reloaded everything: %+v", s)
		}
		if n := g.State().IdPRefreshes - 3; n > 3 { // one, unless the machine stalls between messages
			t.Errorf("ten notifications gave %d refreshes", n)
		}
	})
	t.Run("badly signed", func(t *testing.T) {
		before := g.State().Notifications["GroupReload"]
		client := redis.NewClient(&redis.Options{Addr: addr})
		defer client.Close()
		client.Publish(t.Context(), Channel, `{"command":"GroupReload","payload":"","signature":"00","algorithm":5}`)
		until(t, g, "the rejection", func(s State) bool { return s.Notifications["GroupReload"].Rejected == before.Rejected+1 })
	})
}

// Ten changes within the debounce cause one request (docs/wire/feeds.md#client-idps).
func TestDebounce(t *testing.T) {
	f := newFake(t)
	cfg := f.config()
	cfg.Intervals.Debounce = 300 * time.Millisecond
	g := loaded(t, cfg)
	p := g.view().p
	p.tasks.Go(p.debounce)
	began := time.Now()
	for range 10 {
		p.wantIdPs()
	}
	until(t, g, "the refresh", func(s State) bool { return s.IdPRefreshes == 3 })
	if took := time.Since(began); took < 250*time.Millisecond {
		t.Errorf("refreshed after %v", took)
	}
	beats := g.State().Heartbeats
	until(t, g, "silence", func(s State) bool { return s.Heartbeats > beats+10 })
	if s := g.State(); s.IdPRefreshes != 3 || s.Reloads != 2 {
		t.Errorf("%d refreshes, %d reloads", s.IdPRefreshes, s.Reloads)
	}
}

func TestInvalidateKeySets(t *testing.T) {
	addr := redisAddr(t)
	issuer := NewIssuer()
	t.Cleanup(issuer.Close)
	f := newFake(t)
	f.always(pathAPIs, feed(apiEntry(jwtAPI("jw", nil))))
	f.always(pathPolicies, feed(`{"id":"p-read","org_id":"o1"}`))
	f.always(pathIdPs, feed(idpFor(issuer, "jw", nil)))
	g, publish := listening(t, f, addr, addr)
	token := func() string { return issuer.Sign(map[string]any{"sub": "s", "iss": issuer.URL(), "scope": "read"}) }
	if d := g.Decide("jw", token()); d.Status != 200 {
		t.Fatalf("decision %+v", d)
	}
	issuer.Rotate()
	for _, command := range []string{"ClientIdPChanged", "GroupReload"} {
		before := g.State().IdPRefreshes
		publish(command, "jw")
		until(t, g, "a refresh", func(s State) bool { return s.IdPRefreshes > before })
		if d := g.Decide("jw", token()); d.Status != 403 {
			t.Errorf("%s refreshed the key set: %+v", command, d)
		}
	}
	publish("InvalidateJWKSCacheForAPI", "other")
	publish("InvalidateJWKSCacheForAPI", "jw")
	until(t, g, "the message", func(s State) bool { return s.Notifications["InvalidateJWKSCacheForAPI"].Accepted == 2 })
	if d := g.Decide("jw", token()); d.Status != 200 || issuer.Fetches() != 2 {
		t.Errorf("decision %+v after %d fetches", d, issuer.Fetches())
	}
}

// A gateway subscribes again after an outage of Redis; messages published meanwhile are
// lost.
func TestRedisGoesAndComesBack(t *testing.T) {
	addr := redisAddr(t)
	link := newLink(t, addr)
	f := newFake(t)
	g, publish := listening(t, f, addr, link.addr)
	link.cut()
	until(t, g, "the loss", func(s State) bool { return !s.Subscribed })
	publish("PolicyChanged", "lost")
	link.mend()
	until(t, g, "the subscription", func(s State) bool { return s.Subscribed && s.Subscriptions == 2 })
	publish("ApiUpdated", "a1")
	until(t, g, "the message", func(s State) bool { return s.Notifications["ApiUpdated"].Accepted == 1 })
	if n := g.State().Notifications["PolicyChanged"]; n.Received != 0 {
		t.Errorf("a message published while Redis was away came: %+v", n)
	}
}

// A Redis that no longer answers on an open connection is detected too.
func TestRedisFallsSilent(t *testing.T) {
	addr := redisAddr(t)
	link := newLink(t, addr)
	f := newFake(t)
	g, _ := listening(t, f, addr, link.addr)
	link.freeze(true)
	until(t, g, "the loss", func(s State) bool { return !s.Subscribed })
	link.freeze(false)
	until(t, g, "the subscription", func(s State) bool { return s.Subscribed && s.Subscriptions >= 2 })
}

func TestGatewayStartsWithoutRedis(t *testing.T) {
	f := newFake(t)
	cfg := f.config()
	cfg.Redis.Addr = "127.0.0.1:" + strconv.Itoa(harness.FreePort(t))
	g := loaded(t, cfg)
	hello(t, g, "warn", "pass")
	if s := g.State(); s.Subscribed || !s.Ready {
		t.Errorf("state %+v", s)
	}
}

// link is a TCP connection to Redis that a test can cut, restore and freeze.
type link struct {
	addr, target string

	mu       sync.Mutex
	listener net.Listener
	conns    []net.Conn
	frozen   bool
	thawed   *sync.Cond
}

func newLink(t *testing.T, target string) *link {
	t.Helper()
	l := &link{target: target, addr: "127.0.0.1:" + strconv.Itoa(harness.FreePort(t))}
	l.thawed = sync.NewCond(&l.mu)
	l.mend()
	t.Cleanup(l.cut)
	return l
}

func (l *link) mend() {
	listener, err := net.Listen("tcp", l.addr)
	if err != nil {
		panic(err)
	}
	l.mu.Lock()
	l.listener = listener
	l.mu.Unlock()
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			l.join(in)
		}
	}()
}

func (l *link) join(in net.Conn) {
	out, err := net.Dial("tcp", l.target)
	if err != nil {
		_ = in.Close()
		return
	}
	l.mu.Lock()
	l.conns = append(l.conns, in, out)
	l.mu.Unlock()
	go l.pipe(in, out)
	go l.pipe(out, in)
}

func (l *link) pipe(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		l.mu.Lock()
		for l.frozen {
			l.thawed.Wait()
		}
		l.mu.Unlock()
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}

func (l *link) cut() {
	l.freeze(false)
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.listener.Close()
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.conns = nil
}

func (l *link) freeze(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.frozen = on
	l.thawed.Broadcast()
}
