package policies

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

type patchIn struct {
	writeByID
	Patch operation.Patch `body:""`
}

// Patch changes parts of a policy, all or nothing: an extension of the contract.
func (s *Service) Patch(ctx context.Context, in patchIn) (operation.Receipt, error) {
	return s.rewrite(ctx, in.writeByID, func(p policy.Policy) (policy.Draft, error) {
		old, err := p.AppendJSON(nil)
		if err != nil {
			return policy.Draft{}, err
		}
		text, err := in.Patch.Apply(old)
		if err != nil {
			return policy.Draft{}, err
		}
		return p.Edited(text)
	})
}
