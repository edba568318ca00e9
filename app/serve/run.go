package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/identity"
)

// startTimeout is the timeout of loading the store.
const startTimeout = 60 * time.Second

// Run serves until ctx ends. Then it stops in an order that gateways survive, and
// returns. ready, if not nil, is called with the address once requests are served.
//
// The address is opened before anything is announced, and closed after, because a
// gateway that gets an announcement must reach the service.
func Run(ctx context.Context, s config.Settings, log *slog.Logger, version string, ready func(net.Addr)) error {
	given, err := inherit()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if given.alive != nil {
		go func() {
			_, _ = given.alive.Read(make([]byte, 1)) // returns only when the supervisor ends
			cancel()
		}()
	}
	l, err := openSockets(ctx, s, given.sockets)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	err = run(ctx, s, log, version, l, func() {
		if given.served != nil {
			_, _ = given.served.Write([]byte{1}) // if the supervisor is gone, alive ends the process
			_ = given.served.Close()
		}
		if ready != nil {
			ready(l.main.Addr())
		}
	})
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil // ctx ended before the service served
	}
	return err
}

// run starts everything, serves, and stops everything.
func run(ctx context.Context, s config.Settings, log *slog.Logger, version string, l *sockets, ready func()) (err error) {
	secure, err := secured(s)
	if err != nil {
		return err
	}
	c, err := Compose(ctx, s, log, version)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	stopKeeping, err := keepKeyFile(ctx, s, log)
	if err != nil {
		return err
	}
	defer stopKeeping()
	sweepCopies(s, time.Now(), log)
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
	if err := c.reseal(ctx, log); err != nil {
		return err
	}
	if _, err := c.Upgrade(ctx); err != nil { // has no timeout, and logs its progress
		return err
	}
	if err := errors.Join(c.restored(ctx), c.first(starting, s, log)); err != nil {
		return err
	}
	return c.serve(ctx, s, log, l, secure, ready)
}

// first does the rest of a start: it encrypts with the current key what an older key
// protects, and creates the first organisation if the settings ask for it.
func (c *Composition) first(ctx context.Context, s config.Settings, log *slog.Logger) error {
	n, err := c.Rekey(ctx)
	if err != nil {
		return err
	}
	if n > 0 {
		log.Info("access keys and other secrets are now protected with the current encryption key", "count", n)
	}
	if s.Bootstrap.Active() {
		f := First(s)
		f.AtStart = true
		b, err := c.Bootstrap(ctx, f)
		if err != nil {
			return fmt.Errorf("bootstrap: %w", err)
		}
		switch {
		case b.OrgID == "":
			log.Warn("bootstrap makes nothing: the organisation was deleted; `gatehouse bootstrap` makes one again")
			return nil
		case b.UserID == "":
			log.Info("bootstrap makes no admin: the organisation has another one", "org_id", string(b.OrgID))
			return nil
		}
		log.Info("bootstrap", "org_id", string(b.OrgID), "user_id", b.UserID, "created", b.Created)
		return nil
	}
	if s.Portal.Serve == config.PortalAlone { // the dashboard with the organisations is elsewhere
		return nil
	}
	empty, err := c.Empty(ctx)
	if empty {
		log.Warn("there is no organisation yet: run `gatehouse bootstrap --email you@example.com`, or set bootstrap.email, or POST /admin/organisations and /admin/users with the header admin-auth")
	}
	return err
}

// First returns the bootstrap settings. The first organisation gets the default rules
// as its own, for its admins to edit, unless they cannot change them or there is a
// rules file.
func First(s config.Settings) identity.First {
	b, own := s.Bootstrap, ""
	if _, err := os.Stat(rulesFile(s)); s.Security.OpenPolicy.API && err != nil {
		own = opa.DefaultRules()
	}
	return identity.First{OrgID: b.OrgID, OwnerName: b.OwnerName, OwnerSlug: b.OwnerSlug, Email: b.Email, FirstName: b.FirstName,
		LastName: b.LastName, Password: b.Password.Reveal(), AccessKey: b.AccessKey.Reveal(), Rules: own}
}

// serve serves requests until ctx ends, and for the grace period after that.
func (c *Composition) serve(ctx context.Context, s config.Settings, log *slog.Logger, l *sockets, secure security, ready func()) error {
	end := &stopper{drain: c.Drain, grace: s.StopGrace, log: log}
	clients := connections(s, log)
	main, failed := server(end.farewell(c.handler(s, log)), log), make(chan error, 3)
	servers := []*http.Server{main}
	go func() { failed <- clients.Serve(main, httpadapter.Listener(over(l.main, secure.main))) }()
	c.serves.Store(true)
	if l.metrics != nil {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", c.Metrics.Handler())
		beside := server(mux, log)
		servers = append(servers, beside)
		go func() { failed <- clients.Serve(beside, l.metrics) }()
	}
	if l.portal != nil {
		beside := server(end.farewell(c.portalWeb(s, c.Portal())), log)
		servers = append(servers, beside)
		go func() { failed <- clients.Serve(beside, httpadapter.Listener(over(l.portal, secure.portal))) }()
		log.Info("serving the portal", "address", l.portal.Addr().String(), "tls", secure.portal != nil)
	}
	log.Info("serving", "address", l.main.Addr().String(), "store", s.Storage.Type, "tls", secure.main != nil)
	ready()
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	// The servers stop: at once if one has failed, else after the grace period.
	ctx = context.WithoutCancel(ctx)
	if err == nil {
		end.log.Info("stopping: changes are refused, and gateways are answered a while longer; a second signal ends at once", "grace", end.grace)
	}
	end.leaving.Store(true)
	draining, drained := context.WithTimeout(ctx, drainTimeout)
	if late := end.drain(draining); late != nil {
		end.log.Warn("changes or announcements were still under way when the time for them was over", "error", late)
	}
	drained()
	if err == nil {
		select {
		case <-time.After(end.grace):
		case err = <-failed:
		}
	}
	stopping, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	errs := []error{err}
	for _, srv := range servers {
		errs = append(errs, srv.Shutdown(stopping))
	}
	return errors.Join(errs...)
}

// connections bounds the connections of all servers together, below the number of files
// that the process may open, because the store and outgoing calls need some too. Nil:
// no bound.
func connections(s config.Settings, log *slog.Logger) *httpadapter.Connections {
	most := s.Limits.Connections
	if most == 0 {
		return nil
	}
	if files := openFiles(); files > 0 {
		most = min(most, files/4*3)
	}
	c := httpadapter.NewConnections(most, func() {
		log.Warn("there are too many connections: those that have waited longest for their clients are closed; raise limits.connections and the number of open files if that is not an attack", "most", most)
	})
	secret := s.NodeSecret.Reveal()
	c.Spared = func(r *http.Request) bool {
		node := strings.HasPrefix(r.URL.Path, "/system/") || strings.HasPrefix(r.URL.Path, "/register/")
		return node && identity.Equal(secret, r.Header.Get("Authorization"))
	}
	return c
}

// server returns a server with timeouts for slow clients.
func server(h http.Handler, log *slog.Logger) *http.Server {
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 2 * time.Minute, WriteTimeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	httpadapter.EndLive(s)
	return s
}

// handler returns the handler of the App. Metrics are part of it, for callers with the
// admin secret, unless they have an address of their own.
func (c *Composition) handler(s config.Settings, log *slog.Logger) http.Handler {
	if s.Portal.Serve == config.PortalAlone {
		return c.portalWeb(s, c.Portal())
	}
	h := consolesElsewhere(s.Console.Origins, c.backupBeside(c, s, log))
	if s.Portal.Serve == config.PortalShared {
		h = c.portalWeb(s, h)
	}
	if c.Traces != nil {
		h = c.Traces.Middleware(h)
	}
	if s.MetricsAddress != "" {
		return h
	}
	// /metrics is served to callers with the admin secret, in the header admin-auth or
	// as a bearer token, which collectors can send.
	metrics, adminSecret := c.Metrics.Handler(), s.AdminSecret.Reveal()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			h.ServeHTTP(w, r)
			return
		}
		token := r.Header.Get("admin-auth")
		if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
			token = bearer
		}
		if !identity.Equal(adminSecret, token) {
			http.Error(w, "Present the admin secret as admin-auth or as a bearer token, or set metrics.listen_address.", http.StatusUnauthorized)
			return
		}
		metrics.ServeHTTP(w, r)
	})
}
