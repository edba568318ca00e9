// Package plan models the plans of a portal: how much developers may call, and for how
// long (docs/wire/portal-sync.md#fields).
package plan

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
)

// Unlimited is the value of a limit that there is not, and of a renewal that never comes.
const Unlimited = -1

// Kind is the name of the resource in storage.
const Kind = catalogue.PlanKind

// Plan is one plan.
type Plan struct {
	ID         int      `json:"id"`
	CID        string   `json:"cid"`
	ProviderID int      `json:"provider_id"`
	Ref        sync.Ref `json:"policy"`
	Name       string   `json:"name"` // that of the policy

	DisplayName string `json:"display_name,omitempty"` // shown to developers; "" shows Name
	Description string `json:"description,omitempty"`
	AutoApprove bool   `json:"auto_approve_access_requests,omitempty"`
	Catalogues  []int  `json:"catalogues,omitempty"`
	JWTScope    string `json:"jwt_scope,omitempty"`

	RateLimit          int64           `json:"rate_limit"`
	Per                float64         `json:"per"`
	UnlimitedRateLimit bool            `json:"unlimited_rate_limit,omitempty"`
	Quota              int64           `json:"quota"`
	QuotaRenewalRate   int64           `json:"quota_renewal_rate"`
	UnlimitedQuota     bool            `json:"unlimited_quota,omitempty"`
	KeyExpiresIn       int64           `json:"key_expires_in,omitempty"` // seconds; 0: never
	MetaData           json.RawMessage `json:"meta_data,omitempty"`      // an object
	PolicyTags         []string        `json:"policy_tags,omitempty"`

	PlanQuota            int64 `json:"plan_quota,omitempty"` // access requests; 0: no limit
	PlanQuotaRenewalRate int64 `json:"plan_quota_renewal_rate,omitempty"`

	Agreed     *sync.Terms `json:"agreed,omitempty"` // what the policy and the plan last agreed on
	Generation int         `json:"generation,omitempty"`
	Hidden     bool        `json:"hidden,omitempty"` // the dashboard does not return its policy
	Deleted    time.Time   `json:"deleted_at,omitzero"`
}

// Title is what developers see.
func (p Plan) Title() string { return cmp.Or(p.DisplayName, p.Name) }

// Settled returns the plan with its limits as they count: a switch that says unlimited
// overrides the numbers, and a number that says so throws the switch.
func (p Plan) Settled() Plan {
	if p.UnlimitedRateLimit = p.UnlimitedRateLimit || p.RateLimit == Unlimited; p.UnlimitedRateLimit {
		p.RateLimit, p.Per = Unlimited, Unlimited
	}
	if p.UnlimitedQuota = p.UnlimitedQuota || p.Quota == Unlimited; p.UnlimitedQuota {
		p.Quota = Unlimited
	}
	return p
}

// Record returns the plan as synchronisation sees it. A plan whose rate the dashboard
// calls unlimited in another way than ours keeps that way as long as nobody changes it.
func (p Plan) Record() sync.Record {
	was := p
	p = p.Settled()
	t := sync.Terms{
		Name: p.Name, Tags: p.PolicyTags, Rate: p.RateLimit, Per: p.Per, Quota: p.Quota, QuotaRenewal: p.QuotaRenewalRate,
		KeyExpiresIn: p.KeyExpiresIn, MetaData: p.MetaData,
	}
	if p.Agreed != nil && p.UnlimitedRateLimit && p.Agreed.Rate == Unlimited && was.Per == p.Agreed.Per {
		t.Per = was.Per
	}
	return sync.Record{Kind: sync.KindPlan, CID: p.CID, Ref: p.Ref, Terms: t.Clone(), Agreed: p.Agreed, Generation: p.Generation, Hidden: p.Hidden, Deleted: !p.Deleted.IsZero()}
}

// Take returns the plan as synchronisation wants it; what lives in the portal stays.
func (p Plan) Take(r sync.Record) Plan {
	t := r.Terms.Clone()
	p.Ref, p.Agreed, p.Generation, p.Hidden = r.Ref, r.Agreed, r.Generation, r.Hidden
	p.Name, p.PolicyTags, p.RateLimit, p.Per, p.Quota, p.QuotaRenewalRate = t.Name, t.Tags, t.Rate, t.Per, t.Quota, t.QuotaRenewal
	p.KeyExpiresIn, p.MetaData = t.KeyExpiresIn, t.MetaData
	p.UnlimitedRateLimit, p.UnlimitedQuota = t.Rate == Unlimited, t.Quota == Unlimited
	return p
}

// rule is one row of what a plan must fulfil.
type rule struct {
	text   string
	broken func(Plan) bool
}

var rules = []rule{
	{"Name can't be blank", func(p Plan) bool { return strings.TrimSpace(p.Name) == "" }},
	{"ProviderID can't be blank", func(p Plan) bool { return p.ProviderID == 0 }},
	{"RateLimit is invalid", func(p Plan) bool { return !limit(p.RateLimit) }},
	{"Per is invalid", func(p Plan) bool { return p.Per < 0 && p.Per != Unlimited }},
	{"Quota is invalid", func(p Plan) bool { return !limit(p.Quota) }},
	{"QuotaRenewalRate is invalid", func(p Plan) bool { return !limit(p.QuotaRenewalRate) }},
	{"KeyExpiresIn is invalid", func(p Plan) bool { return p.KeyExpiresIn < 0 }},
	{"MetaData is invalid", func(p Plan) bool {
		return len(p.MetaData) > 0 && (len(p.MetaData) > maxMetaData || !doc.IsObject(p.MetaData) || doc.Check(p.MetaData, 0) != nil)
	}},
	{"PlanQuota is invalid", func(p Plan) bool { return p.PlanQuota < 0 }},
	{"PlanQuotaRenewalRate is invalid", func(p Plan) bool { return !limit(p.PlanQuotaRenewalRate) }},
}

// maxMetaData bounds what every key of a plan carries.
const maxMetaData = 64 << 10

// Check returns what is wrong with a plan, one text for each failure. Whether its
// provider and its catalogues exist, storage knows.
func (p Plan) Check() (problems []string) {
	for _, r := range rules {
		if r.broken(p) {
			problems = append(problems, r.text)
		}
	}
	return problems
}

// Moved returns what is wrong with a change: a plan stays with its provider.
func (p Plan) Moved(next Plan) []string {
	if p.ProviderID != next.ProviderID {
		return []string{"ProviderID can't be changed"}
	}
	return nil
}

func limit(n int64) bool { return n >= Unlimited }
