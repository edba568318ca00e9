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
	"org_id":                           maybe("string", "Organisation; the server sets it."),
	"alias":                            maybe("string", "Label of the key, which analytics show as well."),
	"access_rights":                    object{"type": []string{"object", "null"}, "additionalProperties": policy.AccessSchema, "description": "Access definition for each API, by API identifier."},
	"apply_policies":                   texts("Ids of the policies of the key."),
	"apply_policy_id":                  maybe("string", "Id of a single policy. Used only if apply_policies is absent."),
	"rate":                             maybe("number", "Requests in each period of per seconds; -1: unlimited."),
	"per":                              maybe("number", "Length of the rate period in seconds."),
	"allowance":                        maybe("number", "Set by gateways."),
	"throttle_interval":                maybe("number", "Seconds between retries; -1: off."),
	"throttle_retry_limit":             maybe("integer", "Number of retries; -1: off."),
	"quota_max":                        maybe("integer", "Requests in each quota period; -1: unlimited."),
	"quota_remaining":                  maybe("integer", "Remaining requests of the quota."),
	"quota_renews":                     maybe("integer", "When the quota renews, in Unix seconds."),
	"quota_renewal_rate":               maybe("integer", "Length of the quota period in seconds; 0 or less: the quota never renews."),
	"max_query_depth":                  maybe("integer", "Maximum depth of GraphQL queries; -1: unlimited."),
	"smoothing":                        maybe("object", "Smoothing of the rate limit."),
	"expires":                          maybe("integer", "Expiry in Unix seconds; 0 or -1: never; 1: at once."),
	"data_expires":                     maybe("integer", "Unix seconds."),
	"session_lifetime":                 maybe("integer", "Seconds."),
	"id_extractor_deadline":            maybe("integer", "Set by gateways."),
	"last_check":                       maybe("integer", "Set by gateways."),
	"post_expiry_action":               object{"type": []string{"string", "null"}, "enum": []any{"retain", "delete", "", nil}, "description": "What gateways do with an expired key."},
	"post_expiry_grace_period":         maybe("integer", "Grace period after expiry in seconds; -1: forever."),
	"is_inactive":                      maybe("boolean", "true: gateways refuse the key."),
	"tags":                             texts("Tags for analytics."),
	"meta_data":                        maybe("object", "Metadata for plugins and transforms."),
	"monitor":                          maybe("object", "trigger_limits: percentages of the quota at which gateways send a notification."),
	"hmac_enabled":                     maybe("boolean", "true: requests with the key are signed (HMAC)."),
	"hmac_string":                      maybe("string", "HMAC secret. Only the response that creates the key has it."),
	"enable_http_signature_validation": maybe("boolean", "true: requests with the key are signed with a certificate."),
	"rsa_certificate_id":               maybe("string", "ID of the certificate that verifies signatures."),
	"jwt_data":                         maybe("object", "secret: the secret that signs the tokens of the key. Only the response that creates the key has it."),
	"basic_auth_data":                  maybe("object", "user and password of a basic-auth user. Responses never have the password."),
	"oauth_client_id":                  maybe("string", "OAuth client that the key was issued to."),
	"oauth_keys":                       maybe("object", "Key for each OAuth client."),
	"certificate":                      maybe("string", "ID of the certificate that clients use as the key."),
	"mtls_static_certificate_bindings": texts("Certificate IDs. The key is valid only together with one of these certificates."),
	"enable_detailed_recording":        maybe("boolean", "true: gateways record requests and responses."),
	"enable_detail_recording":          maybe("boolean", "Same as enable_detailed_recording."),
	"date_created":                     object{"type": []string{"string", "null"}, "format": "date-time", "description": "Time of creation."},
	"last_updated":                     maybe("string", "Unix seconds."),
	"key_id":                           maybe("string", "Used by clients in lists; not stored."),
}

// Schema describes the wire form for the API description.
func (Draft) Schema() map[string]any {
	return object{"type": "object", "properties": properties, "additionalProperties": true}
}

// Schema describes the wire form for the API description.
func (View) Schema() map[string]any { return Draft{}.Schema() }
