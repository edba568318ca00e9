package http

import (
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// fieldsOf returns the members of an object in their encoded order.
func fieldsOf(properties any) doc.Fields {
	switch p := properties.(type) {
	case doc.Fields:
		return p
	case object:
		return doc.InOrder(p)
	}
	return nil
}

// componentOf returns the name of the component that a schema refers to if it is an
// object with members, or "".
func (d *describer) componentOf(schema object) string {
	to, _ := schema["$ref"].(string)
	name := strings.TrimPrefix(to, "#/components/schemas/")
	if s, _ := d.schemas.all[name].(object); len(fieldsOf(s["properties"])) == 0 {
		return ""
	}
	return name
}

// oneSided marks members that clients only send or only receive.
func (d *describer) oneSided() {
	sent, shown := map[string]map[string]bool{}, map[string]map[string]bool{}
	note := func(into map[string]map[string]bool, name string, from []string) {
		for _, other := range from {
			if into[name] == nil {
				into[name] = map[string]bool{}
			}
			for _, f := range fieldsOf(d.schemas.all[other].(object)["properties"]) {
				into[name][f.Name] = true
			}
		}
	}
	for _, r := range d.resources {
		for _, name := range r.answers {
			note(sent, name, r.bodies)
		}
		for _, name := range r.bodies {
			note(shown, name, r.answers)
		}
	}
	for keyword, sides := range map[string]map[string]map[string]bool{"readOnly": sent, "writeOnly": shown} {
		for name, other := range sides {
			for _, f := range fieldsOf(d.schemas.all[name].(object)["properties"]) {
				if !other[f.Name] {
					d.mark(name, f.Name, keyword, true)
				}
			}
		}
	}
}

// mark sets a keyword of a member of a component. A format is set only on strings
// without one.
func (d *describer) mark(component, member, keyword string, value any) {
	schema := maps.Clone(d.schemas.all[component].(object))
	fields := slices.Clone(fieldsOf(schema["properties"]))
	for i, f := range fields {
		of, ok := f.Value.(object)
		if !ok || f.Name != member || keyword == "format" && (of["type"] != "string" || of["format"] != nil || of["enum"] != nil) {
			continue
		}
		of = maps.Clone(of)
		of[keyword] = value
		fields[i].Value = of
	}
	schema["properties"] = fields
	d.schemas.all[component] = schema
}
