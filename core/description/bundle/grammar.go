package bundle

// kind is a kind of object of a description.
type kind string

// The kinds. Those without a section cannot be components, so they are copied to their
// references.
const (
	whole      kind = "document"
	components kind = "components"
	pathItem   kind = "pathItem"
	operation  kind = "operation"
	media      kind = "mediaType"
	encoding   kind = "encoding"
	schema     kind = "schema"
	parameter  kind = "parameter"
	response   kind = "response"
	body       kind = "requestBody"
	header     kind = "header"
	example    kind = "example"
	link       kind = "link"
	callback   kind = "callback"
	security   kind = "securityScheme"
)

// sections maps a kind to its member of "components".
var sections = map[kind]string{
	schema: "schemas", parameter: "parameters", response: "responses", body: "requestBodies", header: "headers",
	example: "examples", link: "links", callback: "callbacks", security: "securitySchemes",
}

// form is how a member contains objects.
type form uint8

const (
	one   form = iota // the member is the object, or an array of them
	table             // the member is a map of them
)

// step describes the objects in a member.
type step struct {
	kind kind
	form form
}

// every is the entry for all members without one.
const every = "*"

// grammar says where an object contains references and further objects (OpenAPI 3.1.1 section
// 4.8, JSON Schema 2020-12). Other members are plain values and are not searched, because an
// example may have a member "$ref".
var grammar = map[kind]map[string]step{
	whole: {"paths": {pathItem, table}, "webhooks": {pathItem, table}, "components": {components, one}},
	components: {
		"schemas": {schema, table}, "parameters": {parameter, table}, "responses": {response, table}, "requestBodies": {body, table},
		"headers": {header, table}, "examples": {example, table}, "links": {link, table}, "callbacks": {callback, table},
		"securitySchemes": {security, table}, "pathItems": {pathItem, table},
	},
	pathItem: {
		"parameters": {parameter, one}, "get": {operation, one}, "put": {operation, one}, "post": {operation, one},
		"delete": {operation, one}, "options": {operation, one}, "head": {operation, one}, "patch": {operation, one}, "trace": {operation, one},
	},
	operation: {"parameters": {parameter, one}, "requestBody": {body, one}, "responses": {response, table}, "callbacks": {callback, table}},
	media:     {"schema": {schema, one}, "examples": {example, table}, "encoding": {encoding, table}},
	encoding:  {"headers": {header, table}},
	parameter: {"schema": {schema, one}, "examples": {example, table}, "content": {media, table}},
	header:    {"schema": {schema, one}, "examples": {example, table}, "content": {media, table}},
	response:  {"headers": {header, table}, "content": {media, table}, "links": {link, table}},
	body:      {"content": {media, table}},
	callback:  {every: {pathItem, one}},
	schema: {
		"properties": {schema, table}, "patternProperties": {schema, table}, "$defs": {schema, table}, "definitions": {schema, table},
		"dependentSchemas": {schema, table}, "items": {schema, one}, "prefixItems": {schema, one}, "additionalProperties": {schema, one},
		"unevaluatedItems": {schema, one}, "unevaluatedProperties": {schema, one}, "contains": {schema, one}, "propertyNames": {schema, one},
		"contentSchema": {schema, one}, "allOf": {schema, one}, "anyOf": {schema, one}, "oneOf": {schema, one}, "not": {schema, one},
		"if": {schema, one}, "then": {schema, one}, "else": {schema, one},
	},
}
