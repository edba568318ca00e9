// Package http serves operations over HTTP with go-kit. Everything it does follows from
// the rows of the operation table: routes, decoding, the format of answers and errors,
// limits, logs, and the OpenAPI description.
// ¶ The guard, which is passed in, protects operations: protection does not depend on
// how the operation was reached.
package http

import (
	"cmp"
	"crypto/rand"
	"errors"
	"log/slog"
	nethttp "net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/load"
	"github.com/gatehouse-io/gatehouse/ports/observe"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/system"
	"github.com/gatehouse-io/gatehouse/ports/yaml"
)

// Defaults of Config that other packages share.
const (
	MaxBody   = 32 << 20
	MaxValues = 300_000
)

// Config says how operations are served. Guard has no default; YAML has none either if
// rows accept documents or answer with them.
type Config struct {
	Guard        operation.Middleware // runs before every operation
	YAML         yaml.Codec           // of documents
	Observer     observe.Observer     // nil: none
	Logger       *slog.Logger         // nil: slog.Default
	Now          system.Clock         // nil: time.Now
	MaxBody      int64                // bytes of a request body; 0: 32 MiB
	MaxValues    int                  // values in a request body; 0: 300,000
	MaxDepth     int                  // nesting of a request body; 0: 128
	BodyRate     int64                // minimum bytes a second of a body with reserved memory; 0: BodyRate; negative: no minimum
	Room         *load.Room           // memory for request bodies in flight; nil: a Room of its own
	Deadline     time.Duration        // of an operation; 0: 30 s
	Proxies      []netip.Prefix       // trusted proxies, whose X-Forwarded-For names the caller; none: the caller is the peer
	NewRequestID func() string        // nil: random text
	// Home is the surface whose dialect answers requests that no row takes; "": the
	// surface of the path.
	Home operation.Surface
	// PortalCookie is the name of the portal's session cookie; "": portal-session.
	PortalCookie string
}

// Handler serves every operation. It fails when the table is invalid: see
// operation.Check; it also fails for a page or an envelope whose style does not name
// its parts.
func Handler(ops []operation.Operation, cfg Config) (nethttp.Handler, error) {
	if cfg.Guard == nil {
		return nil, errors.New("http: operations need a guard")
	}
	if err := operation.Check(ops); err != nil {
		return nil, err
	}
	cfg.Logger, cfg.PortalCookie = cmp.Or(cfg.Logger, slog.Default()), cmp.Or(cfg.PortalCookie, "portal-session")
	cfg.MaxBody, cfg.MaxValues, cfg.MaxDepth = cmp.Or(cfg.MaxBody, MaxBody), cmp.Or(cfg.MaxValues, MaxValues), cmp.Or(cfg.MaxDepth, 128)
	cfg.BodyRate, cfg.Deadline = cmp.Or(cfg.BodyRate, BodyRate), cmp.Or(cfg.Deadline, 30*time.Second)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.NewRequestID == nil {
		cfg.NewRequestID = rand.Text
	}
	if cfg.Room == nil {
		cfg.Room = load.NewRoom(0, nil)
	}
	ops = slices.Clone(ops)
	mux := &router{lost: cfg.lost(ops)}
	for i := range ops {
		r, err := newRow(&ops[i], cfg)
		if err != nil {
			return nil, err
		}
		if err := mux.handle(&ops[i].Spec, cfg.serve(r)); err != nil {
			return nil, err
		}
	}
	return mux, nil
}
