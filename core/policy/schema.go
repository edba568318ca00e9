package policy

import (
	"encoding/json"
	"maps"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// object is a part of a JSON schema.
type object = map[string]any

func maybe(kind, description string) object {
	return object{"type": []string{kind, "null"}, "description": description}
}

func listOf(items object, description string) object {
	return object{"type": []string{"array", "null"}, "items": items, "description": description}
}

// properties describes the known members; a policy may have others.
var properties = object{
	"_id":                              maybe("string", "Database ID, 24 hexadecimal digits; honoured on creation."),
	"id":                               maybe("string", "Identifier that keys, tokens and mappings use; the database ID when left out."),
	"org_id":                           maybe("string", "Organisation; set by the server."),
	"name":                             object{"type": "string", "description": "Unique in the organisation."},
	"state":                            object{"type": []any{"string", "null"}, "enum": []any{"active", "draft", "deny", "", nil}, "description": "draft disables keys, deny keeps the policy from gateways."},
	"rate":                             maybe("number", "Requests per period; -1 is unlimited."),
	"per":                              maybe("number", "Seconds of the period."),
	"throttle_interval":                maybe("number", "Seconds between retries; -1 is off."),
	"throttle_retry_limit":             maybe("integer", "Number of retries; -1 is off."),
	"quota_max":                        maybe("integer", "Requests per quota period; -1 is unlimited."),
	"quota_renewal_rate":               maybe("integer", "Seconds of the quota period; 0 and less: it never renews."),
	"max_query_depth":                  maybe("integer", "Depth of GraphQL queries; -1 is unlimited."),
	"key_expires_in":                   maybe("integer", "Seconds until new keys expire; 0: never."),
	"post_expiry_action":               object{"type": []any{"string", "null"}, "enum": []any{"retain", "delete", "", nil}, "description": "What gateways do with a key that has expired."},
	"smoothing":                        maybe("object", "Smoothing of the rate limit."),
	"access_rights":                    object{"type": []string{"object", "null"}, "additionalProperties": AccessSchema, "description": "What is allowed on each API, by its identifier."},
	"access_rights_array":              listOf(AccessSchema, "The same as a list; read only when access_rights is missing or empty."),
	"partitions":                       object{"type": []string{"object", "null"}, "additionalProperties": true, "description": "Which parts of a key the policy sets; per_api excludes the others."},
	"hmac_enabled":                     maybe("boolean", "Keys sign requests."),
	"graphql_enabled":                  maybe("boolean", "For lists of clients."),
	"graphql_access_rights":            object{"type": []string{"object", "null"}, "additionalProperties": object{"type": []string{"object", "null"}}, "description": "Rules of an older form, by name; gateways read nothing in them."},
	"auth_type":                        maybe("string", "The authentication method of its APIs, unless a client says another; empty when there are several."),
	"enable_http_signature_validation": maybe("boolean", "Keys sign requests with certificates."),
	"active":                           maybe("boolean", "Lists can be limited to policies that say true."),
	"is_inactive":                      maybe("boolean", "Disables every key that has the policy."),
	"tags":                             listOf(object{"type": "string"}, "Added to the tags of keys."),
	"meta_data":                        maybe("object", "Copied to keys."),
	"auth_types":                       listOf(object{"type": "string"}, "Authentication methods of its APIs, unless a client says others."),
	"date_created":                     object{"type": []string{"string", "null"}, "format": "date-time", "description": "When it was made."},
	"last_updated":                     maybe("string", "Unix seconds."),
	"post_expiry_grace_period":         maybe("integer", "Seconds; -1 is forever."),
}

// AccessSchema describes an access definition, of policies and of keys.
var AccessSchema = object{
	"type": []string{"object", "null"}, "additionalProperties": true,
	"properties": object{
		"api_id": maybe("string", "The key when left out."), "api_name": maybe("string", "For people."),
		"versions": listOf(object{"type": "string"}, "Version names; none means all of an unversioned API."),
		"limit":    maybe("object", "Limits for this API, with the partition per_api."),
	},
}

func schema(required ...string) object {
	members := maps.Clone(properties)
	for _, d := range defaults {
		if of, ok := members[d.name].(object); ok {
			of = maps.Clone(of)
			of["default"], members[d.name] = json.RawMessage(d.value), of
		}
	}
	return object{"type": "object", "properties": doc.InOrder(members, Table.Known()...), "required": required, "additionalProperties": true}
}

// Schema describes the wire form for the API description.
func (Draft) Schema() map[string]any { return schema("name") }
