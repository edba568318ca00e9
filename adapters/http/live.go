package http

import (
	"context"
	"net"
	nethttp "net/http"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// takeTime is how long a client may take to take one piece of an answer that goes on.
const takeTime = 30 * time.Second

// follow sends the pieces of an answer that goes on, as they come, until it is over, the
// client has gone, or the server stops. How long it may last is not for the limits of answers.
func (x *exchange) follow(w nethttp.ResponseWriter) {
	connection := nethttp.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Time{}) // when it passes, the client counts as gone
	ctx, cancel := context.WithCancel(x.http.Context())
	defer cancel()
	if stopping, ok := ctx.Value(stoppingKey{}).(context.Context); ok {
		defer context.AfterFunc(stopping, cancel)()
	}
	if connection.Flush() != nil {
		return
	}
	for {
		piece, err := x.live.Next(ctx)
		if err != nil {
			return
		}
		_ = connection.SetWriteDeadline(time.Now().Add(takeTime))
		if _, err := w.Write(piece); err != nil || connection.Flush() != nil {
			return
		}
	}
}

// patient gives gateways the time of a whole answer for each piece of a feed: one that is cut off on a
// slow line, though it goes on taking pieces, never loads again
// (docs/wire/gateway-nodes.md#recovery-words).
func (x *exchange) patient(w nethttp.ResponseWriter) {
	s, ok := x.http.Context().Value(nethttp.ServerContextKey).(*nethttp.Server)
	if ok && s.WriteTimeout > 0 && x.row.spec.Surface == operation.Node {
		_ = nethttp.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.WriteTimeout))
	}
}

type stoppingKey struct{}

// EndLive makes a server end answers that go on when it is shut down: it would wait for
// them.
func EndLive(s *nethttp.Server) {
	stopping, stop := context.WithCancel(context.Background())
	s.BaseContext = func(net.Listener) context.Context {
		return context.WithValue(context.Background(), stoppingKey{}, stopping)
	}
	s.RegisterOnShutdown(stop)
}
