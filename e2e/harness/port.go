package harness

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// Ports are below the range from which Linux picks the source ports of outgoing connections
// (32768 and up). So a client that keeps dialling a stopped server can never occupy the server's
// port, and a restart on the same port succeeds.
const (
	firstPort = 20000
	lastPort  = 32767
)

// handedOut prevents that two callers in one test process get the same port.
var handedOut sync.Map

// FreePort returns a loopback TCP port on which nothing listens and that this test process has
// not returned before.
func FreePort(t testing.TB) int {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func freePort() (int, error) {
	var last error
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		if _, taken := handedOut.LoadOrStore(port, true); taken {
			continue
		}
		listener, err := net.Listen("tcp", loopback(port))
		if err != nil {
			last = err
			continue
		}
		return port, listener.Close()
	}
	return 0, fmt.Errorf("no free port between %d and %d: %w", firstPort, lastPort, last)
}

func loopback(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
