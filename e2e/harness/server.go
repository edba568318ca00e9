package harness

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"
)

// Time limits of one step; generous, because continuous integration machines are slow.
const (
	startLimit = 2 * time.Minute
	stopLimit  = time.Minute
	probeLimit = 2 * time.Second
	probePause = 25 * time.Millisecond
)

// service is a kind of server and how each engine runs it.
type service struct {
	name     string // the product's name
	external string // environment variable with a running server
	hint     string // what to install
	image    func() string
	port     string // in the container, "5432/tcp"

	container func(ctx context.Context, image, secret string, address testcontainers.ContainerCustomizer) (testcontainers.Container, error)
	local     func(l *local, port int, secret string) error
	url       func(addr, secret string) string
	probe     func(ctx context.Context, url string) error
}

// backend runs one server with one engine. start and kill alternate, and data survives them; remove
// deletes everything and returns the server's last output.
type backend interface {
	start(ctx context.Context, probe func(context.Context) error) error
	kill(ctx context.Context) error
	remove(ctx context.Context) (output string, err error)
}

// Server is a PostgreSQL or Redis server. Its address never changes, even over restarts.
type Server struct {
	service *service
	addr    string
	url     string
	shared  bool
	backend backend // nil for a server from the environment

	mu     sync.Mutex
	phase  phase
	output string // its last output, once it is removed
}

// phase is the state of a server.
type phase int

const (
	fresh phase = iota
	running
	killed
	gone
)

// errGone is the error of a start during the final cleanup.
var errGone = errors.New("it was removed")

// Addr is the server's TCP address, host:port.
func (s *Server) Addr() string { return s.addr }

// DSN returns the server's connection string: the maintenance database of a PostgreSQL server as
// its superuser, or the redis:// address of a Redis server.
func (s *Server) DSN() string { return s.url }

// Stop kills the server like a crash: it does not notify its clients, and makes no checkpoint. New
// connections are refused until Start. Only a test's own server can be stopped.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if s.shared {
		t.Fatalf("a shared %s server cannot be stopped; ask for one of the test's own", s.service.name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != running {
		return
	}
	if err := s.backend.kill(ctx); err != nil {
		t.Fatalf("stop %s: %v", s.service.name, err)
	}
	s.phase = killed
}

// Start starts a stopped server again, on the same address with the same data, and returns when it
// answers. Redis loses its data.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) start() error {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.phase {
	case running:
		return nil
	case gone:
		return errGone
	}
	if err := s.backend.start(ctx, s.probe); err != nil {
		return fmt.Errorf("start %s: %w", s.service.name, err)
	}
	s.phase = running
	return nil
}

func (s *Server) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	return s.service.probe(ctx, s.url)
}

// remove ends the server for good; it first waits for a running start.
func (s *Server) remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase == killed {
		// A killed PostgreSQL leaves shared memory behind; its next start releases it.
		_ = s.backend.start(ctx, s.probe)
	}
	s.phase = gone
	var err error
	s.output, err = s.backend.remove(ctx)
	return err
}

// launch starts a new server of a service; the returned function removes it.
func launch(svc *service) (*Server, func() error, error) {
	port, err := freePort()
	if err != nil {
		return nil, nil, err
	}
	secret := rand.Text()
	b, err := choose(svc, port, secret)
	if err != nil {
		return nil, nil, err
	}
	addr := loopback(port)
	s := &Server{service: svc, addr: addr, url: svc.url(addr, secret), backend: b}
	remove, err := session.owe(s.remove)
	if err != nil {
		return nil, nil, errors.Join(err, s.remove())
	}
	if err := s.start(); err != nil {
		err = errors.Join(err, remove())
		return nil, nil, fmt.Errorf("%w\n%s", err, s.output)
	}
	return s, remove, nil
}

// own starts a server for one test and removes it after the test.
func own(t testing.TB, svc *service) *Server {
	t.Helper()
	s, remove, err := launch(svc)
	if err != nil {
		unavailable(t, svc, err)
	}
	t.Cleanup(func() {
		if err := remove(); err != nil {
			t.Errorf("remove %s: %v", svc.name, err)
		}
		if t.Failed() {
			t.Logf("last output of %s:\n%s", svc.name, s.output)
		}
	})
	return s
}

// share returns the server that all tests of the process use: the one that the environment names,
// or a new one that lives until Run ends.
func share(svc *service, external func(value string) (*Server, error)) (*Server, error) {
	if value := os.Getenv(svc.external); value != "" {
		s, err := external(value)
		if err == nil {
			err = s.probe(context.Background())
		}
		if err != nil {
			return nil, fmt.Errorf("%s names a %s server that does not answer: %w", svc.external, svc.name, err)
		}
		return s, nil
	}
	s, _, err := launch(svc)
	if err != nil {
		return nil, err
	}
	s.shared = true
	return s, nil
}

// await returns when the probe succeeds; it fails when the server has ended or the time is over.
func await(ctx context.Context, probe, ended func(context.Context) error) error {
	for {
		err := probe(ctx)
		if err == nil {
			return nil
		}
		if dead := ended(ctx); dead != nil {
			return dead
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it does not answer in time: %w", err)
		case <-time.After(probePause):
		}
	}
}
