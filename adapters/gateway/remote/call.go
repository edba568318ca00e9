package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/redact"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

// call is one request that any gateway can answer.
type call struct {
	name   string // of the metrics: "keys.read"
	method string
	path   []string // below /tyk, not escaped
	query  url.Values
	kind   string // of the body
	body   []byte
	base   *url.URL          // replaces /tyk and path: path and query from the root
	header map[string]string // more of it
	secret []string          // texts that no error may contain
}

// outcome is how one request to one gateway ended.
type outcome struct {
	body []byte
	err  error
	sent bool // of a failed write: the gateway may have carried it out
}

// errTrouble: the answer is not one that a gateway gives. Another gateway may answer.
var errTrouble = errors.New("no answer of a gateway")

// errInClear: a key was requested by its hash, and the gateway does not hash keys.
var errInClear = fmt.Errorf("%w: keys are not hashed", gateway.ErrRefused)

// Texts in answers that distinguish refusals.
const (
	textSecret  = "Attempted administrative access"
	textKey     = "already found"
	textCert    = "already exists"
	textInClear = "key hashing is not enabled"
)

// ask sends a request to one gateway.
func (c *Client) ask(ctx context.Context, n *node, k call) outcome {
	ctx, end := c.c.Observer.Begin(ctx, "gateway/"+k.name)
	at := n.url
	if k.base != nil {
		at += k.base.String()
	} else {
		at += "/tyk"
		for _, part := range k.path {
			at += "/" + url.PathEscape(part)
		}
		if len(k.query) > 0 {
			at += "?" + k.query.Encode()
		}
	}
	r := fetch.Request{Method: k.method, URL: at, Body: k.body, Trusted: true, Header: map[string]string{"X-Tyk-Authorization": c.c.Secret}}
	if k.kind != "" {
		r.Header["Content-Type"] = k.kind
	}
	for name, value := range k.header {
		r.Header[name] = value
	}
	a, err := c.fetch.Fetch(ctx, r)
	end(a.Status)
	switch {
	case errors.Is(err, fetch.ErrTooLarge):
		return outcome{err: fmt.Errorf("%w: %w", errTrouble, err), sent: true}
	case err != nil && !errors.Is(err, fetch.ErrUnreachable): // no gateway can get this request
		return outcome{err: fmt.Errorf("%w: %w", gateway.ErrRefused, err)}
	case err != nil:
		return outcome{err: fmt.Errorf("%w: %w", errTrouble, err), sent: !errors.Is(err, fetch.ErrUnconnected)}
	}
	return c.judge(k, a)
}

// judge distinguishes answers of a gateway from answers of other servers, and refusals
// from failures.
func (c *Client) judge(k call, a fetch.Answer) outcome {
	if err := doc.Check(a.Body, deepest); err != nil {
		carried := a.Status < 300 || a.Status >= 500 // other statuses come from another server that refused a request it does not know
		return outcome{err: fmt.Errorf("%w: %d, and no JSON", errTrouble, a.Status), sent: carried}
	}
	if a.Status >= 200 && a.Status < 300 {
		if k.method != http.MethodGet { // gateways answer writes with an object or with a string
			if n, err := doc.ParseNode(a.Body); err != nil || !n.Is(doc.TypeObject, doc.TypeString) {
				return outcome{err: fmt.Errorf("%w: %d, and nothing is said of what was done", errTrouble, a.Status), sent: true}
			}
		}
		return outcome{body: a.Body}
	}
	said := c.said(a.Body, k.secret)
	trouble := func(sent bool) outcome {
		return outcome{err: fmt.Errorf("%w: %d %s", errTrouble, a.Status, said), sent: sent}
	}
	refused := func(why error) outcome {
		return outcome{body: a.Body, err: fmt.Errorf("%w: %d %s", why, a.Status, said)}
	}
	switch {
	case strings.Contains(said, textSecret), a.Status == http.StatusUnauthorized, a.Status == http.StatusMethodNotAllowed, a.Status < 400:
		return trouble(false)
	case a.Status == http.StatusNotFound:
		return refused(gateway.ErrUnknown)
	case strings.Contains(said, textInClear):
		return refused(errInClear)
	case strings.Contains(said, textKey), strings.Contains(said, textCert):
		return refused(gateway.ErrTaken)
	case slices.Contains([]int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, a.Status), a.Status >= 500 && k.method == http.MethodGet:
		return trouble(true)
	}
	return refused(gateway.ErrRefused)
}

// deepest is the maximum nesting depth of answers.
const deepest = 128

// keyLike matches a word that may be a key, a secret or a hash.
var keyLike = regexp.MustCompile(`[A-Za-z0-9+/=_.-]{16,}`)

// said returns the error text of a gateway, short, in one line and without anything
// that may be secret.
func (c *Client) said(body []byte, secrets []string) string {
	n, err := doc.ParseNode(body)
	if err != nil {
		return ""
	}
	text := n.Get("message").Text()
	for _, s := range append(slices.Clone(secrets), c.c.Secret) {
		if s != "" {
			text = strings.ReplaceAll(text, s, "…")
		}
	}
	return redact.Line(keyLike.ReplaceAllLiteralString(text, "…"))
}
