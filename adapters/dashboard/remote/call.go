package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/redact"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/retry"
)

// read sends a GET, and sends it again when there is no answer.
func (c *Client) read(ctx context.Context, at string) (fetch.Answer, error) {
	pause := retry.New(c.c.Pause, longestPause)
	for attempt := 1; ; attempt++ {
		a, err := c.call(ctx, http.MethodGet, at, "", nil)
		if !errors.Is(err, dashboard.ErrUnreachable) || attempt == c.c.Attempts || ctx.Err() != nil {
			return a, err
		}
		if waited := pause.Wait(ctx); waited != nil {
			return a, err
		}
	}
}

// call sends one request, with body as JSON unless it is nil. tag is the If-Match
// precondition.
func (c *Client) call(ctx context.Context, method, at, tag string, body []byte) (fetch.Answer, error) {
	return c.send(ctx, method, at, tag, "application/json", body)
}

// send sends one request with a body of the content type kind.
func (c *Client) send(ctx context.Context, method, at, tag, kind string, body []byte) (fetch.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.c.Timeout)
	defer cancel()
	r := fetch.Request{Method: method, URL: c.c.URL + at, Body: body, Trusted: c.c.Trusted, Insecure: c.c.Insecure, Header: map[string]string{"Authorization": c.c.Secret}}
	if tag != "" {
		r.Header["If-Match"] = tag
	}
	if body != nil {
		r.Header["Content-Type"] = kind
	}
	a, err := c.fetch.Fetch(ctx, r)
	switch {
	case errors.Is(err, fetch.ErrUnconnected):
		return a, fmt.Errorf("%w: %w", dashboard.ErrUnsent, err)
	case errors.Is(err, fetch.ErrUnreachable):
		return a, fmt.Errorf("%w: %w", dashboard.ErrUnreachable, err)
	case err != nil:
		return a, fmt.Errorf("%w: %w", dashboard.ErrRefused, err)
	case a.Status >= 200 && a.Status < 300:
		return a, nil
	}
	class := dashboard.ErrRefused
	switch {
	case a.Status == http.StatusNotFound:
		class = dashboard.ErrGone
	case a.Status == http.StatusPreconditionFailed:
		class = dashboard.ErrChanged
	case a.Status == http.StatusTooManyRequests, a.Status >= 500, a.Status < 200:
		class = dashboard.ErrUnreachable
	}
	return a, fmt.Errorf("%w: %d %s", class, a.Status, c.said(a.Body))
}

// said returns the dashboard's error text, short and in one line. Credentials that it
// repeats are left out.
func (c *Client) said(body []byte) string {
	text := ""
	if n, err := doc.ParseNode(body); err == nil {
		for _, name := range []string{"Message", "message", "error"} {
			if text = n.Get(name).Text(); text != "" {
				break
			}
		}
	}
	if c.c.Secret != "" {
		text = strings.ReplaceAll(text, c.c.Secret, "…")
	}
	return redact.Line(text)
}

func header(a fetch.Answer, name string) string {
	if v := a.Header[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}
