package oidc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/login"
)

// wellKnown is the suffix of the address of a discovery document (OpenID Connect Discovery
// 1.0, 4).
const wellKnown = "/.well-known/openid-configuration"

// mostKnown is how many providers are cached.
const mostKnown = 1000

// maxRequest is the maximum size of a request to a provider, in bytes.
const maxRequest = 64 << 10

// provider is the cached data of a provider.
type provider struct {
	*oidc.Provider
	issuer  string
	methods []string // by which clients authenticate
}

// known caches the providers that were used lately. Unauthenticated visitors start logins,
// so only one of them at a time asks a provider, and a provider that does not answer is not
// asked again for a while.
type known struct {
	client               *http.Client
	fresh, away, timeout time.Duration
	now                  func() time.Time

	mu      sync.Mutex // guards entries
	entries map[string]*entry
}

type entry struct {
	mu    sync.Mutex // guards the fields below, and is held while the provider is asked
	p     *provider
	err   error
	until time.Time
}

// provider returns the provider that has a discovery document at an address.
func (k *known) provider(ctx context.Context, discovery string) (*provider, error) {
	issuer, ok := strings.CutSuffix(discovery, wellKnown)
	if !ok || !webAddress(discovery) {
		return nil, fmt.Errorf("%w: the address of a discovery document ends with %s", login.ErrAway, wellKnown)
	}
	k.mu.Lock()
	e := k.entries[discovery]
	if e == nil {
		if len(k.entries) >= mostKnown {
			clear(k.entries) // asking again is cheap
		}
		e = &entry{}
		k.entries[discovery] = e
	}
	k.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if k.now().Before(e.until) {
		return e.p, e.err
	}
	// All waiting callers share the answer: a caller that cancels does not end the request.
	ctx, cancel := context.WithTimeout(oidc.ClientContext(context.WithoutCancel(ctx), k.client), k.timeout)
	defer cancel()
	e.p, e.err = discover(ctx, issuer)
	e.until = k.now().Add(k.fresh)
	if e.err != nil {
		e.until = k.now().Add(k.away)
	}
	return e.p, e.err
}

// discover reads the discovery document. The issuer in it must match the beginning of its
// address; some providers append a slash.
func discover(ctx context.Context, issuer string) (*provider, error) {
	p, err := oidc.NewProvider(ctx, issuer)
	if m, ok := errors.AsType[*oidc.IssuerMismatchError](err); ok && m.Discovered == issuer+"/" {
		issuer = m.Discovered
		p, err = oidc.NewProvider(ctx, issuer)
	}
	if _, ok := errors.AsType[*oidc.IssuerMismatchError](err); ok {
		return nil, fmt.Errorf("%w: its discovery document names another issuer", login.ErrAway)
	}
	if err != nil {
		return nil, away(err, "its discovery document")
	}
	var more struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := p.Claims(&more); err != nil {
		return nil, fmt.Errorf("%w: its discovery document cannot be read", login.ErrAway)
	}
	return &provider{p, issuer, more.Methods}, nil
}

// through is a RoundTripper that sends the requests of libraries through a fetcher.
type through struct{ fetch.Fetcher }

// RoundTrip implements http.RoundTripper.
func (t through) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }() // it is in memory
		var err error
		if body, err = io.ReadAll(io.LimitReader(r.Body, maxRequest)); err != nil {
			return nil, err
		}
	}
	header := make(map[string]string, len(r.Header))
	for name := range r.Header {
		header[name] = r.Header.Get(name)
	}
	a, err := t.Fetch(r.Context(), fetch.Request{Method: r.Method, URL: r.URL.String(), Header: header, Body: body})
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", a.Status, http.StatusText(a.Status)), StatusCode: a.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header(a.Header), Body: io.NopCloser(bytes.NewReader(a.Body)), ContentLength: int64(len(a.Body)), Request: r,
	}, nil
}
