// Package fetch sends HTTP requests to other services with limits: a timeout, a maximum size of
// the answer, redirects within the origin only, and no access to private networks. Addresses
// are checked when a connection is made, after names are resolved, so that a name that resolves
// differently the second time (DNS rebinding) does not bypass the check.
package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/load"
)

// Config bounds what one request may cost. Zero values take the defaults.
type Config struct {
	Timeout      time.Duration  // of the whole exchange; 15 s
	MaxBytes     int64          // of an answer's body, decompressed; 16 MiB
	AllowPrivate bool           // private addresses for every request, not only trusted ones
	Allow        []netip.Prefix // networks that every request may reach, private or not, except the metadata services of clouds
	Insecure     bool           // no request verifies certificates
}

// Defaults of Config.
const (
	defaultTimeout  = 15 * time.Second
	defaultMaxBytes = 16 << 20
	maxHeaderBytes  = 64 << 10
	maxRedirects    = 5       // within one origin
	drained         = 4 << 10 // how many bytes of a body are read so that the connection can be reused
)

// Client is a fetch.Fetcher.
type Client struct {
	maxBytes        int64
	public, trusted pair
}

// pair holds a client that verifies certificates and one that does not.
type pair struct{ careful, insecure *nethttp.Client }

// New returns a Client. It ignores proxy settings of the environment: behind a proxy, addresses
// could not be checked.
func New(c Config) *Client {
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	if c.MaxBytes <= 0 {
		c.MaxBytes = defaultMaxBytes
	}
	f := &Client{maxBytes: c.MaxBytes, trusted: clients(c.Timeout, nil)}
	if f.public = f.trusted; !c.AllowPrivate {
		f.public = clients(c.Timeout, guard(c.Allow))
	}
	if c.Insecure {
		f.public.careful, f.trusted.careful = f.public.insecure, f.trusted.insecure
	}
	return f
}

func clients(timeout time.Duration, control func(network, address string, c syscall.RawConn) error) pair {
	careful, insecure := client(timeout, control), client(timeout, control)
	insecure.Transport.(*nethttp.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the settings or the request say Insecure
	return pair{careful, insecure}
}

func client(timeout time.Duration, control func(network, address string, c syscall.RawConn) error) *nethttp.Client {
	d := &net.Dialer{Timeout: timeout, Control: control}
	return &nethttp.Client{
		Timeout:       timeout,
		CheckRedirect: stay,
		Transport: &nethttp.Transport{
			DialContext: d.DialContext, TLSHandshakeTimeout: timeout, MaxResponseHeaderBytes: maxHeaderBytes,
			MaxIdleConns: 16, MaxIdleConnsPerHost: 16, IdleConnTimeout: 30 * time.Second, ForceAttemptHTTP2: true,
		},
	}
}

// noRedirection returns a redirect as the answer instead of following it.
func noRedirection(*nethttp.Request, []*nethttp.Request) error { return nethttp.ErrUseLastResponse }

// stay follows redirects only within the origin of the first request.
func stay(next *nethttp.Request, via []*nethttp.Request) error {
	if first := via[0].URL; next.URL.Scheme != first.Scheme || next.URL.Host != first.Host || len(via) > maxRedirects {
		return nethttp.ErrUseLastResponse
	}
	return nil
}

// guard refuses a connection to an address that is neither public nor in one of the allowed
// networks. It always refuses the metadata services of clouds, even inside an allowed network.
// It sees the address that is dialled, after the name was resolved.
func guard(allow []netip.Prefix) func(network, address string, c syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return fetch.ErrPrivate
		}
		a := at.Addr().Unmap().WithZone("")
		if slices.Contains(metadata, a) {
			return fetch.ErrPrivate
		}
		if public(a) || slices.ContainsFunc(allow, func(p netip.Prefix) bool { return p.Contains(a) }) {
			return nil
		}
		return fetch.ErrPrivate
	}
}

// Fetch implements fetch.Fetcher.
func (f *Client) Fetch(ctx context.Context, r fetch.Request) (fetch.Answer, error) {
	req, err := request(ctx, r)
	if err != nil {
		return fetch.Answer{}, err
	}
	defer load.Away(ctx)()
	c := f.by(r)
	if r.StatusOnly || r.Still {
		c = &nethttp.Client{Transport: c.Transport, Timeout: c.Timeout, CheckRedirect: noRedirection}
	}
	resp, err := c.Do(req)
	if err != nil {
		return fetch.Answer{}, explain(ctx, req.URL.Host, err)
	}
	defer func() { _ = resp.Body.Close() }() // all that matters has been read
	if r.StatusOnly {
		_, _ = io.CopyN(io.Discard, resp.Body, drained)
		return fetch.Answer{Status: resp.StatusCode, Header: resp.Header}, nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, f.maxBytes+1))
	if err != nil {
		return fetch.Answer{}, explain(ctx, req.URL.Host, err)
	}
	if int64(len(body)) > f.maxBytes {
		return fetch.Answer{}, fmt.Errorf("%s: %w (more than %d bytes)", req.URL.Host, fetch.ErrTooLarge, f.maxBytes)
	}
	return fetch.Answer{Status: resp.StatusCode, Header: resp.Header, Body: body}, nil
}

// tokenChars are the characters of a token (RFC 9110, 5.6.2).
const tokenChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~"

func request(ctx context.Context, r fetch.Request) (*nethttp.Request, error) {
	req, err := nethttp.NewRequestWithContext(ctx, r.Method, r.URL, bytes.NewReader(r.Body))
	switch {
	case err != nil: // the text of the error quotes the request
		return nil, fetch.ErrRequest
	case req.URL.Scheme != "http" && req.URL.Scheme != "https", req.URL.Hostname() == "":
		return nil, fmt.Errorf("%w: an absolute http or https URL is wanted", fetch.ErrRequest)
	case req.URL.User != nil:
		return nil, fmt.Errorf("%w: credentials do not belong into a URL", fetch.ErrRequest)
	}
	req.Header.Set("User-Agent", "Gatehouse")
	for name, value := range r.Header {
		if name == "" || strings.Trim(name, tokenChars) != "" || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) { // RFC 9110, 5.5
			return nil, fmt.Errorf("%w: header", fetch.ErrRequest)
		}
		if req.Header.Set(name, value); nethttp.CanonicalHeaderKey(name) == "Host" {
			req.Host = value
		}
	}
	return req, nil
}

// explain reduces an error to a text that may be shown: the texts of package net/http contain
// the whole URL.
func explain(ctx context.Context, host string, err error) error {
	if errors.Is(err, fetch.ErrPrivate) {
		return fmt.Errorf("%s: %w", host, fetch.ErrPrivate)
	}
	why := fetch.ErrUnreachable
	if o, ok := errors.AsType[*net.OpError](err); ok && o.Op == "dial" {
		why = fetch.ErrUnconnected
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w: %w", host, why, ctx.Err())
	}
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() {
		return fmt.Errorf("%s: %w in time", host, why)
	}
	return fmt.Errorf("%s: %w", host, why)
}
