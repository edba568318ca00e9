package policies

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// AtGateways returns a policy in the form that gateways get, by its id, which keys use,
// or a NotFound fault (docs/wire/feeds.md#policies).
func AtGateways(ctx context.Context, r store.Reader, id string) (*doc.Node, error) {
	if !policy.ValidID(id, true) { // no store could look it up
		return nil, unknownAtGateways
	}
	p, err := Kind.ByKey(ctx, r, byPolicyID, id)
	if err != nil {
		return nil, err
	}
	if !p.Value.Published() {
		return nil, unknownAtGateways
	}
	return p.Value.Node()
}

var unknownAtGateways error = fault.New(fault.NotFound, codeMissing, "gateways do not get this policy")

// Usable returns a NotFound fault for a policy that gateways do not get, or that the
// caller may not see.
func (s *Service) Usable(ctx context.Context, r store.Reader, who operation.Principal, id string) error {
	p, err := Kind.ByKey(ctx, r, byPolicyID, id)
	if err == nil {
		err = s.admit(ctx, r, p.Value, s.lookup(who))
	}
	if fault.KindOf(err) == fault.Unauthenticated || err == nil && !p.Value.Published() {
		return fault.New(fault.NotFound, codeMissing, "there is no policy %s that gateways get", id)
	}
	return err
}
