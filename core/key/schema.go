package key

import "github.com/gatehouse-io/gatehouse/core/policy"

// object is a part of a JSON schema.
type object = map[string]any

func maybe(kind, description string) object {
	return object{"type": []string{kind, "null"}, "description": description}
}

func texts(description string) object {
	return object{"type": []string{"array", "null"}, "items": object{"type": "string"}, "description": description}
}

// properties describes the members of a session; it may have others.
var properties = object{
	"org_id":                           maybe("string", "Organisation; set by the server."),
	"alias":                            maybe("string", "Label, also in analytics."),
	"access_rights":                    object{"type": []string{"object", "null"}, "additionalProperties": policy.AccessSchema, "description": "What is allowed on each API, by its identifier."},
	"apply_policies":                   texts("The id of each policy that the key carries."),
	"apply_policy_id":                  maybe("string", "The same for one policy; read only without the list."),
	"rate":                             maybe("number", "Requests per period; -1 is unlimited."),
	"per":                              maybe("number", "Seconds of the period."),
	"allowance":                        maybe("number", "Set by gateways."),
	"throttle_interval":                maybe("number", "Seconds between retries; -1 is off."),
	"throttle_retry_limit":             maybe("integer", "Number of retries; -1 is off."),
	"quota_max":                        maybe("integer", "Requests per quota period; -1 is unlimited."),
	"quota_remaining":                  maybe("integer", "What is left of it."),
	"quota_renews":                     maybe("integer", "When it begins anew, in Unix seconds."),
	"quota_renewal_rate":               maybe("integer", "Seconds of the quota period; 0 and less: it never renews."),
	"max_query_depth":                  maybe("integer", "Depth of GraphQL queries; -1 is unlimited."),
	"smoothing":                        maybe("object", "Smoothing of the rate limit."),
	"expires":                          maybe("integer", "Unix seconds; 0 and -1: never; 1: at once."),
	"data_expires":                     maybe("integer", "Unix seconds."),
	"session_lifetime":                 maybe("integer", "Seconds."),
	"id_extractor_deadline":            maybe("integer", "Set by gateways."),
	"last_check":                       maybe("integer", "Set by gateways."),
	"post_expiry_action":               object{"type": []string{"string", "null"}, "enum": []any{"retain", "delete", "", nil}, "description": "What gateways do with a key that has expired."},
	"post_expiry_grace_period":         maybe("integer", "Seconds; -1 is forever."),
	"is_inactive":                      maybe("boolean", "The key is refused."),
	"tags":                             texts("For analytics."),
	"meta_data":                        maybe("object", "For plugins and transforms."),
	"monitor":                          maybe("object", "trigger_limits: percent of the quota at which gateways tell."),
	"hmac_enabled":                     maybe("boolean", "The key signs requests."),
	"hmac_string":                      maybe("string", "With what: in the answer that makes the key, and never again."),
	"enable_http_signature_validation": maybe("boolean", "The key signs requests with a certificate."),
	"rsa_certificate_id":               maybe("string", "The certificate."),
	"jwt_data":                         maybe("object", "secret: with what the tokens of the key are signed; never shown again."),
	"basic_auth_data":                  maybe("object", "user and password of a basic-auth user; the password is never shown."),
	"oauth_client_id":                  maybe("string", "The OAuth client to which the key was given."),
	"oauth_keys":                       maybe("object", "Keys by client."),
	"certificate":                      maybe("string", "The certificate that is the key."),
	"mtls_static_certificate_bindings": texts("The key holds only with one of these certificates."),
	"enable_detailed_recording":        maybe("boolean", "Requests and answers are recorded."),
	"enable_detail_recording":          maybe("boolean", "The same."),
	"date_created":                     object{"type": []string{"string", "null"}, "format": "date-time", "description": "When it was made."},
	"last_updated":                     maybe("string", "Unix seconds."),
	"key_id":                           maybe("string", "For lists of clients; not stored."),
}

// Schema describes the wire form for the API description.
func (Draft) Schema() map[string]any {
	return object{"type": "object", "properties": properties, "additionalProperties": true}
}

// Schema describes the wire form for the API description.
func (View) Schema() map[string]any { return Draft{}.Schema() }
