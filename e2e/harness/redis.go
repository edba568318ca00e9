package harness

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/testcontainers/testcontainers-go"
	redismodule "github.com/testcontainers/testcontainers-go/modules/redis"
	"github.com/testcontainers/testcontainers-go/wait"
)

var redis = service{
	name:      "Redis",
	external:  "GATEHOUSE_TEST_REDIS_ADDR",
	hint:      "Redis (redis-server in PATH)",
	image:     func() string { return imageFrom("GATEHOUSE_TEST_REDIS_IMAGE", redisImage) },
	port:      "6379/tcp",
	container: redisContainer,
	local:     redisLocal,
	url:       func(addr, _ string) string { return redisScheme + addr + "/0" },
	probe:     ping,
}

const redisScheme = "redis://"

var sharedRedis = sync.OnceValues(func() (*Server, error) { return share(&redis, externalRedis) })

// Redis returns the Redis server that the tests of this process share; the first call starts it.
// Channels and keys are shared too: use names that no other test uses.
func Redis(t testing.TB) *Server {
	t.Helper()
	s, err := sharedRedis()
	if err != nil {
		unavailable(t, &redis, err)
	}
	return s
}

// NewRedis starts a Redis server for one test, which may stop and start it. It loses its data at a
// restart and is removed after the test.
func NewRedis(t testing.TB) *Server {
	t.Helper()
	return own(t, &redis)
}

func externalRedis(addr string) (*Server, error) {
	return &Server{service: &redis, addr: addr, url: redis.url(addr, ""), shared: true}, nil
}

// ping speaks the protocol directly: a client library would retry and log while the server starts.
func ping(ctx context.Context, url string) error {
	addr := strings.TrimSuffix(strings.TrimPrefix(url, redisScheme), "/0")
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return err
		}
	}
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err
	}
	if answer != "+PONG\r\n" {
		return fmt.Errorf("the answer to PING was %q", answer)
	}
	return nil
}

// redisCommand stores nothing on disk: announcements need not be durable.
func redisCommand(path, bind string, more ...string) []string {
	return append([]string{path, "--bind", bind, "--save", "", "--appendonly", "no"}, more...)
}

func redisContainer(ctx context.Context, image, _ string, address testcontainers.ContainerCustomizer) (testcontainers.Container, error) {
	// Protected mode would refuse clients from outside the container. The probe checks whether it
	// answers.
	c, err := redismodule.Run(ctx, image, address, testcontainers.WithWaitStrategy(wait.ForNop(func(context.Context, wait.StrategyTarget) error { return nil })),
		command(image, standInRedis, redisCommand("redis-server", "0.0.0.0", "--protected-mode", "no")...))
	if c == nil {
		return nil, err
	}
	return c.Container, err
}

func redisLocal(l *local, port int, _ string) error {
	path, err := find("redis-server")
	if err != nil {
		return err
	}
	args := redisCommand(path, "127.0.0.1", "--port", strconv.Itoa(port), "--dir", l.folder)
	l.server = program{
		path: path, args: args[1:], env: []string{"PATH=" + os.Getenv("PATH")},
		dir: l.folder, orphan: syscall.SIGKILL,
	}
	l.end = syscall.SIGKILL
	return nil
}
