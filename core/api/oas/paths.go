package oas

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/pattern"
)

// OperationID returns the ID for an operation that has none: the path without its first slash
// and the method in upper case (docs/wire/import.md#operation-ids).
func OperationID(path, method string) string {
	return strings.TrimPrefix(path, "/") + strings.ToUpper(method)
}

// Endpoints finds and creates operations of a document.
type Endpoints struct {
	document *doc.Node
	taken    map[string]bool // IDs of operations; nil: not read yet
}

// EndpointsOf returns the endpoints of a document. Only they may add operations to it from now
// on.
func EndpointsOf(document *doc.Node) *Endpoints { return &Endpoints{document: document} }

// Endpoint returns the operation for a path and method of the document, and its ID. If there
// is none, or it has no ID, the path is looked up as a classic path: its patterns become
// parameters of the path item, and what is missing is created
// (docs/wire/import.md#operation-ids).
func (e *Endpoints) Endpoint(path, method string) (id string, operation *doc.Node) {
	return e.endpoint(path, method, parametrise)
}

// Described returns the ID of an operation of a description, and sets one if it has none. Its
// path stays unchanged, but a path with a regular expression is looked up as a classic path
// (docs/wire/import.md#operation-ids). A parameter with a pattern, {name:pattern}, does not
// make another path: for OpenAPI it is the same path as {name}, and a document must not have a
// path twice.
func (e *Endpoints) Described(path, method string) string {
	split := parametersOf
	for s := range strings.SplitSeq(path, "/") {
		if !namedSegment.MatchString(s) && expression.MatchString(s) {
			split = parametrise
			break
		}
	}
	id, _ := e.endpoint(path, method, split)
	return id
}

// endpoint creates the operation of a path and method if it is missing. split returns the path
// of its item and the parameters.
func (e *Endpoints) endpoint(path, method string, split func(string) (string, []*doc.Node)) (id string, operation *doc.Node) {
	document, lower := e.document, strings.ToLower(method)
	operation = pathItem(document, path).Get(lower)
	if id = operation.Get("operationId").Text(); id != "" {
		return id, operation
	}
	clean, parameters := split(path)
	item := pathItem(document, clean)
	if !item.Is(doc.TypeObject) {
		item = doc.NewObject()
		document.Put(item, "paths", clean)
	}
	parametrised(document, item, parameters)
	operation = item.Get(lower)
	if id = operation.Get("operationId").Text(); id != "" {
		return id, operation
	}
	id = e.free(OperationID(path, method))
	if !operation.Is(doc.TypeObject) {
		operation = doc.NewObject()
		operation.Set("operationId", doc.NewString(id))
		operation.Put(description(), "responses", "default")
		item.Set(lower, operation)
	}
	operation.Set("operationId", doc.NewString(id))
	return id, operation
}

// free returns an unused ID: the wanted one, or otherwise this ID with a number.
func (e *Endpoints) free(wanted string) string {
	if e.taken == nil {
		e.taken = map[string]bool{}
		for _, o := range Operations(e.document) {
			e.taken[o.ID()] = true
		}
	}
	id := wanted
	for n := 2; e.taken[id]; n++ {
		id = wanted + "-" + strconv.Itoa(n)
	}
	e.taken[id] = true
	return id
}

// pathItem returns the item of a path, with a reference resolved.
func pathItem(document *doc.Node, path string) *doc.Node {
	return Resolve(document, document.Get("paths", path))
}

// parametrised adds missing parameters to a path item.
func parametrised(document, item *doc.Node, parameters []*doc.Node) {
	if len(parameters) == 0 {
		return
	}
	name := func(p *doc.Node) string { return p.Get("in").Canonical() + p.Get("name").Canonical() }
	list, known := item.Get("parameters"), map[string]bool{}
	for _, p := range list.Items() {
		known[name(Resolve(document, p))] = true
	}
	if !list.Is(doc.TypeArray) {
		list = doc.NewArray()
	}
	for _, p := range parameters {
		if !known[name(p)] {
			known[name(p)] = true
			list.Append(p)
		}
	}
	if list.Len() > 0 {
		item.Set("parameters", list)
	}
}

// Parts counts the segments of a path that may become parameters: those with other characters
// than letters, digits, dots, underscores and hyphens.
func Parts(path string) (n int) {
	for s := range strings.SplitSeq(path, "/") {
		if strings.ContainsFunc(s, func(c rune) bool {
			return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-'
		}) {
			n++
		}
	}
	return n
}

// description is an empty response.
func description() *doc.Node {
	n := doc.NewObject()
	n.Set("description", doc.NewString(""))
	return n
}

var (
	namedSegment = regexp.MustCompile(`^\{([A-Za-z0-9._-]+)(:.*)?\}$`)
	plainSegment = regexp.MustCompile(`^[A-Za-z0-9._-]*$`)
)

// expression matches segments of a description that are regular expressions: they have
// characters that no URL path has, including the blank, or repeated dots and groups. Other
// special characters, such as + and $, are text there.
var expression = regexp.MustCompile(`[ \[\]\\^|]|[.)][*+?]`)

// parametersOf returns a path of a description unchanged, and the parameters that are whole
// segments.
func parametersOf(path string) (same string, parameters []*doc.Node) {
	for s := range strings.SplitSeq(path, "/") {
		if m := namedSegment.FindStringSubmatch(s); m != nil {
			parameters = append(parameters, pathParameter(m[1], ""))
		}
	}
	return path, parameters
}

// braced reports whether a segment is a parameter, or several: {a}-{b}.
func braced(s string) bool { return strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}") }

// Literal reports whether a classic path has a segment that is neither plain text nor a valid
// pattern, such as the wildcard *. Such a path becomes an OpenAPI path unchanged.
func Literal(path string) bool {
	for s := range strings.SplitSeq(path, "/") {
		if !plainSegment.MatchString(s) && !braced(s) && !isPattern(s) {
			return true
		}
	}
	return false
}

// maxSegment is the maximum cost of a segment's expression, because an API has many of them.
const maxSegment = 2_000

func isPattern(s string) bool {
	if pattern.Cost(s) > maxSegment {
		return false
	}
	_, err := pattern.Check(s)
	return err == nil
}

// parametrise converts a classic path to an OpenAPI path: {name:pattern} loses its pattern,
// and every other segment that is not plain text becomes {customRegexN}, with the segment as
// pattern unless it is in braces. In a literal path only segments in braces are converted,
// because OpenAPI would take them for parameters.
func parametrise(path string) (clean string, parameters []*doc.Node) {
	segments, expressions := strings.Split(strings.TrimPrefix(path, "/"), "/"), 0
	literal := Literal(path)
	for i, s := range segments {
		if plainSegment.MatchString(s) || literal && !strings.ContainsAny(s, "{}") {
			continue
		}
		name, expression := "", ""
		if m := namedSegment.FindStringSubmatch(s); m != nil {
			name = m[1]
		} else {
			expressions++
			name = "customRegex" + strconv.Itoa(expressions)
			if expression = s; braced(s) {
				expression = ""
			}
		}
		if !isPattern(expression) {
			expression = regexp.QuoteMeta(s)
		}
		segments[i], parameters = "{"+name+"}", append(parameters, pathParameter(name, expression))
	}
	return "/" + strings.Join(segments, "/"), parameters
}

func pathParameter(name, expression string) *doc.Node {
	schema := doc.NewObject()
	schema.Set("type", doc.NewString("string"))
	assignOrDrop(schema, doc.NewString(expression), "pattern")
	p := doc.NewObject()
	p.Set("name", doc.NewString(name))
	p.Set("in", doc.NewString("path"))
	p.Set("required", doc.NewBool(true))
	p.Set("schema", schema)
	return p
}
