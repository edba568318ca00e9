package oas

import (
	"slices"
	"strings"
)

// Row is a line of the table in the terms of the contract's list.
type Row struct {
	Ext, Type, Classic, Rule string
	Always                   bool
}

var kindNames = map[kind]string{
	text: "string", flag: "bool", whole: "int", natural: "int", number: "number", duration: "duration", hexID: "hex id", texts: "[string]",
	wholes: "[int]", list: "[any]", textMap: "map<string>", anyMap: "map<any>",
}

// Table returns all rows, with the paths that the contract uses.
func Table() []Row {
	const auth, ops = "server.authentication.", "middleware.operations.*."
	const lists = `version_data.versions[""].extended_paths.`
	all := named("", "", infoRows, upstreamRows, uptimeDiscoveryRows(), serverRows, authenticationRows, globalRows, errorRows, pluginRows(),
		sources(auth+"hmac.", "hmac"), sources(auth+"oidc.", "oidc"), sources(auth+"custom.", "coprocess"))
	all = append(all, named(ops, lists, operationRows, responseRows())...)
	for _, k := range converters {
		rows := map[Scheme][]row{SchemeToken: tokenRows, SchemeJWT: jwtRows, SchemeBasic: basicRows, SchemeOAuth: oauthRows, SchemeExternalOAuth: externalOAuthRows}
		name := strings.TrimPrefix(strings.ToLower(string(k.scheme)), "auth")
		if k.scheme == SchemeExternalOAuth {
			name = string(k.scheme)
		}
		all = append(all, named("<"+name+">.", "", rows[k.scheme], sources("", string(k.scheme)))...)
	}
	all = append(all, named("<oauth2>.", "", oauth2Rows)...)
	for i, rows := range [][]row{webhookRows, scriptRows, logRows} {
		all = append(all, named("<eventHandler."+handlers[i].kind+">.", "event_handlers.events.*[].handler_meta.", rows)...)
	}
	return all
}

func named(ext, classic string, parts ...[]row) []Row {
	var out []Row
	for _, r := range slices.Concat(parts...) {
		c := strings.TrimSuffix(r.classic, "?")
		if c != "" {
			c = classic + c
		}
		if rest, ok := strings.CutPrefix(c, "V."); ok {
			c = `version_data.versions[""].` + rest
		}
		out = append(out, Row{ext + r.ext, kindNames[r.kind], c, string(r.rule), bool(r.written)})
	}
	return out
}
