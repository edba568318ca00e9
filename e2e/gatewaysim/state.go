package gatewaysim

import (
	"context"
	"fmt"
	"maps"
)

// State is what a gateway knows about itself at one moment. Its slices and the
// Skipped map are shared between snapshots and must not be changed.
type State struct {
	Running   bool
	SessionID string // constant for the process, new after a restart

	NodeID        string // solo-<uuid> when the control plane gave none (docs/wire/gateway-nodes.md#registration)
	Nonce         string // last nonce received, "" when the last answer had none
	Registered    bool   // the last registration was accepted and not refused since
	Registrations int    // accepted registrations
	Heartbeats    int    // heartbeats and probes answered 200
	Refusals      int    // 403 answers to calls that carry a nonce
	DashboardUp   bool   // result of the last health probe; true before the first

	Ready   bool   // a full load has succeeded
	Wedged  string // why no load will ever happen again (docs/wire/gateway-nodes.md#recovery-words), "" when fine
	Crashed string // what ended the process, "" when nothing did

	Reloads            int // full loads that succeeded, the two at start included
	ReloadsFailed      int
	IdPRefreshes       int // accepted answers of /system/clientidps, in loads or alone
	IdPRefreshesFailed int

	APIs     []API
	Policies []Policy
	IdPs     []string          // client_idp_id in feed order
	Skipped  map[string]string // api_id to the reason why it was left out of the last API feed

	Subscribed    bool // notifications are being received
	Subscriptions int  // how often the subscription was made
	Notifications map[string]Notification

	LastError string // the last thing that went wrong, for reading
}

// Notification counts the messages of one command. Messages that could not be
// read have the command "".
type Notification struct {
	Received int
	Accepted int // well signed and known, even when this gateway has nothing to do
	Rejected int // malformed or badly signed
	Ignored  int // unknown, or never meant for gateways
}

// Request is a kind of answered call to the control plane.
type Request struct {
	Path   string // such as /register/ping
	Status int    // 0 when no answer came
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

// Requests returns how often each call of the current process was answered
// with each status.
func (g *Gateway) Requests() map[Request]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.proc.requests)
}

// WaitFor blocks until cond holds for the state, or ctx is done. cond sees the
// state at each change, though not every one of several fast changes, and may
// call other methods of the gateway. The error wraps ctx.Err() and shows the
// last state.
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

// update changes what Gateway.mu guards and wakes those who wait.
func (p *process) update(change func(*State)) {
	p.gw.mu.Lock()
	defer p.gw.mu.Unlock()
	change(&p.state)
	close(p.gw.changed)
	p.gw.changed = make(chan struct{})
}

// failed records something that went wrong.
func (p *process) failed(what string, err error) {
	if p.ctx.Err() != nil {
		return // the end of the process is not news
	}
	p.cfg.Logger.Warn(what, "error", err)
	p.update(func(s *State) { s.LastError = what + ": " + err.Error() })
}
