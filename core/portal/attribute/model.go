package attribute

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Model is a kind of record with custom attributes: only users have them.
type Model struct {
	table.Base
	ModelName string
	UpdatedBy table.ID   // the user who last changed an attribute; 0: none
	Added     []table.ID // default attributes that are copied to the metadata of credentials
}

// Users is the ID of the model of users.
const Users table.ID = 1

// First returns the model of a new portal.
func First() Model { return Model{ModelName: "User"} }

// Table implements table.Row.
func (Model) Table() *table.Table[Model] { return models }

var models = &table.Table[Model]{
	Kind: ModelKind, Noun: "extended attribute",
	Base:   func(m *Model) *table.Base { return &m.Base },
	Fields: []table.Field[Model]{{Name: "ModelName", At: func(m *Model) any { return &m.ModelName }, Fixed: true}},
}

// Default is an attribute that every user has.
type Default struct {
	ID    table.ID
	Label string
	Key   string // in the metadata of credentials
}

// Defaults are all default attributes.
var Defaults = []Default{
	{1, "First name", "First"},
	{2, "Last name", "Last"},
	{3, "Email", "Email"},
	{4, "Role", "Role"},
	{5, "Organisation name", "Organisation"},
	{6, "Teams name", "TeamNames"},
}

// FindDefault returns the default attribute with an ID in decimal.
func FindDefault(name string) (Default, bool) {
	i := slices.IndexFunc(Defaults, func(d Default) bool { return d.ID.String() == name })
	if i < 0 {
		return Default{}, false
	}
	return Defaults[i], true
}

// Adds reports whether the value of a default attribute is copied to the metadata of
// credentials.
func (m Model) Adds(d Default) bool { return slices.Contains(m.Added, d.ID) }

// Switch returns the model with this copying switched on or off for a default attribute.
func (m Model) Switch(d Default, on bool) Model {
	m.Added = slices.DeleteFunc(slices.Clone(m.Added), func(id table.ID) bool { return id == d.ID })
	if on {
		m.Added = append(m.Added, d.ID)
	}
	return m
}

// Choice is the request body that switches a default attribute on or off.
type Choice struct {
	table.Base
	AddToKeyMetadata bool
}

// Table implements table.Row.
func (Choice) Table() *table.Table[Choice] { return choices }

var choices = &table.Table[Choice]{
	Kind: ModelKind + "-default", Noun: "default attribute",
	Base:   func(c *Choice) *table.Base { return &c.Base },
	Fields: []table.Field[Choice]{{Name: "AddToKeyMetadata", At: func(c *Choice) any { return &c.AddToKeyMetadata }}},
}
