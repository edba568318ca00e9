package session

import (
	"context"
	nethttp "net/http"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/signon"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/broker"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

var profiles = &store.Kind[broker.Profile]{
	Name: broker.Kind, Noun: "profile",
	ID:  func(p broker.Profile) string { return p.ID },
	Org: func(p broker.Profile) tenant.ID { return p.OrgID },
}

// maxProfile is how many bytes a profile has at most.
const maxProfile = 256 << 10

// Profiles is what there is to profiles. Who writes one decides who is an admin, and is one.
var Profiles = crud.Resource[broker.Profile, broker.Draft]{
	Facts: crud.Facts[broker.Profile]{Kind: profiles, Name: func(p broker.Profile) string { return p.Name }},
	Group: operation.Group{
		Surface: operation.Management, Name: "tib.profiles", Path: "/api/tib/profiles", Tag: "Single sign-on", Permission: access.IDM,
		Style: operation.Style{Word: "OK", ListKey: "profiles"},
	},
	Words:   crud.Words{One: "a profile", Many: "profiles", Created: "Profile created", Updated: "Profile updated", Deleted: "Profile deleted", Param: "profileId", ParamDoc: "Identifier of the profile."},
	New:     func(at crud.Stamp, d broker.Draft) (broker.Profile, error) { return broker.New(at.ID, at.Org, d) },
	Replace: func(p broker.Profile, d broker.Draft, _ system.Clock) (broker.Profile, error) { return p.Replace(d) },
	Draft: map[string]any{
		"Name": "Our people", "ActionType": broker.ForUsers, "Type": "redirect", "ProviderName": "SocialProvider",
		"ProviderConfig":       map[string]any{"UseProviders": []any{map[string]any{"Name": "openid-connect", "Key": "dashboard", "Secret": "secret of the client", "DiscoverURL": "https://login.example.com/.well-known/openid-configuration"}}},
		"CustomUserGroupField": "groups", "UserGroupMapping": map[string]string{"operators": "5f1a0c5d8e3b2a1f00000003"},
	},
	Faults: []string{broker.CodeInvalid},
	Shown: func(p broker.Profile, who operation.Principal) broker.Profile {
		if who.Permissions.Admin() && who.OrgID == p.OrgID {
			return p
		}
		return p.Masked() // who has the credentials of a broker decides who is an admin
	},
	Hooks: crud.Hooks[broker.Profile, broker.Draft]{Before: fewProfiles},
	Rows: func(o crud.Operations[broker.Profile, broker.Draft]) []operation.Row {
		writing := []operation.Option{operation.Admins(), operation.Redact("ProviderConfig", "IdentityHandlerConfig"), operation.Limits(maxProfile, 0)}
		return []operation.Row{
			o.List(masked), o.Insert(append(writing, operation.Faulting(broker.CodeInvalid, broker.CodeMany))...), o.Get(masked),
			o.Edit(append(writing, operation.Notes("Absent members become empty."))...), o.Delete(operation.Admins()),
		}
	},
}

var masked = operation.Notes("Who is not an admin of the organisation reads *** in place of what ProviderConfig and IdentityHandlerConfig say, but for names and addresses.")

// fewProfiles refuses a profile too many.
func fewProfiles(ctx context.Context, w store.Writer, c *crud.Change[broker.Profile, broker.Draft]) error {
	if c.Op != store.Created {
		return nil
	}
	n, err := w.Count(ctx, store.Query{Kind: broker.Kind})
	if err == nil && n >= broker.MaxProfiles {
		err = fault.New(fault.Invalid, broker.CodeMany, "there are too many profiles (the maximum is %d)", broker.MaxProfiles)
	}
	return err
}

// Operations lists the rows of logins. Browsers alone call them.
func (b Broker) Operations() []operation.Operation {
	g := operation.Group{Surface: operation.Management, Name: "tib", Path: "/auth/{profileId}/{provider}", Tag: "Single sign-on", Style: operation.Style{Word: "OK"}}
	more := []string{CodeOff}
	return g.Rows(
		operation.GET("login", "", "Log in at an identity provider", b.Begin, operation.Public(), operation.Status(nethttp.StatusSeeOther),
			operation.Faulting(slices.Concat(signon.Beginning, more)...), operation.Example(nil, operation.Landing{Location: "https://login.example.com/authorize"}),
			operation.Notes("Sends the browser to the identity provider of the profile, by the code flow of OpenID Connect.")),
		operation.GET("callback", signon.Callback, "Come back from an identity provider", b.Finish, operation.Public(), operation.Writes(), operation.Unseen("state", "code", "dashboard-login"), operation.Status(nethttp.StatusSeeOther),
			operation.Faulting(slices.Concat(signon.Ending, more, []string{CodeRefused})...), operation.Example(nil, operation.Landing{Location: "/"}),
			operation.Notes("Sets the cookies of a login and sends the browser to `/`, or, where sso_custom_login_error_url is set, to that address when the person is refused. The browser must be the one that began the login.")),
	)
}
