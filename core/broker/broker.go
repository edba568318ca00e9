// Package broker models profiles of the dashboard's identity broker: the identity provider for
// the login of operators, and the mapping to user groups
// (docs/wire/single-sign-on.md#profiles).
package broker

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/label"
	"github.com/gatehouse-io/gatehouse/core/redact"
	"github.com/gatehouse-io/gatehouse/core/signon"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Kind is the name of profiles in storage, history and references.
const Kind = "broker-profile"

// CodeInvalid is the code of faults of an invalid profile.
const CodeInvalid = Kind + ".invalid"

// CodeMany is the code of the fault for too many profiles.
const CodeMany = Kind + ".many"

// CodeTaken is the code of the fault for an identifier that another profile has.
const CodeTaken = Kind + ".taken"

// Limits.
const (
	MaxProfiles = 200 // of an organisation
	maxID       = 128
	maxText     = 255
	maxURL      = 2_000
	maxObject   = 32_000 // bytes of a free-form object
	maxMapping  = 1_000
)

// ForUsers is the action of profiles for the login of operators. This broker does not serve
// the other actions.
const ForUsers = "GenerateOrLoginUserProfile"

// Actions are the possible actions of profiles.
var Actions = []string{ForUsers, "GenerateOrLoginDeveloperProfile", "GenerateOAuthTokenForClient", "GenerateTemporaryAuthToken"}

// Constraints exclude people although the identity provider vouches for them.
type Constraints struct {
	Domain string `json:"Domain"`
	Group  string `json:"Group"`
}

// Draft is the input of a client for a profile: the members of Choices and, for a new profile,
// the identifier and, for callers without an organisation, the organisation.
type Draft struct {
	ID                    string            `json:"ID,omitzero" doc:"Identifier of the profile, part of the redirect address for identity providers. Generated when absent."`
	OrgID                 tenant.ID         `json:"OrgID,omitzero" doc:"Organisation of the profile, for callers that belong to none. Ignored for users."`
	Name                  string            `json:"Name,omitzero" doc:"For people."`
	ActionType            string            `json:"ActionType" doc:"Kind of account that logs in with the profile. GenerateOrLoginUserProfile: users."`
	MatchedPolicyID       string            `json:"MatchedPolicyID,omitzero" doc:"Stored for external identity brokers."`
	Type                  string            `json:"Type,omitzero" doc:"redirect, passthrough or empty."`
	ProviderName          string            `json:"ProviderName,omitzero" doc:"SocialProvider, ADProvider, ProxyProvider, SAMLProvider or empty."`
	CustomEmailField      string            `json:"CustomEmailField,omitzero" doc:"Claim with the person's e-mail address. Default: email."`
	CustomUserIDField     string            `json:"CustomUserIDField,omitzero" doc:"Claim that identifies the person. Default: sub."`
	ProviderConfig        doc.Object        `json:"ProviderConfig,omitzero" doc:"Settings of the identity provider: an object of 32,000 bytes at most."`
	IdentityHandlerConfig doc.Object        `json:"IdentityHandlerConfig,omitzero" doc:"Stored for external identity brokers: an object of 32,000 bytes at most."`
	ProviderConstraints   Constraints       `json:"ProviderConstraints,omitzero"`
	ReturnURL             string            `json:"ReturnURL,omitzero" doc:"Stored for external identity brokers."`
	DefaultUserGroupID    string            `json:"DefaultUserGroupID,omitzero" doc:"User group of people for whom UserGroupMapping has no group."`
	CustomUserGroupField  string            `json:"CustomUserGroupField,omitzero" doc:"Claim with the groups of the person."`
	UserGroupMapping      map[string]string `json:"UserGroupMapping,omitzero" doc:"Maps groups of the identity provider to user groups; 1,000 entries at most."`
	UserGroupSeparator    string            `json:"UserGroupSeparator,omitzero" doc:"Separator between groups, if the claim is a single string. Default: spaces."`
	OnlyRegistered        bool              `json:"SSOOnlyForRegisteredUsers,omitzero" doc:"true: a person for whom no user exists is refused."`
}

// Choices are the settings of a profile: all of a Draft but ID and OrgID. Members that a draft
// leaves out are empty.
type Choices struct {
	Name                  string            `json:"Name"`
	ActionType            string            `json:"ActionType"`
	MatchedPolicyID       string            `json:"MatchedPolicyID"`
	Type                  string            `json:"Type"`
	ProviderName          string            `json:"ProviderName"`
	CustomEmailField      string            `json:"CustomEmailField"`
	CustomUserIDField     string            `json:"CustomUserIDField"`
	ProviderConfig        doc.Object        `json:"ProviderConfig"`
	IdentityHandlerConfig doc.Object        `json:"IdentityHandlerConfig"`
	ProviderConstraints   Constraints       `json:"ProviderConstraints"`
	ReturnURL             string            `json:"ReturnURL"`
	DefaultUserGroupID    string            `json:"DefaultUserGroupID"`
	CustomUserGroupField  string            `json:"CustomUserGroupField"`
	UserGroupMapping      map[string]string `json:"UserGroupMapping"`
	UserGroupSeparator    string            `json:"UserGroupSeparator"`
	OnlyRegistered        bool              `json:"SSOOnlyForRegisteredUsers"`
}

// Profile is the configuration of an identity provider for the login of operators.
type Profile struct {
	ID    string    `json:"ID"`
	OrgID tenant.ID `json:"OrgID"`
	Choices
}

// New makes a profile from a draft, or returns a fault that names the wrong field. id is its
// identifier unless the draft sets one.
func New(id string, org tenant.ID, d Draft) (Profile, error) {
	if d.ID != "" { // it is part of URLs
		unusable := func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
		}
		if len(d.ID) > maxID || d.ID[0] == '.' || strings.ContainsFunc(d.ID, unusable) {
			return Profile{}, wrong("ID", "must have letters, digits, -, _ and . only, must not begin with a dot, and has 128 characters at most")
		}
		id = d.ID
	}
	return Profile{ID: id, OrgID: cmp.Or(org, d.OrgID)}.Replace(d)
}

// At returns the draft for the profile in the path, or refuses a draft with the ID of another
// profile.
func (d Draft) At(id string) (Draft, error) {
	if d.ID != "" && d.ID != id {
		return d, wrong("ID", "must be the one in the path")
	}
	d.ID = id
	return d, nil
}

// Taken returns the fault for an identifier that a profile of any organisation has already.
func Taken(id string) error {
	return fault.New(fault.Conflict, CodeTaken, "profile ID already exists: '%s'", id).At("ID")
}

// Replace returns p with the settings of the draft. Its identifier stays.
func (p Profile) Replace(d Draft) (Profile, error) {
	if _, err := d.At(p.ID); err != nil {
		return p, err
	}
	if err := d.check(p.Name); err != nil {
		return p, err
	}
	p.Choices = Choices{
		Name: d.Name, ActionType: d.ActionType, MatchedPolicyID: d.MatchedPolicyID, Type: d.Type, ProviderName: d.ProviderName,
		CustomEmailField: d.CustomEmailField, CustomUserIDField: d.CustomUserIDField, ProviderConfig: d.ProviderConfig,
		IdentityHandlerConfig: d.IdentityHandlerConfig, ProviderConstraints: d.ProviderConstraints, ReturnURL: d.ReturnURL,
		DefaultUserGroupID: d.DefaultUserGroupID, CustomUserGroupField: d.CustomUserGroupField, UserGroupMapping: d.UserGroupMapping,
		UserGroupSeparator: d.UserGroupSeparator, OnlyRegistered: d.OnlyRegistered,
	}
	if p.UserGroupMapping == nil {
		p.UserGroupMapping = map[string]string{}
	}
	return p, nil
}

// Size returns the approximate size of the profile as JSON in bytes.
func (p Profile) Size() int {
	n := 1_000 // names, and short texts
	for _, o := range []doc.Object{p.ProviderConfig, p.IdentityHandlerConfig} {
		for name, value := range o.All() {
			n += len(name) + len(value)
		}
	}
	for from, to := range p.UserGroupMapping {
		n += len(from) + len(to)
	}
	return n + len(p.ReturnURL)
}

// readable are the members of free-form objects that are never secret, by their names in lower
// case. Any other text may be a credential.
var readable = []string{"name", "discoverurl", "callbackbaseurl", "failureredirect", "successredirect", "dashboardbaseurl", "ldapserver", "ldapport"}

// Masked returns p with every possible credential replaced by ***.
func (p Profile) Masked() Profile {
	p.ProviderConfig, p.IdentityHandlerConfig = masked(p.ProviderConfig), masked(p.IdentityHandlerConfig)
	return p
}

// masked returns an object of the same form without possible credentials.
func masked(o doc.Object) (out doc.Object) {
	text, err := json.Marshal(o)
	if err != nil {
		return out
	}
	n, err := doc.ParseNode(text)
	if err != nil || out.UnmarshalJSON(hidden(n, "").JSON()) != nil {
		return doc.Object{}
	}
	return out
}

// hidden returns the value of the member name without possible credentials.
func hidden(n *doc.Node, name string) *doc.Node {
	switch {
	case n.Is(doc.TypeObject):
		for _, name := range n.Names() {
			n.Set(name, hidden(n.Get(name), name))
		}
	case n.Is(doc.TypeArray):
		items := n.Items()
		for i := range items {
			items[i] = hidden(items[i], name)
		}
		n.SetItems(items)
	case n.Is(doc.TypeString) && n.Text() != "" && !slices.Contains(readable, strings.ToLower(name)):
		return doc.NewString(redact.Hidden)
	}
	return n
}

func wrong(field, why string) error {
	return fault.New(fault.Invalid, CodeInvalid, "%s %s", field, why).At(field)
}

// check returns the fault of a draft; before is the previous name of the profile.
func (d Draft) check(before string) error {
	for _, e := range []struct {
		field, value string
		of           []string
	}{
		{"ActionType", d.ActionType, Actions},
		{"Type", d.Type, []string{"", "redirect", "passthrough"}},
		{"ProviderName", d.ProviderName, []string{"", signon.Social, signon.LDAP, signon.Proxy, signon.SAML}},
	} {
		if !slices.Contains(e.of, e.value) {
			return wrong(e.field, "must be one of "+strings.TrimPrefix(strings.Join(e.of, ", "), ", "))
		}
	}
	for field, value := range map[string]string{
		"Name": d.Name, "MatchedPolicyID": d.MatchedPolicyID, "CustomEmailField": d.CustomEmailField, "CustomUserIDField": d.CustomUserIDField,
		"ProviderConstraints.Domain": d.ProviderConstraints.Domain, "ProviderConstraints.Group": d.ProviderConstraints.Group,
		"DefaultUserGroupID": d.DefaultUserGroupID, "CustomUserGroupField": d.CustomUserGroupField, "UserGroupSeparator": d.UserGroupSeparator,
	} {
		if utf8.RuneCountInString(value) > maxText {
			return wrong(field, "is too long (the maximum is 255 characters)")
		}
	}
	if flaw := label.Flaw(d.Name, before); flaw != "" {
		return wrong("Name", flaw)
	}
	if d.ReturnURL != "" && (len(d.ReturnURL) > maxURL || !signon.WebAddress(d.ReturnURL)) {
		return wrong("ReturnURL", "must be an http or https address")
	}

	for field, o := range map[string]doc.Object{"ProviderConfig": d.ProviderConfig, "IdentityHandlerConfig": d.IdentityHandlerConfig} {
		if text, err := o.AppendJSON(nil); err != nil || len(text) > maxObject {
			return wrong(field, "is too large (the maximum is 32,000 bytes)")
		}
	}
	if len(d.UserGroupMapping) > maxMapping {
		return wrong("UserGroupMapping", "has too many entries (the maximum is 1,000)")
	}
	for from, to := range d.UserGroupMapping {
		if utf8.RuneCountInString(from) > maxText || utf8.RuneCountInString(to) > maxText {
			return wrong("UserGroupMapping", "has an entry that is too long (the maximum is 255 characters)")
		}
	}
	return nil
}

// config returns the configuration of the provider as JSON.
func (p Profile) config() []byte {
	text, _ := p.ProviderConfig.AppendJSON(nil) // an object that was read always encodes
	return text
}

// LoginPath returns the path at which a login with the profile begins.
func (p Profile) LoginPath() string {
	return "/auth/" + p.ID + "/" + signon.Segment(p.ProviderName, p.config())
}

// Answers reports whether the provider in a URL is the profile's provider.
func (p Profile) Answers(provider string) bool {
	return provider != "" && provider == signon.Segment(p.ProviderName, p.config())
}

// Connection returns how to connect to the identity provider, or a fault with what the profile
// lacks.
func (p Profile) Connection() (signon.Connection, error) {
	if p.ActionType != ForUsers {
		return signon.Connection{}, fault.New(fault.Invalid, signon.CodeProfile, "This profile logs no operators in. Choose the ActionType "+ForUsers)
	}
	return signon.Connect(p.ProviderName, p.Type, p.config())
}

// Rules returns how claims are evaluated.
func (p Profile) Rules() signon.Rules {
	return signon.Rules{
		User: p.CustomUserIDField, Email: p.CustomEmailField, Domain: p.ProviderConstraints.Domain, Group: p.ProviderConstraints.Group,
		Groups: p.CustomUserGroupField, Separator: p.UserGroupSeparator, Mapping: p.UserGroupMapping, Default: p.DefaultUserGroupID,
	}
}
