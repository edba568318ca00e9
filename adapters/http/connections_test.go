package http_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"runtime"
	"sync/atomic"
	"testing"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
)

// few is a server with at most three connections. Requests for /long run until the test
// lets them continue.
type few struct {
	t       *testing.T
	s       *nethttp.Server
	address string
	c       *httpadapter.Connections
	full    atomic.Int32
	begun   chan struct{}
	goOn    chan struct{}
	taken   chan error // outcome of the answer to /large
}

func newFew(t *testing.T) *few {
	t.Helper()
	f := &few{t: t, begun: make(chan struct{}), goOn: make(chan struct{}), taken: make(chan error, 1)}
	f.c = httpadapter.NewConnections(3, func() { f.full.Add(1) })
	f.c.Spared = func(r *nethttp.Request) bool { return r.Header.Get("Authorization") == "node" }
	f.s = &nethttp.Server{Handler: nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path == "/long" {
			f.begun <- struct{}{}
			<-f.goOn
		}
		if r.URL.Path == "/large" {
			_, err := w.Write(make([]byte, 64<<20))
			f.taken <- err
			return
		}
		_, _ = io.WriteString(w, r.URL.Path)
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.address = l.Addr().String()
	go func() { _ = f.c.Serve(f.s, l) }()
	t.Cleanup(func() { _ = f.s.Close() })
	return f
}

// holds waits until that many connections are open.
func (f *few) holds(n int) {
	for f.c.Open() != n {
		runtime.Gosched()
	}
}

// client is one connection to it.
type client struct {
	net.Conn
	t *testing.T
	r *bufio.Reader
}

func (f *few) dial() *client {
	f.t.Helper()
	c, err := net.Dial("tcp", f.address)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = c.Close() })
	return &client{c, f.t, bufio.NewReader(c)}
}

func (c *client) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatal(err)
	}
}

// ask sends a request and reads the answer.
func (c *client) ask(path string) {
	c.t.Helper()
	c.send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n")
	c.answered(path)
}

func (c *client) answered(path string) {
	c.t.Helper()
	res, err := nethttp.ReadResponse(c.r, nil)
	if err != nil {
		c.t.Fatalf("%s: %v", path, err)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil || string(text) != path {
		c.t.Fatalf("%s: answer %q, %v", path, text, err)
	}
}

// gone waits until the server has closed the connection.
func (c *client) gone() {
	c.t.Helper()
	if n, err := c.r.Read(make([]byte, 1)); err == nil || n > 0 {
		c.t.Fatalf("read %d bytes, error %v", n, err)
	}
}

// TestConnectionsMakeRoom has clients that keep connections open, or never send the end of
// a header. The one that has waited longest is closed for a new one.
func TestConnectionsMakeRoom(t *testing.T) {
	f := newFew(t)
	slow := f.dial()
	slow.send("GET /slow HTTP/1.1\r\n")
	f.holds(1)
	idle, busy := f.dial(), f.dial()
	idle.ask("/idle")
	busy.ask("/busy")
	f.dial().ask("/new")
	slow.gone()
	busy.ask("/again")
	f.dial().ask("/newer")
	idle.gone()
	busy.ask("/still")
	if f.full.Load() != 2 || f.c.Open() != 3 {
		t.Errorf("%d made room, %d open", f.full.Load(), f.c.Open())
	}
}

// TestConnectionsAtWork: connections with running requests are kept, however old they are.
func TestConnectionsAtWork(t *testing.T) {
	f := newFew(t)
	var long []*client
	for range 3 {
		c := f.dial()
		c.send("GET /long HTTP/1.1\r\nHost: a\r\n\r\n")
		<-f.begun
		long = append(long, c)
	}
	f.dial().gone()
	close(f.goOn)
	for _, c := range long {
		c.answered("/long")
	}
	f.dial().ask("/new")
}

// TestConnectionsOfSlowReaders: a connection whose client does not read the answer is
// closed as well.
func TestConnectionsOfSlowReaders(t *testing.T) {
	f := newFew(t)
	slow := f.dial()
	slow.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
	if _, err := slow.r.Peek(1); err != nil { // the answer has begun
		t.Fatal(err)
	}
	for range 2 {
		c := f.dial()
		c.send("GET /long HTTP/1.1\r\nHost: a\r\n\r\n")
		<-f.begun
	}
	f.dial().ask("/new")
	if err := <-f.taken; err == nil {
		t.Error("the answer was taken")
	}
	close(f.goOn)
}

// TestConnectionsOfGateways: a gateway that reads its feed slowly keeps its connection.
func TestConnectionsOfGateways(t *testing.T) {
	f := newFew(t)
	gateway := f.dial()
	gateway.send("GET /large HTTP/1.1\r\nHost: a\r\nAuthorization: node\r\n\r\n")
	if _, err := gateway.r.Peek(1); err != nil { // the answer has begun
		t.Fatal(err)
	}
	for i := range 20 {
		f.dial().ask(fmt.Sprint("/", i))
	}
	if res, err := nethttp.ReadResponse(gateway.r, nil); err != nil {
		t.Error(err)
	} else if n, err := io.Copy(io.Discard, res.Body); n != 64<<20 || err != nil {
		t.Error(n, err)
	}
	if err := <-f.taken; err != nil {
		t.Error(err)
	}
	gateway.ask("/again") // the next request has no special protection
}

// TestConnectionsEnd: connections that their clients have closed are not counted.
func TestConnectionsEnd(t *testing.T) {
	f := newFew(t)
	for i := range 10 {
		c := f.dial()
		c.ask(fmt.Sprint("/", i))
		if err := c.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Fatal(err)
		}
		f.holds(0)
	}
	if n := f.full.Load(); n > 0 {
		t.Errorf("%d made room", n)
	}
}
