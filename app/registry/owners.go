package registry

import (
	"context"
	"iter"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// notesOwned says in the API description who may touch which mapping.
const notesOwned = "While enable_ownership is on, only owners and admins touch the mapping of an API that has owners: 401 for others."

// codeNotOwned is the code of a write that would map an API of others.
const codeNotOwned = registry.Kind + ".not_owned"

// touching returns the APIs whose mappings a write concerns, given what is stored.
type touching func(old registry.IdP) iter.Seq[string]

// replacing is a write that puts other mappings in the place of all there are. Those
// that it keeps count too: with another key source they open their APIs to others.
func replacing(next registry.Mappings) touching {
	return func(old registry.IdP) iter.Seq[string] {
		return func(yield func(string) bool) {
			for _, ms := range []registry.Mappings{old.APIMappings, next} {
				for api := range ms.APIs() {
					if !yield(api) {
						return
					}
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
