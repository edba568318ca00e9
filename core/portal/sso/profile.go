// Package sso models single sign-on of the portal: profiles of identity brokers, the people
// whom they authenticate, and who may log in as whom (docs/wire/portal-sso.md).
package sso

import (
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/signon"
)

// Kind is the name of profiles in storage.
const Kind = "portal-sso-profile"

// Limits.
const (
	MaxProfiles = 200 // of a portal
	maxName     = 255
	maxID       = 64
	maxURL      = 2_000
	maxObject   = 32_000 // characters of a free-form object
)

// The purposes of a login with a profile.
const (
	ForAdmins     = "GenerateOrLoginUserProfile"
	ForDevelopers = "GenerateOrLoginDeveloperProfile"
)

// Providers of brokers.
const (
	Social = signon.Social
	LDAP   = signon.LDAP
	Proxy  = signon.Proxy
	SAML   = signon.SAML
)

// Profile says how a broker authenticates people, and which users they become.
type Profile struct {
	table.Base
	Ref        string `json:"ProfileID"` // the ID for clients
	Name       string
	OrgID      string
	ActionType string
	Type       string
	Provider   string
	Config     table.Object `json:"-"` // ProviderConfig and IdentityHandlerConfig contain secrets:
	Handler    table.Object `json:"-"` // they are stored in Sealed
	Sealed     string
	ReturnURL  string

	MatchedPolicyID, CustomEmailField, CustomUserIDField      string
	ProviderConstraintsDomain, ProviderConstraintsGroup       string
	DefaultUserGroupID, CustomUserGroupField, GroupsSeparator string
	GroupMapping                                              table.Object
	OnlyRegistered                                            bool
	By                                                        table.ID // the user who last changed it
}

// Table implements table.Row.
func (Profile) Table() *table.Table[Profile] { return profiles }

var profiles = &table.Table[Profile]{
	Kind: Kind, Noun: "SSO profile",
	Base: func(p *Profile) *table.Base { return &p.Base },
	Fields: []table.Field[Profile]{
		{Name: "ID", At: func(p *Profile) any { return &p.Ref }, Required: true, Fixed: true, Max: maxID, Valid: func(p Profile) bool { return signon.ValidID(p.Ref) },
			Doc: "Part of the login address: letters, digits, dots, hyphens and underscores."},
		{Name: "Name", At: func(p *Profile) any { return &p.Name }, Max: maxName},
		{Name: "OrgID", At: func(p *Profile) any { return &p.OrgID }, Max: maxName, Doc: "0 stands for the portal."},
		{Name: "ActionType", At: func(p *Profile) any { return &p.ActionType }, Required: true, Enum: []string{ForAdmins, ForDevelopers}, Doc: "Whether admins or developers log in with the profile."},
		{Name: "Type", At: func(p *Profile) any { return &p.Type }, Enum: []string{"redirect", "passthrough"}},
		{Name: "ProviderName", At: func(p *Profile) any { return &p.Provider }, Enum: []string{Social, LDAP, Proxy, SAML}},
		{Name: "ProviderConfig", At: func(p *Profile) any { return &p.Config }, Max: maxObject, Doc: "Settings in the format of the identity broker. Stored encrypted."},
		{Name: "IdentityHandlerConfig", At: func(p *Profile) any { return &p.Handler }, Max: maxObject, Doc: "Settings in the format of the identity broker. Stored encrypted."},
		{Name: "ReturnURL", At: func(p *Profile) any { return &p.ReturnURL }, Max: maxURL, Valid: func(p Profile) bool { return signon.WebAddress(p.ReturnURL) }, Doc: "Address to which an external broker redirects browsers: /sso of the portal."},
		{Name: "MatchedPolicyID", At: func(p *Profile) any { return &p.MatchedPolicyID }, Max: maxName},
		{Name: "CustomEmailField", At: func(p *Profile) any { return &p.CustomEmailField }, Max: maxName, Doc: "Claim with the e-mail address, which the provider must have verified. Default: email, if the provider marks it as verified."},
		{Name: "CustomUserIDField", At: func(p *Profile) any { return &p.CustomUserIDField }, Max: maxName, Doc: "Claim that identifies the person. Default: sub."},
		{Name: "ProviderConstraintsDomain", At: func(p *Profile) any { return &p.ProviderConstraintsDomain }, Max: maxName, Doc: "Domain of e-mail addresses. People with addresses in other domains are refused."},
		{Name: "ProviderConstraintsGroup", At: func(p *Profile) any { return &p.ProviderConstraintsGroup }, Max: maxName, Doc: "Group at the identity provider. People outside this group are refused."},
		{Name: "DefaultUserGroupID", At: func(p *Profile) any { return &p.DefaultUserGroupID }, Max: maxName, Doc: "Team of developers for whom UserGroupMapping has no group."},
		{Name: "CustomUserGroupField", At: func(p *Profile) any { return &p.CustomUserGroupField }, Max: maxName, Doc: "Claim with the groups of the person."},
		{Name: "UserGroupMapping", At: func(p *Profile) any { return &p.GroupMapping }, Max: maxObject, Valid: func(p Profile) bool { _, ok := p.groups(); return ok }, Doc: "Maps groups to teams. The first of the person's groups that is in the map decides."},
		{Name: "UserGroupSeparator", At: func(p *Profile) any { return &p.GroupsSeparator }, Max: maxName, Doc: "Separator between groups, if the claim is a string."},
		{Name: "SSOOnlyForRegisteredUsers", At: func(p *Profile) any { return &p.OnlyRegistered }, Doc: "true: people without an account are refused."},
	},
	Unique: []table.Unique[Profile]{{Name: "profile", Taken: "ID has already been taken", Of: func(p Profile) string { return p.Ref }}},
}

// groups returns the team of each group; false: the mapping is invalid.
func (p Profile) groups() (out map[string]string, ok bool) {
	if p.GroupMapping == "" {
		return nil, true
	}
	err := json.Unmarshal([]byte(p.GroupMapping), &out)
	return out, err == nil
}

// Segment returns the provider in the URLs of logins.
func (p Profile) Segment() string { return signon.Segment(p.Provider, []byte(p.Config)) }

// LoginPath returns the path at which a login with the profile begins, relative to the portal.
func (p Profile) LoginPath() string {
	if s := p.Segment(); s != "" {
		return "/tib/auth/" + p.Ref + "/" + s
	}
	return ""
}
