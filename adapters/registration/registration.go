// Package registration speaks to identity providers over HTTP (RFC 7591, RFC 7592, OpenID
// Connect Discovery 1.0). Calls have a deadline and bounded answers, and the fetcher restricts
// their addresses. Only reads are repeated: a registration whose answer is lost may have
// created a client.
package registration

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/redact"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/registration"
	"github.com/gatehouse-io/gatehouse/ports/retry"
)

// Config sets the timeout, the retries and the log. Zero values take the defaults.
type Config struct {
	Timeout  time.Duration // of one request; 10 s
	Attempts int           // of one read; 3
	Pause    time.Duration // before the second attempt, then doubled; 200 ms
	// Log receives the answers of providers, with their secrets masked; nil: they are not
	// logged.
	Log *slog.Logger
}

// Defaults of Config.
const (
	defaultTimeout  = 10 * time.Second
	defaultAttempts = 3
	defaultPause    = 200 * time.Millisecond
	longestPause    = 2 * time.Second
)

// Client is a registration.Registrar.
type Client struct {
	fetch fetch.Fetcher
	c     Config
}

var _ registration.Registrar = (*Client)(nil)

// New returns a Client. The fetcher decides which addresses it may reach.
func New(f fetch.Fetcher, c Config) *Client {
	c.Timeout, c.Attempts, c.Pause = cmp.Or(c.Timeout, defaultTimeout), cmp.Or(c.Attempts, defaultAttempts), cmp.Or(c.Pause, defaultPause)
	return &Client{f, c}
}

// Discover implements registration.Registrar. It retries when there is no answer.
func (c *Client) Discover(ctx context.Context, at registration.Place) (idp.Discovery, error) {
	pause := retry.New(c.c.Pause, longestPause)
	for attempt := 1; ; attempt++ {
		text, err := c.send(ctx, request{at: at, url: at.WellKnown})
		unheard := errors.Is(err, registration.ErrUncertain) || errors.Is(err, registration.ErrUntouched)
		if unheard && attempt != c.c.Attempts && pause.Wait(ctx) == nil {
			continue
		}
		if err != nil {
			return idp.Discovery{}, fmt.Errorf("read the discovery document: %w", err)
		}
		d, err := idp.ReadDiscovery(text)
		return d, unusable("read the discovery document", err)
	}
}

// Register implements registration.Registrar.
func (c *Client) Register(ctx context.Context, at registration.Place, endpoint, key string, metadata *doc.Node) (idp.Client, error) {
	r := request{at: at, method: http.MethodPost, url: endpoint, token: at.Token, key: key, body: metadata.JSON()}
	return c.client(ctx, r, "register the client")
}

// Read implements registration.Registrar. It is not retried: the token may have changed by
// then.
func (c *Client) Read(ctx context.Context, at registration.Place, was idp.Client) (idp.Client, error) {
	return c.same(ctx, was, request{at: at, url: was.URI, token: was.Token}, "read the client")
}

// Update implements registration.Registrar.
func (c *Client) Update(ctx context.Context, at registration.Place, was idp.Client, metadata *doc.Node) (idp.Client, error) {
	return c.same(ctx, was, request{at: at, method: http.MethodPut, url: was.URI, token: was.Token, body: metadata.JSON()}, "change the client")
}

// Delete implements registration.Registrar.
func (c *Client) Delete(ctx context.Context, at registration.Place, was idp.Client) error {
	_, err := c.send(ctx, request{at: at, method: http.MethodDelete, url: was.URI, token: was.Token})
	if err == nil || errors.Is(err, registration.ErrGone) {
		return nil
	}
	return fmt.Errorf("delete the client: %w", err)
}

// client sends a request about a client and decodes the answer.
func (c *Client) client(ctx context.Context, r request, what string) (idp.Client, error) {
	text, err := c.send(ctx, r)
	if err != nil {
		return idp.Client{}, fmt.Errorf("%s: %w", what, err)
	}
	out, err := idp.ReadClient(text)
	return out, unusable(what, err)
}

// same sends a request about an existing client. The answer must be about the same client: the
// identifier stays (RFC 7592, 2.1). Otherwise the secrets, addresses and tokens of another client
// would be shown to the developer, changed and deleted.
func (c *Client) same(ctx context.Context, was idp.Client, r request, what string) (idp.Client, error) {
	out, err := c.client(ctx, r, what)
	if err == nil && was.ID != "" && out.ID != was.ID {
		return idp.Client{}, fmt.Errorf("%s: %w: its answer is about another client", what, registration.ErrUncertain)
	}
	return out, err
}

// unusable turns the error of an answer that cannot be used into ErrUncertain: what the
// provider did is unknown.
func unusable(what string, err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return fmt.Errorf("%s: %w: %s", what, registration.ErrUncertain, f.Message)
	}
	return err
}

// request is one request to a provider.
type request struct {
	at     registration.Place
	method string
	url    string
	token  string
	key    string // of a registration
	body   []byte
}

// send sends a request once, and classifies its outcome.
func (c *Client) send(ctx context.Context, r request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.c.Timeout)
	defer cancel()
	out := fetch.Request{Method: r.method, URL: r.url, Body: r.body, Insecure: r.at.Insecure, Header: map[string]string{"Accept": "application/json"}}
	if r.token != "" {
		out.Header["Authorization"] = "Bearer " + r.token
	}
	if r.body != nil {
		out.Header["Content-Type"] = "application/json"
	}
	if r.key != "" {
		out.Header["Idempotency-Key"] = r.key
	}
	a, err := c.fetch.Fetch(ctx, out)
	switch {
	case errors.Is(err, fetch.ErrUnconnected):
		return nil, fmt.Errorf("%w: %w", registration.ErrUntouched, err)
	case errors.Is(err, fetch.ErrUnreachable), errors.Is(err, fetch.ErrTooLarge):
		return nil, fmt.Errorf("%w: %w", registration.ErrUncertain, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", registration.ErrRefused, err)
	}
	c.tell(ctx, r, a)
	class := registration.ErrRefused
	switch {
	case a.Status >= 200 && a.Status < 300:
		return a.Body, nil
	case a.Status == http.StatusNotFound, a.Status == http.StatusGone:
		class = registration.ErrGone
	case a.Status == http.StatusUnauthorized:
		class = registration.ErrDenied
	case a.Status == http.StatusTooManyRequests, a.Status == http.StatusServiceUnavailable && a.Header["Retry-After"] != nil:
		class = registration.ErrUntouched
	case a.Status >= 500, a.Status < 200:
		class = registration.ErrUncertain
	}
	return a.Body, fmt.Errorf("%w: %d %s", class, a.Status, r.said(a.Body))
}

// said returns the provider's error text (RFC 7591, 3.2.2), short and in one line, without the
// token that was sent.
func (r request) said(body []byte) string {
	var texts []string
	if n, err := doc.ParseNode(body); err == nil {
		for _, name := range []string{"error", "error_description", "errorSummary"} {
			if text := n.Get(name).Text(); text != "" {
				texts = append(texts, text)
			}
		}
	}
	text := strings.Join(texts, ": ")
	if r.token != "" {
		text = strings.ReplaceAll(text, r.token, redact.Hidden)
	}
	return redact.Line(text)
}

// tell logs an answer without its secrets. For an answer that is not JSON it logs only the
// size: which of its parts are secret is unknown.
func (c *Client) tell(ctx context.Context, r request, a fetch.Answer) {
	if c.c.Log == nil {
		return
	}
	body := fmt.Sprintf("%d bytes that are no JSON", len(a.Body))
	if n, err := doc.ParseNode(bytes.Clone(a.Body)); err == nil && !n.Deeper(levels) {
		mask(n)
		body = string(n.JSON())
	}
	method := cmp.Or(r.method, http.MethodGet)
	c.c.Log.InfoContext(ctx, "an identity provider has answered", "method", method, "url", redact.Text(r.url), "status", a.Status, "body", body)
}

// levels is the maximum nesting depth of an answer that is masked.
const levels = 32

// told are suffixes of member names that describe tokens and secrets without containing them
// (RFC 7591, RFC 8414).
var told = []string{"_endpoint", "_supported", "_method", "_alg", "_enc", "_expires_at"}

func mask(n *doc.Node) {
	for _, item := range n.Items() {
		mask(item)
	}
	for name, v := range n.Members() {
		switch {
		case redact.Name(name) && !slices.ContainsFunc(told, func(end string) bool { return strings.HasSuffix(name, end) }):
			n.Set(name, doc.NewString(redact.Hidden))
		case v.Is(doc.TypeString):
			n.Set(name, doc.NewString(redact.Text(v.Text())))
		default:
			mask(v)
		}
	}
}
