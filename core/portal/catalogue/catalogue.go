// Package catalogue models catalogues of products and plans, and who sees them.
package catalogue

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Kinds of records: catalogues, their audiences, and their contents.
const (
	Kind         = "portal-catalogue"
	AudienceKind = "portal-audience"
	ProductKind  = "portal-product"
	PlanKind     = "portal-plan"
)

// Values of VisibilityStatus.
const (
	Public  = "Public"  // all visitors see it
	Private = "Private" // only its audiences see it; without audiences, all users who have logged in
)

// Catalogue is one catalogue. Products and plans store the catalogues that they are in.
type Catalogue struct {
	table.Base
	Name             string
	NameWithSlug     string
	VisibilityStatus string
	// Closed says that a team was deleted that was an audience. Until another audience is set, a
	// private catalogue without audiences is then closed to all users instead of open to all.
	Closed   bool       `json:"Closed,omitempty"`
	Products []table.ID `json:"-"`
	Plans    []table.ID `json:"-"`
}

// Audience is a team that sees a private catalogue.
type Audience struct {
	table.Base
	CatalogueID    table.ID
	OrganisationID table.ID
	TeamID         table.ID
}

// First returns the catalogues of a new portal.
func First() []Catalogue {
	return []Catalogue{
		{Name: "Public Catalogue", NameWithSlug: "public-catalogue", VisibilityStatus: Public},
		{Name: "Private Catalogue", NameWithSlug: "private-catalogue", VisibilityStatus: Private},
	}
}

// Slug returns the default NameWithSlug of a catalogue.
func (c Catalogue) Slug() string {
	if s := table.Slug(c.Name); s != "" {
		return s
	}
	return "catalogue"
}

// Table implements table.Row.
func (Catalogue) Table() *table.Table[Catalogue] { return rows }

// Table implements table.Row.
func (Audience) Table() *table.Table[Audience] { return audiences }

var rows = &table.Table[Catalogue]{
	Kind: Kind, Noun: "catalogue",
	Base: func(c *Catalogue) *table.Base { return &c.Base },
	Fields: []table.Field[Catalogue]{
		{Name: "Name", At: func(c *Catalogue) any { return &c.Name }, Required: true, Max: 255},
		{
			Name: "NameWithSlug", At: func(c *Catalogue) any { return &c.NameWithSlug }, Max: 255, Doc: "Part of the address of the catalogue's page. Default: derived from the name.",
			Valid: func(c Catalogue) bool { // it is one segment of URLs, unescaped
				return c.NameWithSlug != "." && c.NameWithSlug != ".." && !strings.ContainsFunc(c.NameWithSlug, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`/?#%\`, r) })
			},
		},
		{Name: "VisibilityStatus", At: func(c *Catalogue) any { return &c.VisibilityStatus }, Enum: []string{Private, Public}, Doc: "Default: Private."},
		{Name: "Products", At: func(c *Catalogue) any { return &c.Products }, Target: ProductKind, Doc: "Products in the catalogue; null removes all."},
		{Name: "Plans", At: func(c *Catalogue) any { return &c.Plans }, Target: PlanKind, Doc: "Plans in the catalogue; null removes all."},
	},
	Unique: []table.Unique[Catalogue]{
		{Name: "name", Taken: "Name has already been taken", Of: func(c Catalogue) string { return c.Name }},
		{Name: "slug", Taken: "NameWithSlug has already been taken", Of: func(c Catalogue) string { return c.NameWithSlug }},
	},
}

var audiences = &table.Table[Audience]{
	Kind: AudienceKind, Noun: "audience",
	Base:   func(a *Audience) *table.Base { return &a.Base },
	Parent: func(a Audience) table.ID { return a.CatalogueID },
	Fields: []table.Field[Audience]{
		{Name: "OrganisationID", Also: []string{"Organisation"}, At: func(a *Audience) any { return &a.OrganisationID }, Target: account.OrganisationKind, Doc: "Organisation of the team. May be absent."},
		{Name: "TeamID", Also: []string{"Team"}, At: func(a *Audience) any { return &a.TeamID }, Required: true, Target: account.TeamKind, Doc: "Team that may see the catalogue."},
	},
	Unique: []table.Unique[Audience]{{
		Name: "team", Taken: "audience with that team already exists",
		Of: func(a Audience) string { return a.CatalogueID.Key() + a.TeamID.Key() },
	}},
}
