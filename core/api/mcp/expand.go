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
	input, properties := doc.NewObject(), doc.NewObject()
	var required []string
	for _, f := range t.fields {
		properties.Set(f.name, f.schema.Clone())
		if f.required {
			required = append(required, f.name)
		}
	}
	input.Set("type", doc.NewString("object"))
	input.Set("properties", properties)
	if len(required) > 0 {
		slices.Sort(required)
		input.Set("required", doc.NewStrings(required))
	}
	n.Set("inputSchema", input)
	if t.output != nil {
		n.Set("outputSchema", t.output.Clone())
	}
	// The hints follow from the method, unless the view sets others.
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
	annotations := doc.NewObject()
	annotations.Set("title", doc.NewString(title))
	annotations.Set("readOnlyHint", doc.NewBool(safe))
	annotations.Set("destructiveHint", doc.NewBool(!safe))
	annotations.Set("idempotentHint", doc.NewBool(idempotent))
	annotations.Set("openWorldHint", doc.NewBool(!safe))
	for name, v := range t.hints.Members() {
		annotations.Set(name, v.Clone())
	}
	n.Set("annotations", annotations)
	return n
}

// Expanded returns the view with every tool of the source and all derived values.
func (v View) Expanded() *doc.Node {
	list := doc.NewArray()
	for _, t := range v.all {
		entry, source := doc.NewObject(), doc.NewObject()
		if t.OperationID != "" && !t.shared {
			source.Set("operationId", doc.NewString(t.OperationID))
		} else {
			source.Set("path", doc.NewString(t.Path))
			source.Set("method", doc.NewString(t.Method))
		}
		entry.Set("source", source)
		for name, v := range t.override.Members() {
			if name != "source" {
				entry.Set(name, v.Clone())
			}
		}
		for name, v := range t.Node().Members() {
			entry.Set(name, v)
		}
		entry.Set("allow", doc.NewBool(t.shown))
		if len(t.fields) > 0 {
			t.expandFields(entry)
		}
		if t.media != "" {
			entry.Set("requestBodyContentType", doc.NewString(t.media))
		}
		list.Append(entry)
	}
	n := doc.NewObject()
	n.Set("primitives", list)
	return n
}

// expandFields sets where each input goes in the request.
func (t Tool) expandFields(n *doc.Node) {
	locations, sources, serializations, order := doc.NewObject(), doc.NewObject(), doc.NewObject(), doc.NewArray()
	for _, f := range t.fields {
		order.Append(doc.NewString(f.name))
		locations.Set(f.name, doc.NewString(f.location))
		sources.Set(f.name, doc.NewString(f.source))
		if !f.parameter {
			continue
		}
		s := doc.NewObject()
		s.Set("sourceName", doc.NewString(f.source))
		s.Set("location", doc.NewString(f.location))
		s.Set("style", doc.NewString(f.style))
		s.Set("explode", doc.NewBool(f.explode))
		if f.schemaType != "" {
			s.Set("schemaType", doc.NewString(f.schemaType))
		}
		serializations.Set(f.name, s)
	}
	n.Set("parameterLocations", locations)
	n.Set("parameterSourceNames", sources)
	if serializations.Len() > 0 {
		n.Set("parameterSerializations", serializations)
	}
	n.Set("parameterOrder", order)
}
