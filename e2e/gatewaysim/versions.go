package gatewaysim

import (
	"net/http"
	"strings"
)

// routing is the version table of a base API (docs/wire/feeds.md#oas-apis).
type routing struct {
	Enabled      bool
	Name         string // of the base itself
	Default      string // "", "self" or a name
	Location     string // header, url or url-param
	Key          string // name of the header or parameter
	Fallback     bool   `json:"fallback_to_default"`
	StripVersion bool   `json:"strip_versioning_data"`
	Pattern      string `json:"url_versioning_pattern"` // what counts as a version in a path
	Versions     map[string]string
}

var noVersion = Decision{Status: http.StatusNotFound, Body: "This API version does not seem to exist"}

// chooseVersion returns the API that serves a request to a: one of its child versions,
// or itself. It removes the version from the request if the base API says so.
func (v view) chooseVersion(a *api, r *request) (*api, *Decision) {
	if !a.IsOAS || !a.Definition.Enabled {
		return a, nil
	}
	table := a.Definition
	name := table.named(r)
	if _, known := table.Versions[name]; name == "" || (table.Fallback && !known && name != table.Name) {
		name = table.Default
	}
	if name == "" || name == "self" || name == table.Name {
		return a, nil
	}
	chosen := v.apis.byID[table.Versions[name]]
	if chosen == nil {
		return nil, &noVersion
	}
	return chosen, nil
}

// named returns the version in a request, "" if there is none.
func (t routing) named(r *request) (name string) {
	switch t.Location {
	case "header":
		if name = r.header.Get(t.Key); t.StripVersion {
			r.header.Del(t.Key)
		}
	case "url-param":
		if name = r.query.Get(t.Key); t.StripVersion {
			r.query.Del(t.Key)
		}
	case "url":
		name, _, _ = strings.Cut(strings.TrimPrefix(r.path, "/"), "/")
		if t.Pattern != "" && !matches(t.Pattern, name) {
			return ""
		}
		if _, known := t.Versions[name]; (known || name == t.Name) && t.StripVersion {
			r.path = under("/"+name, r.path)
		}
	}
	return name
}
