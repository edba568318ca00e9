package http

import (
	"context"
	"fmt"
	"log/slog"
	nethttp "net/http"
	"runtime/debug"

	"github.com/go-kit/kit/endpoint"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// The steps below are the chain around the guard, from the outside in. Each gets
// an *exchange and passes it on; from render outwards it also is the response.

// recover turns a panic into the generic error. What panicked and where goes to
// the log and nowhere else.
func (c Config) recover(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, req any) (resp any, err error) {
		x := req.(*exchange)
		defer func() {
			if p := recover(); p != nil {
				c.Logger.LogAttrs(ctx, slog.LevelError, "panic", slog.String("operation", x.row.spec.ID), slog.String("request_id", x.call.RequestID),
					slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
				x.fail(fault.New(fault.Internal, "", internalError))
				resp, err = x, nil
			}
		}()
		return next(ctx, req)
	}
}

// identify gives the request an ID: the client's own one if it is sane.
func identify(newID func() string) endpoint.Middleware {
	return func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, req any) (any, error) {
			x := req.(*exchange)
			if x.call.RequestID = x.http.Header.Get("X-Request-Id"); !sane(x.call.RequestID) {
				x.call.RequestID = newID()
			}
			return next(ctx, req)
		}
	}
}

// sane reports whether a client's request ID may go to logs and back.
func sane(id string) bool {
	for i := range len(id) {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return 0 < len(id) && len(id) <= 128
}

// observe tells metrics and traces about the operation.
func (c Config) observe(next endpoint.Endpoint) endpoint.Endpoint {
	if c.Observer == nil {
		return next
	}
	return func(ctx context.Context, req any) (any, error) {
		x := req.(*exchange)
		ctx, done := c.Observer.Begin(ctx, x.row.spec.ID)
		defer func() { done(x.settled()) }()
		return next(ctx, req)
	}
}

// access writes one line per request: who did which operation and how it went,
// never what was sent.
func (c Config) access(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, req any) (any, error) {
		x, begun := req.(*exchange), c.Now()
		defer func() {
			level, status := slog.LevelInfo, x.settled()
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
		}()
		return next(ctx, req)
	}
}

// known keeps methods that clients invent out of the log.
func known(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE":
		return method
	}
	return "other"
}

// render turns the output or the error into the answer.
func (c Config) render(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, req any) (any, error) {
		x := req.(*exchange)
		out, err := next(ctx, req)
		if err == nil {
			err = x.succeed(out)
		}
		if err != nil {
			c.report(ctx, x, err)
			x.fail(err)
		}
		return x, nil
	}
}

// report logs what the client is not told about an error.
func (c Config) report(ctx context.Context, x *exchange, err error) {
	f := classify(err)
	if f.Err == nil && f.Kind != fault.Internal {
		return // all there is to it is in the answer
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

// limit bounds what a request may cost: bytes, nesting and time. The body comes
// when the guard asks for it.
func (c Config) limit(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, req any) (any, error) {
		x := req.(*exchange)
		if x.row.hasBody {
			ctx, x.load = x.row.room.Begin(ctx)
			defer x.load.End()
			x.call.Incoming = x.receive
		}
		ctx, cancel := context.WithTimeout(ctx, x.row.deadline)
		defer cancel()
		return next(ctx, req)
	}
}
