package session

import (
	"context"
	"errors"
	nethttp "net/http"

	"github.com/gatehouse-io/gatehouse/app/crud"
	users "github.com/gatehouse-io/gatehouse/app/identity"
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
	Indexes: []store.Index[broker.Profile]{func() store.Index[broker.Profile] {
		ix := store.Unique("ID", "ID", func(p broker.Profile) string { return p.ID })
		ix.Across = true // URLs of logins name no organisation
		return ix
	}()},
}

// maxProfile is the maximum size of a profile in bytes.
const maxProfile = 256 << 10

// Profiles is the resource of profiles. Only admins write profiles, because a profile
// decides who becomes an admin.
var Profiles = crud.Resource[broker.Profile, broker.Draft]{
	Facts: crud.Facts[broker.Profile]{Kind: profiles, Name: func(p broker.Profile) string { return p.Name }},
	Group: operation.Group{
		Surface: operation.Management, Name: "tib.profiles", Path: "/api/tib/profiles", Tag: "Single sign-on", Permission: access.IDM,
		Style: operation.Style{Word: "OK"},
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
		if who.Permissions.Admin() && (who.OrgID == p.OrgID || who.Deputy) {
			return p
		}
		return p.Masked() // the credentials of a broker would let their reader decide who is an admin
	},
	Rows: func(o crud.Operations[broker.Profile, broker.Draft]) []operation.Row { return profileRows{o}.rows() },
}

// profileRows has operations whose responses have the members of the identity broker,
// whose clients read Data, as well as those of the dashboard.
type profileRows struct {
	crud.Operations[broker.Profile, broker.Draft]
}

// answered is the status of these responses: brokers write it in lower case.
const answered = "ok"

// ProfileList is the response with a list of profiles.
type ProfileList struct {
	Status   string           `json:"Status"`
	ID       string           `json:"ID" doc:"Always empty."`
	Data     []broker.Profile `json:"Data"`
	Profiles []broker.Profile `json:"profiles" doc:"Same as Data."`
	Pages    int              `json:"pages" doc:"Number of pages."`
}

// Size returns the approximate size of the list as JSON, in bytes.
func (l ProfileList) Size() (n int) {
	for _, p := range l.Data {
		n += 2 * p.Size()
	}
	return n
}

// ProfileWritten is the response to the creation or replacement of a profile.
type ProfileWritten struct {
	Status  string         `json:"Status"`
	ID      string         `json:"ID"`
	Data    broker.Profile `json:"Data"`
	Message string         `json:"Message"`
	Meta    any            `json:"Meta" doc:"Identifier of the new profile."`
}

// ProfileDeleted is the response to the deletion of a profile.
type ProfileDeleted struct {
	Status  string   `json:"Status"`
	ID      string   `json:"ID"`
	Data    struct{} `json:"Data"`
	Message string   `json:"Message"`
	Meta    any      `json:"Meta"`
}

func (o profileRows) rows() []operation.Row {
	writing := func(more ...operation.Option) []operation.Option {
		return append([]operation.Option{operation.Admins(), operation.Brokers(), operation.Redact("ProviderConfig", "IdentityHandlerConfig"), operation.Limits(maxProfile, 0)}, more...)
	}
	shown := o.Example()
	created, creating := operation.Example(o.Draft, o.written(shown, 0, o.Words.Created, shown.ID)), operation.Faulting(broker.CodeInvalid, broker.CodeMany, broker.CodeTaken)
	missing, rehearsable := profiles.Name+".not_found", operation.Rehearsable(o.References.Onlooker)
	return []operation.Row{
		operation.GET("list", "", "List profiles", o.list, operation.Brokers(), masked, operation.Lists(o.Item(shown)),
			operation.Example(nil, ProfileList{Status: answered, Data: []broker.Profile{shown}, Profiles: []broker.Profile{shown}, Pages: 1})),
		operation.POST("create", "", "Create a profile", o.create, writing(creating, created, operation.Notes("An ID is generated if the body has none."))...),
		operation.POST("create_as", "/{profileId}", "Create a profile with an identifier", o.createAs, writing(creating, created, operation.Status(nethttp.StatusCreated),
			operation.Notes("The API of identity brokers has the same path. An ID in the body must equal the one in the path."))...),
		o.Get(operation.Brokers(), masked),
		operation.PUT("replace", "/{profileId}", "Replace a profile", o.replace, writing(operation.Faulting(broker.CodeInvalid, missing), rehearsable,
			operation.Example(o.Draft, o.written(shown, 0, o.Words.Updated, nil)), operation.Notes("Absent members become empty. The ID cannot be changed; a different ID in the body is refused."))...),
		operation.DELETE("delete", "/{profileId}", "Delete a profile", o.remove, operation.Admins(), operation.Brokers(), operation.Faulting(missing), rehearsable,
			operation.Example(nil, ProfileDeleted{Status: answered, ID: shown.ID, Message: o.Words.Deleted})),
	}
}

var masked = operation.Notes("Callers who are not admins of the organisation get *** instead of the values in ProviderConfig and IdentityHandlerConfig, except names and addresses.")

func (o profileRows) written(p broker.Profile, at store.Serial, message string, meta any) operation.Entity[ProfileWritten] {
	return operation.EntityOf(ProfileWritten{Status: answered, ID: p.ID, Data: p, Message: message, Meta: meta}, at)
}

type profilesIn struct {
	Scope tenant.Scope
	Who   operation.Principal
	operation.Paging
}

func (o profileRows) list(ctx context.Context, in profilesIn) (ProfileList, error) {
	var page operation.Page[broker.Profile]
	err := o.Store.View(ctx, in.Scope, func(r store.Reader) (err error) {
		page, err = operation.List(ctx, profiles, r, in.Paging, o.PageSize)
		return err
	})
	for i, p := range page.Items {
		page.Items[i] = o.Shown(p, in.Who)
	}
	return ProfileList{Status: answered, Data: page.Items, Profiles: page.Items, Pages: page.Pages}, err
}

type profileDraft struct {
	Scope tenant.Scope
	Draft broker.Draft `body:""`
}

type profileAt struct {
	Scope tenant.Scope
	ID    string `path:"profileId" doc:"Identifier of the profile."`
}

type profileDraftAt struct {
	profileAt
	Draft broker.Draft `body:""`
}

func (o profileRows) create(ctx context.Context, in profileDraft) (out operation.Entity[ProfileWritten], err error) {
	p, err := o.New(crud.Stamp{ID: o.NewID(), Org: in.Scope.Org(), Now: o.Now}, in.Draft)
	if err != nil {
		return out, err
	}
	scope := in.Scope
	if scope.All() { // deputies name the organisation of the profile in the body
		_, err := users.Organisation(ctx, o.Store, p.OrgID)
		if p.OrgID == "" || fault.KindOf(err) == fault.NotFound {
			return out, fault.New(fault.Invalid, broker.CodeInvalid, "OrgID must be that of an organisation").At("OrgID")
		}
		if err == nil {
			scope, err = tenant.Of(p.OrgID)
		}
		if err != nil {
			return out, err
		}
	}
	if in.Draft.ID != "" {
		// The store refuses one of two profiles that are created concurrently. But its
		// index does not have profiles that were last written before the index existed
		// across organisations.
		err := o.Store.View(ctx, tenant.Everyone("identifier of a profile"), func(r store.Reader) error {
			_, err := profiles.Locate(ctx, r, p.ID)
			return err
		})
		if err == nil || errors.Is(err, store.ErrDamaged) {
			return out, broker.Taken(p.ID)
		}
		if fault.KindOf(err) != fault.NotFound {
			return out, err
		}
	}
	at, err := store.Write(ctx, o.Store, scope, func(w store.Writer) (store.Serial, error) {
		n, err := w.Count(ctx, store.Query{Kind: broker.Kind})
		if err == nil && n >= broker.MaxProfiles {
			err = fault.New(fault.Invalid, broker.CodeMany, "there are too many profiles (the maximum is %d)", broker.MaxProfiles)
		}
		if err != nil {
			return 0, err
		}
		return profiles.Create(ctx, w, p)
	})
	return o.written(p, at, o.Words.Created, p.ID), err
}

func (o profileRows) createAs(ctx context.Context, in profileDraftAt) (out operation.Entity[ProfileWritten], err error) {
	d, err := in.Draft.At(in.ID)
	if err != nil {
		return out, err
	}
	return o.create(ctx, profileDraft{in.Scope, d})
}

type profileReplacement struct {
	profileDraftAt
	Match operation.Match
}

func (o profileRows) replace(ctx context.Context, in profileReplacement) (operation.Entity[ProfileWritten], error) {
	var out store.Stored[broker.Profile]
	scope, err := o.Home(ctx, in.Scope, in.ID)
	if err != nil {
		return operation.Entity[ProfileWritten]{}, err
	}
	_, err = o.Store.Update(ctx, scope, func(w store.Writer) (err error) {
		out, err = profiles.Revise(ctx, w, in.ID, in.Match.Check, func(old broker.Profile) (broker.Profile, error) {
			return o.Replace(old, in.Draft, o.Now)
		})
		return err
	})
	return o.written(out.Value, out.Serial, o.Words.Updated, nil), err
}

type profileDeletion struct {
	profileAt
	Match operation.Match
}

func (o profileRows) remove(ctx context.Context, in profileDeletion) (ProfileDeleted, error) {
	scope, err := o.Home(ctx, in.Scope, in.ID)
	if err != nil {
		return ProfileDeleted{}, err
	}
	_, err = o.Store.Update(ctx, scope, func(w store.Writer) error {
		_, err := profiles.Delete(ctx, w, in.ID, in.Match.Check)
		return err
	})
	return ProfileDeleted{Status: answered, ID: in.ID, Message: o.Words.Deleted}, err
}
