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

// Known is a cache of the APIs and policies that a caller sees, for one request: each
// record is read once.
type Known struct {
	lookup   *lookup
	Policies map[string]policy.Policy // by id, which keys use
}

// Known returns an empty cache for a caller.
func (s *Service) Known(who operation.Principal) *Known {
	return &Known{lookup: s.lookup(who), Policies: map[string]policy.Policy{}}
}

// All reports whether the caller sees every API and policy.
func (k *Known) All() bool { return k.lookup.viewer.All }

// APIs returns the APIs that have been read so far.
func (k *Known) APIs() policy.APIs { return k.lookup.known }

// Learn reads APIs, and policies with their APIs. IDs that do not exist are ignored.
func (k *Known) Learn(ctx context.Context, r store.Reader, apis, policies []string) error {
	for _, id := range policies {
		if _, known := k.Policies[id]; known || !policy.ValidID(id, true) { // or no store could look it up
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

// API returns the api_id of an API, by which gateways know it, and the API. name is
// either of its IDs (docs/wire/requests.md#identifiers).
func (k *Known) API(ctx context.Context, r store.Reader, name string) (string, policy.API, error) {
	a, err := k.lookup.kind.Get(ctx, r, name)
	if err != nil {
		return "", policy.API{}, err
	}
	k.lookup.keep(a.Value)
	return a.Value.APIID(), k.APIs()[a.Value.APIID()], nil
}

// Allow refuses a write that gives access to APIs that the caller, of the organisation
// own, may not see. APIs to which there was access before are allowed. APIs of other
// organisations are refused as well, because gateways that several organisations share
// would grant access to them. Policies may name such APIs, because they count as APIs
// that do not exist, and the feed of policies leaves them out.
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
