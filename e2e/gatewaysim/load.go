package gatewaysim

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// errCrash ends the process: the feed had an entry that crashes the gateway.
var errCrash = errors.New("an API entry has no api_definition")

// locked runs a load under the reload lock. In a wedged gateway the lock is never released, so this
// returns only at the end of the process.
func (p *process) locked(load func() error) error {
	select {
	case p.loading <- struct{}{}:
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
	defer func() { <-p.loading }()
	return load()
}

// reload fetches policies, APIs and identity providers, in this order. The first failure ends it;
// the earlier configuration stays.
func (p *process) reload() error {
	return p.locked(func() error {
		err := p.loadAll()
		switch {
		case p.ctx.Err() != nil:
			return p.ctx.Err()
		case errors.Is(err, errCrash):
			p.crash(err)
			return err
		case err != nil:
			p.failed("reload", err)
			p.update(func(s *State) { s.ReloadsFailed++ })
			return err
		}
		p.update(func(s *State) { s.Reloads++; s.Ready = true })
		return nil
	})
}

func (p *process) loadAll() error {
	if err := p.loadPolicies(); err != nil {
		return err
	}
	empty, err := p.loadAPIs()
	if err != nil || empty {
		return err
	}
	_ = p.loadIdPs() // a failure does not affect APIs and policies (docs/wire/feeds.md#client-idps)
	return p.ctx.Err()
}

func (p *process) loadPolicies() error {
	message, err := p.fetch(pathPolicies)
	if err != nil {
		return err
	}
	loaded, err := parsePolicies(message, p.cfg.LocalPolicies)
	if err != nil {
		return fmt.Errorf("%s: feed refused: %w", pathPolicies, err)
	}
	p.update(func(s *State) { p.policies, s.Policies = loaded, listPolicies(loaded) })
	return nil
}

// loadAPIs reports whether there are no APIs now and were none before, in which case the gateway
// has nothing more to do.
func (p *process) loadAPIs() (empty bool, err error) {
	message, err := p.fetch(pathAPIs)
	if err != nil {
		return false, err
	}
	entries, err := parseAPIs(message, p.cfg.LocalAPIs)
	if err != nil {
		return false, fmt.Errorf("%s: feed refused: %w", pathAPIs, err)
	}
	loaded := newAPISet(entries, p.cfg.Segmented, p.cfg.Tags)
	p.update(func(s *State) {
		empty = len(loaded.list) == 0 && len(p.apis.list) == 0
		p.apis, s.APIs, s.Skipped = loaded, loaded.summary(), loaded.skipped
	})
	return empty, nil
}

func (p *process) loadIdPs() error {
	message, err := p.fetch(pathIdPs)
	var loaded *registry
	if err == nil {
		loaded, err = parseRegistry(message)
	}
	if err != nil {
		p.failed("registry refresh", err)
		p.update(func(s *State) { s.IdPRefreshesFailed++ })
		return err
	}
	p.update(func(s *State) {
		p.registry, s.IdPs = loaded, loaded.idps
		s.IdPRefreshes++
	})
	return nil
}

// fetch returns the Message of one feed, or wedges the gateway.
func (p *process) fetch(path string) (json.RawMessage, error) {
	ans, err := p.send(p.ctx, http.MethodGet, path, nil, withNode|withSession)
	switch {
	case p.ctx.Err() != nil:
		return nil, p.ctx.Err()
	case err != nil && isNetworkError(err):
		return nil, p.wedge(fmt.Sprintf("%s: network error during a load: %v", path, err))
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case ans.status == http.StatusForbidden && recoveryWord(ans.body) != "":
		return nil, p.wedge(fmt.Sprintf("%s: 403 with %q during a load", path, recoveryWord(ans.body)))
	case ans.status != http.StatusOK:
		return nil, fmt.Errorf("%s: status %d", path, ans.status)
	case ans.envErr != nil:
		return nil, fmt.Errorf("%s: envelope: %w", path, ans.envErr)
	}
	return ans.env.Message, nil
}

// wedge is the recovery of docs/wire/gateway-nodes.md#recovery-words: the gateway registers again
// and then waits for the reload lock that it holds itself, until the process ends.
func (p *process) wedge(reason string) error {
	p.cfg.Logger.Error("wedged", "reason", reason)
	p.update(func(s *State) { s.Wedged, s.LastError = reason, reason })
	p.firstAttemptOver()
	p.register()
	<-p.ctx.Done()
	return p.ctx.Err()
}

func (p *process) crash(err error) {
	p.cfg.Logger.Error("crashed", "error", err)
	p.update(func(s *State) { s.Running, s.Crashed, s.LastError = false, err.Error(), err.Error() })
	p.cancel()
}
