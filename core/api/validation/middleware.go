package validation

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// primitiveKinds are the members of middleware that map names of MCP primitives to settings.
var primitiveKinds = []string{"mcpTools", "mcpResources", "mcpPrompts"}

// settingKinds are the members of middleware that map any names to settings.
var settingKinds = append([]string{"operations"}, primitiveKinds...)

// restricted are settings without meaning for an MCP proxy: gateways ignore them on
// primitives, and they would break the protocol on its methods.
var restricted = []string{"internal", "transformRequestMethod", "transformResponseBody", "urlRewrite", "cache", "validateRequest", "mockResponse"}

// streaming is the member of a document with its streams.
const streaming = "x-tyk-streaming"

// Primitives refuses settings without meaning for MCP proxies, both on primitives and on the
// methods of the protocol.
func Primitives(d *doc.Node) []Problem {
	var p problems
	if d.Get(streaming) != nil {
		p.add(streaming, "is not supported for MCP proxies, which gateways would run as streams; remove it")
	}
	const field = gatewayExtension + ".middleware"
	for _, kind := range settingKinds {
		for name, settings := range d.Get(gatewayExtension, "middleware", kind).Members() {
			for setting := range settings.Members() {
				if slices.ContainsFunc(restricted, func(r string) bool { return strings.EqualFold(r, setting) }) { // gateways decode members in any letter case
					p.add(at(field, kind, name, setting), "is not supported for MCP proxies; remove it")
				}
			}
		}
	}
	return p
}

// Members of an input or output of a stream.
var (
	streamComponents = []string{"amqp_0_9", "amqp_1", "broker", "http_client", "http_server", "kafka", "mqtt", "resource"}
	streamSettings   = []string{"label", "plugin", "processors", "type"}
)

// Streams refuses inputs and outputs outside the supported list
// (docs/wire/streams-apis.md#rules). It must not be called when all experimental ones are
// allowed.
func Streams(d *doc.Node) []Problem {
	var p problems
	for name, stream := range d.Get(streaming, "streams").Members() {
		field := at(streaming, "streams", name)
		for _, side := range []string{"input", "output"} {
			p.component(at(field, side), stream.Get(side), side+"s")
			for i, c := range stream.Get(side + "_resources").Items() {
				p.component(at(field, side+"_resources", i), c, side+"s")
			}
		}
	}
	return p
}

// supported reports whether a component is on the list of inputs or outputs. The lists differ
// only in standard output.
func supported(name, side string) bool {
	return slices.Contains(streamComponents, name) || side == "outputs" && name == "stdout"
}

// component checks an input or output, and the components of a broker.
func (p *problems) component(field string, c *doc.Node, nested string) {
	for name := range c.Members() {
		if !supported(name, nested) && !slices.Contains(streamSettings, name) {
			p.add(at(field, name), "is not a supported component")
		}
	}
	if kind := c.Get("type"); kind != nil && !supported(kind.Text(), nested) {
		p.add(field+".type", "is not a supported component")
	}
	for i, inner := range c.Get("broker", nested).Items() {
		p.component(at(field, "broker", nested, i), inner, nested)
	}
}
