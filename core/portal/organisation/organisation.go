// Package organisation models the organisations of developers and their teams.
package organisation

import (
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Default is the ID of the organisation, and of the team, of a new portal: users without
// another one are in it, and it cannot be deleted.
const Default table.ID = 1

// DefaultName is the name of the first organisation.
const DefaultName = "Default Organisation"

// Organisation is an organisation of developers.
type Organisation struct {
	table.Base
	Name string
}

// Team is a team of an organisation.
type Team struct {
	table.Base
	Name           string
	Default        bool // users without another team are in it
	OrganisationID table.ID
	Users          []table.ID `json:"-"` // its members: users store their teams
}

// FirstTeam returns the default team of an organisation.
func (o Organisation) FirstTeam() Team {
	return Team{Name: o.Name + " All users", Default: true, OrganisationID: o.ID}
}

// Table implements table.Row.
func (Organisation) Table() *table.Table[Organisation] { return organisations }

// Table implements table.Row.
func (Team) Table() *table.Table[Team] { return teams }

var organisations = &table.Table[Organisation]{
	Kind: account.OrganisationKind, Noun: "organisation",
	Base: func(o *Organisation) *table.Base { return &o.Base },
	Fields: []table.Field[Organisation]{
		{Name: "Name", At: func(o *Organisation) any { return &o.Name }, Required: true, Max: 255, Line: true},
	},
	Unique: []table.Unique[Organisation]{{Name: "name", Taken: "Name has already been taken", Of: func(o Organisation) string { return o.Name }}},
}

var teams = &table.Table[Team]{
	Kind: account.TeamKind, Noun: "team",
	Base:   func(t *Team) *table.Base { return &t.Base },
	Parent: func(t Team) table.ID { return t.OrganisationID },
	Fields: []table.Field[Team]{
		{Name: "Name", At: func(t *Team) any { return &t.Name }, Required: true, Max: 255, Line: true},
		{Name: "Users", At: func(t *Team) any { return &t.Users }, Target: account.Kind, Doc: "Users in the team. Only for changes of a team."},
	},
}
