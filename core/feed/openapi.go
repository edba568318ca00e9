package feed

import (
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/shape"
)

// Document returns the places where a gateway would fail to decode a document, or would read
// data that rules do not see. A document with problems is not stored, and a stored one with
// problems is not fed.
func Document(n *doc.Node) []shape.Problem {
	if n.Is(doc.TypeNull) {
		return nil
	}
	if problems := openAPI.Check(n); problems != nil {
		return problems
	}
	return shape.Any.Check(n) // extensions and unknown members are decoded too: no number may be too large
}

// DocumentType returns the type of OpenAPI documents.
func DocumentType() shape.Type { return openAPI }

var (
	text    = shape.String
	flag    = shape.Bool
	texts   = shape.List(text)
	number  = shape.Float
	natural = shape.UintOf(64)
	row     = shape.Members
)

// object is an OpenAPI object, which may have extensions.
func object(groups ...shape.Group) shape.Type { return shape.Beside("x-", shape.Object(groups...)) }

// named is a map of objects by name, each of which may be a reference.
func named(of shape.Type) shape.Type { return shape.Map(shape.Linked(of)) }

// openAPI is an OpenAPI document of version 3.0 or 3.1. Where the versions differ, both types
// are allowed: a value that a gateway decodes and then finds invalid affects only this API.
var openAPI = object(
	row("openapi jsonSchemaDialect", text),
	row("info", object(
		row("title summary description termsOfService version", text),
		row("contact", object(row("name url email", text))),
		row("license", object(row("name identifier url", text))),
	)),
	row("servers", shape.List(server)),
	row("tags", shape.List(object(row("name description", text), row("externalDocs", docs)))),
	row("security", requirements),
	row("externalDocs", docs),
	row("paths", shape.Beside("x-", shape.Map(shape.Ref(&pathItem)))),
	row("webhooks", shape.Beside("x-", shape.Map(shape.Ref(&pathItem)))),
	row("components", object(
		row("schemas", shape.Map(anySchema)),
		row("parameters", named(parameter)),
		row("headers", named(header)),
		row("requestBodies", named(requestBody)),
		row("responses", named(response)),
		row("securitySchemes", named(securityScheme)),
		row("examples", named(example)),
		row("links", named(link)),
		row("callbacks", callbacks),
		row("pathItems", shape.Map(shape.Ref(&pathItem))),
	)),
	row(oas.ExtensionKey, oas.ExtensionType()),
	row("x-tyk-mcp-server x-tyk-streaming", shape.Any), // gateways do not decode these members; schemas define their form
)

var (
	docs         = object(row("description url", text))
	requirements = shape.List(shape.Map(texts))
	server       = object(
		row("url description", text),
		row("variables", shape.Map(object(row("default description", text), row("enum", texts)))),
	)
	securityScheme = object(
		row("type description name in scheme bearerFormat openIdConnectUrl", text),
		row("flows", object(row("implicit password clientCredentials authorizationCode", object(
			row("authorizationUrl tokenUrl refreshUrl", text), row("scopes", shape.Map(text)),
		)))),
	)
)

// pathItem is the operations of one path. It contains itself, because callbacks contain paths.
var pathItem shape.Type

var callbacks = named(shape.Beside("x-", shape.Map(shape.Ref(&pathItem))))

var _ = shape.Define(&pathItem, object(
	row("$ref summary description", text),
	row("servers", shape.List(server)),
	row("parameters", shape.List(shape.Linked(parameter))),
	row("get put post delete options head patch trace connect", object(
		row("operationId summary description", text),
		row("tags", texts),
		row("deprecated", flag),
		row("parameters", shape.List(shape.Linked(parameter))),
		row("servers", shape.List(server)),
		row("security", requirements),
		row("requestBody", shape.Linked(requestBody)),
		row("responses", shape.Beside("x-", named(response))),
		row("callbacks", callbacks),
		row("externalDocs", docs),
	)),
))
