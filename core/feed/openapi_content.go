package feed

import "github.com/gatehouse-io/gatehouse/core/shape"

// content is the bodies of requests and responses, by media type. It contains itself: parts of
// a form have headers, and headers may have content.
var content shape.Type

// schema contains itself. Both are set when all their parts exist.
var schema shape.Type

// anySchema is a schema, a reference to one, or since 3.1 a boolean.
var anySchema = shape.Either(flag, shape.Ref(&schema))

// Examples and defaults are values for clients of the API, of any type.
var (
	example = object(row("summary description externalValue", text), row("value", shape.Any))
	valued  = shape.Join(
		row("description style", text),
		row("required deprecated allowEmptyValue explode allowReserved", flag),
		row("schema", anySchema),
		row("content", shape.Ref(&content)),
		row("example", shape.Any),
		row("examples", named(example)),
	)
	header      = object(valued)
	parameter   = object(valued, row("name in", text))
	requestBody = object(row("description", text), row("required", flag), row("content", shape.Ref(&content)))
	response    = object(row("description", text), row("headers", named(header)), row("content", shape.Ref(&content)), row("links", named(link)))
	link        = object(
		row("operationRef operationId description", text), row("server", server),
		row("parameters", shape.Map(shape.Any)), row("requestBody", shape.Any), // values, or expressions for values
	)
)

var _ = shape.Define(&content, shape.Map(object(
	row("schema", anySchema),
	row("example", shape.Any),
	row("examples", named(example)),
	row("encoding", shape.Map(object(row("contentType style", text), row("headers", named(header)), row("explode allowReserved", flag)))),
)))

var _ = shape.Define(&schema, shape.Linked(object(
	row("title description format pattern $id $schema $comment $anchor $dynamicRef $dynamicAnchor contentMediaType contentEncoding", text),
	row("type", shape.Either(text, texts)),
	row("multipleOf maximum minimum", number),
	row("exclusiveMaximum exclusiveMinimum", shape.Either(flag, number)),
	row("maxLength minLength maxItems minItems maxContains minContains maxProperties minProperties", natural),
	row("uniqueItems nullable readOnly writeOnly deprecated allowEmptyValue", flag),
	row("required", texts),
	row("dependentRequired", shape.Map(texts)),
	row("not items additionalProperties unevaluatedItems unevaluatedProperties contains propertyNames if then else contentSchema", anySchema),
	row("allOf oneOf anyOf prefixItems", shape.List(anySchema)),
	row("properties patternProperties dependentSchemas $defs", shape.Map(anySchema)),
	row("enum examples", shape.List(shape.Any)),
	row("default example const", shape.Any),
	row("discriminator", object(row("propertyName", text), row("mapping", shape.Map(text)))),
	row("externalDocs", docs),
	row("xml", object(row("name namespace prefix", text), row("attribute wrapped", flag))),
)))
