// Package redis publishes announcements to gateways on Redis pub/sub
// (docs/wire/announcements.md), claims the analytics lists that gateways push, and publishes
// other messages.
package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/gatehouse-io/gatehouse/core/signal"
)

// Config says how to reach Redis. It prints without its passwords.
type Config struct {
	// Addrs are host:port of the server, of the sentinels when MasterName is set, or of some
	// nodes of the cluster when Cluster is. Without both, the first address is the server.
	Addrs            []string
	Username         string // "" is Redis's default user
	Password         string `json:"-"` // "": no authentication
	Database         int
	MasterName       string // name by which sentinels know the server
	SentinelPassword string `json:"-"`
	Cluster          bool
	TLS              *TLS          // nil: not encrypted
	Timeout          time.Duration // of one network operation; default 5 s
	MaxConnections   int           // default as the client library chooses
	// Grace is how long announcements wait, after the connection was interrupted, for gateways
	// to subscribe again. Gateways try every 10 s, and messages published before that are lost
	// to them. Default 15 s.
	Grace  time.Duration
	Logger *slog.Logger // default slog.Default
}

// String returns c without passwords.
func (c Config) String() string {
	return fmt.Sprintf("Redis at %s, database %d", strings.Join(c.Addrs, ","), c.Database)
}

// GoString returns what String does, so that no formatting verb shows passwords.
func (c Config) GoString() string { return c.String() }

// Client is a connection to Redis that is made on first use, and made again after it was lost.
type Client struct {
	rdb      goredis.UniversalClient
	hide     []string // never shown
	connects atomic.Int64
	grace    time.Duration
	log      *slog.Logger
}

// connectTimeout is how long to wait for a server that does not answer at all.
const connectTimeout = 2 * time.Second

// Open returns a Client, or what is wrong with the settings. It does not connect: a service can
// start while Redis is away.
//
// The client library has one log for the whole process; Open points it to c's, at level debug,
// because errors are returned and reported by the caller anyway.
func Open(c Config) (*Client, error) {
	if len(c.Addrs) == 0 {
		return nil, errors.New("redis: no address")
	}
	for i, addr := range c.Addrs {
		if host, port, err := net.SplitHostPort(addr); err != nil || port == "" || strings.ContainsAny(host, "@/") {
			return nil, fmt.Errorf("redis: address %d is not host:port", i+1) // a wrong address may contain a password
		}
	}
	encryption, err := c.TLS.config()
	if err != nil {
		return nil, err
	}
	cl := &Client{grace: cmp.Or(c.Grace, 15*time.Second), log: cmp.Or(c.Logger, slog.Default())}
	for _, s := range []string{c.Password, c.SentinelPassword} {
		if s != "" {
			cl.hide = append(cl.hide, s)
		}
	}
	goredis.SetLogger(libraryLog{cl})
	o := &goredis.UniversalOptions{
		Addrs: c.Addrs, DB: c.Database, Username: c.Username, Password: c.Password,
		MasterName: c.MasterName, SentinelPassword: c.SentinelPassword, TLSConfig: encryption,
		DialTimeout: min(cmp.Or(c.Timeout, connectTimeout), connectTimeout), DialerRetries: 1,
		ReadTimeout: cmp.Or(c.Timeout, 5*time.Second), WriteTimeout: cmp.Or(c.Timeout, 5*time.Second), ContextTimeoutEnabled: true,
		MaxRetries: -1, // callers retry, and know what to report meanwhile
		PoolSize:   c.MaxConnections, PipelinePoolSize: -1,
		Protocol: 2, DisableIdentity: true, MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		OnConnect: func(context.Context, *goredis.Conn) error { cl.connects.Add(1); return nil },
	}
	switch {
	case c.MasterName != "":
		cl.rdb = goredis.NewFailoverClient(o.Failover())
	case c.Cluster:
		cl.rdb = goredis.NewClusterClient(o.Cluster())
	default:
		cl.rdb = goredis.NewClient(o.Simple())
	}
	return cl, nil
}

// node returns the server that announcements are published at. In a cluster it is the node at
// which gateways subscribe; other nodes get messages from it.
func (c *Client) node(ctx context.Context) (goredis.Cmdable, error) {
	if cluster, ok := c.rdb.(*goredis.ClusterClient); ok {
		return cluster.MasterForKey(ctx, signal.Channel)
	}
	return c.rdb, nil
}

// Ping returns nil if Redis answers.
func (c *Client) Ping(ctx context.Context) error {
	return c.wrap("ping", c.within(ctx, func(ctx context.Context) error {
		n, err := c.node(ctx)
		if err != nil {
			return err
		}
		return n.Ping(ctx).Err()
	}))
}

// Close ends all connections.
func (c *Client) Close() error { return c.wrap("close", c.rdb.Close()) }

// within returns when fn returns or when ctx ends: the library checks the context only between
// network operations. When Redis did not answer, it asks a cluster for its nodes: another may have
// taken over, and the library would go on with the old one for a minute.
func (c *Client) within(ctx context.Context, fn func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- fn(ctx) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if cluster, ok := c.rdb.(*goredis.ClusterClient); ok && err != nil && !answered(err) {
		cluster.ReloadState(ctx)
	}
	return err
}

// answered reports whether an error is an answer of Redis.
func answered(err error) bool {
	_, ok := errors.AsType[goredis.Error](err)
	return ok
}

// failure is an error whose text is safe to show.
type failure struct {
	text  string
	cause error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.cause }

func (c *Client) wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return &failure{c.conceal("redis: " + doing + ": " + err.Error()), err}
}

// conceal removes passwords: a server that does not know a command repeats its arguments.
func (c *Client) conceal(text string) string {
	for _, s := range c.hide {
		text = strings.ReplaceAll(text, s, "[hidden]")
	}
	return text
}

// libraryLog is the log of the client library.
type libraryLog struct{ *Client }

// Printf implements the library's logger.
func (l libraryLog) Printf(ctx context.Context, format string, args ...any) {
	if l.log.Enabled(ctx, slog.LevelDebug) {
		l.log.DebugContext(ctx, "redis: "+l.conceal(fmt.Sprintf(format, args...)))
	}
}
