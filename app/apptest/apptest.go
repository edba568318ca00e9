// Package apptest is helpers for the tests of use cases: operations over HTTP, callers,
// a clock, IDs and a log.
package apptest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/adapters/http/contracttest"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/adapters/yaml"
	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

// Serve serves operations over HTTP.
func Serve(t testing.TB, ops []operation.Operation, g operation.Middleware) http.Handler {
	t.Helper()
	h, err := httpadapter.Handler(ops, httpadapter.Config{YAML: yaml.Codec{}, Guard: g, Logger: slog.New(slog.DiscardHandler), MaxBody: 32 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Checked is Serve, but in tests, not in benchmarks, every response is checked against
// the API description.
func Checked(t testing.TB, ops []operation.Operation, g operation.Middleware) http.Handler {
	t.Helper()
	h := Serve(t, ops, g)
	if _, ok := t.(*testing.T); !ok {
		return h
	}
	description, err := httpadapter.Document(ops, "", "test")
	if err != nil {
		t.Fatal(err)
	}
	return contracttest.Wrap(t, h, description)
}

// Guard returns the guard with the built-in rules, without an audit trail.
func Guard(s operation.Surface, a guard.Authenticator) operation.Middleware {
	return guard.New(guard.Config{
		Authenticators: map[operation.Surface]guard.Authenticator{s: a},
		Rules:          rules.BuiltIn{}, Audit: func(context.Context, *operation.Call, error) {},
	})
}

// Within admits every caller, for one organisation.
func Within(org tenant.ID) operation.Middleware {
	return func(next operation.Handler) operation.Handler {
		return func(ctx context.Context, c *operation.Call) (_ any, err error) {
			if c.Scope, err = tenant.Of(org); err != nil {
				return nil, err
			}
			return next(ctx, c)
		}
	}
}

// Callers are principals by access key.
type Callers map[string]operation.Principal

// Guard returns the guard of the management API, which admits the callers.
func (known Callers) Guard() operation.Middleware {
	return Guard(operation.Management, func(_ context.Context, c *operation.Call) (err error) {
		p, ok := known[c.Token]
		if !ok {
			return guard.Unauthenticated()
		}
		c.Principal = p
		c.Scope, err = tenant.Of(p.OrgID)
		return err
	})
}

// Clock returns a clock that advances by a second with each call.
func Clock() func() time.Time { return ClockOf(time.Second) }

// ClockOf returns a clock that advances by a step with each call.
func ClockOf(step time.Duration) func() time.Time {
	var asked atomic.Int64
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return func() time.Time { return start.Add(time.Duration(asked.Add(1)) * step) }
}

// Numbered returns a function that makes the IDs 1, 2, 3, … in a format.
func Numbered(format string) func() string {
	var n atomic.Int64
	return func() string { return fmt.Sprintf(format, n.Add(1)) }
}

// Log collects log lines; it is safe for concurrent use.
type Log struct {
	mu   sync.Mutex
	text strings.Builder
}

// Logger returns a logger that writes all levels to the log.
func (l *Log) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug - 8}))
}

// Reset empties the log.
func (l *Log) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Reset()
}

// Write implements io.Writer.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// String returns the whole text.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Count returns how often a text occurs.
func (l *Log) Count(part string) int { return strings.Count(l.String(), part) }

// Lines returns the lines that contain a text.
func (l *Log) Lines(containing string) (out []string) {
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, containing) {
			out = append(out, line)
		}
	}
	return out
}

// Send sends a request that must succeed, and returns the response.
func Send(t testing.TB, h http.Handler, key, method, path, body string) *doc.Node {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Authorization", key)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	n, err := doc.ParseNode(w.Body.Bytes())
	if err != nil || w.Code != http.StatusOK {
		t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	return n
}

// InBubble runs a test with a store in a synctest bubble, whose time passes only while
// all goroutines wait.
func InBubble(t *testing.T, test func(t *testing.T, db *memdb.DB)) {
	synctest.Test(t, func(t *testing.T) {
		db, err := memdb.New(time.Now)
		if err != nil {
			t.Fatal(err)
		}
		test(t, db)
	})
}
