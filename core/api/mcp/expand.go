package mcp

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Node returns the tool as MCP clients list it.
func (t Tool) Node() *doc.Node {
	n := doc.NewObject()
	n.Set("name", doc.NewString(t.Name))
	if t.Description != "" {
		n.Set("description", doc.NewString(t.Description))
	}
	n.Set("inputSchema", t.input())
	if t.output != nil {
		n.Set("outputSchema", t.output.Clone())
	}
	n.Set("annotations", t.annotations())
	return n
}

// annotations are the hints that follow from the method, and what the view
// says instead.
func (t Tool) annotations() *doc.Node {
	var safe, idempotent bool
	switch t.Method {
	case "GET", "HEAD", "OPTIONS", "TRACE":
		safe, idempotent = true, true
	case "PUT", "DELETE":
		idempotent = true
	}
	title := t.title
	if title == "" {
		title = t.Name
	}
	n := doc.NewObject()
	n.Set("title", doc.NewString(title))
	n.Set("readOnlyHint", doc.NewBool(safe))
	n.Set("destructiveHint", doc.NewBool(!safe))
	n.Set("idempotentHint", doc.NewBool(idempotent))
	n.Set("openWorldHint", doc.NewBool(!safe))
	for name, v := range t.hints.Members() {
		n.Set(name, v.Clone())
	}
	return n
}

// input returns the schema of the tool's input.
func (t Tool) input() *doc.Node {
	n, properties := doc.NewObject(), doc.NewObject()
	var required []string
	for _, f := range t.fields {
		properties.Set(f.name, f.schema.Clone())
		if f.required {
			required = append(required, f.name)
		}
	}
	n.Set("type", doc.NewString("object"))
	n.Set("properties", properties)
	if len(required) > 0 {
		slices.Sort(required)
		n.Set("required", doc.NewStrings(required))
	}
	return n
}

// Expanded returns the view with every tool of the source and everything that
// was derived.
func (v View) Expanded() *doc.Node {
	list := doc.NewArray()
	for _, t := range v.all {
		list.Append(t.expanded())
	}
	n := doc.NewObject()
	n.Set("primitives", list)
	return n
}

func (t Tool) expanded() *doc.Node {
	n := doc.NewObject()
	n.Set("source", t.source())
	for name, v := range t.override.Members() {
		if name != "source" {
			n.Set(name, v.Clone())
		}
	}
	for name, v := range t.Node().Members() {
		n.Set(name, v)
	}
	n.Set("allow", doc.NewBool(t.shown))
	if len(t.fields) > 0 {
		t.expandFields(n)
	}
	if t.media != "" {
		n.Set("requestBodyContentType", doc.NewString(t.media))
	}
	return n
}

func (t Tool) source() *doc.Node {
	n := doc.NewObject()
	if t.OperationID != "" && !t.shared {
		n.Set("operationId", doc.NewString(t.OperationID))
		return n
	}
	n.Set("path", doc.NewString(t.Path))
	n.Set("method", doc.NewString(t.Method))
	return n
}

// expandFields says where each input goes.
func (t Tool) expandFields(n *doc.Node) {
	locations, sources, serializations, order := doc.NewObject(), doc.NewObject(), doc.NewObject(), doc.NewArray()
	for _, f := range t.fields {
		order.Append(doc.NewString(f.name))
		locations.Set(f.name, doc.NewString(f.location))
		sources.Set(f.name, doc.NewString(f.source))
		if f.parameter {
			serializations.Set(f.name, f.serialization())
		}
	}
	n.Set("parameterLocations", locations)
	n.Set("parameterSourceNames", sources)
	if serializations.Len() > 0 {
		n.Set("parameterSerializations", serializations)
	}
	n.Set("parameterOrder", order)
}

func (f field) serialization() *doc.Node {
	n := doc.NewObject()
	n.Set("sourceName", doc.NewString(f.source))
	n.Set("location", doc.NewString(f.location))
	n.Set("style", doc.NewString(f.style))
	n.Set("explode", doc.NewBool(f.explode))
	if f.schemaType != "" {
		n.Set("schemaType", doc.NewString(f.schemaType))
	}
	return n
}
