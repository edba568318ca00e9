package plans

import (
	"context"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/portal/plan"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Listed is a plan in lists.
type Listed struct {
	ID                        table.ID `json:"ID"`
	CID                       string   `json:"CID"`
	Name                      string   `json:"Name"`
	DisplayName               string   `json:"DisplayName"`
	AutoApproveAccessRequests bool     `json:"AutoApproveAccessRequests"`
	RateLimit                 int64    `json:"RateLimit"`
	Quota                     int64    `json:"Quota"`
}

// Shown is the full representation of a plan. Catalogues are numbers, so that the answer
// can be sent back.
type Shown struct {
	ID                        table.ID        `json:"ID"`
	CID                       string          `json:"CID"`
	ReferenceID               string          `json:"ReferenceID"` // _id of the policy
	ProviderID                table.ID        `json:"ProviderID"`
	Name                      string          `json:"Name"`
	DisplayName               string          `json:"DisplayName"`
	Description               string          `json:"Description"`
	AutoApproveAccessRequests bool            `json:"AutoApproveAccessRequests"`
	Catalogues                []table.ID      `json:"Catalogues"`
	JWTScope                  string          `json:"JWTScope"`
	RateLimit                 int64           `json:"RateLimit"`
	Per                       float64         `json:"Per"`
	UnlimitedRateLimit        bool            `json:"UnlimitedRateLimit"`
	Quota                     int64           `json:"Quota"`
	QuotaRenewalRate          int64           `json:"QuotaRenewalRate"`
	UnlimitedQuota            bool            `json:"UnlimitedQuota"`
	KeyExpiresIn              int64           `json:"KeyExpiresIn"`
	MetaData                  json.RawMessage `json:"MetaData"`
	PlanQuota                 int64           `json:"PlanQuota"`
	PlanQuotaRenewalRate      int64           `json:"PlanQuotaRenewalRate"`
	CreatedAt                 string          `json:"CreatedAt"`
	UpdatedAt                 string          `json:"UpdatedAt"`
}

func show(_ context.Context, _ store.Reader, p plan.Plan) (Shown, error) {
	meta := json.RawMessage(p.MetaData)
	if p.MetaData == "" {
		meta = json.RawMessage("{}")
	}
	return Shown{
		p.ID, p.CID, p.Ref.ObjectID, p.ProviderID, p.Name, p.DisplayName, p.Description, p.AutoApprove, append([]table.ID{}, p.Catalogues...), p.JWTScope,
		p.RateLimit, p.Per, p.UnlimitedRateLimit, p.Quota, p.QuotaRenewalRate, p.UnlimitedQuota, p.KeyExpiresIn, meta,
		p.PlanQuota, p.PlanQuotaRenewalRate, table.Stamp(p.CreatedAt), table.Stamp(p.UpdatedAt),
	}, nil
}
