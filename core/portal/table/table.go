// Package table describes the resources of the developer portal as data: the fields of a
// resource, the values that they take, and how lenient the service is with requests
// (docs/wire/portal.md#fields). Reading, validation, order, search, uniqueness and the
// description of bodies derive from a table.
package table

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Base has the members that all records of the portal share.
type Base struct {
	ID        ID        `json:"ID"`
	CID       string    `json:"CID"`
	Portal    tenant.ID `json:"org_id"`
	CreatedAt time.Time `json:"CreatedAt"`
	UpdatedAt time.Time `json:"UpdatedAt"`
	DeletedAt time.Time `json:"DeletedAt,omitzero"` // of a record that is kept after its deletion
	// Hidden says that no operation shows the record until synchronisation finds its policy
	// again.
	Hidden bool `json:"Hidden,omitempty"`
}

// Away reports whether no operation shows the record: it is deleted or hidden.
func (b Base) Away() bool { return b.Hidden || !b.DeletedAt.IsZero() }

// Row is a record that knows its table.
type Row[T any] interface{ Table() *Table[T] }

// Table describes a resource.
type Table[T any] struct {
	Kind   string // in storage: "portal-tag"
	Noun   string // in messages: "tag"
	Base   func(*T) *Base
	Parent func(T) ID // the parent in paths, such as the product of a tutorial; nil: none
	Soft   bool       // a deleted record stays in storage, and no operation shows it
	Fields []Field[T] // in the order in which failed validations are listed
	Unique []Unique[T]
	// Check adds problems that concern several fields; nil: there is no such check.
	Check func(T, *Problems)
}

// Unique is a value that no two records of a table share.
type Unique[T any] struct {
	Name  string         // of the index
	Taken string         // the message for a value that another record has
	Of    func(T) string // "": the record has none
}

// Field is a field that clients may set.
type Field[T any] struct {
	Name     string       // in JSON
	Also     []string     // other names that are accepted in requests
	At       func(*T) any // a pointer to the value; its type decides which values the field takes
	Required bool
	Default  string   // of a text: its value in a new record when the client sends none, or an empty one
	Repeated bool     // each update has to send it, too
	Enum     []string // the allowed texts, besides the empty one
	Fixed    bool     // set when the record is created; ignored afterwards
	Max      int      // characters of a text; 0: MaxText
	Line     bool     // a text without control characters
	Target   string   // the kind of record that a relation names
	// Valid is a further check of a value, or nil. It is not called for empty values.
	Valid func(T) bool
	Doc   string
}

// MaxText is the maximum length of a text in characters, unless its field has another one.
// MaxList is the maximum length of a list.
const (
	MaxText = 100_000
	MaxList = 1_000
)

// CSV is a text of values separated by commas, which clients may send as a list.
type CSV string

// Object is the text of a JSON object, which clients may send as an object or as text.
type Object string

// Stamp returns a time as the portal writes it: "" for none.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format("2006-01-02 15:04")
}

// Problems are failed validations, one text for each.
type Problems []string

// Blank notes that a field must not be empty. If the value of the field was refused, then the
// field is empty for that reason: this counts as one failure.
func (p *Problems) Blank(field string) {
	if !slices.Contains(*p, invalid(field)) {
		*p = append(*p, field+" can't be blank")
	}
}

// Invalid notes that the value of a field is not allowed.
func (p *Problems) Invalid(field string) {
	if text := invalid(field); !slices.Contains(*p, text) {
		*p = append(*p, text)
	}
}

func invalid(field string) string { return field + " is invalid" }

// Member returns how to read the member by which a list is sorted, by its name.
func (t *Table[T]) Member(name string) (func(*T) any, bool) {
	name = plain(name)
	for _, f := range t.Fields {
		if plain(f.Name) == name {
			return f.At, true
		}
	}
	switch name {
	case "id":
		return func(v *T) any { return &t.Base(v).ID }, true
	case "cid":
		return func(v *T) any { return &t.Base(v).CID }, true
	case "createdat":
		return func(v *T) any { return &t.Base(v).CreatedAt }, true
	case "updatedat":
		return func(v *T) any { return &t.Base(v).UpdatedAt }, true
	}
	return nil, false
}

// Ordered returns the names of the members that Member finds, as they are in JSON.
func (t *Table[T]) Ordered() []string {
	var zero T
	names := []string{"ID", "CID", "CreatedAt", "UpdatedAt"}
	for _, f := range t.Fields {
		switch f.At(&zero).(type) {
		case *ID, *int64, *float64, *bool, *time.Time, *string, *CSV:
			if !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
	}
	return names
}

// Texts names the members in which Matches looks for a keyword.
func (t *Table[T]) Texts() (names []string) {
	var zero T
	for _, f := range t.Fields {
		switch f.At(&zero).(type) {
		case *string, *CSV:
			names = append(names, f.Name)
		}
	}
	return names
}

// Label returns the name of the member that identifies a record for people: the first required
// text, or else the first text; "" if there is none.
func (t *Table[T]) Label() (name string) {
	var zero T
	for _, f := range t.Fields {
		if _, ok := f.At(&zero).(*string); !ok {
			continue
		}
		if f.Required {
			return f.Name
		}
		name = cmp.Or(name, f.Name)
	}
	return name
}

// SameName reports whether two names mean the same member: letter case and _ make no
// difference (docs/wire/portal.md#lists).
func SameName(a, b string) bool { return plain(a) == plain(b) }

// plain returns the form of a name that DisplayName, display_name and displayname have in
// common.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// Compare orders two values of the members that At returns: texts without regard to
// case.
func Compare(a, b any) int {
	switch a := a.(type) {
	case *ID:
		return compare(*a, *b.(*ID))
	case *int64:
		return compare(*a, *b.(*int64))
	case *float64:
		return compare(*a, *b.(*float64))
	case *bool:
		return compare(truth(*a), truth(*b.(*bool)))
	case *time.Time:
		return a.Compare(*b.(*time.Time))
	}
	return strings.Compare(strings.ToLower(text(a)), strings.ToLower(text(b)))
}

func compare[N int | int64 | float64 | ID](a, b N) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// text returns the text of a member, or "".
func text(v any) string {
	switch v := v.(type) {
	case *string:
		return *v
	case *CSV:
		return string(*v)
	}
	return ""
}

// Matches reports whether one of the texts of a record contains a keyword, which is in
// lower case.
func (t *Table[T]) Matches(v *T, keyword string) bool {
	for _, f := range t.Fields {
		if strings.Contains(strings.ToLower(text(f.At(v))), keyword) {
			return true
		}
	}
	return false
}

// Schema describes a body of the table in JSON schema: only the plain form. The lenient forms
// are not advertised.
func (t *Table[T]) Schema() map[string]any {
	var zero T
	names, properties := []string{"CID"}, map[string]any{"CID": map[string]any{"type": "string", "description": "Identifier that the client can choose for a new record. Generated when absent."}}
	for _, f := range t.Fields {
		s := schemaOf(f.At(&zero))
		if len(f.Enum) > 0 {
			s["enum"] = f.Enum
		}
		if f.Doc != "" {
			s["description"] = f.Doc
		}
		properties[f.Name] = s
		names = append(names, f.Name)
	}
	return map[string]any{"type": "object", "properties": doc.InOrder(properties, names...)}
}

func schemaOf(at any) map[string]any {
	switch at := at.(type) {
	case Taker:
		return at.Schema()
	case *ID, *int64:
		return map[string]any{"type": "integer"}
	case *float64:
		return map[string]any{"type": "number"}
	case *bool:
		return map[string]any{"type": "boolean"}
	case *[]ID:
		return map[string]any{"type": []string{"array", "null"}, "items": map[string]any{"type": "integer"}}
	case *[]string:
		return map[string]any{"type": []string{"array", "null"}, "items": map[string]any{"type": "string"}}
	case *Object:
		return map[string]any{"type": "object"}
	case *json.RawMessage:
		return map[string]any{}
	}
	return map[string]any{"type": "string"}
}
