package gatewaysim

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"
)

// Config says which control plane a gateway uses and how it behaves. Only DashboardURL
// is required; zero values mean the documented default.
type Config struct {
	DashboardURL string // base URL of the control plane
	NodeSecret   string // sent alone in Authorization; also signs notifications

	Redis     Redis  // source of notifications; off without an address
	Hostname  string // default: the machine's
	SessionID string // default: a new UUID at every Start, as in a real process

	Segmented bool     // load only APIs that share a tag (docs/wire/feeds.md#segments)
	Tags      []string // this gateway's tags, never sent

	AllowInsecure bool // accept unsigned notifications (docs/wire/gateway-nodes.md#headers)

	LocalAPIs     []json.RawMessage // classic API definitions added to the API feed
	LocalPolicies []json.RawMessage // policies added to the policy feed

	// The control API (docs/wire/gateway-control.md), off without a secret.
	Secret          string
	Store           *Store // shared with other gateways; default: a separate one
	HashKeyFunction string // murmur32, murmur64, murmur128, sha256; default: keys of the oldest form, murmur32
	PlainKeys       bool   // keys are stored under their text

	Records bool // push a record of each request to Redis (docs/wire/records.md#records)

	Intervals Intervals
	Timeout   time.Duration // of every call to the control plane, default 30 s
	Logger    *slog.Logger  // default: nothing is logged
}

// Redis is the address of the server that carries notifications.
type Redis struct {
	Addr     string // host:port
	Username string
	Password string
	DB       int // pub/sub is global, so this only matters for access rules
}

// Intervals are the gateway's intervals. Tests shorten them; the defaults are those of
// a real gateway.
type Intervals struct {
	Heartbeat  time.Duration // between heartbeats, 2 s
	Probe      time.Duration // between health probes, 10 s
	Retry      time.Duration // before registering again, 5 s
	LoadRetry  time.Duration // first backoff of a failed initial load, 5 s, doubling up to twelve times itself
	Tick       time.Duration // at most one full reload per tick, 1 s
	Debounce   time.Duration // quiet time after the last ClientIdPChanged, 100 ms
	JWKSCache  time.Duration // cache time of a key set, 240 s
	RedisRetry time.Duration // before subscribing again, 1 s (we chose)
	RedisCheck time.Duration // silence after which the subscription is pinged, 5 s (we chose)
}

func (i Intervals) withDefaults() Intervals {
	return Intervals{
		Heartbeat:  cmp.Or(i.Heartbeat, 2*time.Second),
		Probe:      cmp.Or(i.Probe, 10*time.Second),
		Retry:      cmp.Or(i.Retry, 5*time.Second),
		LoadRetry:  cmp.Or(i.LoadRetry, 5*time.Second),
		Tick:       cmp.Or(i.Tick, time.Second),
		Debounce:   cmp.Or(i.Debounce, 100*time.Millisecond),
		JWKSCache:  cmp.Or(i.JWKSCache, 240*time.Second),
		RedisRetry: cmp.Or(i.RedisRetry, time.Second),
		RedisCheck: cmp.Or(i.RedisCheck, 5*time.Second),
	}
}

func (c Config) withDefaults() Config {
	c.DashboardURL = strings.TrimRight(c.DashboardURL, "/")
	c.Intervals = c.Intervals.withDefaults()
	c.Timeout = cmp.Or(c.Timeout, 30*time.Second)
	if c.Hostname == "" {
		c.Hostname, _ = os.Hostname() // an unknown name is sent empty
	}
	if c.Store == nil {
		c.Store = &Store{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// check refuses invalid configurations of a test, so that a feed that is refused later
// is always the control plane's fault.
func (c Config) check() error {
	u, err := url.Parse(c.DashboardURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return errors.New("gatewaysim: DashboardURL must be an absolute http or https URL")
	}
	if _, err := parseAPIs(nil, c.LocalAPIs); err != nil {
		return fmt.Errorf("gatewaysim: LocalAPIs: %w", err)
	}
	if _, err := parsePolicies(nil, c.LocalPolicies); err != nil {
		return fmt.Errorf("gatewaysim: LocalPolicies: %w", err)
	}
	return nil
}
