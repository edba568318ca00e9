package registry

import (
	"context"
	"iter"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// What the API description says of who may touch which mapping.
const (
	notesOwned = "While enable_ownership is on, only owners and admins touch the mapping of an API that has owners: 401 for others."
	notesWhole = "While enable_ownership is on, only owners and admins add or change the mapping of an API that has owners, or keep it with other keys: 401 for others."
)

// codeNotOwned is the code of a write that would map an API of others.
const codeNotOwned = registry.Kind + ".not_owned"

// touching returns the APIs whose mappings a write concerns, given what is stored.
type touching func(old registry.IdP) iter.Seq[string]

// replacing is a write of a whole record. It concerns the APIs whose mappings it adds or
// changes, and those it keeps while other keys open them. It does not concern those that it
// takes away: the permission to write records is the one to delete them.
func replacing(next registry.Draft) touching {
	return func(old registry.IdP) iter.Seq[string] {
		return func(yield func(string) bool) {
			trusted := old.Issuer == next.Issuer && old.JWKSURI == next.JWKSURI && old.ScopeClaim == next.ScopeClaim
			for api, m := range next.APIMappings.All() {
				if was, mapped := old.APIMappings.Get(api); mapped && trusted && m.Equal(was) {
					continue
				}
				if !yield(api) {
					return
				}
			}
		}
	}
}

// owners refuses, for one request, to touch mappings of APIs that exist and belong
// to others. It looks each API up once. A nil owners refuses nothing.
type owners struct {
	foreign  func(ctx context.Context, r store.Reader, apiID string) (bool, error)
	admitted map[string]bool
}

func (s *ClientIDPs) owners(who operation.Principal) *owners {
	if s.Foreign == nil {
		return nil
	}
	foreign := s.Foreign(who)
	if foreign == nil {
		return nil
	}
	return &owners{foreign: foreign, admitted: map[string]bool{}}
}

func (o *owners) admit(ctx context.Context, r store.Reader, apis iter.Seq[string]) error {
	if o == nil {
		return nil
	}
	for api := range apis {
		if o.admitted[api] {
			continue
		}
		switch foreign, err := o.foreign(ctx, r, api); {
		case err != nil:
			return err
		case foreign:
			return fault.New(fault.Unauthenticated, codeNotOwned, "Not authorised")
		}
		o.admitted[api] = true
	}
	return nil
}
