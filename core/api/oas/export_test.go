package oas

import (
	"slices"
	"strings"
)

// Row is a line of the table as the documentation page shows it.
type Row struct {
	Ext, Type, Classic, Rule string
	Required, Always         bool
}

var kindNames = map[kind]string{
	text: "string", flag: "bool", whole: "int", natural: "int", number: "number", duration: "duration", hexID: "hex id", texts: "[string]",
	wholes: "[int]", list: "[any]", textMap: "map<string>", anyMap: "map<any>",
}

// Table returns all rows of members that are not blocks, with the paths of the documentation
// page.
func Table() []Row {
	all := named("", "", rootRows)
	all = append(all, named("middleware.operations.*.", `version_data.versions[""].extended_paths.`, operationRows, responseRows)...)
	for _, c := range converters {
		all = append(all, named("<"+c.name+">.", "", c.rows)...)
	}
	all = append(all, named("<oauth2>.", "", oauth2Rows)...)
	for _, h := range handlers {
		all = append(all, named("<eventHandler."+h.kind+">.", "event_handlers.events.*[].handler_meta.", h.rows)...)
	}
	return all
}

func named(ext, classic string, parts ...[]row) []Row {
	var out []Row
	for _, r := range slices.Concat(parts...) {
		if r.rule == block {
			continue
		}
		c := strings.TrimSuffix(r.classic, "?")
		if c != "" {
			c = classic + c
		}
		if rest, ok := strings.CutPrefix(c, "V."); ok {
			c = `version_data.versions[""].` + rest
		}
		_, required := r.typ.required()
		out = append(out, Row{ext + r.ext, kindNames[r.typ.kind()], c, string(r.rule), required, r.empty == must})
	}
	return out
}
