// Package application models the apps of developers: their owners, and who may use them
// (docs/wire/portal-apps.md).
package application

import (
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/organisation"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Kind is the name of the resource in storage.
const Kind = "portal-app"

// Values of Visibility.
const (
	Personal     = "personal"     // only the owner
	Team         = "team"         // users in a team of the owner
	Organisation = "organisation" // all users in the owner's organisation
)

// App is one app.
type App struct {
	table.Base
	Name         string
	Description  string
	RedirectURLs table.CSV
	UserID       table.ID // the owner
	Visibility   string
	Ticket       string `json:",omitempty"` // identifies the call that made the app; repeating this call makes no second app
	TicketFor    string `json:",omitempty"` // hash of the body of that call
}

// Limits of an app.
const (
	maxAddresses = 100
	maxAddress   = 2048
	maxRedirects = 20_000
)

// Table implements table.Row.
func (App) Table() *table.Table[App] { return rows }

var rows = &table.Table[App]{
	Kind: Kind, Noun: "app",
	Base: func(a *App) *table.Base { return &a.Base },
	Fields: []table.Field[App]{
		{Name: "Name", At: func(a *App) any { return &a.Name }, Required: true, Max: 255, Line: true},
		{Name: "Description", At: func(a *App) any { return &a.Description }},
		{
			Name: "RedirectURLs", At: func(a *App) any { return &a.RedirectURLs }, Max: maxRedirects, Doc: "Absolute addresses, separated by commas. Required for clients with which people log in.",
			Valid: func(a App) bool {
				list := a.Redirects()
				return len(list) <= maxAddresses && !slices.ContainsFunc(list, func(s string) bool { return !redirect(s) })
			},
		},
		{Name: "UserID", Also: []string{"User"}, At: func(a *App) any { return &a.UserID }, Required: true, Target: account.Kind, Doc: "Owner of the app."},
		{
			Name: "Visibility", At: func(a *App) any { return &a.Visibility }, Enum: []string{Personal, Team, Organisation},
			Doc: "Default: organisation. The value is lowered to what the owner may share: to personal for an owner in the default organisation, and from team if the owner has only the default team.",
		},
	},
}

// Redirects returns the URLs to which an identity provider may redirect users.
func (a App) Redirects() []string {
	return strings.FieldsFunc(string(a.RedirectURLs), func(r rune) bool { return r == ',' || r == ' ' })
}

// redirect reports whether a URL can be a redirect URL (RFC 6749, 3.1.2): it is absolute and
// has no fragment. Native apps have schemes of their own, but schemes that browsers execute
// are refused.
func redirect(s string) bool {
	u, err := url.Parse(s)
	if err != nil || len(s) > maxAddress || u.Fragment != "" || strings.HasSuffix(s, "#") || u.User != nil {
		return false
	}
	switch u.Scheme {
	case "", "javascript", "data", "vbscript", "file", "about", "blob":
		return false
	case "http", "https":
		return u.Host != ""
	}
	return u.Host != "" || u.Path != "" || u.Opaque != ""
}

// Settled returns the app with the visibility that its owner can choose. home is the default
// team of the owner's organisation.
func (a App) Settled(owner account.User, home table.ID) App {
	switch {
	case owner.OrganisationID == 0 || owner.OrganisationID == organisation.Default:
		a.Visibility = Personal
	case a.Visibility == "":
		a.Visibility = Organisation
	case a.Visibility == Team && !slices.ContainsFunc(owner.Teams, func(t table.ID) bool { return t != home }):
		a.Visibility = Personal
	}
	return a
}

// VisibleTo reports whether viewer may use the app of owner. home is the default team of the
// owner's organisation. It does not count as a common team, because every user may be in it.
func (a App) VisibleTo(viewer, owner account.User, home table.ID) bool {
	if viewer.ID == a.UserID {
		return true
	}
	switch a = a.Settled(owner, home); {
	case a.Visibility == Personal || viewer.OrganisationID != owner.OrganisationID:
		return false
	case a.Visibility == Organisation:
		return true
	}
	return slices.ContainsFunc(viewer.Teams, func(t table.ID) bool { return t != home && slices.Contains(owner.Teams, t) })
}

// Own is an app in the form for its owner, who cannot set the owner.
type Own struct{ App }

// Table implements table.Row.
func (Own) Table() *table.Table[Own] { return own }

var own = &table.Table[Own]{
	Kind: Kind, Noun: "own app",
	Base:   func(o *Own) *table.Base { return &o.Base },
	Fields: ownFields(),
}

// ownFields returns the fields of apps except the owner.
func ownFields() (out []table.Field[Own]) {
	for _, f := range rows.Fields {
		if f.Target == account.Kind {
			continue
		}
		field := table.Field[Own]{Name: f.Name, At: func(o *Own) any { return f.At(&o.App) }, Required: f.Required, Enum: f.Enum, Max: f.Max, Line: f.Line, Doc: f.Doc}
		if f.Valid != nil {
			field.Valid = func(o Own) bool { return f.Valid(o.App) }
		}
		out = append(out, field)
	}
	return out
}
