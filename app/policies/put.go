package policies

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Put stores a complete policy from elsewhere, in a unit of work of one organisation.
// It replaces the policy with the same id, or else the one with the same _id. Otherwise
// it creates a new one, under its _id if that is free. Times in the document are kept.
// The operation is empty if the policy is stored already: then nothing is written.
func (s *Service) Put(ctx context.Context, w store.Writer, org tenant.ID, text []byte) (store.Op, error) {
	in, err := policy.NewIncoming(text)
	if err != nil {
		return "", err
	}
	l := newLookup(s.APIs, apidef.Viewer{All: true})
	if err := l.fetch(ctx, w, in.APIs()); err != nil {
		return "", err
	}
	// The stored policy that the incoming one takes the place of.
	var old *policy.Policy
	for _, name := range in.Names {
		p, err := known(ctx, w, name, name == in.ID())
		switch {
		case fault.KindOf(err) == fault.NotFound:
		case err != nil:
			return "", err
		case old == nil:
			old = &p
		case old.ID() != p.ID():
			return "", fault.New(fault.Conflict, policy.Kind+".names", "policy id and _id are those of two stored policies; leave one of them out").At("_id")
		}
	}
	if old == nil {
		p, err := in.New(s.NewID(), org, s.Now(), s.checks(l))
		if err != nil {
			return "", err
		}
		return store.Created, taken(Kind.Insert(ctx, w, p))
	}
	p, err := in.Over(*old, s.Now(), s.checks(l))
	if err != nil || p.Same(*old) {
		return "", err
	}
	return store.Updated, taken(Kind.Replace(ctx, w, p))
}

// known returns the policy with a database ID, or else with an id. Paths take either
// identifier, but an import does not: a policy may have chosen the database ID of
// another one as its id, and would be stored over that one.
func known(ctx context.Context, r store.Reader, name string, databaseID bool) (policy.Policy, error) {
	if databaseID {
		for p, err := range Kind.Find(ctx, r, store.Query{ID: name, Limit: 1}) {
			return p.Value, err
		}
	}
	p, err := Kind.ByKey(ctx, r, byPolicyID, name)
	return p.Value, err
}
