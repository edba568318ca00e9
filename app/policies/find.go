package policies

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// FindFaults are the codes of the faults of Find. FindAnswers are the responses to them
// in operations on policies.
var (
	FindFaults  = []string{codeMissing, codePathID}
	FindAnswers = map[string]operation.Answer{codeMissing: {Text: "Could not retrieve portal object."}, codePathID: {Text: "Invalid policy ID."}}
)

// Find returns the policy with either ID, if the caller may see it.
func (s *Service) Find(ctx context.Context, scope tenant.Scope, who operation.Principal, id string) (policy.Policy, error) {
	if err := s.checkPath(id); err != nil {
		return policy.Policy{}, err
	}
	var p store.Stored[policy.Policy]
	err := s.Store.View(ctx, scope, func(r store.Reader) (err error) {
		p, err = s.get(ctx, r, byID{Scope: scope, Who: who, ID: id})
		return err
	})
	return p.Value, err
}
