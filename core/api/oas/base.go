package oas

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/classic"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// zero is the classic form of an empty document. It is cloned, never changed.
var zero = indexed(classic.Zero())

// indexed does a lookup in every object. A large object builds its index at the first lookup,
// and two goroutines must not do so at the same time.
func indexed(n *doc.Node) *doc.Node {
	for _, name := range n.Names() {
		indexed(n.Get(name))
	}
	return n
}

// base returns the definition with which an extraction starts: over, made complete and
// correctly typed, with its switches off (docs/wire/conversion.md#forced-values).
func base(over *doc.Node) *doc.Node {
	if !over.Is(doc.TypeObject) {
		return zero.Clone()
	}
	c := over.Clone()
	c.Delete("definition", "base_id") // never a part of the JSON form
	// Top-level members with a type that gateways cannot decode are removed, because one of them
	// would break the whole feed. Names are compared as a whole: auth is not auth_provider.
	for problems := classic.Check(c); len(problems) > 0; problems = classic.Check(c) {
		for _, p := range problems {
			name := p.Path
			if end := strings.IndexAny(name, ".["); end >= 0 {
				name = name[:end]
			}
			c.Delete(name)
		}
	}
	addMissing(c, zero)
	// What a stored definition has on is switched off; what the document has on is switched on again
	// by its own block.
	assign(c, doc.NewBool(true), "version_data", "not_versioned")
	assign(c, doc.NewString(""), "version_data", "default_version")
	for _, v := range c.Get("version_data", "versions").Members() {
		for _, list := range []string{"virtual", "go_plugin"} {
			for _, entry := range v.Get("extended_paths", list).Items() {
				setObject(entry, "disabled")
			}
		}
		if ParseDuration(v.Get("global_enforce_timeout").Text()) == 0 {
			setObject(v, "global_enforce_timeout_disabled")
		}
	}
	for _, handlers := range c.Get("event_handlers", "events").Members() {
		for _, h := range handlers.Items() {
			setObject(h.Get("handler_meta"), "disabled")
		}
	}
	for _, name := range []string{"auth_check", "id_extractor"} {
		plugin := c.Get("custom_middleware", name)
		plugin.Delete("code")
		for member, v := range zero.Get("custom_middleware", name).Members() {
			assign(plugin, v.Clone(), member)
		}
	}
	return c
}

// addMissing adds the members of from that n lacks; null objects count as missing.
func addMissing(n, from *doc.Node) {
	for name, v := range from.Members() {
		switch old := n.Get(name); {
		case old == nil, old.Is(doc.TypeNull) && !v.Is(doc.TypeNull):
			n.Set(name, v.Clone())
		case v.Is(doc.TypeObject):
			addMissing(old, v)
		}
	}
}

func setObject(n *doc.Node, name string) {
	if n.Is(doc.TypeObject) {
		assign(n, doc.NewBool(true), name)
	}
}
