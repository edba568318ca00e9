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
	"_id":                              maybe("string", "Database ID, 24 hexadecimal digits. A new policy gets the one in the body."),
	"id":                               maybe("string", "Identifier that keys, tokens and mappings use. Default: the database ID."),
	"org_id":                           maybe("string", "Organisation; the server sets it."),
	"name":                             object{"type": "string", "description": "Unique in the organisation."},
	"state":                            object{"type": []any{"string", "null"}, "enum": []any{"active", "draft", "deny", "", nil}, "description": "draft: keys with the policy are disabled. deny: gateways do not get the policy."},
	"rate":                             maybe("number", "Requests in each period of per seconds; -1: unlimited."),
	"per":                              maybe("number", "Length of the rate period in seconds."),
	"throttle_interval":                maybe("number", "Seconds between retries; -1: off."),
	"throttle_retry_limit":             maybe("integer", "Number of retries; -1: off."),
	"quota_max":                        maybe("integer", "Requests in each quota period; -1: unlimited."),
	"quota_renewal_rate":               maybe("integer", "Length of the quota period in seconds; 0 or less: the quota never renews."),
	"max_query_depth":                  maybe("integer", "Maximum depth of GraphQL queries; -1: unlimited."),
	"key_expires_in":                   maybe("integer", "Seconds until new keys expire; 0: never."),
	"post_expiry_action":               object{"type": []any{"string", "null"}, "enum": []any{"retain", "delete", "", nil}, "description": "What gateways do with an expired key."},
	"smoothing":                        maybe("object", "Smoothing of the rate limit."),
	"access_rights":                    object{"type": []string{"object", "null"}, "additionalProperties": AccessSchema, "description": "Access definition for each API, by API identifier."},
	"access_rights_array":              listOf(AccessSchema, "Same as access_rights, as a list. Used only if access_rights is absent or empty."),
	"partitions":                       object{"type": []string{"object", "null"}, "additionalProperties": true, "description": "Parts of a key that the policy sets. per_api excludes the other parts."},
	"hmac_enabled":                     maybe("boolean", "true: requests with keys of the policy are signed (HMAC)."),
	"graphql_enabled":                  maybe("boolean", "Used by clients in lists."),
	"graphql_access_rights":            object{"type": []string{"object", "null"}, "additionalProperties": object{"type": []string{"object", "null"}}, "description": "Rules in an older format, by name. Gateways ignore them."},
	"auth_type":                        maybe("string", "Authentication method of the policy's APIs, unless the client sends another. Empty if the APIs have several methods."),
	"enable_http_signature_validation": maybe("boolean", "true: requests with keys of the policy are signed with certificates."),
	"active":                           maybe("boolean", "Lists can be limited to policies with true."),
	"is_inactive":                      maybe("boolean", "true: every key that has the policy is disabled."),
	"tags":                             listOf(object{"type": "string"}, "Added to the tags of keys."),
	"meta_data":                        maybe("object", "Copied to keys."),
	"auth_types":                       listOf(object{"type": "string"}, "Authentication methods of the policy's APIs, unless the client sends others."),
	"date_created":                     object{"type": []string{"string", "null"}, "format": "date-time", "description": "Time of creation."},
	"last_updated":                     maybe("string", "Unix seconds."),
	"post_expiry_grace_period":         maybe("integer", "Grace period after expiry in seconds; -1: forever."),
}

// AccessSchema describes an access definition, of policies and of keys.
var AccessSchema = object{
	"type": []string{"object", "null"}, "additionalProperties": true,
	"properties": object{
		"api_id": maybe("string", "API identifier. Default: the key of the entry in access_rights."), "api_name": maybe("string", "For people."),
		"versions": listOf(object{"type": "string"}, "Version names. Empty: all of an unversioned API."),
		"limit":    maybe("object", "Limits for this API. Used with the partition per_api."),
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
