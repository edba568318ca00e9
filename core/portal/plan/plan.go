// Package plan models the plans of a portal: limits for developers, and lifetimes of
// credentials (docs/wire/portal-sync.md#fields).
package plan

import (
	"cmp"
	"encoding/json"
	"strings"
	"unicode"

	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Unlimited is the value of a limit without a maximum, and of a renewal that never happens.
const Unlimited = -1

// Kind is the name of the resource in storage.
const Kind = catalogue.PlanKind

// Plan is one plan.
type Plan struct {
	table.Base
	ProviderID table.ID `json:"provider_id"`
	Ref        sync.Ref `json:"policy"`
	Name       string   `json:"name"` // name of the policy

	DisplayName string     `json:"display_name,omitempty"` // shown to developers; "": show Name
	Description string     `json:"description,omitempty"`
	AutoApprove bool       `json:"auto_approve_access_requests,omitempty"`
	Catalogues  []table.ID `json:"catalogues,omitempty"`
	JWTScope    string     `json:"jwt_scope,omitempty"`

	RateLimit          int64        `json:"rate_limit"`
	Per                float64      `json:"per"`
	UnlimitedRateLimit bool         `json:"unlimited_rate_limit,omitempty"`
	Quota              int64        `json:"quota"`
	QuotaRenewalRate   int64        `json:"quota_renewal_rate"`
	UnlimitedQuota     bool         `json:"unlimited_quota,omitempty"`
	KeyExpiresIn       int64        `json:"key_expires_in,omitempty"` // seconds; 0: never
	MetaData           table.Object `json:"meta_data,omitempty"`
	PolicyTags         []string     `json:"policy_tags,omitempty"`

	PlanQuota            int64 `json:"plan_quota,omitempty"` // access requests; 0: no limit
	PlanQuotaRenewalRate int64 `json:"plan_quota_renewal_rate,omitempty"`

	Agreed     *sync.Terms `json:"agreed,omitempty"` // the values on which the policy and the plan last agreed
	Generation int         `json:"generation,omitempty"`
}

// Title returns the name for developers.
func (p Plan) Title() string { return cmp.Or(p.DisplayName, p.Name) }

// Settled returns the plan with normalised limits: an unlimited switch overrides the numbers,
// and the number Unlimited sets the switch.
func (p Plan) Settled() Plan {
	if p.UnlimitedRateLimit = p.UnlimitedRateLimit || p.RateLimit == Unlimited; p.UnlimitedRateLimit {
		p.RateLimit, p.Per = Unlimited, Unlimited
	}
	if p.UnlimitedQuota = p.UnlimitedQuota || p.Quota == Unlimited; p.UnlimitedQuota {
		p.Quota = Unlimited
	}
	return p
}

// Record returns the plan in its form for synchronisation. If the dashboard expresses an
// unlimited rate differently, this form stays until the rate is changed here.
func (p Plan) Record() sync.Record {
	was := p
	p = p.Settled()
	t := sync.Terms{
		Name: p.Name, Tags: p.PolicyTags, Rate: p.RateLimit, Per: p.Per, Quota: p.Quota, QuotaRenewal: p.QuotaRenewalRate,
		KeyExpiresIn: p.KeyExpiresIn, MetaData: json.RawMessage(p.MetaData),
	}
	if p.Agreed != nil && p.UnlimitedRateLimit && p.Agreed.Rate == Unlimited && was.Per == p.Agreed.Per {
		t.Per = was.Per
	}
	return sync.Record{Kind: sync.KindPlan, CID: p.CID, Ref: p.Ref, Terms: t.Clone(), Agreed: p.Agreed, Generation: p.Generation, Hidden: p.Hidden, Deleted: !p.DeletedAt.IsZero()}
}

// Take returns the plan updated from synchronisation; data that only the portal has stays.
func (p Plan) Take(r sync.Record) Plan {
	t := r.Terms.Clone()
	p.Ref, p.Agreed, p.Generation, p.Hidden = r.Ref, r.Agreed, r.Generation, r.Hidden
	p.Name, p.PolicyTags, p.RateLimit, p.Per, p.Quota, p.QuotaRenewalRate = t.Name, t.Tags, t.Rate, t.Per, t.Quota, t.QuotaRenewal
	p.KeyExpiresIn, p.MetaData = t.KeyExpiresIn, table.Object(t.MetaData)
	p.UnlimitedRateLimit, p.UnlimitedQuota = t.Rate == Unlimited, t.Quota == Unlimited
	return p
}

// Moved returns the problems of a change: the provider of a plan cannot change.
func (p Plan) Moved(next Plan) []string {
	if p.ProviderID != next.ProviderID {
		return []string{"ProviderID can't be changed"}
	}
	return nil
}

// Scopes returns the OAuth scopes of a plan.
func (p Plan) Scopes() []string {
	return strings.FieldsFunc(p.JWTScope, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}
