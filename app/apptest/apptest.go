// Package apptest is what tests of use cases share: operations behind HTTP, callers, a
// clock, identifiers and a log.
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

// Serve puts operations behind HTTP.
func Serve(t testing.TB, ops []operation.Operation, g operation.Middleware) http.Handler {
	t.Helper()
	h, err := httpadapter.Handler(ops, httpadapter.Config{YAML: yaml.Codec{}, Guard: g, Logger: slog.New(slog.DiscardHandler), MaxBody: 32 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Checked is Serve; tests, not benchmarks, hold every answer against the description.
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

// Guard is the guard with the built-in rules, and without an audit trail.
func Guard(s operation.Surface, a guard.Authenticator) operation.Middleware {
	return guard.New(guard.Config{
		Authenticators: map[operation.Surface]guard.Authenticator{s: a},
		Rules:          rules.BuiltIn{}, Audit: func(context.Context, *operation.Call, error) {},
	})
}

// Within lets everybody in, for one organisation.
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

// Callers are who may ask, by access key.
type Callers map[string]operation.Principal

// Guard is the guard of the management API, which knows the callers.
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

// Clock returns a clock that goes on by a second whenever it is asked.
func Clock() func() time.Time { return ClockOf(time.Second) }

// ClockOf returns a clock that goes on by a step whenever it is asked.
func ClockOf(step time.Duration) func() time.Time {
	var asked atomic.Int64
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return func() time.Time { return start.Add(time.Duration(asked.Add(1)) * step) }
}

// Numbered makes identifiers 1, 2, 3 in the given form.
func Numbered(format string) func() string {
	var n atomic.Int64
	return func() string { return fmt.Sprintf(format, n.Add(1)) }
}

// Log collects what is logged; it is safe for concurrent use.
type Log struct {
	mu   sync.Mutex
	text strings.Builder
}

// Logger writes everything to the log, whatever its level.
func (l *Log) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug - 8}))
}

// Reset forgets what was logged.
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

// Send sends what must succeed, and returns the answer.
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

// InBubble runs a test with a store in a bubble, whose time passes only while all wait.
func InBubble(t *testing.T, test func(t *testing.T, db *memdb.DB)) {
	synctest.Test(t, func(t *testing.T) {
		db, err := memdb.New(time.Now)
		if err != nil {
			t.Fatal(err)
		}
		test(t, db)
	})
}
