package redis_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// patience bounds every wait of these tests.
const patience = 30 * time.Second

func TestMain(m *testing.M) { os.Exit(harness.Run(m)) }

// server is a Redis server behind a fixed address while the server is stopped and started. It is
// the server at GATEHOUSE_TEST_REDIS_ADDR, or one that the test starts, or one from the harness.
// Stopping a server that the test has not started only cuts its connections.
type server struct {
	addr    string
	network string // and address of the real server
	behind  string
	args    []string // command line of a server started by the test
	process *exec.Cmd

	mu    sync.Mutex
	down  bool
	conns map[net.Conn]bool
}

// newServer returns a server that runs.
func newServer(t testing.TB) *server {
	t.Helper()
	s := &server{network: "tcp", behind: os.Getenv("GATEHOUSE_TEST_REDIS_ADDR"), conns: map[net.Conn]bool{}}
	path, err := exec.LookPath("redis-server")
	if s.behind == "" && err != nil {
		s.behind = harness.Redis(t).Addr()
	}
	if s.behind == "" {
		folder, err := os.MkdirTemp("", "redis") // the path of a socket must be short
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(folder) })
		s.network, s.behind = "unix", filepath.Join(folder, "s")
		s.args = []string{path, "--port", "0", "--unixsocket", s.behind, "--dir", folder, "--save", "", "--appendonly", "no"}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = l.Addr().String()
	s.start(t)
	t.Cleanup(func() { _ = l.Close(); s.stop() })
	go s.serve(l)
	return s
}

// start starts the server and waits until it answers.
func (s *server) start(t testing.TB) {
	t.Helper()
	if s.args != nil {
		s.process = exec.Command(s.args[0], s.args[1:]...)
		if err := s.process.Start(); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "Redis answers", func() bool {
		conn, err := net.Dial(s.network, s.behind)
		if err != nil {
			return false
		}
		defer conn.Close()
		answer := make([]byte, 5)
		if _, err := conn.Write([]byte("PING\r\n")); err != nil {
			return false
		}
		_, err = io.ReadFull(conn, answer)
		return err == nil && string(answer) == "+PONG"
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = false
}

// stop kills the server.
func (s *server) stop() {
	s.mu.Lock()
	s.down = true
	for conn := range s.conns {
		_ = conn.Close()
	}
	s.mu.Unlock()
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
		s.process = nil
	}
}

// serve forwards connections until the listener is closed.
func (s *server) serve(l net.Listener) {
	for {
		front, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer front.Close()
			back, err := net.Dial(s.network, s.behind)
			if err != nil || !s.track(front, back) {
				return
			}
			defer s.forget(front, back)
			go func() { _, _ = io.Copy(back, front); _ = back.Close() }()
			_, _ = io.Copy(front, back)
		}()
	}
}

func (s *server) track(conns ...net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range conns {
		if s.down {
			_ = c.Close()
			continue
		}
		s.conns[c] = true
	}
	return !s.down
}

func (s *server) forget(conns ...net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range conns {
		delete(s.conns, c)
		_ = c.Close()
	}
}

// gateway subscribes like a gateway: it drops messages without a valid signature, and loses
// messages published while it is not subscribed.
type gateway struct {
	secret    string
	client    *goredis.Client
	mu        sync.Mutex
	got       []signal.Signal
	listening int                // how often it has subscribed
	cut       context.CancelFunc // ends the subscription
	paused    chan struct{}      // closed: subscribe again; nil: not paused
}

// listen returns a subscribed gateway.
func listen(t testing.TB, addr string) *gateway {
	t.Helper()
	secret := sha256.Sum256([]byte(t.Name()))
	g := &gateway{secret: hex.EncodeToString(secret[:]), client: goredis.NewClient(&goredis.Options{Addr: addr, Protocol: 2, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}})}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			if wait := g.pausing(); wait != nil {
				select {
				case <-wait:
				case <-ctx.Done():
				}
			}
			g.receive(ctx)
			time.Sleep(10 * time.Millisecond)
		}
	})
	t.Cleanup(func() { cancel(); _ = g.client.Close(); done.Wait() })
	g.await(t, 1)
	return g
}

// pause ends the subscription and returns a function that subscribes again.
func (g *gateway) pause(t testing.TB, left int) (resume func()) {
	t.Helper()
	g.mu.Lock()
	g.paused = make(chan struct{})
	n, cut := g.listening, g.cut
	g.mu.Unlock()
	cut()
	eventually(t, "Redis notices that a gateway has left", func() bool {
		return g.client.PubSubNumSub(context.Background(), signal.Channel).Val()[signal.Channel] == int64(left)
	})
	return func() {
		g.mu.Lock()
		close(g.paused)
		g.paused = nil
		g.mu.Unlock()
		g.await(t, n+1)
	}
}

func (g *gateway) pausing() chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.paused
}

func (g *gateway) receive(ctx context.Context) {
	ctx, cut := context.WithCancel(ctx)
	defer cut()
	g.mu.Lock()
	g.cut = cut
	g.mu.Unlock()
	sub := g.client.Subscribe(ctx, signal.Channel)
	defer sub.Close()
	defer context.AfterFunc(ctx, func() { _ = sub.Close() })()
	for {
		m, err := sub.Receive(ctx)
		if err != nil {
			return
		}
		switch m := m.(type) {
		case *goredis.Subscription:
			g.mu.Lock()
			g.listening++
			g.mu.Unlock()
		case *goredis.Message:
			g.judge(m.Payload)
		}
	}
}

func (g *gateway) judge(raw string) {
	var m struct {
		Command   signal.Command `json:"command"`
		Payload   string         `json:"payload"`
		Signature string         `json:"signature"`
		Algorithm int            `json:"algorithm"`
	}
	if err := json.Unmarshal([]byte(raw), &m); err != nil {
		return
	}
	sum := sha256.Sum256([]byte(string(m.Command) + m.Payload + g.secret))
	if m.Algorithm != 5 || m.Signature != hex.EncodeToString(sum[:]) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.got = append(g.got, signal.Signal{Command: m.Command, Payload: m.Payload})
}

func (g *gateway) received() []signal.Signal {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.got)
}

func (g *gateway) times() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.listening
}

// await waits until the gateway has subscribed for the nth time.
func (g *gateway) await(t testing.TB, n int) {
	t.Helper()
	eventually(t, "a gateway listens", func() bool { return g.times() >= n })
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never came to pass that %s", what)
		}
	}
}
