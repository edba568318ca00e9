package imports

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/registry/oas"
)

// parameter is a path parameter; pattern is "" when any text will do.
type parameter struct{ name, pattern string }

var (
	namedSegment = regexp.MustCompile(`^\{([A-Za-z0-9._-]+)(:.*)?\}$`)
	plainSegment = regexp.MustCompile(`^[A-Za-z0-9._-]*$`)
)

// rewritePath turns a path as gateways match it into an OpenAPI path with its
// parameters: patterns of named segments are dropped, other expressions become
// parameters customRegex1, customRegex2 … (contract oas-extension.md 10.4).
func rewritePath(path string) (string, []parameter) {
	var parameters []parameter
	segments, expressions := strings.Split(strings.TrimPrefix(path, "/"), "/"), 0
	for i, segment := range segments {
		if plainSegment.MatchString(segment) {
			continue
		}
		p := parameter{pattern: segment}
		if m := namedSegment.FindStringSubmatch(segment); m != nil {
			p = parameter{name: m[1]}
		} else {
			expressions++
			p.name = "customRegex" + strconv.Itoa(expressions)
		}
		segments[i], parameters = "{"+p.name+"}", append(parameters, p)
	}
	return "/" + strings.Join(segments, "/"), parameters
}

// endpoint returns the operationId for a path and method as gateways match
// them; the path item, its parameters, the operation and the id are made where
// they are missing (contract oas-extension.md 10.4).
func endpoint(document *doc.Node, path, method string) string {
	if id := document.Get("paths", path, strings.ToLower(method), "operationId").Text(); id != "" {
		return id
	}
	rewritten, parameters := rewritePath(path)
	item := child(child(document, "paths"), rewritten)
	for _, p := range parameters {
		addParameter(document, item, p)
	}
	operation := item.Get(strings.ToLower(method))
	if !operation.Is(doc.TypeObject) {
		operation = doc.NewObject()
		operation.Put(doc.NewString(""), "responses", "default", "description")
		item.Set(strings.ToLower(method), operation)
	}
	id := operation.Get("operationId").Text()
	if id == "" {
		id = oas.OperationID(path, method)
		operation.Set("operationId", doc.NewString(id))
	}
	return id
}

// child returns a member that is an object, making it one where it is not.
func child(n *doc.Node, name string) *doc.Node {
	c := n.Get(name)
	if !c.Is(doc.TypeObject) {
		c = doc.NewObject()
		n.Set(name, c)
	}
	return c
}

// addParameter declares a path parameter unless the path item has it.
func addParameter(document, item *doc.Node, p parameter) {
	list := item.Get("parameters")
	for _, v := range list.Items() {
		if known := Resolve(document, v); known.Get("in").Text() == "path" && known.Get("name").Text() == p.name {
			return
		}
	}
	if !list.Is(doc.TypeArray) {
		list = doc.NewArray()
		item.Set("parameters", list)
	}
	n := doc.NewObject()
	n.Set("in", doc.NewString("path"))
	n.Set("name", doc.NewString(p.name))
	n.Set("required", doc.NewBool(true))
	if p.pattern != "" {
		n.Put(doc.NewString(p.pattern), "schema", "pattern")
	}
	n.Put(doc.NewString("string"), "schema", "type")
	list.Append(n)
}
