// Package apis stores the APIs of every class: classic, OpenAPI, streams and MCP
// proxies. The packages below it hold the operations on them.
package apis

import (
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Names of the indexes of an API.
const (
	ByAPIID    = "api_id"
	ByAddress  = "address"
	ByChild    = "child"      // bases, by the API IDs they route to
	BySource   = "mcp_source" // MCP proxies, by the API whose operations they offer
	byPlace    = "place"
	bySequence = "listing"
	byProxy    = "mcp_name" // MCP proxies, by name
)

// Kind is the kind of APIs with the default settings.
var Kind = newKind(Settings{})

// newKind returns the kind of APIs. With duplicate paths, several APIs may have the
// same address. Gateways know an API only by its api_id, so an api_id belongs to one
// organisation unless gateways are separate.
func newKind(s Settings) *store.Kind[apidef.API] {
	return &store.Kind[apidef.API]{
		Name: apidef.Kind, Noun: "API", Alias: ByAPIID, Load: apidef.Load, Shared: true, Over: apidef.API.Over,
		ID:  apidef.API.ID,
		Org: func(a apidef.API) tenant.ID { return a.OrgID() },
		Indexes: []store.Index[apidef.API]{
			{Name: ByAPIID, Noun: "ID", Unique: true, Across: !s.SeparateGateways, Values: func(a apidef.API) []string { return []string{a.APIID()} }},
			store.Lookup(ByAddress, func(a apidef.API) string { return store.Indexed(a.Address()) }),
			store.Unique(byProxy, "name", proxyName), // before the path, as in collision
			{Name: byPlace, Noun: "listen path", Unique: !s.DuplicatePaths, Values: func(a apidef.API) []string { return each(a.Places(), store.Indexed) }},
			{Name: ByChild, Values: func(a apidef.API) []string { return each(a.ChildIDs(), store.Indexed) }},
			store.Lookup(BySource, func(a apidef.API) string { return store.Indexed(a.Source()) }),
			store.Sorted(bySequence, apidef.API.Sequence),
			store.Lookup(signal.Quiet, func(a apidef.API) string {
				if a.Quiet() {
					return "yes"
				}
				return ""
			}),
		},
		Refs: apidef.API.Refs,
	}
}

// proxyName returns the name of an MCP proxy, which is unique among them.
func proxyName(a apidef.API) string {
	if !a.IsMCP() {
		return ""
	}
	return store.Indexed(a.Name())
}

func each(list []string, fn func(string) string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = fn(s)
	}
	return out
}
