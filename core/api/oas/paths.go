package oas

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/pattern"
)

// OperationID returns the id that an operation gets when it has none: the path
// without its first slash and the method in upper case (docs/wire/import.md#operation-ids).
func OperationID(path, method string) string {
	return strings.TrimPrefix(path, "/") + strings.ToUpper(method)
}

// Endpoints finds and makes operations of a document.
type Endpoints struct {
	document *doc.Node
	taken    map[string]bool // IDs of operations; nil: they are not read yet
}

// EndpointsOf returns the endpoints of a document, which nothing else gives operations meanwhile.
func EndpointsOf(document *doc.Node) *Endpoints { return &Endpoints{document: document} }

// Endpoint returns the operation for a path and method of the document, and its id.
// An operation without id, or none at all, is looked up as a classic path, whose
// patterns become parameters of the path item; missing ones are made (docs/wire/import.md#operation-ids).
func (e *Endpoints) Endpoint(path, method string) (id string, operation *doc.Node) {
	return e.endpoint(path, method, parametrise)
}

// Described returns the id of an operation of a description, which gets one where it has none. Its
// path stays as it is; one with a regular expression is looked up as a classic path
// (docs/wire/import.md#operation-ids). A parameter with a pattern, {name:pattern}, makes no path of
// its own: OpenAPI takes it for the same path as {name}, and a document has no path twice.
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

// endpoint makes the operation of a path and method where it is missing; split says what the path
// of its item and the parameters are.
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

// free returns an id that no operation has: the wanted one, or else that with a number.
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

// pathItem returns the item of a path; one by reference is what it refers to.
func pathItem(document *doc.Node, path string) *doc.Node {
	return Resolve(document, document.Get("paths", path))
}

// parametrised gives a path item the parameters that it lacks.
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

// Parts counts the segments of a path that may become parameters: those with more than letters,
// digits and dots.
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

// expression finds what makes a segment of a description a regular expression: characters that
// no path of a URL has, the blank among them, and repeated dots and groups. Others, such as + and
// $, are text there.
var expression = regexp.MustCompile(`[ \[\]\\^|]|[.)][*+?]`)

// parametersOf returns a path of a description, and the parameters that are whole segments.
func parametersOf(path string) (same string, parameters []*doc.Node) {
	for s := range strings.SplitSeq(path, "/") {
		if m := namedSegment.FindStringSubmatch(s); m != nil {
			parameters = append(parameters, pathParameter(m[1], ""))
		}
	}
	return path, parameters
}

// braced reports whether a segment is a parameter, or several of them: {a}-{b}.
func braced(s string) bool { return strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}") }

// Literal reports whether a classic path has a segment that is meant as a pattern and is
// none that can be compiled, such as the wildcard *: the path becomes one of OpenAPI
// as it is.
func Literal(path string) bool {
	for s := range strings.SplitSeq(path, "/") {
		if !plainSegment.MatchString(s) && !braced(s) && !isPattern(s) {
			return true
		}
	}
	return false
}

// maxSegment is how much the expression of a segment may cost: an API has many of them.
const maxSegment = 2_000

func isPattern(s string) bool {
	if pattern.Cost(s) > maxSegment {
		return false
	}
	_, err := pattern.Check(s)
	return err == nil
}

// parametrise turns a classic path into one of OpenAPI: {name:pattern} loses its
// pattern, any other segment that is not plain text becomes {customRegexN}, with the
// segment as pattern unless it is in braces. In a literal path only what has braces
// does, which OpenAPI would take for a parameter.
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
