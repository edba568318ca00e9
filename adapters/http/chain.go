package http

import (
	"context"
	"fmt"
	"log/slog"
	nethttp "net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	kithttp "github.com/go-kit/kit/transport/http"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// inRequestIDs are the characters that a client's request ID may have to be logged and
// returned.
const inRequestIDs = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

// serve returns the go-kit server of a row. Its endpoint answers every error itself, so
// that the log and the observer see the status; the server only writes.
func (c *Config) serve(r *row) nethttp.Handler {
	server := kithttp.NewServer(c.answer, r.decode, write, kithttp.ServerErrorEncoder(
		func(_ context.Context, _ error, w nethttp.ResponseWriter) {
			w.WriteHeader(nethttp.StatusInternalServerError)
		}))
	return nethttp.HandlerFunc(func(w nethttp.ResponseWriter, req *nethttp.Request) {
		if req.Body != nil && req.Body != nethttp.NoBody {
			own := *req
			own.Body = timedBody{req.Body, nethttp.NewResponseController(w)}
			req = &own
		}
		server.ServeHTTP(w, req)
	})
}

// answer is the middleware chain around the guard, from the outside in. A panic and its
// place are logged, and not sent. The client's own request ID is kept if it is valid.
// Metrics, traces and the log see every outcome.
func (c *Config) answer(ctx context.Context, request any) (answered any, err error) {
	x := request.(*exchange)
	defer func() {
		if p := recover(); p != nil {
			c.Logger.LogAttrs(ctx, slog.LevelError, "panic", slog.String("operation", x.row.spec.ID), slog.String("request_id", x.call.RequestID),
				slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
			x.fail(fault.New(fault.Internal, "", internalError))
			answered, err = x, nil
		}
	}()
	if id := x.http.Header.Get("X-Request-Id"); id != "" && len(id) <= 128 && strings.Trim(id, inRequestIDs) == "" {
		x.call.RequestID = id
	} else {
		x.call.RequestID = c.NewRequestID()
	}
	observed := ctx
	if c.Observer != nil {
		var done func(status int)
		observed, done = c.Observer.Begin(ctx, x.row.spec.ID)
		defer func() { done(x.status) }()
	}
	defer c.log(observed, x, c.Now())
	out, err := x.carryOut(observed)
	if err == nil {
		err = x.succeed(out)
	}
	if err != nil {
		c.report(observed, x, err)
		x.fail(err)
	}
	return x, nil
}

// carryOut runs the operation within the limits of a request: bytes, nesting and time.
// The body is read when the guard asks for it.
func (x *exchange) carryOut(ctx context.Context) (any, error) {
	if x.row.hasBody || x.row.dialect.portal { // portal visitors read documents without sending a body
		ctx, x.load = x.row.room.Begin(ctx)
		defer x.load.End()
	}
	if x.row.hasBody {
		x.call.Incoming = x.receive
	}
	// A page of another site could log its visitor in with another account.
	if x.row.output.form == landing && crossOrigin.Check(x.http) != nil {
		return nil, crossSite
	}
	if accept := x.http.Header["Accept"]; x.row.dialect.portal && listed(accept, graphType) && !listed(accept, jsonType) && !listed(accept, "*/*") {
		return nil, wrongAccept
	}
	ctx, cancel := context.WithTimeout(ctx, x.row.deadline)
	defer cancel()
	if x.row.visits {
		if err := x.load.Visit(ctx, operation.Network(x.call.Remote)); err != nil {
			return nil, err
		}
	}
	return x.row.do(ctx, &x.call)
}

// log writes one line per request: the caller, the operation and the outcome, never what
// was sent.
func (c *Config) log(ctx context.Context, x *exchange, begun time.Time) {
	level, status := slog.LevelInfo, x.status
	switch {
	case status >= 500:
		level = slog.LevelWarn
	case x.http.Method == nethttp.MethodGet, x.http.Method == nethttp.MethodHead:
		level = slog.LevelDebug
	}
	if c.Logger.Enabled(ctx, level) {
		c.Logger.LogAttrs(ctx, level, "request", slog.String("operation", x.row.spec.ID), slog.String("method", known(x.http.Method)),
			slog.Int("status", status), slog.Duration("duration", c.Now().Sub(begun)),
			slog.String("request_id", x.call.RequestID), slog.String("principal_id", x.call.Principal.ID))
	}
}

// verbs are the known methods; other stands for all methods that clients invent.
var verbs = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"}

const other = "other"

// known returns the method for logs, with invented methods replaced.
func known(method string) string {
	if slices.Contains(verbs, method) {
		return method
	}
	return other
}

// report logs the part of an error that the client does not see.
func (c *Config) report(ctx context.Context, x *exchange, err error) {
	f := classify(err)
	if f.Err == nil && f.Kind != fault.Internal {
		return // the answer says everything
	}
	level := slog.LevelDebug
	switch {
	case x.gone(err):
	case f.Kind == fault.Internal:
		level = slog.LevelError
	case f.Kind == fault.Unavailable:
		level = slog.LevelWarn
	}
	c.Logger.LogAttrs(ctx, level, "request failed", slog.String("operation", x.row.spec.ID), slog.String("request_id", x.call.RequestID),
		slog.String("code", codeOf(f)), slog.String("error", err.Error()))
}
