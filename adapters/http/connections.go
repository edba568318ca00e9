package http

import (
	"container/list"
	"context"
	"net"
	nethttp "net/http"
	"sync"
)

// Connections bounds how many connections several servers have together. When there is one too
// many, the connection that has waited longest for its client is closed: for a request, for the
// rest of its header, or for the client to read more of an answer. So a client that opens
// connections without end cannot block others, and clients with idle connections have to connect
// again. A connection whose request is being carried out is never closed; if that is true of all,
// the new connection is closed. A nil *Connections bounds nothing.
type Connections struct {
	most int
	full func()
	// Spared, if set, reports whether the answer to a request must never be cut off, however slowly
	// the client reads it: a gateway that loses an answer stops reloading for good
	// (docs/wire/gateway-nodes.md#recovery-words).
	Spared func(*nethttp.Request) bool

	mu      sync.Mutex
	open    int
	waiting list.List // of *connection; the one that has waited longest is first
}

// connection is an open connection. The fields besides Conn are guarded by the mutex of
// Connections.
type connection struct {
	net.Conn
	of      *Connections
	place   *list.Element // in the waiting list; nil: its request is carried out, or it is closed
	request bool          // a request is being carried out
	writing bool          // part of an answer is being written
	spared  bool          // the answer must not be cut off
	closed  bool
}

// NewConnections bounds connections to most. It calls full for each connection that is closed to
// make room for another.
func NewConnections(most int, full func()) *Connections {
	return &Connections{most: most, full: full}
}

// Most returns the maximum number of connections.
func (c *Connections) Most() int { return c.most }

// Open returns the current number of connections.
func (c *Connections) Open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

// Serve calls s.Serve, and bounds the connections of s. Requests on a connection come one after the
// other, as in HTTP/1.
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
			panic(nethttp.ErrAbortHandler) // the connection was just closed to make room: none of its request is carried out
		}
		defer k.change(func(k *connection) { k.request = false })
		handler.ServeHTTP(w, r)
	})
	return s.Serve(counted{l, c})
}

// counted is a listener whose connections c counts.
type counted struct {
	net.Listener
	c *Connections
}

// Accept implements net.Listener. It closes the longest-waiting connection if there are too many.
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

// CloseWrite lets net/http close a connection gracefully.
func (k *connection) CloseWrite() error {
	if half, ok := k.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// change makes a change, unless the connection is closed; it reports whether it is.
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

// settle adds the connection to the waiting list after a change, or removes it. The caller holds
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
