package validation

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// primitiveKinds are the members of middleware that hold settings by the name of
// an MCP primitive.
var primitiveKinds = []string{"mcpTools", "mcpResources", "mcpPrompts"}

// settingKinds are those that hold settings by any name.
var settingKinds = append([]string{"operations"}, primitiveKinds...)

// restricted are settings that make no sense for an MCP proxy: gateways ignore them on
// primitives, and would break the protocol with them on its methods.
var restricted = []string{"internal", "transformRequestMethod", "transformResponseBody", "urlRewrite", "cache", "validateRequest", "mockResponse"}

// streaming is the member of a document that holds its streams.
const streaming = "x-tyk-streaming"

// Primitives refuses settings that make no sense for MCP proxies, on primitives and on
// the methods of the protocol alike.
func Primitives(d *doc.Node) []Problem {
	var p problems
	if d.Get(streaming) != nil {
		p.add(streaming, "is not supported for MCP proxies, which gateways would run as streams; remove it")
	}
	const field = gatewayExtension + ".middleware"
	for _, kind := range settingKinds {
		for name, settings := range d.Get(gatewayExtension, "middleware", kind).Members() {
			for setting := range settings.Members() {
				if slices.ContainsFunc(restricted, func(r string) bool { return strings.EqualFold(r, setting) }) { // gateways read members in any letter case
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

// Streams refuses inputs and outputs outside the supported list (docs/wire/streams-apis.md#rules).
// Do not call it when all experimental ones are allowed.
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

// supported reports whether a component is on the list of inputs or outputs. Nothing but
// standard output is on one of them only.
func supported(name, side string) bool {
	return slices.Contains(streamComponents, name) || side == "outputs" && name == "stdout"
}

// component checks an input or output, and those that a broker consists of.
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
