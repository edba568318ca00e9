// Package sso is single sign-on for the portal: profiles, nonces, and the developers that
// identity brokers manage (docs/wire/portal-sso.md).
package sso

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/app/signon"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/sso"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Fault codes of profiles.
const (
	CodeMany   = "portal_sso_profile.many"
	CodeSealed = "portal_sso_profile.sealed"
)

// maxBody is the maximum size of a profile in bytes.
const maxBody = 256 << 10

// Kind is the kind of profiles.
var Kind = portal.KindOf[sso.Profile]()

// Profiles has the operations on profiles.
type Profiles struct {
	Keys secret.Keys
	URL  string // of the portal, without a trailing slash; "": addresses are relative
}

// Listed is a profile in lists.
type Listed struct {
	ID                   string `json:"ID"`
	Name                 string `json:"Name"`
	ActionType           string `json:"ActionType"`
	LoginURL             string `json:"LoginURL"`
	RedirectURL          string `json:"RedirectURL"`
	SelectedProviderType string `json:"SelectedProviderType"`
	UpdatedAt            string `json:"UpdatedAt"`
	UpdatedBy            string `json:"UpdatedBy" doc:"E-mail address of the admin."`
}

// Shown is the full representation of a profile, as it was sent.
type Shown struct {
	ID                        string          `json:"ID"`
	Name                      string          `json:"Name"`
	OrgID                     string          `json:"OrgID"`
	ActionType                string          `json:"ActionType"`
	MatchedPolicyID           string          `json:"MatchedPolicyID"`
	Type                      string          `json:"Type"`
	ProviderName              string          `json:"ProviderName"`
	CustomEmailField          string          `json:"CustomEmailField"`
	CustomUserIDField         string          `json:"CustomUserIDField"`
	ProviderConfig            json.RawMessage `json:"ProviderConfig"`
	IdentityHandlerConfig     json.RawMessage `json:"IdentityHandlerConfig"`
	ProviderConstraintsDomain string          `json:"ProviderConstraintsDomain"`
	ProviderConstraintsGroup  string          `json:"ProviderConstraintsGroup"`
	ReturnURL                 string          `json:"ReturnURL"`
	DefaultUserGroupID        string          `json:"DefaultUserGroupID"`
	CustomUserGroupField      string          `json:"CustomUserGroupField"`
	UserGroupMapping          json.RawMessage `json:"UserGroupMapping"`
	UserGroupSeparator        string          `json:"UserGroupSeparator"`
	SSOOnlyForRegisteredUsers bool            `json:"SSOOnlyForRegisteredUsers"`
}

// Resource defines profiles as a resource.
func (s *Profiles) Resource() portal.Resource[sso.Profile, Listed, Shown] {
	return portal.Resource[sso.Profile, Listed, Shown]{
		Kind: Kind, Name: "portal-sso-profiles", Path: "/sso_profiles", Param: "profile_id", One: "an SSO profile", Many: "SSO profiles",
		List: s.list, Show: s.show, Find: Find, Sealed: func(p *sso.Profile) *string { return &p.Sealed },
		Sample: sso.Profile{
			Ref: "developers", Name: "Developers", OrgID: "0", ActionType: sso.ForDevelopers, Type: "redirect", Provider: sso.Social,
			Config:  `{"UseProviders":[{"Name":"openid-connect","Key":"portal","Secret":"secret of the client","DiscoverURL":"https://login.example.com/.well-known/openid-configuration"}]}`,
			Handler: `{"DashboardCredential":"secret of the portal"}`, ReturnURL: "https://portal.example.com/sso", CustomUserGroupField: "groups", DefaultUserGroupID: "1", GroupMapping: `{"engineers":"2"}`,
		},
		Load:  func(_ context.Context, _ store.Reader, p *sso.Profile) error { return s.unseal(p) },
		Hooks: portal.Hooks[sso.Profile]{Before: s.before},
		Rows: func(o portal.Operations[sso.Profile, Listed, Shown]) []operation.Row {
			writing := []operation.Option{operation.Answers(map[string]operation.Answer{"invalid": {Status: 400}, "conflict": {Status: 400}, "not_found": {Status: 404, Text: "record not found"}}),
				operation.Redact("ProviderConfig", "IdentityHandlerConfig"), operation.Limits(maxBody, 0), operation.Faulting(table.CodeInvalid, CodeMany, CodeSealed)}
			named := operation.Identifier(o.Param, "ID of the profile.")
			return []operation.Row{
				o.ListRow(), o.CreateRow(writing...), o.GetRow(named, operation.Faulting(CodeSealed)), o.UpdateRow(append(writing, named)...), o.DeleteRow(named),
			}
		},
	}
}

// Find returns a profile by its ID.
func Find(ctx context.Context, r store.Reader, id string) (sso.Profile, error) {
	v, err := Kind.ByKey(ctx, r, "profile", store.Indexed(id))
	return v.Value, err
}

// sealed is the part of a profile that is stored sealed.
type sealed struct{ Config, Handler table.Object }

// before refuses a profile over the limit, seals the parts that may contain secrets, and
// records the writer.
func (s *Profiles) before(ctx context.Context, w store.Writer, c *portal.Change[sso.Profile]) error {
	if c.Op == store.Deleted {
		return nil
	}
	if c.Op == store.Created {
		n, err := w.Count(ctx, store.Query{Kind: sso.Kind})
		if err != nil {
			return err
		}
		if n >= sso.MaxProfiles {
			return fault.New(fault.Invalid, CodeMany, "there are too many SSO profiles (the maximum is %d)", sso.MaxProfiles)
		}
	}
	c.New.By, _ = account.OfPrincipal(c.Who.ID)
	text, err := json.Marshal(sealed{c.New.Config, c.New.Handler})
	if err == nil {
		c.New.Sealed, err = s.Keys.Seal(string(text))
	}
	return err
}

// unseal restores the sealed part of a profile.
func (s *Profiles) unseal(p *sso.Profile) error {
	if p.Sealed == "" {
		return nil // it is an example
	}
	text, _, err := s.Keys.Open(p.Sealed)
	if err != nil {
		return fault.New(fault.Unavailable, CodeSealed, "the SSO profile %s cannot be opened: configure the encryption key", p.Ref).Because(err)
	}
	var v sealed
	err = json.Unmarshal([]byte(text), &v)
	p.Config, p.Handler = v.Config, v.Handler
	return err
}

func (s *Profiles) list(ctx context.Context, r store.Reader, p sso.Profile) (out Listed, err error) {
	if err := s.unseal(&p); err != nil {
		return out, err
	}
	out = Listed{ID: p.Ref, Name: p.Name, ActionType: p.ActionType, SelectedProviderType: p.Segment(), UpdatedAt: table.Stamp(p.UpdatedAt)}
	if path := p.LoginPath(); path != "" {
		out.LoginURL = s.URL + path
		out.RedirectURL = out.LoginURL + signon.Callback
	}
	u, err := portal.Find(ctx, r, people.Users, p.By.String())
	if fault.KindOf(err) == fault.NotFound {
		return out, nil
	}
	out.UpdatedBy = u.Email
	return out, err
}

func (s *Profiles) show(_ context.Context, _ store.Reader, p sso.Profile) (Shown, error) {
	err := s.unseal(&p)
	return Shown{
		p.Ref, p.Name, p.OrgID, p.ActionType, p.MatchedPolicyID, p.Type, p.Provider, p.CustomEmailField, p.CustomUserIDField, object(p.Config), object(p.Handler),
		p.ProviderConstraintsDomain, p.ProviderConstraintsGroup, p.ReturnURL, p.DefaultUserGroupID, p.CustomUserGroupField, object(p.GroupMapping), p.GroupsSeparator, p.OnlyRegistered,
	}, err
}

// object returns an object for answers: empty if none was sent.
func object(o table.Object) json.RawMessage {
	if o == "" {
		return json.RawMessage("{}")
	}
	return json.RawMessage(o)
}

// Address returns the address of a portal without trailing slashes, as prefix of other
// addresses.
func Address(url string) string { return strings.TrimRight(url, "/") }
