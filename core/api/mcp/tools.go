package mcp

import (
	"cmp"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Tool is one operation of a REST API as MCP clients see it.
type Tool struct {
	Name        string
	Description string
	Method      string // in upper case
	Path        string
	OperationID string // "" where the operation has none

	shared   bool      // the operation ID is not unique
	title    string    // of the operation; "": use the name
	hints    *doc.Node // annotations that the view sets
	fields   []field
	output   *doc.Node
	media    string    // content type of the request body
	override *doc.Node // the entry of the view, or nil
	shown    bool
}

// Warning is about an operation that the view leaves out.
type Warning struct {
	Operation, Source, ToolName, Method, Path string
	Message                                   string
}

// maxParameters is the maximum number of parameters of all operations of an API together,
// because many paths may refer to the same list.
const maxParameters = 100_000

// sourceTools makes a tool of every operation that clients may call
// (docs/wire/mcp-proxies.md#tool-view).
func sourceTools(rest *doc.Node) ([]Tool, []Warning, error) {
	operations := oas.Operations(rest)
	slices.SortStableFunc(operations, func(a, b oas.Operation) int { return cmp.Compare(a.Path, b.Path) })
	var warnings []Warning
	listed := false // if true, only allowed operations can be called
	for _, o := range rest.Get(oas.ExtensionKey, "middleware", "operations").Members() {
		listed = listed || o.Get("allow", "enabled").True()
	}
	operations = slices.DeleteFunc(operations, func(o oas.Operation) bool {
		reason := hidden(rest, o, listed)
		if reason != "" {
			label := cmp.Or(o.ID(), o.Method+" "+o.Path)
			warnings = append(warnings, Warning{Operation: label, Method: o.Method, Path: o.Path, Message: reason})
		}
		return reason != ""
	})
	left := maxParameters
	for _, o := range operations {
		if left -= o.Item.Get("parameters").Len() + o.Node.Get("parameters").Len(); left < 0 {
			return nil, nil, invalid("source", "the operations of the source API have more than %d parameters", maxParameters)
		}
	}
	names, uses := toolNames(operations), map[string]int{}
	for _, o := range operations {
		uses[o.ID()]++
	}
	tools, room := make([]Tool, len(operations)), maxRoom
	for i, o := range operations {
		t := Tool{Name: names[i], Method: o.Method, Path: o.Path, OperationID: o.ID(), title: o.Node.Get("summary").Text(), shared: uses[o.ID()] > 1}
		if t.Description = t.title; t.Description == "" {
			t.Description = o.Node.Get("description").Text()
		}
		s := schemas{document: rest, left: maxSchemas, room: &room}
		t.fields, t.media = s.inputs(o)
		t.output = s.output(o)
		tools[i] = t
	}
	return tools, warnings, nil
}

// hidden returns why an operation cannot be called, or "".
func hidden(rest *doc.Node, o oas.Operation, listed bool) string {
	s := rest.Get(oas.ExtensionKey, "middleware", "operations", o.ID())
	switch {
	case listed && o.ID() == "":
		return "the operation has no id and the API has an allow list"
	case o.ID() == "":
		return ""
	case s.Get("internal", "enabled").True():
		return "the operation is internal"
	case s.Get("block", "enabled").True():
		return "the operation is blocked"
	case listed && !s.Get("allow", "enabled").True():
		return "the operation is not on the allow list"
	}
	return ""
}
