package attribute

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Value is the value of an attribute that a user has.
type Value struct {
	AttributeID table.ID
	Identifier  string
	Value       string
}

// Values are those of one user, in order of attribute.
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

// Put returns the values with another value of an attribute; "" takes it away.
func (v Values) Put(a Attribute, value string) Values {
	out := slices.DeleteFunc(slices.Clone(v), func(x Value) bool { return x.AttributeID == a.ID })
	if value != "" {
		out = append(out, Value{a.ID, a.Identifier, value})
	}
	slices.SortFunc(out, func(x, y Value) int { return int(x.AttributeID - y.AttributeID) })
	return out
}

// Renamed returns the values with an attribute as it is called now.
func (v Values) Renamed(a Attribute) Values {
	out := slices.Clone(v)
	if i := out.index(a.ID); i >= 0 {
		out[i].Identifier = a.Identifier
	}
	return out
}

// Given are the values that a body names by identifier.
type Given []struct{ Identifier, Value string }

// Take implements table.Taker. An entry may be one of an answer, which names the
// attribute in a member of its own.
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

// Begin returns the values of a new user: those given, as far as all admit them. Required
// ones must be there.
func Begin(all []Attribute, given Given, wrong *table.Problems) Values {
	out := Invite(all, given, wrong)
	missing(all, nil, given, wrong)
	return out
}

// Invite returns the values of somebody who is invited, and who says the rest oneself.
func Invite(all []Attribute, given Given, wrong *table.Problems) Values {
	return fill(all, nil, given, wrong)
}

// Join returns the values of somebody who says them oneself, beside those that there are:
// they stay. What no form asks for and no profile edits does not exist there.
func Join(all []Attribute, have Values, given Given, wrong *table.Problems) Values {
	out := fill(slices.DeleteFunc(slices.Clone(all), func(a Attribute) bool { return !a.Asked() }), have, given, wrong)
	missing(all, have, given, wrong)
	return out
}

// fill returns the values with those that are given and not there yet.
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

// missing notes required attributes that are neither there nor given.
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

// Change returns the values with another one of an attribute, or says what is wrong.
// Taking a value away is a change to "".
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

// Entry is the value of an attribute as a body names it.
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
