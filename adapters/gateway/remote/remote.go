// Package remote calls gateways over HTTP: one, or several that share a store. Calls have a
// deadline and bounded answers. A read goes to the next gateway when a gateway fails. A write
// that may have arrived is looked up before it is sent again
// (docs/wire/gateway-control.md#several-gateways).
package remote

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/observe"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Config says which gateways to call, and with which timeouts. Zero values take the defaults.
type Config struct {
	URLs     []string // addresses of the control API, without /tyk; every gateway can do all calls
	Secret   string
	Timeout  time.Duration // of one method in all; 5 s
	OpenFor  time.Duration // how long the circuit breaker of a gateway stays open; 2 s
	Observer observe.Observer
	Now      system.Clock
}

// Defaults of Config.
const (
	defaultTimeout = 5 * time.Second
	defaultOpenFor = 2 * time.Second
)

// Client calls the gateways of an installation.
type Client struct {
	fetch  fetch.Fetcher
	c      Config
	nodes  []*node
	owners *owners
	room   chan struct{} // limits how many sessions are read at the same time
	form   atomic.Int32  // the index into keyhash.Forms where the last key was found
	keeps  atomic.Int32  // whether gateways hash keys, once that is known
}

// atOnce is how many sessions are read at the same time for lists.
const atOnce = 16

// New returns a Client. The fetcher bounds how long answers may be.
func New(f fetch.Fetcher, c Config) *Client {
	c.Timeout, c.OpenFor = cmp.Or(c.Timeout, defaultTimeout), cmp.Or(c.OpenFor, defaultOpenFor)
	if c.Observer == nil {
		c.Observer = observe.Join()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	cl := &Client{fetch: f, c: c, room: make(chan struct{}, atOnce)}
	cl.owners = &owners{now: c.Now, known: map[digest]owner{}}
	for _, url := range c.URLs {
		url = strings.TrimRight(url, "/")
		cl.nodes = append(cl.nodes, &node{url: url, now: c.Now, breaker: gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
			Name: url, Timeout: c.OpenFor,
			ReadyToTrip: func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= failuresInARow },
			IsExcluded:  func(err error) bool { return errors.Is(err, errGivenUp) },
		})})
	}
	return cl
}

// Control returns the Client as the control API of an installation.
func (c *Client) Control() gateway.Control {
	return gateway.Control{Keys: c, Clients: clients{c}, Certificates: certificates{c}, Installation: c}
}

// Whether gateways hash keys, as far as that is known.
const (
	unknown = iota
	hashed
	inClear
)

// limit adds the timeout of a method to ctx.
func (c *Client) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.c.Timeout)
}
