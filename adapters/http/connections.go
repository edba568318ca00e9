package http

import (
	"container/list"
	"context"
	"net"
	nethttp "net/http"
	"sync"
)

// Connections bounds how many connections some servers have together. When there is one
// more, that one makes room which has waited longest for its client: for a request, for the
// rest of its header, or until the client takes more of an answer. So a client that opens
// connections without end cannot keep others out, and clients that keep connections open
// between requests have to connect again. A connection whose request is being carried out is never closed; when all
// are, the new one is. Nil bounds nothing.
type Connections struct {
	most int
	full func()
	// Spared, if set, says of whose requests the answers are never cut off, however slowly they are
	// taken: a gateway that loses one stops reloading for good
	// (docs/wire/gateway-nodes.md#recovery-words).
	Spared func(*nethttp.Request) bool

	mu      sync.Mutex
	open    int
	waiting list.List // of *connection; the one that has waited longest is the first
}

// connection is one of those that are open. What is beside Conn is under the lock of its
// Connections.
type connection struct {
	net.Conn
	of      *Connections
	place   *list.Element // among those that wait; nil: its request is carried out, or it is closed
	request bool          // one is under way
	writing bool          // a part of an answer is
	spared  bool          // the answer is not cut off
	closed  bool
}

// NewConnections bounds connections to most. It calls full for each connection that is closed
// for another one.
func NewConnections(most int, full func()) *Connections {
	return &Connections{most: most, full: full}
}

// Most returns how many there may be.
func (c *Connections) Most() int { return c.most }

// Open returns how many there are.
func (c *Connections) Open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

// Serve is s.Serve, and bounds the connections of s. Their requests come one after the other,
// as HTTP/1 has them.
func (c *Connections) Serve(s *nethttp.Server, l net.Listener) error {
	if c == nil {
		return s.Serve(l)
	}
	handler := s.Handler
	s.ConnContext = func(ctx context.Context, conn net.Conn) context.Context { return context.WithValue(ctx, c, conn) }
	s.ConnState = func(conn net.Conn, state nethttp.ConnState) {
		if state == nethttp.StateClosed || state == nethttp.StateHijacked {
			conn.(*connection).change(func(k *connection) { k.closed = true })
		}
	}
	s.Handler = nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		k := r.Context().Value(c).(*connection)
		spared := c.Spared != nil && c.Spared(r)
		if k.change(func(k *connection) { k.request, k.spared = true, spared }) {
			panic(nethttp.ErrAbortHandler) // it has just made room: nothing of its request is carried out
		}
		defer k.change(func(k *connection) { k.request = false })
		handler.ServeHTTP(w, r)
	})
	return s.Serve(counted{l, c})
}

// counted is a listener whose connections are those of c.
type counted struct {
	net.Listener
	c *Connections
}

// Accept implements net.Listener. It closes a connection if there are too many.
func (l counted) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	k := &connection{Conn: conn, of: l.c}
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	k.place = l.c.waiting.PushBack(k)
	if l.c.open++; l.c.open > l.c.most {
		longest := l.c.waiting.Front().Value.(*connection)
		longest.closed = true
		longest.settle()
		go func() {
			l.c.full()
			_ = longest.Close() // with TLS it may wait for the client
		}()
	}
	return k, nil
}

// Write implements net.Conn.
func (k *connection) Write(p []byte) (int, error) {
	k.change(func(k *connection) { k.writing = true })
	defer k.change(func(k *connection) { k.writing = false })
	return k.Conn.Write(p)
}

// CloseWrite lets net/http end a connection gently.
func (k *connection) CloseWrite() error {
	if half, ok := k.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// change makes a change, unless the connection is closed, which it reports.
func (k *connection) change(do func(*connection)) (closed bool) {
	k.of.mu.Lock()
	defer k.of.mu.Unlock()
	if k.closed {
		return true
	}
	do(k)
	k.settle()
	return false
}

// settle gives the connection its place after a change, or takes it away. The caller has
// the lock.
func (k *connection) settle() {
	waits := !k.closed && (!k.request || k.writing && !k.spared)
	switch {
	case waits && k.place == nil:
		k.place = k.of.waiting.PushBack(k)
	case !waits && k.place != nil:
		k.of.waiting.Remove(k.place)
		k.place = nil
	}
	if k.closed {
		k.of.open--
	}
}
