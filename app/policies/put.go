package policies

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Put stores a policy that comes whole from somewhere else inside the unit of work of
// one organisation: over the one with the same id, or else the same _id, or else
// as a new one, under its _id if that is free. Times that it brings stay. The operation
// is empty when nothing changes: a policy that is stored already is not written again.
func (s *Service) Put(ctx context.Context, w store.Writer, org tenant.ID, text []byte) (store.Op, error) {
	in, err := policy.NewIncoming(text)
	if err != nil {
		return "", err
	}
	l := newLookup(s.APIs, apidef.Viewer{All: true})
	if err := l.fetch(ctx, w, in.APIs()); err != nil {
		return "", err
	}
	var old *policy.Policy
	for _, name := range in.Names {
		p, err := Kind.Get(ctx, w, name)
		switch {
		case fault.KindOf(err) == fault.NotFound:
		case err != nil:
			return "", err
		case old == nil:
			old = &p.Value
		case old.ID() != p.Value.ID():
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
	_, err = Kind.Edit(ctx, w, old.ID(), nil, func(policy.Policy) (policy.Policy, error) { return p, nil })
	return store.Updated, taken(err)
}
