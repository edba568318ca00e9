package http_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
)

// pipes is a listener with in-memory connections, for tests with a fake clock.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// A body with a memory reservation must arrive at a minimum rate, after a head start. A
// slower one ends with 408, long before its row's deadline; one that pauses may catch
// up.
func TestBodiesKeepPace(t *testing.T) {
	const size = 1 << 20
	for name, c := range map[string]struct {
		rate   int64 // of the configuration
		pieces []int // sizes
		pause  time.Duration
		status int
	}{
		"at once":             {0, []int{size}, 0, 200},
		"at the rate":         {0, repeated(64<<10, 16), time.Second, 200},
		"below the rate":      {0, repeated(32<<10, 32), time.Second, 408},
		"nothing any more":    {0, []int{20 << 10}, 0, 408},
		"a pause, then fast":  {0, []int{512 << 10, 512 << 10}, 9 * time.Second, 200},
		"a rate of its own":   {256 << 10, repeated(64<<10, 16), time.Second, 408},
		"any rate":            {-1, repeated(16<<10, 64), 5 * time.Second, 200},
		"small, drop by drop": {0, repeated(1, 30), time.Second, 503},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				incoming := make(pipes)
				s := &nethttp.Server{Handler: echoes(t, httpadapter.Config{Deadline: 10 * time.Minute, BodyRate: c.rate})}
				go func() { _ = s.Serve(incoming) }()
				ours, theirs := net.Pipe()
				incoming <- theirs
				var sending sync.WaitGroup
				sending.Go(func() {
					_, _ = fmt.Fprintf(ours, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", size)
					text := `"` + strings.Repeat("x", size-2) + `"`
					for _, n := range c.pieces {
						if _, err := io.WriteString(ours, text[:n]); err != nil {
							return
						}
						text = text[n:]
						time.Sleep(c.pause)
					}
				})
				r, err := nethttp.ReadResponse(bufio.NewReader(ours), nil)
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(r.Body) // an error means that the connection has ended
				if r.StatusCode != c.status || c.status == 408 && (!r.Close || !strings.Contains(string(body), "too slowly")) {
					t.Errorf("%d %v %.200s", r.StatusCode, r.Header, body)
				}
				_ = ours.Close()
				close(incoming)
				_ = s.Close()
				sending.Wait()
				time.Sleep(time.Second) // for the server's handling of its connections
			})
		})
	}
}

func repeated(n, times int) (out []int) {
	for range times {
		out = append(out, n)
	}
	return out
}
