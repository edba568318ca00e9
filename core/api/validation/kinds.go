package validation

import "strings"

// kind is what an object of an OpenAPI document is, as its place says: "a schema". A
// kind with a star stands for a list or a table of such objects.
type kind string

// The kinds that a reference may stand for, and those on the way to them. The empty
// kind is that of places that OpenAPI says nothing about, such as extensions.
const (
	kindDocument   kind = "the document"
	kindComponents kind = "a list of components"
	kindPath       kind = "a path item"
	kindOperation  kind = "an operation"
	kindParameter  kind = "a parameter"
	kindHeader     kind = "a header"
	kindBody       kind = "a request body"
	kindResponse   kind = "a response"
	kindMedia      kind = "a media type"
	kindEncoding   kind = "an encoding"
	kindSchema     kind = "a schema"
	kindExample    kind = "an example"
	kindLink       kind = "a link"
	kindCallback   kind = "a callback"
	kindScheme     kind = "a security scheme"
	many                = "*"
	anyMember           = ""
)

// members says of each kind what its members are. A callback has paths only.
var members = map[kind]map[string]kind{
	kindDocument: {"paths": kindPath + many, "webhooks": kindPath + many, "components": kindComponents},
	kindComponents: {
		"schemas": kindSchema + many, "responses": kindResponse + many, "parameters": kindParameter + many, "examples": kindExample + many,
		"requestBodies": kindBody + many, "headers": kindHeader + many, "securitySchemes": kindScheme + many, "links": kindLink + many,
		"callbacks": kindCallback + many, "pathItems": kindPath + many,
	},
	kindPath: {
		"parameters": kindParameter + many, "get": kindOperation, "put": kindOperation, "post": kindOperation, "delete": kindOperation,
		"options": kindOperation, "head": kindOperation, "patch": kindOperation, "trace": kindOperation,
	},
	kindOperation: {
		"parameters": kindParameter + many, "requestBody": kindBody, "responses": kindResponse + many, "callbacks": kindCallback + many,
	},
	kindParameter: {"schema": kindSchema, "examples": kindExample + many, "content": kindMedia + many},
	kindHeader:    {"schema": kindSchema, "examples": kindExample + many, "content": kindMedia + many},
	kindBody:      {"content": kindMedia + many},
	kindResponse:  {"headers": kindHeader + many, "content": kindMedia + many, "links": kindLink + many},
	kindMedia:     {"schema": kindSchema, "examples": kindExample + many, "encoding": kindEncoding + many},
	kindEncoding:  {"headers": kindHeader + many},
	kindCallback:  {anyMember: kindPath},
	kindSchema: {
		"properties": kindSchema + many, "patternProperties": kindSchema + many, "dependentSchemas": kindSchema + many, "$defs": kindSchema + many,
		"allOf": kindSchema + many, "oneOf": kindSchema + many, "anyOf": kindSchema + many, "prefixItems": kindSchema + many,
		"not": kindSchema, "items": kindSchema, "additionalProperties": kindSchema, "if": kindSchema, "then": kindSchema, "else": kindSchema,
		"contains": kindSchema, "propertyNames": kindSchema, "unevaluatedItems": kindSchema, "unevaluatedProperties": kindSchema,
	},
}

// kindAt returns what stands at a place of a document.
func kindAt(place []string) kind {
	k := kindDocument
	for _, name := range place {
		one, several := strings.CutSuffix(string(k), many)
		switch {
		case strings.HasPrefix(name, "x-") && (k == kindPath+many || k == kindResponse+many || k == kindCallback):
			return "" // an extension beside them
		case several:
			k = kind(one)
		case k == kindCallback:
			k = members[k][anyMember]
		default:
			k = members[k][name]
		}
	}
	return k
}
