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
		{Name: "Name", At: func(p *Plan) any { return &p.Name }, Required: true, Max: 255, Doc: "Name of the plan and its policy. Must be unique among the plans of the provider."},
		{Name: "ProviderID", Also: []string{"Provider"}, At: func(p *Plan) any { return &p.ProviderID }, Required: true, Target: provider.Kind, Doc: "Provider. It cannot be changed."},
		{Name: "DisplayName", At: func(p *Plan) any { return &p.DisplayName }, Max: 255, Doc: "Name that developers see. Default: Name."},
		{Name: "Description", At: func(p *Plan) any { return &p.Description }, Doc: "HTML fragment."},
		{Name: "AutoApproveAccessRequests", At: func(p *Plan) any { return &p.AutoApprove }},
		{Name: "Catalogues", At: func(p *Plan) any { return &p.Catalogues }, Target: catalogue.Kind, Doc: "Catalogues that offer the plan. null: none."},
		{
			Name: "JWTScope", At: func(p *Plan) any { return &p.JWTScope }, Max: 4096, Doc: "OAuth scopes, separated by commas or blanks. Each must be unique among the plans, and the products whose clients register.",
			Valid: func(p Plan) bool { return len(p.Scopes()) <= maxScopes },
		},
		{Name: "RateLimit", At: func(p *Plan) any { return &p.RateLimit }, Valid: func(p Plan) bool { return limit(p.RateLimit) }, Doc: "Requests in Per seconds; -1: unlimited."},
		{Name: "Per", At: func(p *Plan) any { return &p.Per }, Valid: func(p Plan) bool { return p.Per >= 0 || p.Per == Unlimited }, Doc: "Length of the rate period in seconds."},
		{Name: "UnlimitedRateLimit", At: func(p *Plan) any { return &p.UnlimitedRateLimit }, Doc: "true: no rate limit. Overrides RateLimit and Per."},
		{Name: "Quota", At: func(p *Plan) any { return &p.Quota }, Valid: func(p Plan) bool { return limit(p.Quota) }, Doc: "Requests in QuotaRenewalRate seconds; -1: unlimited."},
		{Name: "QuotaRenewalRate", At: func(p *Plan) any { return &p.QuotaRenewalRate }, Valid: func(p Plan) bool { return limit(p.QuotaRenewalRate) }, Doc: "Seconds after which the quota renews; -1: never."},
		{Name: "UnlimitedQuota", At: func(p *Plan) any { return &p.UnlimitedQuota }, Doc: "true: no quota. Overrides Quota."},
		{Name: "KeyExpiresIn", At: func(p *Plan) any { return &p.KeyExpiresIn }, Valid: func(p Plan) bool { return p.KeyExpiresIn >= 0 }, Doc: "Seconds after which keys expire; 0: never."},
		{Name: "MetaData", At: func(p *Plan) any { return &p.MetaData }, Max: maxMetaData, Valid: func(p Plan) bool { return doc.Check([]byte(p.MetaData), deepMetaData) == nil }, Doc: "Object that is copied to the keys of the plan."},
		{Name: "PlanQuota", At: func(p *Plan) any { return &p.PlanQuota }, Valid: func(p Plan) bool { return p.PlanQuota >= 0 }, Doc: "Access requests of a user in PlanQuotaRenewalRate seconds; 0: unlimited."},
		{Name: "PlanQuotaRenewalRate", At: func(p *Plan) any { return &p.PlanQuotaRenewalRate }, Valid: func(p Plan) bool { return limit(p.PlanQuotaRenewalRate) }, Doc: "Seconds after which PlanQuota renews; -1: never."},
	},
}

func limit(n int64) bool { return n >= Unlimited }
