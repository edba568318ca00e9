package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/identity"
)

// Bounds of starting and stopping.
const (
	startTimeout = 60 * time.Second
	stopTimeout  = 20 * time.Second
)

// Run serves until ctx ends, then finishes what is under way and returns.
// ready, if not nil, is told the address once requests are answered.
//
// The address is taken before anything is announced, and given up after: a
// gateway that is told of a change has to find somebody.
func Run(ctx context.Context, s config.Settings, log *slog.Logger, version string, ready func(net.Addr)) (err error) {
	l, err := listenAll(ctx, s)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	c, err := Compose(ctx, s, log, version)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	starting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := c.Start(starting); err != nil {
		return err
	}
	defer func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		err = errors.Join(err, c.Stop(stopping))
	}()
	if _, err := c.Upgrade(ctx); err != nil { // takes as long as it takes, and says how far it is
		return err
	}
	if err := c.first(starting, s, log); err != nil {
		return err
	}
	return c.serve(ctx, s, log, l, ready)
}

// first does what a start has to do once: protect with the current key what an
// older one protects, and make the first organisation if told to.
func (c *Composition) first(ctx context.Context, s config.Settings, log *slog.Logger) error {
	n, err := c.Rekey(ctx)
	if err != nil {
		return err
	}
	if n > 0 {
		log.Info("access keys are now protected with the current encryption key", "count", n)
	}
	if s.Bootstrap.Active() {
		b, err := c.Bootstrap(ctx, First(s))
		if err != nil {
			return fmt.Errorf("bootstrap: %w", err)
		}
		log.Info("bootstrap", "org_id", string(b.OrgID), "user_id", b.UserID, "created", b.Created)
		return nil
	}
	empty, err := c.Empty(ctx)
	if empty {
		log.Warn("there is no organisation yet: run `gatehouse bootstrap --email you@example.com`, or set bootstrap.email, or POST /admin/organisations and /admin/users with the header admin-auth")
	}
	return err
}

// First translates the bootstrap settings.
func First(s config.Settings) identity.First {
	b := s.Bootstrap
	return identity.First{OrgID: b.OrgID, OwnerName: b.OwnerName, OwnerSlug: b.OwnerSlug, Email: b.Email, FirstName: b.FirstName,
		LastName: b.LastName, Password: b.Password.Reveal(), AccessKey: b.AccessKey.Reveal()}
}

// listeners are the addresses of the service.
type listeners struct {
	main, metrics net.Listener // metrics: nil when they are beside
	secure        bool
}

// Close closes both.
func (l *listeners) Close() error {
	err := l.main.Close()
	if l.metrics != nil {
		err = errors.Join(err, l.metrics.Close())
	}
	return err
}

func listenAll(ctx context.Context, s config.Settings) (*listeners, error) {
	tlsConfig, err := serverTLS(s.TLS)
	if err != nil {
		return nil, err
	}
	l := &listeners{secure: tlsConfig != nil}
	if l.main, err = open(ctx, s.Listen.Address(), tlsConfig); err != nil {
		return nil, fmt.Errorf("listen_port: %w", err)
	}
	if s.MetricsAddress == "" {
		return l, nil
	}
	if l.metrics, err = open(ctx, s.MetricsAddress, nil); err != nil {
		return nil, errors.Join(fmt.Errorf("metrics.listen_address: %w", err), l.main.Close())
	}
	return l, nil
}

// serve answers requests until ctx ends.
func (c *Composition) serve(ctx context.Context, s config.Settings, log *slog.Logger, l *listeners, ready func(net.Addr)) (err error) {
	servers, failed := []*http.Server{server(c.handler(s), log)}, make(chan error, 2)
	go func() { failed <- servers[0].Serve(l.main) }()
	if l.metrics != nil {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", c.Metrics.Handler())
		beside := server(mux, log)
		servers = append(servers, beside)
		go func() { failed <- beside.Serve(l.metrics) }()
	}
	log.Info("serving", "address", l.main.Addr().String(), "store", s.Storage.Type, "tls", l.secure)
	if ready != nil {
		ready(l.main.Addr())
	}
	select {
	case err = <-failed:
	case <-ctx.Done():
		log.Info("stopping: requests under way are finished first")
	}
	c.Quiet()
	return errors.Join(err, shutdown(ctx, servers))
}

func shutdown(ctx context.Context, servers []*http.Server) error {
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	var errs []error
	for _, srv := range servers {
		errs = append(errs, srv.Shutdown(stopping))
	}
	return errors.Join(errs...)
}

func open(ctx context.Context, address string, cfg *tls.Config) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err == nil && cfg != nil {
		l = tls.NewListener(l, cfg)
	}
	return l, err
}

// server returns a server with bounds on slow clients.
func server(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 2 * time.Minute, WriteTimeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// handler is the App, with metrics beside it unless they have an address of
// their own: then for those who know the admin secret.
func (c *Composition) handler(s config.Settings) http.Handler {
	var h http.Handler = c
	if c.Traces != nil {
		h = c.Traces.Middleware(h)
	}
	if s.MetricsAddress != "" {
		return h
	}
	return metricsBeside(h, c.Metrics.Handler(), s.AdminSecret.Reveal())
}

// serverTLS loads the certificates, or returns nil when TLS is off.
func serverTLS(t config.TLS) (*tls.Config, error) {
	if !t.Enabled {
		return nil, nil
	}
	cfg := &tls.Config{MinVersion: max(t.MinVersion, tls.VersionTLS12)}
	for _, c := range t.Certificates {
		pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("http_server_options.certificates: %w", err)
		}
		cfg.Certificates = append(cfg.Certificates, pair)
	}
	for _, file := range t.Files {
		pair, err := tls.LoadX509KeyPair(file, file)
		if err != nil {
			return nil, fmt.Errorf("http_server_options.ssl_certificates: %w", err)
		}
		cfg.Certificates = append(cfg.Certificates, pair)
	}
	return cfg, nil
}
