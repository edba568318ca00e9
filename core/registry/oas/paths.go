package oas

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// OperationID returns the id that an operation gets when it has none: the path
// without its first slash and the method in upper case (contract
// oas-extension.md 10.4).
func OperationID(path, method string) string {
	return strings.TrimPrefix(path, "/") + strings.ToUpper(method)
}

// operations finds and creates operations of a document.
type operations struct{ paths *doc.Node }

// id returns the operation id for a classic path and method, and the operation.
// What is missing is created; ok is false for a method that OpenAPI has not.
func (o operations) id(path, method string) (id string, op *doc.Node, ok bool) {
	lower := strings.ToLower(method)
	if !slices.Contains(methods, lower) {
		return "", nil, false
	}
	item := o.paths.Get(path)
	if !item.Is(doc.TypeObject) {
		item = o.pathItem(path)
	}
	op = item.Get(lower)
	if !op.Is(doc.TypeObject) {
		op = doc.NewObject()
		op.Set("operationId", doc.NewString(OperationID(path, method)))
		op.Put(description(), "responses", "default")
		item.Set(lower, op)
	}
	id = operationID(op)
	if id == "" {
		id = OperationID(path, method)
		op.Set("operationId", doc.NewString(id))
	}
	return id, op, true
}

// description is an empty response.
func description() *doc.Node {
	n := doc.NewObject()
	n.Set("description", doc.NewString(""))
	return n
}

// pathItem returns the item of a classic path, whose patterns become parameters.
func (o operations) pathItem(path string) *doc.Node {
	clean, parameters := parametrise(path)
	item := o.paths.Get(clean)
	if !item.Is(doc.TypeObject) {
		item = doc.NewObject()
		o.paths.Set(clean, item)
	}
	for _, p := range parameters {
		addParameter(item, p)
	}
	return item
}

func addParameter(item, parameter *doc.Node) {
	list := item.Get("parameters")
	if !list.Is(doc.TypeArray) {
		list = doc.NewArray()
		item.Set("parameters", list)
	}
	for _, known := range list.Items() {
		if known.Get("name").Equal(parameter.Get("name")) && known.Get("in").Equal(parameter.Get("in")) {
			return
		}
	}
	list.Append(parameter)
}

// parametrise turns a classic path into one of OpenAPI: {name:pattern} loses its
// pattern, any other segment that is not plain text becomes {customRegexN}
// (contract oas-extension.md 10.4).
func parametrise(path string) (clean string, parameters []*doc.Node) {
	segments := strings.Split(path, "/")
	n := 0
	for i, s := range segments {
		name, pattern := "", ""
		switch inner, named := parameterName(s); {
		case named:
			name = inner
		case s != "" && !isPlain(s):
			n++
			name, pattern = "customRegex"+strconv.Itoa(n), s
		default:
			continue
		}
		segments[i] = "{" + name + "}"
		parameters = append(parameters, pathParameter(name, pattern))
	}
	clean = strings.Join(segments, "/")
	if !strings.HasPrefix(clean, "/") {
		clean = "/" + clean
	}
	return clean, parameters
}

// parameterName reads {name} and {name:pattern}.
func parameterName(segment string) (name string, ok bool) {
	inner, opened := strings.CutPrefix(segment, "{")
	inner, closed := strings.CutSuffix(inner, "}")
	if !opened || !closed {
		return "", false
	}
	name, _, _ = strings.Cut(inner, ":")
	return name, name != "" && isPlain(name)
}

func isPlain(s string) bool {
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-') {
			return false
		}
	}
	return true
}

func pathParameter(name, pattern string) *doc.Node {
	schema := doc.NewObject()
	schema.Set("type", doc.NewString("string"))
	assignOrDrop(schema, doc.NewString(pattern), "pattern")
	p := doc.NewObject()
	p.Set("name", doc.NewString(name))
	p.Set("in", doc.NewString("path"))
	p.Set("required", doc.NewBool(true))
	p.Set("schema", schema)
	return p
}
