package plan

import (
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/provider"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Limits of the metadata for keys of a plan, and of the scopes of a plan.
const (
	maxMetaData  = 64 << 10
	deepMetaData = 64
	maxScopes    = 100
)

// Table implements table.Row.
func (Plan) Table() *table.Table[Plan] { return rows }

var rows = &table.Table[Plan]{
	Kind: Kind, Noun: "plan", Soft: true,
	Base: func(p *Plan) *table.Base { return &p.Base },
	Fields: []table.Field[Plan]{
		{Name: "Name", At: func(p *Plan) any { return &p.Name }, Required: true, Max: 255, Doc: "That of the policy; its own among the plans of the provider."},
		{Name: "ProviderID", Also: []string{"Provider"}, At: func(p *Plan) any { return &p.ProviderID }, Required: true, Target: provider.Kind, Doc: "It cannot be changed."},
		{Name: "DisplayName", At: func(p *Plan) any { return &p.DisplayName }, Max: 255, Doc: "Shown to developers; Name when it is empty."},
		{Name: "Description", At: func(p *Plan) any { return &p.Description }, Doc: "A piece of HTML."},
		{Name: "AutoApproveAccessRequests", At: func(p *Plan) any { return &p.AutoApprove }},
		{Name: "Catalogues", At: func(p *Plan) any { return &p.Catalogues }, Target: catalogue.Kind, Doc: "Where the plan is offered; null: nowhere."},
		{
			Name: "JWTScope", At: func(p *Plan) any { return &p.JWTScope }, Max: 4096, Doc: "OAuth scopes, separated by commas or blanks; no other plan and no product with registration of clients has one of them.",
			Valid: func(p Plan) bool { return len(p.Scopes()) <= maxScopes },
		},
		{Name: "RateLimit", At: func(p *Plan) any { return &p.RateLimit }, Valid: func(p Plan) bool { return limit(p.RateLimit) }, Doc: "Requests in Per seconds; -1: without limit."},
		{Name: "Per", At: func(p *Plan) any { return &p.Per }, Valid: func(p Plan) bool { return p.Per >= 0 || p.Per == Unlimited }, Doc: "Seconds."},
		{Name: "UnlimitedRateLimit", At: func(p *Plan) any { return &p.UnlimitedRateLimit }, Doc: "Overrides RateLimit and Per."},
		{Name: "Quota", At: func(p *Plan) any { return &p.Quota }, Valid: func(p Plan) bool { return limit(p.Quota) }, Doc: "Requests in QuotaRenewalRate seconds; -1: without limit."},
		{Name: "QuotaRenewalRate", At: func(p *Plan) any { return &p.QuotaRenewalRate }, Valid: func(p Plan) bool { return limit(p.QuotaRenewalRate) }, Doc: "Seconds; -1: never."},
		{Name: "UnlimitedQuota", At: func(p *Plan) any { return &p.UnlimitedQuota }, Doc: "Overrides Quota."},
		{Name: "KeyExpiresIn", At: func(p *Plan) any { return &p.KeyExpiresIn }, Valid: func(p Plan) bool { return p.KeyExpiresIn >= 0 }, Doc: "Seconds; 0: never."},
		{Name: "MetaData", At: func(p *Plan) any { return &p.MetaData }, Max: maxMetaData, Valid: func(p Plan) bool { return doc.Check([]byte(p.MetaData), deepMetaData) == nil }, Doc: "An object that keys of the plan carry."},
		{Name: "PlanQuota", At: func(p *Plan) any { return &p.PlanQuota }, Valid: func(p Plan) bool { return p.PlanQuota >= 0 }, Doc: "Access requests in PlanQuotaRenewalRate seconds; 0: without limit."},
		{Name: "PlanQuotaRenewalRate", At: func(p *Plan) any { return &p.PlanQuotaRenewalRate }, Valid: func(p Plan) bool { return limit(p.PlanQuotaRenewalRate) }, Doc: "Seconds; -1: never."},
	},
}

func limit(n int64) bool { return n >= Unlimited }
