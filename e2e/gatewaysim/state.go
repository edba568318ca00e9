package gatewaysim

import (
	"context"
	"fmt"
	"maps"
)

// State is a snapshot of a gateway. Its slices and the Skipped map are shared between
// snapshots and must not be changed.
type State struct {
	Running   bool
	SessionID string // constant for the process, new after a restart

	NodeID        string // solo-<uuid> when the control plane gave none (docs/wire/gateway-nodes.md#registration)
	Nonce         string // last received nonce, "" if the last answer had none
	Registered    bool   // the last registration was accepted and not refused since
	Registrations int    // accepted registrations
	Heartbeats    int    // heartbeats and probes answered 200
	Refusals      int    // 403 answers to calls that carry a nonce
	DashboardUp   bool   // result of the last health probe; true before the first

	Ready   bool   // a full load has succeeded
	Wedged  string // why loads can never run again (docs/wire/gateway-nodes.md#recovery-words), "" if they can
	Crashed string // the cause of a crash, "" if there was none

	Reloads            int // full loads that succeeded, the two at start included
	ReloadsFailed      int
	IdPRefreshes       int // accepted answers of /system/clientidps, in loads or alone
	IdPRefreshesFailed int

	APIs     []API
	Policies []Policy
	IdPs     []string          // client_idp_id in feed order
	Skipped  map[string]string // api_id to the reason why it was left out of the last API feed

	Subscribed    bool // notifications are being received
	Subscriptions int  // how many times it has subscribed
	Notifications map[string]Notification

	LastError string // the last error, for messages
}

// Notification counts the messages of one command. Unreadable messages have the command
// "".
type Notification struct {
	Received int
	Accepted int // with a valid signature and known, even if this gateway has nothing to do
	Rejected int // malformed or badly signed
	Ignored  int // unknown, or not meant for gateways
}

// Request is a kind of answered call to the control plane.
type Request struct {
	Path   string // such as /register/ping
	Status int    // 0 if there was no answer
}

// State returns a snapshot.
func (g *Gateway) State() State {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.snapshot()
}

// snapshot copies the state; the caller holds g.mu.
func (g *Gateway) snapshot() State {
	s := g.proc.state
	s.Running = g.proc.running()
	s.Notifications = maps.Clone(s.Notifications)
	return s
}

// Requests returns, for each call of the current process, the number of answers by
// status.
func (g *Gateway) Requests() map[Request]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.proc.requests)
}

// WaitFor blocks until cond returns true for the state, or ctx ends. cond is called
// after each change, but may miss some of several fast changes; it may call other
// methods of the gateway. The error wraps ctx.Err() and shows the last state.
func (g *Gateway) WaitFor(ctx context.Context, cond func(State) bool) error {
	for {
		g.mu.Lock()
		s, changed := g.snapshot(), g.changed
		g.mu.Unlock()
		if cond(s) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("gatewaysim: waiting: %w; last state %+v", ctx.Err(), s)
		}
	}
}

// update changes the state under Gateway.mu and wakes waiters.
func (p *process) update(change func(*State)) {
	p.gw.mu.Lock()
	defer p.gw.mu.Unlock()
	change(&p.state)
	close(p.gw.changed)
	p.gw.changed = make(chan struct{})
}

// failed records an error.
func (p *process) failed(what string, err error) {
	if p.ctx.Err() != nil {
		return // the end of the process is not an error
	}
	p.cfg.Logger.Warn(what, "error", err)
	p.update(func(s *State) { s.LastError = what + ": " + err.Error() })
}
