package harness

import (
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"sync"
	"testing"
)

// Balancer is an HTTP load balancer on loopback without sticky connections: every request goes to
// the next backend, also on one client connection. A backend that refuses the connection is
// skipped. A GET or HEAD that fails before an answer is retried on the next backend too; any other
// request that may have reached a backend is answered 502, because its outcome is unknown.
type Balancer struct {
	server    *httptest.Server
	transport http.RoundTripper

	mu       sync.Mutex
	backends []string
	next     int
}

// errNoBackend is the error of a request when the balancer has no backend.
var errNoBackend = errors.New("no backend")

// NewBalancer starts a balancer for backends, each host:port. It ends with the test.
func NewBalancer(t testing.TB, addrs ...string) *Balancer {
	t.Helper()
	b := &Balancer{
		// A request on a kept connection to a killed backend would fail; a new connection shows
		// that the request is safe to send to another backend.
		transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true},
		backends:  slices.Clone(addrs),
	}
	b.server = httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme = "http"
			r.Out.Host = r.In.Host
			r.Out.URL.RawQuery = r.In.URL.RawQuery // as the client sent it, even if malformed
			r.SetXForwarded()
		},
		Transport:     roundTrip(b.send),
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, "balancer: "+err.Error(), http.StatusBadGateway)
		},
	})
	t.Cleanup(func() {
		b.server.CloseClientConnections()
		b.server.Close()
	})
	return b
}

// URL returns the balancer's base URL, without a trailing slash.
func (b *Balancer) URL() string { return b.server.URL }

// Set replaces the backends. Running requests are not affected.
func (b *Balancer) Set(addrs ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backends, b.next = slices.Clone(addrs), 0
}

// turn returns the backends in the order in which one request tries them.
func (b *Balancer) turn() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.backends) == 0 {
		return nil
	}
	first := b.next % len(b.backends)
	b.next++
	return append(slices.Clone(b.backends[first:]), b.backends[:first]...)
}

// roundTrip adapts a function to http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// send sends a request to the first backend that accepts it.
func (b *Balancer) send(req *http.Request) (*http.Response, error) {
	err := errNoBackend
	for _, addr := range b.turn() {
		attempt := req.Clone(req.Context())
		attempt.URL.Host = addr
		if req.Body != nil {
			attempt.Body = io.NopCloser(req.Body) // a failed attempt closes its body
		}
		var res *http.Response
		if res, err = b.transport.RoundTrip(attempt); err == nil {
			return res, nil
		}
		if !repeatable(req, err) {
			break
		}
	}
	return nil, err
}

// repeatable reports whether a failed request may be sent to another backend.
func repeatable(req *http.Request, err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true // nothing was sent
	}
	return req.Body == nil && (req.Method == http.MethodGet || req.Method == http.MethodHead)
}
