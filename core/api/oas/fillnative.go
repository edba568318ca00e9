package oas

import (
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// fillTokenPlace copies the place of an API key to the native scheme.
func fillTokenPlace(native, entry, s *doc.Node) {
	in := native.Get("in").Text()
	switch {
	case in == "header" || in == "query" || in == "cookie":
	case !s.Get("disable_header").True():
		in = "header"
	case s.Get("use_param").True():
		in = "query"
	default:
		in = "cookie"
	}
	member := map[string]string{"header": "auth_header_name", "query": "param_name", "cookie": "cookie_name"}[in]
	assign(native, doc.NewString("apiKey"), "type")
	assign(native, doc.NewString(in), "in")
	assign(native, doc.NewString(s.Get(member).Text()), "name")
	entry.Delete(in)
}

// fillClaims: rule claims. The single value becomes the first of the list.
func fillClaims(block *doc.Node, single, list string) {
	value := block.Get(single).Text()
	if value == "" {
		return
	}
	out := doc.NewArray(doc.NewString(value))
	for _, other := range block.Get(list).Texts() {
		if other != value {
			out.Append(doc.NewString(other))
		}
	}
	assign(block, out, list)
}

func fillOAuth(native, entry *doc.Node, grants []string) {
	assign(native, doc.NewString("oauth2"), "type")
	object(native, "flows")
	refreshing := false
	for _, grant := range grants {
		refreshing = refreshing || grant == refreshGrant
		for _, t := range accessTypes {
			if t.grant == grant {
				CompleteFlow(native, t.flow)
			}
		}
	}
	assignOrDrop(entry, doc.NewBool(refreshing), "refreshToken")
}

// CompleteFlow creates a flow of an OpenAPI OAuth scheme, or adds its missing members in
// place: URLs and scopes that neither form has (docs/wire/conversion.md#fill-authentication).
func CompleteFlow(native *doc.Node, name string) {
	flow := object(native, "flows", name)
	if name == "authorizationCode" || name == "implicit" {
		fillAddress(flow, "authorizationUrl", "/oauth/authorize")
	}
	if name != "implicit" {
		fillAddress(flow, "tokenUrl", "/oauth/token")
	}
	object(flow, "scopes")
}

func fillAddress(flow *doc.Node, member, address string) {
	if flow.Get(member).Text() == "" {
		assign(flow, doc.NewString(address), member)
	}
}
