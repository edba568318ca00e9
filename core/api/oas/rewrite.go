package oas

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// rewriteInputs are the values that a rule of a URL rewrite can match, in the order in which
// rules are written (docs/wire/conversion.md#rules).
var rewriteInputs = []struct{ in, group string }{
	{"query", "query_val_matches"},
	{"path", "path_part_matches"},
	{"header", "header_matches"},
	{"sessionMetadata", "session_meta_matches"},
	{"requestBody", payload},
	{"requestContext", "request_context_matches"},
}

// payload is the only group that is a single match instead of a map by name.
const payload = "payload_matches"

var rewriteTrigger = hook{
	extract: func(ext, c *doc.Node) {
		options := doc.NewObject()
		for _, g := range rewriteInputs {
			options.Set(g.group, doc.NewObject())
		}
		options.Set(payload, match(nil))
		for _, r := range ext.Get("rules").Items() {
			for _, g := range rewriteInputs {
				switch {
				case g.in != r.Get("in").Text():
				case g.group == payload:
					options.Set(payload, match(r))
				default:
					options.Get(g.group).Set(r.Get("name").Text(), match(r))
				}
			}
		}
		c.Set("options", options)
	},
	fill: func(ext, c *doc.Node) {
		out := rules(c)
		// The last rule of the document for a value wins. A map, because there may be thousands.
		old := map[string]*doc.Node{}
		for _, known := range ext.Get("rules").Items() {
			old[ruleKey(known)] = known
		}
		for i, rule := range out {
			known := old[ruleKey(rule)]
			if known == nil {
				continue
			}
			out[i] = known.Clone() // the classic rule is written over that of the document
			out[i].Delete("negate")
			for name, v := range rule.Members() {
				assign(out[i], v, name)
			}
		}
		assign(ext, doc.NewArray(out...), "rules")
	},
	skip: func(c *doc.Node) bool { return len(rules(c)) == 0 },
}

// ruleKey identifies the value that a rule matches.
func ruleKey(rule *doc.Node) string {
	return rule.Get("in").Canonical() + " " + rule.Get("name").Text()
}

func match(rule *doc.Node) *doc.Node {
	m := doc.NewObject()
	m.Set("match_rx", doc.NewString(rule.Get("pattern").Text()))
	m.Set("reverse", doc.NewBool(rule.Get("negate").True()))
	return m
}

// rules returns the rules of a classic trigger, without rules that match nothing.
func rules(c *doc.Node) []*doc.Node {
	var out []*doc.Node
	for _, g := range rewriteInputs {
		group := c.Get("options", g.group)
		if g.group == payload {
			out = appendRule(out, g.in, "", group)
			continue
		}
		names := group.Names()
		slices.Sort(names)
		for _, name := range names {
			out = appendRule(out, g.in, name, group.Get(name))
		}
	}
	return out
}

func appendRule(out []*doc.Node, in, name string, m *doc.Node) []*doc.Node {
	pattern, negate := m.Get("match_rx").Text(), m.Get("reverse").True()
	if pattern == "" && !negate {
		return out
	}
	r := doc.NewObject()
	r.Set("in", doc.NewString(in))
	assignOrDrop(r, doc.NewString(name), "name")
	r.Set("pattern", doc.NewString(pattern))
	assignOrDrop(r, doc.NewBool(negate), "negate")
	return append(out, r)
}
