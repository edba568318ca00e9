package issuers

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// Sweeper deletes keys again that a slow dashboard may create after it was told to delete
// them: a dashboard continues a request even when the portal no longer waits for the
// answer.
type Sweeper struct {
	Linger time.Duration // for how long a dashboard may still create a key
	tools  crud.Tools
	open   synchronise.Providers
	runner intents.Runner[stray]
}

const linger = time.Minute

// stray is a key that may still be created.
type stray struct {
	Provider table.ID
	Key      string
	Until    time.Time
}

// NewSweeper returns a Sweeper, and registers its saga.
func NewSweeper(s *intents.Service, tools crud.Tools, open synchronise.Providers) *Sweeper {
	w := &Sweeper{Linger: linger, tools: tools, open: open}
	w.runner = intents.Add(s, intents.Action[stray]{Name: "portal-keys.sweep", Plan: w.plan})
	return w
}

// codeLate is the fault code for a dashboard that may still create a key.
const codeLate = "portal_access.late"

func (w *Sweeper) plan(org tenant.ID, d *stray) intents.Plan {
	return intents.Plan{Steps: []intents.Step{{Name: "delete the key", Do: func(ctx context.Context) error {
		over := !w.tools.Now().Before(d.Until)
		a := Keys{Open: w.open}.acting(org, &Grant{Provider: d.Provider})
		if err := a.delete(ctx, dashboard.KeyName{Text: d.Key}); err != nil || over {
			return err
		}
		return fault.New(fault.Unavailable, codeLate, "the dashboard did not answer, and may still make a key")
	}}}}
}
