// Package identity models the users of the control plane: organisations and their users
// (docs/wire/users.md, docs/wire/organisations.md).
package identity

import (
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// OrganisationKind is the name of organisations in storage.
const OrganisationKind = "organisation"

// Organisation is a tenant: it owns every other record (docs/wire/organisations.md#record).
type Organisation struct {
	ID                    tenant.ID                 `json:"id"`
	OwnerName             string                    `json:"owner_name"`
	OwnerSlug             string                    `json:"owner_slug"`
	CNameEnabled          bool                      `json:"cname_enabled"`
	CName                 string                    `json:"cname"`
	APIs                  []LinkedAPI               `json:"apis"`
	SSOEnabled            bool                      `json:"sso_enabled"`
	DeveloperQuota        int64                     `json:"developer_quota"`
	DeveloperCount        int64                     `json:"developer_count"`
	EventOptions          map[string]EventRecipient `json:"event_options"`
	HybridEnabled         bool                      `json:"hybrid_enabled"`
	UI                    json.RawMessage           `json:"ui"`
	OrgOptionsMeta        json.RawMessage           `json:"org_options_meta"`
	OpenPolicy            OpenPolicy                `json:"open_policy"`
	AdditionalPermissions map[string]string         `json:"additional_permissions"`
	NoAdditional          bool                      `json:"no_additional_permissions,omitempty" doc:"true: the organisation has no additional permissions, and those of the service do not apply."`
	Rest                  doc.Object                `json:"-"` // unknown members, stored unchanged
}

// OrganisationDraft is the input of an administrator for an organisation: all members, none of
// them required.
type OrganisationDraft struct {
	ID                    tenant.ID                 `json:"id,omitempty"`
	OwnerName             string                    `json:"owner_name,omitempty"`
	OwnerSlug             string                    `json:"owner_slug,omitempty"`
	CNameEnabled          bool                      `json:"cname_enabled,omitempty"`
	CName                 string                    `json:"cname,omitempty"`
	APIs                  []LinkedAPI               `json:"apis,omitempty"`
	SSOEnabled            bool                      `json:"sso_enabled,omitempty"`
	DeveloperQuota        int64                     `json:"developer_quota,omitempty"`
	DeveloperCount        int64                     `json:"developer_count,omitempty"`
	EventOptions          map[string]EventRecipient `json:"event_options,omitempty"`
	HybridEnabled         bool                      `json:"hybrid_enabled,omitempty"`
	UI                    json.RawMessage           `json:"ui,omitempty"`
	OrgOptionsMeta        json.RawMessage           `json:"org_options_meta,omitempty"`
	OpenPolicy            OpenPolicy                `json:"open_policy,omitzero"`
	AdditionalPermissions map[string]string         `json:"additional_permissions,omitempty"`
	NoAdditional          bool                      `json:"no_additional_permissions,omitempty" doc:"true: the organisation has no additional permissions, and those of the service do not apply."`
	Rest                  doc.Object                `json:"-"`
}

// LinkedAPI is an API that belongs to an organisation.
type LinkedAPI struct {
	HumanName string `json:"api_human_name"`
	APIID     string `json:"api_id"`
}

// EventRecipient says who is told of an event.
type EventRecipient struct {
	Webhook string `json:"webhook"`
	Email   string `json:"email"`
	Redis   bool   `json:"redis"`
	Secret  string `json:"secret,omitempty"` // signs messages to Webhook
}

// OpenPolicy is the rules of an organisation in Rego. With empty rules, the rules of the
// service apply (docs/wire/rules.md#which-rules-apply).
type OpenPolicy struct {
	Enabled bool   `json:"enabled"`
	Rules   string `json:"rules"`
}

// NewOrganisation makes an organisation from a draft, or returns a fault that names the wrong
// field. id is used unless the draft has its own.
func NewOrganisation(id tenant.ID, d OrganisationDraft) (Organisation, error) {
	o := Organisation(d)
	if o.ID == "" {
		o.ID = id
	}
	if o.APIs == nil {
		o.APIs = []LinkedAPI{}
	}
	if o.EventOptions == nil {
		o.EventOptions = map[string]EventRecipient{}
	}
	if o.AdditionalPermissions == nil {
		o.AdditionalPermissions = map[string]string{}
	}
	return o, o.check()
}

// Replace returns the organisation of a draft. Members that the draft leaves out become empty.
// The identifier stays.
func (o Organisation) Replace(d OrganisationDraft) (Organisation, error) {
	d.ID = o.ID
	return NewOrganisation(o.ID, d)
}
