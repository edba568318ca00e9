package apps

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Logins is what the doctor needs about identity providers and their entries in the
// registries of dashboards.
type Logins interface {
	// Lonely finds clients with claims that no credential needs.
	Lonely(ctx context.Context, scope tenant.Scope) ([]Lonely, error)
	// Needed reports whether a credential has come to need the claim meanwhile.
	Needed(ctx context.Context, scope tenant.Scope, l Lonely) (bool, error)
	// Release removes the claim; it can be repeated.
	Release(ctx context.Context, org tenant.ID, l Lonely) error
	// Astray finds registry entries that are out of date.
	Astray(ctx context.Context, scope tenant.Scope) ([]Astray, error)
	// Lead updates one entry.
	Lead(ctx context.Context, scope tenant.Scope, a Astray) error
}

// Lonely is a client of an identity provider with a claim that no credential needs.
type Lonely struct {
	App, IdP table.ID
	ClientID string   // "": the answer of its registration was lost
	Claims   []string // the claims of the client
}

// Astray is a registry entry that is out of date.
type Astray struct {
	IdP, Dashboard table.ID
	Entry          string
	More, Less     bool  // it has mappings of deleted objects; it lacks mappings
	Err            error // why it could not be checked
}

// logins returns the findings about identity providers and registries.
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
			continue // the app is about to get a credential, or to be deleted
		}
		if needed, err := s.Logins.Needed(ctx, scope, l); err != nil || needed { // a saga that has just ended may need it
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
