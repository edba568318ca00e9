package app

import (
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/assets"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/hooks"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/app/registry"
)

// newKinds is the list of all kinds of resources. What there is per kind is joined
// from it: references, announcements, feeds, operations. Its order is the one in which
// references and feeds are listed; a group of the graph would have none.
func newKinds(s *settings) (crud.Kinds, error) {
	d := s.definitions.APIs
	all := crud.Kinds{}
	for _, r := range append([]crud.Registrar{
		apis.Registration(d),
		apis.Notices(d.Ownership),
		policies.Registration(apis.Kind, d.Ownership),
		hooks.Registration(),
		assets.Registration(),
		registry.Registration(),
		identity.OrganisationRegistration(),
		identity.UserRegistration(),
	}, s.resources...) {
		all = append(all, r.Registration())
	}
	if err := all.Check(); err != nil {
		return nil, &refusal{err}
	}
	return all, nil
}

// newReferences joins what is known about who names whom.
func newReferences(ks crud.Kinds) *crud.References { return crud.NewReferences(ks...) }
