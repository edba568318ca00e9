package feed

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/shape"
)

// Document says where a gateway would fail to decode a document: nothing with a
// problem is stored, and nothing stored with one is fed.
func Document(n *doc.Node) []shape.Problem {
	if n.Is(doc.TypeNull) {
		return nil
	}
	problems := openAPI.Check(n)
	for _, member := range []string{"paths", "webhooks"} {
		for path, item := range n.Get(member).Members() {
			if !strings.HasPrefix(path, "x-") { // an extension, of any type
				problems = append(problems, within(member+"."+path, pathItem.Check(item))...)
			}
		}
	}
	return problems
}

// openAPI is what every OpenAPI 3 document has in common as far as decoders go:
// types that differ between 3.0 and 3.1, such as those of schemas, are left open.
// A document that is decoded and then found invalid costs a gateway only the one
// API (contract gateway.md 3.4).
var openAPI = shape.Object(
	shape.Members("openapi", shape.String),
	shape.Members("info", shape.Object(
		shape.Members("title description termsOfService version", shape.String),
		shape.Members("contact license", anything),
	)),
	shape.Members("servers", list),
	shape.Members("tags", shape.List(shape.Object(shape.Members("name description", shape.String)))),
	shape.Members("security", shape.List(shape.Map(shape.List(shape.String)))),
	shape.Members("externalDocs", anything),
	shape.Members("paths webhooks", anything),
	shape.Members("components", shape.Object(
		shape.Members("schemas parameters headers requestBodies responses securitySchemes examples links callbacks", anything),
	)),
)

var (
	anything = shape.Map(shape.Any)
	list     = shape.List(anything)
)

var pathItem = shape.Object(
	shape.Members("$ref summary description", shape.String),
	shape.Members("servers parameters", list),
	shape.Members("get put post delete options head patch trace connect", shape.Object(
		shape.Members("operationId summary description", shape.String),
		shape.Members("tags", shape.List(shape.String)),
		shape.Members("deprecated", shape.Bool),
		shape.Members("parameters servers", list),
		shape.Members("security", shape.List(shape.Map(shape.List(shape.String)))),
		shape.Members("requestBody responses callbacks externalDocs", anything),
	)),
)
