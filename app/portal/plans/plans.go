// Package plans has the operations on plans (docs/wire/portal-plans.md).
package plans

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/catalogues"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/core/portal/plan"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// byName is the index of names. A dashboard may give two policies the same name, so only
// names that an administrator chooses are unique.
const byName = "name"

// Kind is the kind of plans.
var Kind = portal.KindOf(
	providers.ByProvider(func(p plan.Plan) table.ID { return p.ProviderID }),
	catalogues.Index(func(p plan.Plan) []table.ID { return p.Catalogues }),
	portal.ByScope(plan.Plan.Scopes),
	store.Lookup(byName, func(p plan.Plan) string {
		if p.Away() {
			return ""
		}
		return named(p)
	}),
)

func named(p plan.Plan) string { return store.Indexed(p.ProviderID.Key() + "/" + p.Name) }

// Shelf is the storage of plans for synchronisation.
var Shelf = providers.Kept[plan.Plan]{Of: sync.KindPlan, In: Kind, Provider: func(p *plan.Plan) *table.ID { return &p.ProviderID }}

// Offers are the plans in catalogues.
var Offers = catalogues.OffersOf(Kind, func(p plan.Plan) string { return p.Name }, func(p *plan.Plan) *[]table.ID { return &p.Catalogues })

// Resource defines plans as a resource; their policies are at the dashboards of
// providers.
func Resource(open synchronise.Providers) portal.Resource[plan.Plan, Listed, Shown] {
	hooks := synchronise.Hooks(Kind, open, func(p plan.Plan) table.ID { return p.ProviderID })
	hooks.Check = check
	carry := hooks.Before
	hooks.Before = func(ctx context.Context, w store.Writer, c *portal.Change[plan.Plan]) error {
		if c.Op != store.Deleted { // normalises limits, whether or not the dashboard is called
			c.New = c.New.Take(c.New.Record())
		}
		return carry(ctx, w, c)
	}
	return portal.Resource[plan.Plan, Listed, Shown]{
		Kind: Kind, Name: "portal-plans", Path: "/plans", Param: "plan_id", One: "a plan", Many: "plans",
		List: func(_ context.Context, _ store.Reader, p plan.Plan) (Listed, error) {
			return Listed{p.ID, p.CID, p.Name, p.DisplayName, p.AutoApprove, p.RateLimit, p.Quota}, nil
		},
		Show: show, Sample: sample, Hooks: hooks,
		Rows: func(o portal.Operations[plan.Plan, Listed, Shown]) []operation.Row {
			failing := operation.Faulting(table.CodeInvalid, synchronise.CodeCarry, providers.CodeBusy)
			missing := operation.Answers(nil) // a missing plan is 404 in every operation
			return []operation.Row{
				o.ListRow(), o.CreateRow(failing, operation.Notes("The policy is created at the dashboard first.")), o.GetRow(),
				o.UpdateRow(failing, missing, operation.Notes("The dashboard is called only if the policy changes.")),
				o.DeleteRow(failing, operation.Notes("The policy is deleted at the dashboard first. Gateways then refuse keys of the plan.")),
			}
		},
	}
}

var sample = plan.Plan{
	Name: "free_plan", ProviderID: 1, DisplayName: "Free plan", Description: "A few calls for nothing.", AutoApprove: true, JWTScope: "free-plan",
	RateLimit: 5, Per: 10, Quota: plan.Unlimited, UnlimitedQuota: true, QuotaRenewalRate: plan.Unlimited, KeyExpiresIn: 3600, MetaData: `{"tier":"free"}`,
	PlanQuota: 2, PlanQuotaRenewalRate: 3600,
}

// check checks a plan against the existing ones: its name and scopes must be unique, and
// its provider must not change.
func check(ctx context.Context, r store.Reader, c *portal.Change[plan.Plan]) error {
	if c.Op == store.Deleted {
		return nil
	}
	wrong := table.Problems{}
	if c.Op == store.Updated {
		wrong = append(wrong, c.Old.Moved(c.New)...)
	}
	if c.Op == store.Created || c.New.Name != c.Old.Name {
		for other, err := range Kind.Find(ctx, r, store.Query{Index: byName, Value: named(c.New)}) {
			if err != nil {
				return err
			}
			if other.Value.ID != c.Old.ID {
				wrong = append(wrong, "Name has already been taken")
				break
			}
		}
	}
	if c.New.JWTScope != c.Old.JWTScope {
		free, err := portal.ScopesFree(ctx, r, c.New.Scopes(), plan.Kind, c.Old.ID)
		if err != nil {
			return err
		}
		if !free {
			wrong = append(wrong, "JWTScope has already been taken")
		}
	}
	return wrong.Err()
}
