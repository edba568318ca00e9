package http

import (
	"context"
	"net"
	nethttp "net/http"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// takeTime is how long a client may take to read one piece of a live answer.
const takeTime = 30 * time.Second

// follow sends the pieces of a live answer as they come, until it is over, the client disconnects,
// or the server stops. The limits for answers do not bound its duration.
func (x *exchange) follow(w nethttp.ResponseWriter) {
	connection := nethttp.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Time{}) // clears the deadline: when it passes, the client counts as gone
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

// patient gives gateways the time limit of a whole answer for each piece of a feed. A gateway on a
// slow line that is cut off while it still reads pieces never loads again
// (docs/wire/gateway-nodes.md#recovery-words).
func (x *exchange) patient(w nethttp.ResponseWriter) {
	s, ok := x.http.Context().Value(nethttp.ServerContextKey).(*nethttp.Server)
	if ok && s.WriteTimeout > 0 && x.row.spec.Surface == operation.Node {
		_ = nethttp.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.WriteTimeout))
	}
}

type stoppingKey struct{}

// EndLive makes a server end live answers when it is shut down; the shutdown would wait for them.
func EndLive(s *nethttp.Server) {
	stopping, stop := context.WithCancel(context.Background())
	s.BaseContext = func(net.Listener) context.Context {
		return context.WithValue(context.Background(), stoppingKey{}, stopping)
	}
	s.RegisterOnShutdown(stop)
}
