package attribute

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Value is a user's value of an attribute.
type Value struct {
	AttributeID table.ID
	Identifier  string
	Value       string
}

// Values are the values of one user, sorted by attribute.
type Values []Value

// Of returns the value of an attribute, or "".
func (v Values) Of(id table.ID) string {
	if i := v.index(id); i >= 0 {
		return v[i].Value
	}
	return ""
}

func (v Values) index(id table.ID) int {
	return slices.IndexFunc(v, func(x Value) bool { return x.AttributeID == id })
}

// Put returns the values with a new value of an attribute; "" removes it.
func (v Values) Put(a Attribute, value string) Values {
	out := slices.DeleteFunc(slices.Clone(v), func(x Value) bool { return x.AttributeID == a.ID })
	if value != "" {
		out = append(out, Value{a.ID, a.Identifier, value})
	}
	slices.SortFunc(out, func(x, y Value) int { return int(x.AttributeID - y.AttributeID) })
	return out
}

// Renamed returns the values with the current identifier of an attribute.
func (v Values) Renamed(a Attribute) Values {
	out := slices.Clone(v)
	if i := out.index(a.ID); i >= 0 {
		out[i].Identifier = a.Identifier
	}
	return out
}

// Given are values in a request body, by identifier.
type Given []struct{ Identifier, Value string }

// Take implements table.Taker. An entry may have the form of a response, which names the
// attribute in another member.
func (g *Given) Take(sent any) (done, ok bool) {
	list, isList := sent.([]any)
	if sent == nil {
		*g = nil
		return true, true
	}
	if !isList || len(list) > Most {
		return false, false
	}
	out := make(Given, len(list))
	for i, entry := range list {
		object, _ := entry.(map[string]any)
		if inner, nested := object["CustomAttribute"].(map[string]any); nested && object["Identifier"] == nil {
			object["Identifier"] = inner["Identifier"]
		}
		identifier, isText := object["Identifier"].(string)
		value, isValue := table.Text(object["Value"])
		if !isText || !isValue {
			return false, false
		}
		out[i].Identifier, out[i].Value = identifier, value
	}
	*g = out
	return true, true
}

// Schema implements table.Taker.
func (Given) Schema() map[string]any {
	text := map[string]any{"type": "string"}
	return map[string]any{"type": []string{"array", "null"}, "items": map[string]any{"type": "object", "properties": map[string]any{"Identifier": text, "Value": text}}}
}

// Begin returns the values of a new user: the given ones that are valid. Required values must
// be given.
func Begin(all []Attribute, given Given, wrong *table.Problems) Values {
	out := Invite(all, given, wrong)
	missing(all, nil, given, wrong)
	return out
}

// Invite returns the values of an invited user, who will enter the other values.
func Invite(all []Attribute, given Given, wrong *table.Problems) Values {
	return fill(all, nil, given, wrong)
}

// Join returns the values of a user who enters own values. Existing values stay. Attributes
// that users cannot enter count as unknown.
func Join(all []Attribute, have Values, given Given, wrong *table.Problems) Values {
	out := fill(slices.DeleteFunc(slices.Clone(all), func(a Attribute) bool { return !a.Asked() }), have, given, wrong)
	missing(all, have, given, wrong)
	return out
}

// fill returns the values with the given ones added; existing values stay.
func fill(all []Attribute, have Values, given Given, wrong *table.Problems) Values {
	out := have
	for _, g := range given {
		i := slices.IndexFunc(all, func(a Attribute) bool { return a.Identifier == g.Identifier })
		switch {
		case i < 0:
			wrong.Invalid("CustomAttributes")
		case strings.TrimSpace(g.Value) == "" || have.Of(all[i].ID) != "":
		case !all[i].Accepts(g.Value):
			wrong.Invalid(g.Identifier)
		default:
			out = out.Put(all[i], g.Value)
		}
	}
	return out
}

// missing adds problems for required attributes without an existing or given value.
func missing(all []Attribute, have Values, given Given, wrong *table.Problems) {
	for _, a := range all {
		sent := slices.ContainsFunc(given, func(g struct{ Identifier, Value string }) bool {
			return g.Identifier == a.Identifier && strings.TrimSpace(g.Value) != ""
		})
		if a.Required && !sent && have.Of(a.ID) == "" {
			wrong.Blank(a.Identifier)
		}
	}
}

// Change returns the values with a new value of an attribute, or adds problems. "" removes the
// value.
func (v Values) Change(a Attribute, value string, wrong *table.Problems) Values {
	value = strings.TrimSpace(value)
	old := v.Of(a.ID)
	switch {
	case value == old:
		return v
	case a.WriteOnceReadMany && old != "":
		*wrong = append(*wrong, "Value cannot be changed: the first one stays")
	case value == "" && a.Required:
		wrong.Blank("Value")
	case value != "" && !a.Accepts(value):
		wrong.Invalid("Value")
	default:
		return v.Put(a, value)
	}
	return v
}

// Entry is the request body with the value of an attribute.
type Entry struct {
	table.Base
	Value string
}

// Table implements table.Row.
func (Entry) Table() *table.Table[Entry] { return entries }

var entries = &table.Table[Entry]{
	Kind: Kind + "-value", Noun: "attribute value",
	Base:   func(e *Entry) *table.Base { return &e.Base },
	Fields: []table.Field[Entry]{{Name: "Value", At: func(e *Entry) any { return &e.Value }, Max: maxValue}},
}
