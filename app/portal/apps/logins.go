package apps

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Logins is what the doctor asks about identity providers, and the entries that registries
// of dashboards have of them.
type Logins interface {
	// Lonely finds clients that stand for what no credential needs.
	Lonely(ctx context.Context, scope tenant.Scope) ([]Lonely, error)
	// Needed reports whether a credential for that has come meanwhile.
	Needed(ctx context.Context, scope tenant.Scope, l Lonely) (bool, error)
	// Release ends that; it can be repeated.
	Release(ctx context.Context, org tenant.ID, l Lonely) error
	// Astray finds entries that are not as they should be.
	Astray(ctx context.Context, scope tenant.Scope) ([]Astray, error)
	// Lead brings one to what it should be.
	Lead(ctx context.Context, scope tenant.Scope, a Astray) error
}

// Lonely is a client of an identity provider that stands for what no credential needs.
type Lonely struct {
	App, IdP table.ID
	ClientID string   // "": its registration ended without an answer
	Claims   []string // what it stands for
}

// Astray is an entry of a registry that is not as it should be.
type Astray struct {
	IdP, Dashboard table.ID
	Entry          string
	More, Less     bool  // it maps scopes of what is gone; it lacks some
	Err            error // why it could not be looked at
}

// logins is what the doctor finds at identity providers and in registries.
func (s *Service) logins(ctx context.Context, scope tenant.Scope, fix bool) (out []Finding, err error) {
	if s.Logins == nil {
		return nil, nil
	}
	all, err := s.Logins.Lonely(ctx, scope)
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		if s.goesOn(ctx, scope, l.App) {
			continue // it is about to get a credential, or to go
		}
		if needed, err := s.Logins.Needed(ctx, scope, l); err != nil || needed { // by what has just ended
			continue
		}
		f := Finding{Finding: ClientAlone, OAuthProviderID: l.IdP, AppID: l.App, Alias: l.ClientID}
		if fix {
			f = f.done(s.releasing.Run(ctx, scope, about(l.App), &l))
		}
		out = append(out, f)
	}
	astray, err := s.Logins.Astray(ctx, scope)
	for _, a := range astray {
		f := Finding{Finding: MappingLacking, OAuthProviderID: a.IdP, ProviderID: a.Dashboard, Alias: a.Entry}
		switch {
		case a.Err != nil:
			f.Finding, f.Message = ProviderAway, message(issuers.Explain(a.Err))
		case a.More:
			f.Finding = MappingAlone
		}
		if fix && a.Err == nil {
			f = f.done(s.Logins.Lead(ctx, scope, a))
		}
		out = append(out, f)
	}
	return out, err
}
