// Package attribute models additional data of portal users: custom attributes, their values,
// and the user data that is copied to the metadata of credentials
// (docs/wire/portal-people.md#custom-attributes).
package attribute

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/pattern"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Kinds of records.
const (
	ModelKind = "portal-extended-attribute"
	Kind      = "portal-custom-attribute"
)

// Types of values.
const (
	String   = 1
	Dropdown = 2
	Boolean  = 3
	Number   = 4
)

// Behaviours: how developers may access the value of their own account.
const (
	Edit   = 1
	View   = 2
	Hidden = 3
)

// Limits.
const (
	Most       = 100   // attributes of a portal: each user may have a value of each one
	maxValue   = 4_000 // characters
	maxPattern = 1_000
	maxSteps   = 3_000 // of the compiled expression; each character of a value runs through them
)

// Attribute is a custom attribute: its name and its possible values.
type Attribute struct {
	table.Base
	ModelID           table.ID
	Name              string
	Identifier        string
	Description       string
	Type              int64
	Behaviour         int64
	DropdownValues    table.CSV
	ValidationRegExp  string
	AddToKeyMetadata  bool
	Required          bool
	ShowOnSignUp      bool
	WriteOnceReadMany bool
}

// Table implements table.Row.
func (Attribute) Table() *table.Table[Attribute] { return rows }

var rows = &table.Table[Attribute]{
	Kind: Kind, Noun: "custom attribute",
	Base:   func(a *Attribute) *table.Base { return &a.Base },
	Parent: func(a Attribute) table.ID { return a.ModelID },
	Fields: []table.Field[Attribute]{
		{Name: "Name", At: func(a *Attribute) any { return &a.Name }, Required: true, Max: 255, Doc: "Name that people see."},
		{Name: "Identifier", At: func(a *Attribute) any { return &a.Identifier }, Required: true, Max: 100, Doc: "Letters, digits, - and _. Must be unique; DeveloperID, ApplicationID, OrganisationID and TeamIDs are reserved.",
			Valid: func(a Attribute) bool {
				return !slices.Contains(Reserved, a.Identifier) && !strings.ContainsFunc(a.Identifier, func(r rune) bool {
					return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
				})
			}},
		{Name: "Description", At: func(a *Attribute) any { return &a.Description }, Max: 4_000},
		{Name: "Type", At: func(a *Attribute) any { return &a.Type }, Fixed: true, Valid: func(a Attribute) bool { return a.Type >= String && a.Type <= Number }, Doc: "1: string, 2: dropdown, 3: boolean, 4: number."},
		{Name: "Behaviour", At: func(a *Attribute) any { return &a.Behaviour }, Valid: func(a Attribute) bool { return a.Behaviour >= Edit && a.Behaviour <= Hidden }, Doc: "What developers can do. 1: see and edit the attribute; 2: see it; 3: neither. Default: 1."},
		{Name: "DropdownValues", At: func(a *Attribute) any { return &a.DropdownValues }, Max: 10_000, Doc: "Values of a dropdown, separated by commas."},
		{Name: "ValidationRegExp", At: func(a *Attribute) any { return &a.ValidationRegExp }, Max: maxPattern, Valid: func(a Attribute) bool { return compiles(a.ValidationRegExp) }, Doc: "Regular expression (RE2) that must match a part of each value of a string attribute. It has 3,000 steps at most; repetitions are counted as often as they repeat."},
		{Name: "AddToKeyMetadata", At: func(a *Attribute) any { return &a.AddToKeyMetadata }, Doc: "true: the value is copied to the metadata of credentials."},
		{Name: "Required", At: func(a *Attribute) any { return &a.Required }, Doc: "true: a user cannot be created without a value."},
		{Name: "ShowOnSignUp", At: func(a *Attribute) any { return &a.ShowOnSignUp }},
		{Name: "WriteOnceReadMany", At: func(a *Attribute) any { return &a.WriteOnceReadMany }, Doc: "true: a value cannot be changed once it is set."},
	},
	Unique: []table.Unique[Attribute]{{
		Name: "identifier", Taken: "Identifier has already been taken",
		Of: func(a Attribute) string { return a.ModelID.Key() + a.Identifier },
	}},
	Check: func(a Attribute, wrong *table.Problems) {
		if a.Type == Dropdown && len(a.choices()) == 0 {
			wrong.Blank("DropdownValues")
		}
	},
}

// Reserved are identifiers that no attribute may have: the metadata of keys and clients always
// has these members, and others trust them.
var Reserved = []string{"DeveloperID", "ApplicationID", "OrganisationID", "TeamIDs"}

func compiles(text string) bool {
	if len(text) > maxPattern {
		return false
	}
	steps, err := pattern.Size(text)
	return err == nil && steps <= maxSteps
}

// choices returns the values of a dropdown.
func (a Attribute) choices() (out []string) {
	for v := range strings.SplitSeq(string(a.DropdownValues), ",") {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}

// Accepts reports whether a text is a valid value. The time for an expression grows with the
// length of the value and the number of steps of the expression (RE2), which are both limited.
func (a Attribute) Accepts(value string) bool {
	if utf8.RuneCountInString(value) > maxValue || strings.TrimSpace(value) == "" {
		return false
	}
	switch a.Type {
	case Boolean:
		return value == "true" || value == "false"
	case Number:
		_, err := strconv.ParseFloat(value, 64)
		return err == nil && !strings.ContainsAny(value, "xXpP_iInN") // only usual spellings: no hexadecimal number, and no infinity
	case Dropdown:
		return slices.Contains(a.choices(), value)
	}
	if a.ValidationRegExp == "" {
		return true
	}
	re, err := regexp.Compile(a.ValidationRegExp)
	return err == nil && re.MatchString(value)
}

// Names of types and behaviours.
var (
	types      = []string{"", "String", "Dropdown", "Boolean", "Number"}
	behaviours = []string{"", "Edit and view", "View only", "Hidden"}
)

// Asked reports whether users enter their own value: in a registration form or in their
// profile.
func (a Attribute) Asked() bool { return a.ShowOnSignUp || a.Required || a.Behaviour == Edit }

// TypeWord returns the name of the type.
func (a Attribute) TypeWord() string { return types[a.Type] }

// BehaviourWord returns the name of the behaviour.
func (a Attribute) BehaviourWord() string { return behaviours[a.Behaviour] }
