package gatewaysim

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// ErrRunning is returned by Start while the gateway runs, ErrNotRunning by methods that need a
// running gateway.
var (
	ErrRunning    = errors.New("gatewaysim: already running")
	ErrNotRunning = errors.New("gatewaysim: not running")
)

// Gateway is one simulated gateway. Its methods may be called concurrently.
type Gateway struct {
	cfg  Config
	life sync.Mutex // serialises Start, Stop and Kill

	mu      sync.Mutex    // guards the fields below and those marked so in process
	changed chan struct{} // closed and replaced at every change of state
	proc    *process      // the running process, or the last one
	keys    map[string]Key
	fault   Fault                    // of the control API
	faulty  func(*http.Request) bool // for which requests the fault applies; nil: all
	asked   map[string]int           // calls of the control API, by method and pattern

	controlAPI http.Handler
}

// process is one run of a gateway, from Start to its end. Nothing in it survives a restart.
type process struct {
	gw     *Gateway
	cfg    Config
	ctx    context.Context // ends with the process
	cancel context.CancelFunc
	tasks  sync.WaitGroup
	http   *http.Client
	jwks   *keySets

	loading   chan struct{} // the reload lock: full while a load runs, for ever once wedged
	reloadDue chan struct{} // full when a full reload waits for the next tick
	idpDue    chan struct{} // full when a registry refresh waits for the debounce
	attempted chan struct{} // closed when the first load has ended or hangs
	attempt   sync.Once

	// Guarded by Gateway.mu. The maps of loaded configuration are replaced,
	// never changed.
	state     State
	requests  map[Request]int
	apis      *apiSet
	policies  map[policyKey]*policy
	registry  *registry
	sessions  map[sessionKey]time.Time // expiry, zero for never
	counters  map[counterKey]*counter
	plainUsed map[string]bool // APIs whose plain-text jwt_source had its one request
}

// New returns a gateway that does nothing until Start.
func New(cfg Config) *Gateway {
	g := &Gateway{cfg: cfg.withDefaults(), changed: make(chan struct{}), keys: map[string]Key{}, asked: map[string]int{}}
	g.cfg.Store.join(g)
	g.controlAPI = g.controls()
	g.proc = newProcess(context.Background(), g)
	g.proc.cancel()
	return g
}

func newProcess(ctx context.Context, g *Gateway) *process {
	p := &process{gw: g, cfg: g.cfg}
	p.ctx, p.cancel = context.WithCancel(ctx)
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP1(true) // docs/wire/gateway-nodes.md#headers: every call is HTTP/1.1
	p.http = &http.Client{Transport: transport, Timeout: g.cfg.Timeout}
	p.jwks = newKeySets(p.http, g.cfg.Intervals.JWKSCache)
	p.loading = make(chan struct{}, 1)
	p.reloadDue = make(chan struct{}, 1)
	p.idpDue = make(chan struct{}, 1)
	p.attempted = make(chan struct{})
	p.state = State{SessionID: cmp.Or(g.cfg.SessionID, newUUID()), Notifications: map[string]Notification{}}
	p.requests = map[Request]int{}
	p.apis, p.registry = &apiSet{}, &registry{}
	p.sessions, p.plainUsed = map[sessionKey]time.Time{}, map[string]bool{}
	p.counters = map[counterKey]*counter{}
	return p
}

// Start starts the gateway and returns at once; wait for a [State] to see its progress. When ctx
// ends, the gateway is killed. The error is ErrRunning or says what is wrong with the
// configuration.
func (g *Gateway) Start(ctx context.Context) error {
	g.life.Lock()
	defer g.life.Unlock()
	if g.State().Running {
		return ErrRunning
	}
	if err := g.cfg.check(); err != nil {
		return err
	}
	g.kill() // ends the rest of a process that crashed or whose context ended
	p := newProcess(ctx, g)
	p.state.Running = true
	g.mu.Lock()
	g.proc = p
	g.mu.Unlock()
	context.AfterFunc(p.ctx, func() { p.update(func(s *State) { s.Running = false }) }) // wakes WaitFor
	p.tasks.Go(p.boot)
	if p.cfg.Redis.Addr != "" {
		p.tasks.Go(p.listen)
		p.tasks.Go(p.debounce)
	}
	return nil
}

// Stop ends the gateway gracefully: everything halts, then the node is deregistered with DELETE
// /system/node (docs/wire/gateway-nodes.md#deregistration). The gateway is stopped whatever Stop
// returns; the error says that the control plane did not confirm, which a real gateway would only
// log.
func (g *Gateway) Stop(ctx context.Context) error {
	g.life.Lock()
	defer g.life.Unlock()
	running := g.State().Running
	p := g.kill()
	if node := g.State().NodeID; !running || node == "" {
		return nil
	}
	defer p.http.CloseIdleConnections()
	ans, err := p.send(ctx, http.MethodDelete, pathNode, nil, withNode|withSession|withHost)
	if err != nil {
		return fmt.Errorf("gatewaysim: deregister: %w", err)
	}
	if ans.status != http.StatusOK {
		return fmt.Errorf("gatewaysim: deregister: status %d", ans.status)
	}
	return nil
}

// Kill ends the gateway without deregistration, like a lost machine.
func (g *Gateway) Kill() {
	g.life.Lock()
	defer g.life.Unlock()
	g.kill()
}

// kill ends the current process, waits for its tasks and returns it.
func (g *Gateway) kill() *process {
	g.mu.Lock()
	p := g.proc
	g.mu.Unlock()
	p.cancel()
	p.tasks.Wait()
	p.http.CloseIdleConnections()
	p.update(func(s *State) { s.Running = false })
	return p
}

// running depends on the context, which ends before waiters are woken. The caller holds Gateway.mu.
func (p *process) running() bool { return p.state.Running && p.ctx.Err() == nil }

// sleep waits and reports whether the process still runs afterwards.
func (p *process) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// newUUID returns a random UUID (RFC 9562, version 4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
