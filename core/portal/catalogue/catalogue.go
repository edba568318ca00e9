// Package catalogue models what products and plans are offered in.
package catalogue

import "github.com/gatehouse-io/gatehouse/core/portal/table"

// Kind is the name of the resource in storage.
const Kind = "portal-catalogue"

// Values of VisibilityStatus.
const (
	Public  = "Public"  // everybody sees it
	Private = "Private" // its audiences do or, without any, everybody who has logged in
)

// Catalogue is one catalogue.
type Catalogue struct {
	table.Base
	Name             string
	NameWithSlug     string
	VisibilityStatus string
}

// First are the catalogues that bootstrap makes.
func First() []Catalogue {
	return []Catalogue{
		{Name: "Public Catalogue", NameWithSlug: "public-catalogue", VisibilityStatus: Public},
		{Name: "Private Catalogue", NameWithSlug: "private-catalogue", VisibilityStatus: Private},
	}
}

// Table implements table.Row.
func (Catalogue) Table() *table.Table[Catalogue] { return rows }

var rows = &table.Table[Catalogue]{
	Kind: Kind, Noun: "catalogue",
	Base: func(c *Catalogue) *table.Base { return &c.Base },
	Fields: []table.Field[Catalogue]{
		{Name: "Name", At: func(c *Catalogue) any { return &c.Name }, Required: true, Max: 255},
		{Name: "NameWithSlug", At: func(c *Catalogue) any { return &c.NameWithSlug }, Max: 255},
		{Name: "VisibilityStatus", At: func(c *Catalogue) any { return &c.VisibilityStatus }, Enum: []string{Public, Private}},
	},
	Unique: []table.Unique[Catalogue]{{Name: "name", Taken: "Name has already been taken", Of: func(c Catalogue) string { return c.Name }}},
}
