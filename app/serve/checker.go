package serve

import (
	"context"

	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// ruleChecker checks texts that are stored as rules, also while rules decide about
// nothing: they may one day. It makes its engine when the first text comes.
type ruleChecker func() (*opa.Engine, error)

// Check implements rules.Checker.
func (c ruleChecker) Check(ctx context.Context, org tenant.ID, text string) error {
	e, err := c()
	if err != nil {
		return err
	}
	return e.Check(ctx, org, text)
}
