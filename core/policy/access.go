package policy

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/pattern"
)

// CodeMCP is the code of an access definition that does not match the class of its API.
const CodeMCP = Kind + ".mcp"

// primitives is the member with the tools, resources and prompts of an MCP proxy.
const primitives = "mcp_primitives"

// The members of an access definition that exclude each other (docs/wire/policies.md#access-definitions).
var (
	mcpMembers  = []string{"json_rpc_methods", "json_rpc_methods_access_rights", primitives, "mcp_access_rights"}
	restMembers = []string{"allowed_urls", "endpoints", "restricted_types", "allowed_types", "field_access_rights", "disable_introspection"}
)

// settleAccess completes the access rights and checks each one against its API. again replaces
// the authentication methods of the document.
func settleAccess(n *doc.Node, again bool, apis APIs) error {
	if err := settleRights(n); err != nil {
		return err
	}
	if err := CheckRights(n.Get("access_rights"), apis); err != nil {
		return err
	}
	var methods []string
	for id := range n.Get("access_rights").Members() {
		methods = append(methods, apis[id].AuthTypes...)
	}
	// The authentication methods of existing APIs are stored. A client's own value stays, unless
	// again is true.
	if len(methods) > 0 {
		slices.Sort(methods)
		methods = slices.Compact(methods)
		if again || n.Get("auth_type").Text() == "" {
			n.Set("auth_type", doc.NewString(single(methods)))
		}
		if again || n.Get("auth_types").Len() == 0 {
			n.Set("auth_types", doc.NewStrings(methods))
		}
	}
	list(n)
	return nil
}

// settleRights makes access_rights an object of complete definitions, if necessary from
// access_rights_array.
func settleRights(n *doc.Node) error {
	if listed(n) {
		rights := doc.NewObject()
		for _, definition := range n.Get("access_rights_array").Items() {
			id := definition.Get("api_id").Text()
			if id == "" {
				return invalid("access_rights_array", "policy access_rights_array: every item needs an api_id")
			}
			rights.Set(id, definition)
		}
		n.Set("access_rights", rights)
	}
	FillRights(n.Get("access_rights"))
	return nil
}

// listed reports whether access_rights_array gives the access of a document: when
// access_rights is missing or empty. Templates of clients have an empty access_rights beside
// the list, and do not mean a policy without APIs.
func listed(n *doc.Node) bool {
	rights := n.Get("access_rights")
	return missing(rights) || rights.Is(doc.TypeObject) && rights.Len() == 0
}

// FillRights completes the access definitions of a policy or a key.
func FillRights(rights *doc.Node) {
	for id, definition := range rights.Members() {
		if definition.Is(doc.TypeNull) {
			definition = doc.NewObject()
			rights.Set(id, definition)
		}
		if given := definition.Get("api_id"); definition.Is(doc.TypeObject) && (missing(given) || given.Is(doc.TypeString) && given.Text() == "") { // another type is refused as sent
			definition.Set("api_id", doc.NewString(id))
		}
	}
}

// list writes the access rights a second time as a list, which clients expect.
func list(n *doc.Node) {
	items := doc.NewArray()
	for _, definition := range n.Get("access_rights").Members() {
		items.Append(definition)
	}
	n.Set("access_rights_array", items)
}

// single returns the auth_type of a policy with these methods.
func single(methods []string) string {
	if len(methods) == 1 {
		return methods[0]
	}
	return ""
}

// CheckRights checks the access definitions of a policy or a key against their APIs
// (docs/wire/policies.md#access-definitions, rules 1 to 3).
func CheckRights(rights *doc.Node, apis APIs) error {
	for id, definition := range rights.Members() {
		api, known := apis[id]
		if !known {
			continue // clients create policies before APIs
		}
		at := "access_rights." + id + "."
		if !api.MCP {
			if name := configured(definition, mcpMembers); name != "" {
				return fault.New(fault.Invalid, CodeMCP, "MCP fields can only be configured on MCP Proxies, API \"%s\" is not an MCP Proxy", id).At(at + name)
			}
			continue
		}
		if name := configured(definition, restMembers); name != "" {
			return fault.New(fault.Invalid, CodeMCP, "%s cannot be configured on MCP Proxies, API \"%s\" is an MCP Proxy", name, id).At(at + name)
		}
		if err := readable(definition, at, id); err != nil {
			return err
		}
		for _, p := range definition.Get(primitives).Items() {
			if t := p.Get("type").Text(); t != "tool" && t != "resource" && t != "prompt" {
				return fault.New(fault.Invalid, CodeMCP, "mcp_primitives of API \"%s\": type must be tool, resource or prompt", id).At(at + primitives)
			}
		}
	}
	return nil
}

// expressions are the members of an access definition with lists of regular expressions.
var expressions = [][]string{
	{"json_rpc_methods_access_rights"}, {"mcp_access_rights", "tools"}, {"mcp_access_rights", "resources"}, {"mcp_access_rights", "prompts"},
}

// readable refuses a list with an expression that gateways cannot compile: it would match
// nothing, and blocked calls would be allowed.
func readable(definition *doc.Node, at, id string) error {
	for _, path := range expressions {
		for _, list := range []string{"allowed", "blocked"} {
			for _, e := range definition.Get(append(slices.Clone(path), list)...).Items() {
				if _, err := pattern.Check("^(?:" + e.Text() + ")$"); err != nil {
					name := strings.Join(path, ".") + "." + list
					return fault.New(fault.Invalid, CodeMCP, "%s of API \"%s\": \"%s\" is no regular expression", name, id, e.Text()).At(at + name)
				}
			}
		}
	}
	return nil
}

// configured returns the first member with a value, or "". Clients with fixed types send empty
// lists and false for members that they do not use.
func configured(definition *doc.Node, members []string) string {
	for _, name := range members {
		if says(definition.Get(name)) {
			return name
		}
	}
	return ""
}

func says(n *doc.Node) bool {
	switch n.Type() {
	case doc.TypeArray:
		return n.Len() > 0
	case doc.TypeObject:
		for _, v := range n.Members() {
			if says(v) {
				return true
			}
		}
		return false
	case doc.TypeBool:
		return n.True()
	case doc.TypeString:
		return n.Text() != ""
	case doc.TypeNumber:
		return n.Float() != 0
	}
	return false
}

// GrantsMCP reports whether an access definition has values that only MCP proxies have.
func GrantsMCP(definition *doc.Node) bool { return configured(definition, mcpMembers) != "" }
