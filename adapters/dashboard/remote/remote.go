// Package remote calls a dashboard in another process over HTTP: a Gatehouse on another
// machine, or any other implementation of the protocol. Calls have a deadline and bounded
// answers. Failed reads are repeated, and a write whose answer is lost is looked up before
// it is sent again.
package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/retry"
)

// Config says which dashboard to call, and sets timeouts and retries. Zero values take the
// defaults.
type Config struct {
	URL      string // address of the dashboard; a path in it is kept
	Secret   string // access key of a user
	Trusted  bool   // the operator has chosen the address: it may be private
	Insecure bool   // skip the verification of its certificate
	Timeout  time.Duration
	Attempts int           // of one call
	Pause    time.Duration // before the second attempt; then doubled
}

// Defaults of Config.
const (
	defaultTimeout  = 10 * time.Second
	defaultAttempts = 3
	defaultPause    = 200 * time.Millisecond
	longestPause    = 2 * time.Second
)

// Client is a dashboard.Dashboard.
type Client struct {
	dashboard.Entries
	fetch fetch.Fetcher
	c     Config
}

// New returns a Client. The fetcher decides which addresses it may reach, and how long
// answers may be.
func New(f fetch.Fetcher, c Config) *Client {
	c.URL = strings.TrimRight(c.URL, "/")
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	if c.Attempts <= 0 {
		c.Attempts = defaultAttempts
	}
	if c.Pause <= 0 {
		c.Pause = defaultPause
	}
	out := &Client{fetch: f, c: c}
	out.Wire = out.wire
	return out
}

// Paths at a dashboard.
const (
	policies = "/api/portal/policies"
	apis     = "/api/apis?p=-2"
	proxies  = "/api/mcps?p=-2"
)

func path(ref string) string { return policies + "/" + url.PathEscape(ref) }

// Policies implements dashboard.Dashboard.
func (c *Client) Policies(ctx context.Context) ([]*doc.Node, error) {
	a, err := c.read(ctx, policies+"?p=-2")
	if err != nil {
		return nil, fmt.Errorf("list policies: %w", err)
	}
	return dashboard.DecodePolicies(a.Body)
}

// APIs implements dashboard.Dashboard. A dashboard without the MCP endpoint counts as
// having no MCP proxies.
func (c *Client) APIs(ctx context.Context) ([]sync.API, error) {
	a, err := c.read(ctx, apis)
	if err != nil {
		return nil, fmt.Errorf("list APIs: %w", err)
	}
	out, err := dashboard.DecodeAPIs(a.Body)
	if err != nil {
		return nil, err
	}
	a, err = c.read(ctx, proxies)
	return dashboard.WithProxies(out, a.Body, err)
}

// Policy implements dashboard.Dashboard.
func (c *Client) Policy(ctx context.Context, ref sync.Ref) (dashboard.Policy, error) {
	name := ref.ObjectID
	if name == "" {
		name = ref.ID
	}
	a, err := c.read(ctx, path(name))
	if err != nil {
		return dashboard.Policy{}, fmt.Errorf("read the policy %s: %w", ref.Name(), err)
	}
	n, err := doc.ParseNode(a.Body)
	if err != nil || !n.Is(doc.TypeObject) {
		return dashboard.Policy{}, fmt.Errorf("read the policy %s: %w", ref.Name(), dashboard.ErrUnreachable)
	}
	p := dashboard.Policy{Document: n, Tag: header(a, "Etag")}
	if got := p.Ref(); ref.ObjectID != "" && got.ObjectID != ref.ObjectID || ref.ObjectID == "" && got.ID != ref.ID { // the other document has this identifier as its _id
		return dashboard.Policy{}, fmt.Errorf("read the policy %s: another policy answers to its name: %w", ref.Name(), dashboard.ErrRefused)
	}
	return p, nil
}

// Create implements dashboard.Dashboard. It returns the identifiers that the dashboard
// answers, which may keep no custom identifier. When the answer of a write is lost, the
// write may have been carried out, and its repetition may be refused for that reason.
func (c *Client) Create(ctx context.Context, document *doc.Node) (sync.Ref, error) {
	body := document.JSON()
	pause := retry.New(c.c.Pause, longestPause)
	for attempt := 1; ; attempt++ {
		a, err := c.call(ctx, http.MethodPost, policies, "", body)
		if err == nil {
			return dashboard.Created(ctx, c, a.Body, document)
		}
		if attempt > 1 || errors.Is(err, dashboard.ErrUnreachable) {
			if ref, found := dashboard.Find(ctx, c, document); found == nil {
				return ref, nil
			}
		}
		if !errors.Is(err, dashboard.ErrUnreachable) || attempt == c.c.Attempts {
			return sync.Ref{}, fmt.Errorf("create the policy %s: %w", document.Get("name").Text(), err)
		}
		if err := pause.Wait(ctx); err != nil {
			return sync.Ref{}, fmt.Errorf("%w: %w", dashboard.ErrUnreachable, err)
		}
	}
}

// Replace implements dashboard.Dashboard.
func (c *Client) Replace(ctx context.Context, p dashboard.Policy) error {
	ref, body := p.Ref(), p.Document.JSON()
	pause := retry.New(c.c.Pause, longestPause)
	for attempt := 1; ; attempt++ {
		_, err := c.call(ctx, http.MethodPut, path(ref.ObjectID), p.Tag, body)
		if errors.Is(err, dashboard.ErrChanged) && attempt > 1 && c.holds(ctx, ref, p.Document) {
			return nil // the refused write is a repetition of one that was carried out
		}
		if !errors.Is(err, dashboard.ErrUnreachable) || attempt == c.c.Attempts {
			return named("replace", ref, err)
		}
		if err := pause.Wait(ctx); err != nil {
			return named("replace", ref, fmt.Errorf("%w: %w", dashboard.ErrUnreachable, err))
		}
	}
}

// holds reports whether the policy at the dashboard has the written members. Members are
// compared as a whole, unlike in dashboard.Find: a partial match could contain what the
// write removed.
func (c *Client) holds(ctx context.Context, ref sync.Ref, want *doc.Node) bool {
	p, err := c.Policy(ctx, ref)
	if err != nil {
		return false
	}
	for name, v := range want.Members() {
		if name != "last_updated" && !p.Document.Get(name).Equal(v) {
			return false
		}
	}
	return true
}

// Delete implements dashboard.Dashboard.
func (c *Client) Delete(ctx context.Context, ref sync.Ref) error {
	pause := retry.New(c.c.Pause, longestPause)
	for attempt := 1; ; attempt++ {
		p, err := c.Policy(ctx, ref)
		if err == nil {
			_, err = c.call(ctx, http.MethodDelete, path(p.Ref().ObjectID), p.Tag, nil)
		}
		switch {
		case errors.Is(err, dashboard.ErrGone):
			return nil
		case !errors.Is(err, dashboard.ErrUnreachable) && !errors.Is(err, dashboard.ErrChanged), attempt == c.c.Attempts:
			return named("delete", ref, err)
		}
		if err := pause.Wait(ctx); err != nil {
			return named("delete", ref, fmt.Errorf("%w: %w", dashboard.ErrUnreachable, err))
		}
	}
}

func named(what string, ref sync.Ref, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s the policy %s: %w", what, ref.Name(), err)
}
