package migrate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// notes lists the settings of a version that migration drops, those that OAS cannot express,
// and those that migration activates (docs/wire/conversion.md#forced-values,
// docs/wire/conversion.md#fill-endpoints, docs/wire/migration.md#method-actions). Some of them
// protect endpoints, so the user must be told.
func notes(version string, v *doc.Node) []string {
	var out []string
	say := func(format string, args ...any) {
		out = append(out, fmt.Sprintf("version %q: ", version)+fmt.Sprintf(format, args...))
	}
	inForce := v.Get("use_extended_paths").True()
	if !inForce && !zero(v.Get("extended_paths")) {
		say("use_extended_paths is off; in an OAS API extended_paths is always in force")
	}
	for _, list := range []string{"ignored", "black_list", "white_list"} {
		if !inForce && v.Get("paths", list).Len() > 0 {
			say("paths.%s has no place in an OAS API", list)
		}
		for _, entry := range v.Get("extended_paths", list).Items() {
			if entry.Get("method_actions").Len() == 0 {
				say("the entry %s %s of extended_paths.%s has no method_actions and is dropped",
					entry.Get("method").Text(), entry.Get("path").Text(), list)
			}
		}
	}
	for _, list := range []string{"transform_jq", "transform_jq_response", "persist_graphql"} {
		if v.Get("extended_paths", list).Len() > 0 {
			say("extended_paths.%s has no place in an OAS document", list)
		}
	}
	literal := map[string]bool{}
	for _, list := range v.Get("extended_paths").Members() {
		for _, entry := range list.Items() {
			path := entry.Get("path").Text() + entry.Text() // an entry of the plain cache list is only a path
			if oas.Literal(path) && !literal[path] {
				literal[path] = true
				say("the path %s has a wildcard or a pattern that cannot be compiled and is taken literally", path)
			}
		}
	}
	return out
}

// methodNotes lists the methods of authentication that are on and have no entry in
// auth_configs. A document cannot express them, and gateways ask for a key instead. Custom
// plugins and external OAuth need no entry. Older definitions have the place of a key in auth:
// it stays there, and a document cannot express it.
func methodNotes(def *doc.Node) []string {
	var out []string
	for _, config := range slices.Sorted(maps.Keys(methods)) {
		switch config {
		case "coprocess", "externalOAuth":
		case "authToken":
			if auth := def.Get("auth"); inUse(def, config) && def.Get("auth_configs", config) == nil && !zero(auth) {
				out = append(out, "the place of the key is in auth, which stays in the classic definition and has no place in an OAS document: auth_configs.authToken has one")
			}
		default:
			if inUse(def, config) && def.Get("auth_configs", config) == nil {
				out = append(out, fmt.Sprintf("%s is on, but auth_configs has no entry %s: it is off in the OAS API, which asks for a key instead", strings.Join(methods[config], "."), config))
			}
		}
	}
	return out
}
