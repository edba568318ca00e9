package scenarios

import (
	"maps"
	"net"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// Credentials and names that all services of the tests share.
const (
	adminSecret = "admin-secret-of-the-scenarios"
	nodeSecret  = "node-secret-of-the-scenarios"
	keySecret   = "encryption-key-of-the-scenarios!"
	accessKey   = "00112233445566778899aabbccddeeff"
	orgID       = "5f1a0c5d8e3b2a1f000000a1"
	adminEmail  = "admin@example.com"
)

// startLimit is how long a service may take to answer after its start, on a machine with a busy
// disk.
const startLimit = 2 * time.Minute

// environment is the settings of a program: variables without the prefix SVC_DB_, and the full
// names of the portal's own settings.
type environment map[string]string

// with returns a copy in which more takes precedence.
func (e environment) with(more environment) environment {
	out := maps.Clone(e)
	maps.Copy(out, more)
	return out
}

// portals matches the names of the portal's own settings.
var portals = regexp.MustCompile("^(SVC|TYK)_PORTAL_")

func (e environment) list() []string {
	var out []string
	for name, value := range e {
		if !portals.MatchString(name) {
			name = "SVC_DB_" + name
		}
		out = append(out, name+"="+value)
	}
	return out
}

// onSQLite stores all data in dir.
func onSQLite(dir string) environment {
	return environment{
		"HOMEDIR": dir, "STORAGE_MAIN_TYPE": "sqlite", "LISTENADDRESS": "127.0.0.1",
		"ADMINSECRET": adminSecret, "NODESECRET": nodeSecret, "ENCRYPTIONKEYS": keySecret, "LOGLEVEL": "warn",
		"SHUTDOWN_GRACEPERIOD": "100ms",
	}
}

// onPostgres stores all data in a database.
func onPostgres(dir, dsn string) environment {
	return onSQLite(dir).with(environment{"STORAGE_MAIN_TYPE": "postgres", "STORAGE_MAIN_CONNECTIONSTRING": dsn})
}

// bootstrapping creates the organisation and its admin at the start.
func (e environment) bootstrapping() environment {
	return e.with(environment{"BOOTSTRAP_EMAIL": adminEmail, "BOOTSTRAP_ACCESSKEY": accessKey, "BOOTSTRAP_ORGID": orgID})
}

// service is one running process of the program.
type service struct {
	addr    string
	process *harness.Process
	api     *client // as the admin of the organisation
	node    *client // as a gateway
	admin   *client // as the super-admin
}

// launch starts a service without waiting for it.
func launch(t *testing.T, env environment, flags ...string) *service {
	t.Helper()
	binary := harness.Binary(t) // may have to be built first, because the port is used right after
	port := strconv.Itoa(harness.FreePort(t))
	s := &service{addr: net.JoinHostPort("127.0.0.1", port)}
	s.process = harness.StartProcess(t, harness.Command{
		Path: binary, Args: append([]string{"serve"}, flags...), Dir: t.TempDir(),
		Env: env.with(environment{"LISTENPORT": port}).list(),
	})
	base := "http://" + s.addr
	s.api = newClient(base, "Authorization", accessKey)
	s.node = newClient(base, "Authorization", nodeSecret)
	s.admin = newClient(base, "Admin-Auth", adminSecret)
	t.Cleanup(func() {
		for _, c := range []*client{s.api, s.node, s.admin} {
			c.http.CloseIdleConnections()
		}
	})
	return s
}

// serve starts a service and waits for it.
func serve(t *testing.T, env environment, flags ...string) *service {
	t.Helper()
	s := launch(t, env, flags...)
	s.awaitReady(t)
	return s
}

// restart starts a killed service and waits for it.
func (s *service) restart(t *testing.T) {
	t.Helper()
	s.process.Start(t)
	s.awaitReady(t)
}

func (s *service) awaitReady(t *testing.T) {
	t.Helper()
	until(t, startLimit, "readiness of "+s.addr, func() error { return s.admin.call(t.Context(), "GET", "/health", nil, nil) })
}

// launchAll starts n services at the same moment and waits for all.
func launchAll(t *testing.T, n int, env environment) []*service {
	t.Helper()
	all := make([]*service, n)
	for i := range all {
		all[i] = launch(t, env.with(environment{"HOMEDIR": t.TempDir()}))
	}
	for _, s := range all {
		s.awaitReady(t)
	}
	return all
}

func addresses(all []*service) (out []string) {
	for _, s := range all {
		out = append(out, s.addr)
	}
	return out
}

// problems collects errors of goroutines.
type problems struct {
	mu  sync.Mutex
	all []error
}

func (p *problems) add(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, err)
}

// report fails the test with the first few collected errors.
func (p *problems) report(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, err := range p.all[:min(len(p.all), 5)] {
		t.Error(err)
	}
	if len(p.all) > 5 {
		t.Errorf("and %d more", len(p.all)-5)
	}
}
