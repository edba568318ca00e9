package app

import (
	"github.com/gatehouse-io/gatehouse/app/portal/sso"
	"github.com/gatehouse-io/gatehouse/ports/secret"
)

// signIn is what there is to profiles of single sign-on.
func (p portalSettings) signIn(keys secret.Keys) *sso.Profiles {
	s := &sso.Profiles{Keys: keys}
	if p.Portal != nil {
		s.URL = sso.Address(p.URL)
	}
	return s
}
