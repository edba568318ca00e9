package app

import (
	nethttp "net/http"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	users "github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/app/portal/sso"
	"github.com/gatehouse-io/gatehouse/ports/secret"
)

// signIn returns the service for profiles of single sign-on.
func (p portalSettings) signIn(keys secret.Keys) *sso.Profiles {
	s := &sso.Profiles{Keys: keys}
	if p.Portal != nil {
		s.URL = sso.Address(p.URL)
	}
	return s
}

// newSignOn returns the service that logs in people whom identity brokers have
// recognised.
func newSignOn(p portalSettings, t crud.Tools, keys secret.Keys, persons *users.Service, own *live.Service) (*sso.Service, error) {
	scope, err := p.scope()
	if err != nil {
		return nil, &refusal{err}
	}
	c := sso.Config{Scope: scope, People: persons, Live: own, Profiles: p.signIn(keys), Equal: identity.Equal}
	if p.Portal != nil {
		c.Settings = p.SignOn
	}
	return &sso.Service{Config: c, Tools: t}, nil
}

// brokersToo also serves the paths that brokers know.
func brokersToo(portal nethttp.Handler) nethttp.Handler {
	if portal == nil {
		return nil
	}
	return nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if path := sso.Canonical(r.URL.Path); path != r.URL.Path {
			r = r.Clone(r.Context())
			r.URL.Path, r.URL.RawPath = path, sso.Canonical(r.URL.RawPath)
		}
		portal.ServeHTTP(w, r)
	})
}
