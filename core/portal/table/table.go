// Package table describes the resources of the developer portal as data: which fields
// a resource has, what may be in them, and how lenient clients may be
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

// Base is what every record of the portal has.
type Base struct {
	ID        ID        `json:"ID"`
	CID       string    `json:"CID"`
	Portal    tenant.ID `json:"org_id"`
	CreatedAt time.Time `json:"CreatedAt"`
	UpdatedAt time.Time `json:"UpdatedAt"`
	DeletedAt time.Time `json:"DeletedAt,omitzero"` // of a record that stays when it is deleted
	// Hidden says that the record is away until synchronisation finds its policy again.
	Hidden bool `json:"Hidden,omitempty"`
}

// Away reports whether no operation shows the record: it is deleted or hidden.
func (b Base) Away() bool { return b.Hidden || !b.DeletedAt.IsZero() }

// Row is a record that knows its table.
type Row[T any] interface{ Table() *Table[T] }

// Table is what there is to know about a resource.
type Table[T any] struct {
	Kind   string // in storage: "portal-tag"
	Noun   string // in messages: "tag"
	Base   func(*T) *Base
	Parent func(T) ID // the record below which it lies in paths; nil: none
	Soft   bool       // what is deleted stays, and no operation shows it
	Fields []Field[T] // in the order in which failed validations are listed
	Unique []Unique[T]
	// Check adds what is wrong between fields; nil: nothing can be.
	Check func(T, *Problems)
}

// Unique is a value that no two records of a table share.
type Unique[T any] struct {
	Name  string         // of the index
	Taken string         // what is said when another record has it
	Of    func(T) string // "": the record has none
}

// Field is a field that clients may set.
type Field[T any] struct {
	Name     string       // on the wire
	Also     []string     // other names on the way in
	At       func(*T) any // a pointer to the value; its type says what the field takes
	Required bool
	Default  string   // of a text: what is in a new record when clients say nothing, or send nothing
	Repeated bool     // each change has to send it, too
	Enum     []string // the only texts there are, besides none
	Fixed    bool     // chosen when the record is made; ignored afterwards
	Max      int      // characters of a text; 0: MaxText
	Line     bool     // a text without control characters
	Target   string   // the kind of record that a relation names
	// Valid says more about what may be there; nil: nothing. It sees no empty value.
	Valid func(T) bool
	Doc   string
}

// MaxText is how many characters a text has at most, unless its field says otherwise,
// and MaxList how many entries a list.
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

// Blank notes that a field must not be empty. A field whose value was refused is empty
// because of that, which is one failure.
func (p *Problems) Blank(field string) {
	if !slices.Contains(*p, invalid(field)) {
		*p = append(*p, field+" can't be blank")
	}
}

// Invalid notes that a field holds what it cannot.
func (p *Problems) Invalid(field string) {
	if text := invalid(field); !slices.Contains(*p, text) {
		*p = append(*p, text)
	}
}

func invalid(field string) string { return field + " is invalid" }

// Member is a member of records by the name that lists sort by.
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

// Ordered names the members that Member finds, as they are on the wire.
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

// Label names the member that people know a record by: the first text that it must have,
// or else the first text; "": there is none.
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

// SameName reports whether two names of members are one: upper and lower case and _ make no
// difference (docs/wire/portal.md#lists).
func SameName(a, b string) bool { return plain(a) == plain(b) }

// plain is a name without what differs between DisplayName, display_name and displayname.
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

// Schema describes a body of the table in JSON schema: the plain form. Lenient forms
// are not advertised.
func (t *Table[T]) Schema() map[string]any {
	var zero T
	names, properties := []string{"CID"}, map[string]any{"CID": map[string]any{"type": "string", "description": "Chosen when the record is made; otherwise one is drawn."}}
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
