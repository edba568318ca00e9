// Package guard checks every call before its operation, whatever transport the call
// comes from. It identifies the caller and its scope, asks the rules whether the call
// is allowed, and audits the outcome.
package guard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/redact"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Authenticator sets the principal and the scope of a call, or returns an
// Unauthenticated or Denied fault.
type Authenticator func(ctx context.Context, c *operation.Call) error

// SetUp returns an error as long as a surface is not set up: then only early operations
// can be called.
type SetUp func(ctx context.Context) error

// Auditor is called with the outcome of every guarded call; err is nil on success.
type Auditor func(ctx context.Context, c *operation.Call, err error)

// Config is the configuration of a guard.
type Config struct {
	Authenticators map[operation.Surface]Authenticator // a surface without one is closed
	SetUp          map[operation.Surface]SetUp         // what must be set up before a surface can be called
	Rules          rules.Engine                        // decides on the management surface
	Audit          Auditor
	Maintenance    bool      // the management surface responds that it is down for maintenance
	Writes         *Writes   // refuses writes while the service stops; nil: never
	Failures       *Failures // limits wrong credentials; nil: no limit
	Capacity       Capacity
}

// Capacity bounds the size of the records of one organisation, because readers have
// them in memory. The zero Capacity sets no bound.
type Capacity struct {
	Store store.Sized
	Most  int64 // bytes
}

// full refuses writes to an organisation that has no room left for their bodies.
// Deletions are admitted, and so are calls with the admin secret.
func (k Capacity) full(c *operation.Call) error {
	if k.Most == 0 || c.Spec.Intent != access.Write || c.Scope.All() || c.Scope.IsZero() || c.Spec.Surface == operation.Admin {
		return nil
	}
	size := k.Store.Size(c.Scope.Org())
	if size+int64(len(c.Body)) < k.Most {
		return nil
	}
	return fault.New(fault.Unavailable, CodeFull, "This organisation has stored %d of %d bytes (limits.organisation_bytes), and there is no room for this: delete something first", size, k.Most)
}

// Codes of the faults a guard makes.
const (
	CodeUnauthenticated = "auth.credential"
	CodeDenied          = "auth.denied"
	CodeMaintenance     = "maintenance"
	CodeNodeSecret      = "node.secret"
	CodeFull            = "organisation.full"
)

// Unauthenticated returns the fault for every missing or wrong credential.
func Unauthenticated() *fault.Error {
	return fault.New(fault.Unauthenticated, CodeUnauthenticated, "Not authorised")
}

// maxDecisions bounds how often the rules decide about a call again because the record
// that it changes has changed meanwhile.
const maxDecisions = 8

// New returns the guard. It authenticates the caller by the headers alone. Then it
// reads the body, within bounds, and brings it into the form of JSON. Then the rules
// decide, and then the operation is called. Every outcome is audited. A write is in
// progress as soon as its body is read: a stop waits for it.
func New(cfg Config) operation.Middleware {
	return func(next operation.Handler) operation.Handler {
		return func(ctx context.Context, c *operation.Call) (out any, err error) {
			ctx = store.Request(ctx)
			if c.Spec.Unrouted {
				return cfg.unrouted(ctx, c, next)
			}
			if !c.Spec.Public || c.Spec.Intent != access.Read {
				defer func() { cfg.Audit(ctx, c, err) }()
			}
			if why := cfg.SetUp[c.Spec.Surface]; why != nil && !c.Spec.Early {
				if err := why(ctx); err != nil {
					return nil, err
				}
			}
			if !c.Spec.Public {
				who, ok := cfg.Authenticators[c.Spec.Surface]
				if !ok {
					return nil, Unauthenticated()
				}
				if err := who(ctx, c); err != nil {
					return nil, cfg.Failures.count(ctx, c, err)
				}
				if c.Spec.Surface == operation.Management && cfg.Maintenance {
					return nil, fault.New(fault.Unavailable, CodeMaintenance, "The service is down for maintenance; try again later")
				}
				if err := cfg.Capacity.full(c); err != nil {
					return nil, err
				}
			}
			// Requests of gateways are admitted: they must get a complete response.
			if w := cfg.Writes; w != nil && c.Spec.Intent != access.Read && c.Spec.Surface != operation.Node {
				admitted := false
				if ctx, admitted = w.enter(ctx); !admitted {
					return nil, fault.New(fault.Unavailable, CodeStopping, "The service is about to stop and takes no more changes; try again")
				}
				defer w.leave()
			}
			if c.Spec.Public {
				out, err := next(store.Attribute(ctx, Attribution(c)), c)
				return out, identified(c, out, err)
			}
			if err := c.Receive(ctx); err != nil {
				return nil, err
			}
			if err := cfg.Capacity.full(c); err != nil { // other calls may have filled it meanwhile
				return nil, err
			}
			attributed := store.Attribute(ctx, Attribution(c))
			for again := 0; ; again++ {
				if c.Spec.Surface == operation.Management {
					if err := decide(ctx, c, cfg.Rules); err != nil {
						return nil, err
					}
				}
				out, err := next(attributed, c)
				if fault.CodeOf(err) != operation.CodeMoved || again == maxDecisions {
					return out, err
				}
				c.Unsettle()
			}
		}
	}
}

// unrouted responds to a call that has no operation, in the same way to all callers, so
// that the response says nothing about a credential. The outcome is audited if the
// caller is known, unless the call is public.
func (cfg Config) unrouted(ctx context.Context, c *operation.Call, next operation.Handler) (any, error) {
	if why := cfg.SetUp[c.Spec.Surface]; why != nil && !c.Spec.Early {
		if err := why(ctx); err != nil {
			return nil, err
		}
	}
	out, err := next(ctx, c)
	if who, ok := cfg.Authenticators[c.Spec.Surface]; ok && !c.Spec.Public && (c.Token != "" || c.Session != "") && who(ctx, c) == nil {
		cfg.Audit(ctx, c, err)
	}
	return out, err
}

// identified sets the principal of a call that logs a caller in, so that the audit has
// it too.
func identified(c *operation.Call, out any, err error) error {
	e, ok := out.(operation.Entering)
	if err != nil || !ok {
		return err
	}
	who, _ := e.Enters()
	if who.OrgID == "" {
		return nil
	}
	c.Principal = who
	c.Scope, err = tenant.Of(who.OrgID)
	return err
}

// decide asks the rules. They see, and may patch, the canonical form of the body.
func decide(ctx context.Context, c *operation.Call, e rules.Engine) error {
	if _, fixed := e.(rules.BuiltIn); !fixed {
		c.Body = c.Spec.Canonical(c.Body)
	}
	v, err := e.Decide(ctx, c)
	if err != nil {
		return fmt.Errorf("guard: no verdict on %s: %w", c.Spec.ID, err)
	}
	if len(v.Denials) > 0 {
		return fault.New(fault.Denied, CodeDenied, "access denied: %s", strings.Join(v.Denials, "; "))
	}
	if _, all := e.(rules.Thorough); !all {
		if err := operation.Unmet(c); err != nil {
			return err
		}
	}
	return c.Amend(ctx, v.Patch)
}

// Log returns an auditor that logs refusals and changes: the operation, the caller and
// the outcome, never the content.
func Log(log *slog.Logger) Auditor {
	return func(ctx context.Context, c *operation.Call, err error) {
		if err == nil && (c.Spec.Intent == access.Read || c.Spec.Surface == operation.Node) || !log.Enabled(ctx, slog.LevelInfo) {
			return
		}
		outcome := "done"
		switch {
		case err == nil && operation.Rehearses(c):
			outcome = "rehearsed"
		case err != nil:
			outcome = fault.CodeOf(err)
			if errors.Is(err, context.Canceled) {
				outcome = "cancelled"
			}
		}
		log.LogAttrs(ctx, slog.LevelInfo, "audit", slog.String("operation", c.Spec.ID), slog.String("outcome", outcome),
			slog.String("actor", c.Principal.ID), slog.String("org_id", string(c.Scope.Org())), slog.String("request_id", c.RequestID))
	}
}

// Bounds of texts that callers choose, in bytes.
const (
	maxURL       = 1024
	maxRequestID = 128
)

// Attribution returns the attribution of the commits of a call. For a read it has only
// the actor, the operation and the request ID.
func Attribution(c *operation.Call) store.Attribution {
	by := store.Attribution{Actor: c.Principal.ID, Operation: c.Spec.ID, Request: bounded(c.RequestID, maxRequestID)}
	if c.Spec.Intent != access.Read {
		by = Described(by, c)
	}
	return by
}

// Described adds to an attribution the user, the request and the address of the client.
func Described(by store.Attribution, c *operation.Call) store.Attribution {
	if at, err := netip.ParseAddrPort(c.Remote); err == nil {
		by.From = at.Addr().Unmap().String() // without the port
	} else {
		by.From = bounded(c.Remote, 64)
	}
	// Credentials are masked: values of parameters with a secret name, in the path or
	// in the query, and credentials in values that are URLs.
	hides := func(name string) bool { return redact.Name(name) || slices.Contains(c.Spec.Redact, name) }
	url, query := c.Shown(hides), c.RawQuery
	if query == "" {
		query = c.Query.Encode()
	}
	if query != "" {
		url += "?" + redact.Query(query, hides)
	}
	by.User, by.Method, by.URL, by.Status = c.Principal.Email, c.Verb(), bounded(url, maxURL), c.Spec.Status
	return by
}

func bounded(text string, n int) string {
	if len(text) > n {
		text = text[:n]
	}
	return strings.ToValidUTF8(text, "?")
}

// CodeStopping is the code of the fault for writes while the service stops.
const CodeStopping = "stopping"

// Writes counts the writes in progress and can refuse new ones. The zero Writes admits
// all writes.
type Writes struct {
	mu     sync.Mutex
	closed bool
	under  int
	idle   chan struct{} // closed when no write is in progress any more; nil until Close
}

// Close refuses writes from now on and waits until none is in progress, or until ctx
// ends.
func (w *Writes) Close(ctx context.Context) error {
	w.mu.Lock()
	if !w.closed {
		w.closed, w.idle = true, make(chan struct{})
		if w.under == 0 {
			close(w.idle)
		}
	}
	w.mu.Unlock()
	select {
	case <-w.idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Closed reports whether writes are refused.
func (w *Writes) Closed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

// inside is the context key of a write that is in progress.
type inside struct{}

// enter admits a write, and reports false if it is refused. A call that a write in
// progress makes within this process is part of the write, so it is admitted even after
// Close.
func (w *Writes) enter(ctx context.Context) (context.Context, bool) {
	part, _ := ctx.Value(inside{}).(*Writes)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed && (part != w || w.under == 0) {
		return ctx, false
	}
	w.under++
	return context.WithValue(ctx, inside{}, w), true
}

func (w *Writes) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.under--; w.closed && w.under == 0 {
		close(w.idle)
	}
}
