package validation

import "strings"

// kind is the type of an object at a place of an OpenAPI document: "a schema". A kind with a
// star is a list or map of such objects.
type kind string

// The kinds of reference targets, and those on the way to them. The empty kind is for places
// that OpenAPI does not define, such as extensions.
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

// members are the members of each kind and their kinds. All members of a callback are paths.
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

// kindAt returns the kind of the object at a place of a document.
func kindAt(place []string) kind {
	k := kindDocument
	for _, name := range place {
		one, several := strings.CutSuffix(string(k), many)
		switch {
		case strings.HasPrefix(name, "x-") && (k == kindPath+many || k == kindResponse+many || k == kindCallback):
			return "" // an extension beside the paths
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
