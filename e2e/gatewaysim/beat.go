package gatewaysim

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// beat sends heartbeats until the process ends (docs/wire/gateway-nodes.md#heartbeat).
func (p *process) beat() {
	for {
		p.heartbeat()
		if !p.sleep(p.cfg.Intervals.Heartbeat) {
			return
		}
	}
}

// heartbeat sends one heartbeat. A 403 with any body causes a new registration and then a full
// reload; the loaded APIs are served meanwhile.
func (p *process) heartbeat() {
	ans, err := p.ping()
	switch {
	case err != nil:
		p.failed("heartbeat", err)
	case ans.status == http.StatusForbidden:
		p.update(func(s *State) { s.Registered = false })
		if p.register() {
			p.wantReload()
		}
	case ans.status != http.StatusOK:
		p.failed("heartbeat", fmt.Errorf("status %d", ans.status))
	}
}

// probe checks the control plane's health at its own interval. It shares the nonce with other calls
// but never registers; it treats a 403 as healthy.
func (p *process) probe() {
	for p.sleep(p.cfg.Intervals.Probe) {
		ans, err := p.ping()
		if p.ctx.Err() != nil {
			return
		}
		up := err == nil && (ans.status == http.StatusOK || ans.status == http.StatusForbidden)
		p.update(func(s *State) { s.DashboardUp = up })
	}
}

func (p *process) ping() (answer, error) {
	ans, err := p.send(p.ctx, http.MethodGet, pathPing, nil, withNode|withSession|withHost)
	if err == nil && ans.status == http.StatusOK {
		p.update(func(s *State) { s.Heartbeats++ })
	}
	return ans, err
}

// QuotaTrigger is the report of a key that has crossed a quota limit
// (docs/wire/gateway-nodes.md#quota-trigger).
type QuotaTrigger struct {
	Message            string
	OriginatingRequest string
	OrgID              string `json:"org_id"`
	Key                string `json:"key"` // the plain key: never logged
	TriggerLimit       int64  `json:"trigger_limit"`
	UsagePercentage    int64  `json:"usage_percentage"`
}

// ReportQuota sends a quota trigger as the gateway does: with node id and nonce but without session
// and host name. The error is ErrNotRunning, or says that the answer was not 200, which a real
// gateway would only log.
func (g *Gateway) ReportQuota(ctx context.Context, q QuotaTrigger) error {
	body, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("gatewaysim: quota trigger: %w", err)
	}
	g.mu.Lock()
	p, running := g.proc, g.proc.running()
	g.mu.Unlock()
	if !running {
		return ErrNotRunning
	}
	ans, err := p.send(ctx, http.MethodPost, pathQuota, body, withNode)
	if err != nil {
		return fmt.Errorf("gatewaysim: quota trigger: %w", err)
	}
	if ans.status != http.StatusOK {
		return fmt.Errorf("gatewaysim: quota trigger: status %d", ans.status)
	}
	return nil
}
