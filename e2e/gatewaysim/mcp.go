package gatewaysim

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// rpcCall is a JSON-RPC request to an MCP proxy.
type rpcCall struct {
	ID     json.RawMessage
	Method string
	Params struct{ Name, URI string }
}

// kind is one of the three kinds of MCP primitives.
type kind struct {
	word string // as spelt in mcp_primitives
	call string // the method that uses a primitive
	list string // the method that lists all primitives
	name string // the member with the name in a list's items
	of   func(*document) primitives
	may  func(Access) Lists
}

var kinds = []kind{
	{"tool", "tools/call", "tools/list", "name", func(d *document) primitives { return d.tools }, func(a Access) Lists { return a.Primitives.Tools }},
	{"resource", "resources/read", "resources/list", "uri", func(d *document) primitives { return d.resources }, func(a Access) Lists { return a.Primitives.Resources }},
	{"prompt", "prompts/get", "prompts/list", "name", func(d *document) primitives { return d.prompts }, func(a Access) Lists { return a.Primitives.Prompts }},
}

// primitive returns the primitive that a call uses, if any.
func (c *rpcCall) primitive() (k kind, name string, ok bool) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.call == c.Method })
	if i < 0 {
		return kind{}, "", false
	}
	if name = c.Params.Name; kinds[i].name == "uri" {
		name = c.Params.URI
	}
	return kinds[i], name, true
}

// primitives are the rules of an OAS document for one kind, by name; names of
// resources may have * for any text.
type primitives map[string]struct {
	Allow, Block struct{ Enabled bool }
}

// permit refuses blocked names and, with an allow list, all names that are not in it.
func (p primitives) permit(name string) bool {
	selective, allowed := false, false
	for pattern, rule := range p {
		here := pattern == name || (strings.Contains(pattern, "*") && glob(pattern, name))
		if here && rule.Block.Enabled {
			return false
		}
		selective = selective || rule.Allow.Enabled
		allowed = allowed || (here && rule.Allow.Enabled)
	}
	return allowed || !selective
}

// glob matches a text with a pattern in which * matches any text.
func glob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(text, parts[0])
	for _, part := range parts[1 : len(parts)-1] {
		if !ok {
			return false
		}
		_, rest, ok = strings.Cut(rest, part)
	}
	return ok && strings.HasSuffix(rest, parts[len(parts)-1])
}

var noPrimitive = Decision{Status: http.StatusForbidden, Body: http.StatusText(http.StatusForbidden)}

// permits checks a call with the document's own rules.
func (d *document) permits(c *rpcCall) bool {
	k, name, ok := c.primitive()
	return !ok || k.of(d).permit(name)
}

// permitsCall checks a call with the rights from policies.
func (a Access) permitsCall(c *rpcCall) bool {
	k, name, ok := c.primitive()
	return a.Methods.permit(c.Method) && (!ok || k.may(a).permit(name))
}

// callLimits returns the limits on a call's method and primitive, by the name under
// which they are counted.
func (a Access) callLimits(c *rpcCall) map[string]Limit {
	limits := map[string]Limit{}
	for _, m := range a.MethodLimits {
		if m.Name == c.Method {
			limits[m.Name] = limits[m.Name].rate(m.Limit)
		}
	}
	k, name, ok := c.primitive()
	for _, p := range a.PrimitiveLimits {
		if ok && p.Type == k.word && p.Name == name {
			limits[k.word+" "+name] = limits[k.word+" "+name].rate(p.Limit)
		}
	}
	return limits
}
