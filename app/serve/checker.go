package serve

import (
	"context"
	"log/slog"
	"sync"

	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

// ruleChecker checks texts that are stored as rules, also while rules decide about
// nothing: they may one day. It makes its engine when the first text comes.
type ruleChecker func() (*opa.Engine, error)

func newRuleChecker(t app.Tools, log *slog.Logger) rules.Checker {
	return ruleChecker(sync.OnceValues(func() (*opa.Engine, error) {
		return opa.New(opa.Config{Logger: log}, t.Operations())
	}))
}

// Check implements rules.Checker.
func (c ruleChecker) Check(ctx context.Context, org tenant.ID, text string) error {
	e, err := c()
	if err != nil {
		return err
	}
	return e.Check(ctx, org, text)
}
