package gatewaysim

import "time"

// boot is the start-up sequence of docs/wire/gateway-nodes.md#registration: register, load, then
// heartbeats and a second load concurrently.
func (p *process) boot() {
	p.register()
	if p.ctx.Err() != nil {
		return
	}
	p.update(func(s *State) { s.DashboardUp = true })
	p.tasks.Go(p.tick)
	p.tasks.Go(func() {
		select {
		case <-p.attempted:
			p.tasks.Go(p.probe)
			p.beat()
		case <-p.ctx.Done():
		}
	})
	if p.initialLoad() {
		_ = p.reload() // errors are counted and logged there; a notification tries again
	}
}

// initialLoad loads until it succeeds, with a backoff that doubles up to twelve times its first
// value. It reports whether the process is still running.
func (p *process) initialLoad() bool {
	wait, longest := p.cfg.Intervals.LoadRetry, 12*p.cfg.Intervals.LoadRetry
	for {
		err := p.reload()
		p.firstAttemptOver()
		if err == nil {
			return true
		}
		if !p.sleep(wait) {
			return false
		}
		wait = min(2*wait, longest)
	}
}

// firstAttemptOver starts the heartbeats.
func (p *process) firstAttemptOver() {
	p.attempt.Do(func() { close(p.attempted) })
}

// Reload requests a full reload at the next tick, as GET /tyk/reload of the control API does
// (docs/wire/gateway-nodes.md#control-api). It does not wait.
func (g *Gateway) Reload() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.proc.wantReload()
}

// wantReload requests a full reload at the next tick. A second request before that has no effect; a
// request during a reload causes one more.
func (p *process) wantReload() {
	select {
	case p.reloadDue <- struct{}{}:
	default:
	}
}

// tick runs at most one full reload per tick.
func (p *process) tick() {
	ticker := time.NewTicker(p.cfg.Intervals.Tick)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-p.ctx.Done():
			return
		}
		select {
		case <-p.reloadDue:
			_ = p.reload() // counted and logged there
		default:
		}
	}
}

// debounce refreshes the registry once no request for it has come for a while.
func (p *process) debounce() {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	for {
		select {
		case <-p.idpDue:
			timer.Reset(p.cfg.Intervals.Debounce)
		case <-timer.C:
			_ = p.locked(p.loadIdPs) // counted and logged there
		case <-p.ctx.Done():
			return
		}
	}
}
