package policies

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Known is what a caller knows of APIs and policies while a request is carried out: each
// is read once.
type Known struct {
	lookup   *lookup
	Policies map[string]policy.Policy // by the identifier that keys use
}

// Known returns what a caller knows, which is nothing yet.
func (s *Service) Known(who operation.Principal) *Known {
	return &Known{lookup: s.lookup(who), Policies: map[string]policy.Policy{}}
}

// All reports whether the caller sees every API and policy.
func (k *Known) All() bool { return k.lookup.viewer.All }

// APIs returns the APIs that have been looked up.
func (k *Known) APIs() policy.APIs { return k.lookup.known }

// Learn looks up APIs, and policies with their APIs, as far as they exist.
func (k *Known) Learn(ctx context.Context, r store.Reader, apis, policies []string) error {
	for _, id := range policies {
		if _, known := k.Policies[id]; known || !policy.ValidID(id, true) { // which no store could look for
			continue
		}
		p, err := Kind.ByKey(ctx, r, byPolicyID, id)
		if fault.KindOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return err
		}
		k.Policies[id] = p.Value
		if !k.All() {
			apis = append(apis[:len(apis):len(apis)], p.Value.APIs()...)
		}
	}
	return k.lookup.fetch(ctx, r, apis)
}

// API returns the identifier that gateways know an API by, and the API: either of its
// identifiers names it (docs/wire/requests.md#identifiers).
func (k *Known) API(ctx context.Context, r store.Reader, name string) (string, policy.API, error) {
	a, err := k.lookup.kind.Get(ctx, r, name)
	if err != nil {
		return "", policy.API{}, err
	}
	k.lookup.keep(a.Value)
	return a.Value.APIID(), k.APIs()[a.Value.APIID()], nil
}

// Allow refuses to give access to APIs that belong to others than the caller of the organisation own, apart from
// those to which there was access before: to those of other organisations as well, which
// gateways that organisations share would open. Policies may name these, since an API of
// another organisation is one that does not exist; their feed leaves them out.
func (s *Service) Allow(ctx context.Context, own tenant.ID, k *Known, ids, before []string) error {
	l := k.lookup
	if err := l.known.Allow(ids, before); err != nil || s.Settings.SeparateGateways {
		return err
	}
	had := make(map[string]bool, len(before))
	for _, id := range before {
		had[id] = true
	}
	unknown := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		_, here := l.known[id]
		return here || had[id]
	})
	theirs, err := store.HeldByOthers(ctx, s.Store, own, tenant.Everyone("API IDs are unique"), l.kind.Name, l.kind.Alias, unknown...)
	if err == nil && theirs {
		err = policy.NotOwned()
	}
	return err
}
