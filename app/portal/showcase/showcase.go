// Package showcase has the operations for visitors of the portal: the products of
// catalogues, their documentation, content pages and the blog
// (docs/wire/portal-showcase.md). The portal's pages call them.
package showcase

import (
	"context"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/catalogues"
	"github.com/gatehouse-io/gatehouse/app/portal/contents"
	"github.com/gatehouse-io/gatehouse/app/portal/documents"
	"github.com/gatehouse-io/gatehouse/app/portal/finder"
	"github.com/gatehouse-io/gatehouse/app/portal/general"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/app/portal/menus"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/organisation"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/setting"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Fault codes for visitors who may not see the portal.
const (
	CodePrivate = "portal_showcase.private"
	CodeHidden  = "portal_showcase.hidden"
)

// Config is the configuration of a Service.
type Config struct {
	Store store.Store
	Scope tenant.Scope   // of the portal; the zero Scope: there is none
	Shelf contents.Shelf // where documents are
	// Elsewhere reads documents on other hosts.
	Elsewhere *documents.Elsewhere
	// Finder searches for products by words.
	Finder *finder.Finder
	// Keys returns the credentials with which a user may call a product. Relay calls
	// gateways with them.
	Keys  func(ctx context.Context, r store.Reader, u account.User, product table.ID) ([]Openable, error)
	Relay fetch.Relay
	Now   system.Clock
	// Visit returns the user of a browser's session, or nil.
	Visit func(ctx context.Context, b operation.Browser, from operation.Origin) (*account.User, live.Opened, error)
}

// Service has the operations.
type Service struct {
	Config
	tries, subscriptions tries
}

// visitor is the input of a public operation.
type visitor struct {
	Browser operation.Browser
	Origin  operation.Origin
}

// sight is what a visitor sees at this moment.
type sight struct {
	rules  setting.Settings
	viewer *account.User // nil: no session
	in     []catalogue.Catalogue
	ids    []table.ID // of in, in order
	cart   map[table.ID]bool
}

// sees reports whether the viewer sees a product.
func (s sight) sees(p product.Product) bool { return !p.Away() && catalogue.Shows(s.ids, p.Catalogues) }

// admin reports whether the viewer sees drafts.
func (s sight) admin() bool { return s.viewer != nil && s.viewer.Admin() }

// look runs fn with what a visitor sees, or refuses a visitor who may not see the portal.
func (s *Service) look(ctx context.Context, in visitor, fn func(r store.Reader, s sight) error) error {
	viewer, opened, err := s.Visit(ctx, in.Browser, in.Origin)
	if err != nil {
		return err
	}
	if opened.ResetPassword {
		viewer = nil // until the password is changed, the session gives no access
	}
	return s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		rules, err := general.Load(ctx, r)
		if err == nil {
			err = admit(rules, viewer)
		}
		if err != nil {
			return err
		}
		now := sight{rules: rules, viewer: viewer, cart: map[table.ID]bool{}}
		for c, err := range portal.All(ctx, r, catalogues.Kind, 0) {
			if err != nil {
				return err
			}
			audiences, err := catalogues.AudiencesOf(ctx, r, c.ID)
			if err != nil {
				return err
			}
			if seen := c.See(catalogue.Portal(rules.PortalVisibility), viewer, audiences); seen.Seen {
				now.in, now.ids = append(now.in, c), append(now.ids, c.ID)
				now.cart[c.ID] = seen.Cart
			}
		}
		return fn(r, now)
	})
}

// admit refuses a visitor who may not see the portal.
func admit(rules setting.Settings, viewer *account.User) error {
	switch p := catalogue.Portal(rules.PortalVisibility); {
	case viewer != nil && viewer.Admin():
		return nil
	case p == catalogue.PortalHidden:
		return fault.New(fault.Denied, CodeHidden, "This Portal is disabled")
	case p == catalogue.PortalPrivate && viewer == nil:
		return fault.New(fault.Unauthenticated, CodePrivate, "This Portal is private")
	}
	return nil
}

// Site is the data for every page.
type Site struct {
	Visibility                  string                `json:"Visibility"`
	Viewer                      *Viewer               `json:"Viewer" doc:"User who is logged in; null without a session."`
	RegistrationEnabled         bool                  `json:"RegistrationEnabled"`
	SignInEnabled               bool                  `json:"SignInEnabled"`
	BlogEnabled                 bool                  `json:"BlogEnabled"`
	OrganisationRequestsEnabled bool                  `json:"OrganisationRequestsEnabled"`
	APIAccessFlow               string                `json:"APIAccessFlow"`
	Brand                       setting.Brand         `json:"Brand" doc:"Look that the operator has set. Empty values are decided by the theme."`
	Menus                       map[string][]MenuItem `json:"Menus" doc:"Menus by name; empty for visitors who may not see the portal."`
}

// Viewer is the viewer of a page.
type Viewer struct {
	ID             table.ID `json:"ID"`
	Email          string   `json:"Email"`
	First          string   `json:"First"`
	Last           string   `json:"Last"`
	Role           string   `json:"Role"`
	OrganisationID table.ID `json:"OrganisationID"`
	Organisation   string   `json:"Organisation" doc:"Name."`
	Teams          []Team   `json:"Teams"`
	Provider       string   `json:"Provider" doc:"How the user logs in: password, or the name of an identity provider."`
	Active         bool     `json:"Active"`
	CreatedAt      string   `json:"CreatedAt"`
	ResetPassword  bool     `json:"ResetPassword"`
	CSRFToken      string   `json:"CSRFToken"`
}

// Team is a team of the viewer.
type Team struct {
	ID      table.ID `json:"ID"`
	Name    string   `json:"Name"`
	Default bool     `json:"Default" doc:"true: the default team, which has all users of the organisation without another team."`
}

// viewerOf returns the viewer of a page.
func viewerOf(ctx context.Context, r store.Reader, u account.User, opened live.Opened) (*Viewer, error) {
	out := &Viewer{ID: u.ID, Email: u.Email, First: u.First, Last: u.Last, Role: u.Role, OrganisationID: u.OrganisationID, Teams: []Team{},
		Provider: u.Provider, Active: u.Active, CreatedAt: table.Stamp(u.CreatedAt), ResetPassword: opened.ResetPassword, CSRFToken: opened.CSRFToken}
	o, err := portal.Glance[organisation.Organisation](ctx, r, account.OrganisationKind, u.OrganisationID)
	out.Organisation = o.Name
	for _, id := range u.Teams {
		if err != nil {
			break
		}
		var t organisation.Team
		if t, err = portal.Glance[organisation.Team](ctx, r, account.TeamKind, id); t.ID != 0 {
			out.Teams = append(out.Teams, Team{id, t.Name, t.Default})
		}
	}
	return out, err
}

// MenuItem is an item of a menu with its children.
type MenuItem struct {
	ID       table.ID `json:"ID"`
	Title    string   `json:"Title"`
	Path     string   `json:"Path"`
	ParentID table.ID `json:"ParentID"`
}

// shownAs is the input of Site.
type shownAs struct {
	visitor
	Preview string `query:"preview" doc:"Settings as a JSON object. For an admin, the response shows the look with these settings. For others the parameter has no effect."`
}

// Site returns the data for every page. It is public, even for visitors who may not see
// the portal.
func (s *Service) Site(ctx context.Context, in shownAs) (out Site, err error) {
	viewer, opened, err := s.Visit(ctx, in.Browser, in.Origin)
	if err != nil {
		return out, err
	}
	out.Menus = map[string][]MenuItem{}
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		rules, err := general.Load(ctx, r)
		if err == nil && viewer != nil {
			out.Viewer, err = viewerOf(ctx, r, *viewer, opened)
		}
		if err != nil {
			return err
		}
		out.Visibility, out.RegistrationEnabled, out.SignInEnabled, out.BlogEnabled = rules.PortalVisibility, rules.RegistrationEnabled, rules.SignInEnabled, rules.BlogEnabled
		out.OrganisationRequestsEnabled, out.APIAccessFlow = rules.OrganisationRequestsEnabled, rules.APIAccessFlow
		out.Brand = rules.Brand()
		if in.Preview != "" && viewer != nil && viewer.Admin() { // a preview of settings that are not stored yet
			var b table.Body[setting.Settings]
			if err := json.Unmarshal([]byte(in.Preview), &b); err != nil {
				return fault.New(fault.Invalid, table.CodeInvalid, "preview is invalid: an object of JSON with settings is wanted").At("preview")
			}
			draft := rules
			if err := b.Apply(&draft, false, nil); err != nil {
				return err
			}
			out.Brand = draft.Brand()
		}
		if admit(rules, viewer) != nil {
			return nil
		}
		for m, err := range portal.All(ctx, r, menus.Kind, 0) {
			if err != nil {
				return err
			}
			items, err := menus.Of(ctx, r, m.ID)
			if err != nil {
				return err
			}
			for _, i := range items {
				out.Menus[m.Name] = append(out.Menus[m.Name], MenuItem{i.ID, i.Title, i.Path, i.ParentID})
			}
		}
		return nil
	})
	return out, err
}
