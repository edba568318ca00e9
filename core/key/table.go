// Package key models the keys of gateways. The rights of a key are a session, a JSON document
// that gateways decode (docs/wire/keys.md#session). Gateways store the keys; the rules here
// check the sessions that clients send and that gateways return.
package key

import (
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/shape"
)

// Kind is the name of keys in faults and intents.
const Kind = "key"

// Table is the type of a session: the members that gateways decode, and those that only
// clients of this service know.
var Table = shape.Object(
	shape.Members("org_id oauth_client_id certificate hmac_string rsa_certificate_id apply_policy_id alias last_updated post_expiry_action key_id", shape.String),
	shape.Members("allowance rate per throttle_interval", shape.Float),
	shape.Members("last_check throttle_retry_limit max_query_depth expires quota_max quota_renews quota_remaining quota_renewal_rate "+
		"data_expires id_extractor_deadline session_lifetime post_expiry_grace_period", shape.Int),
	shape.Members("hmac_enabled enable_http_signature_validation is_inactive enable_detail_recording enable_detailed_recording", shape.Bool),
	shape.Members("date_created", shape.Time),
	shape.Members("access_rights", shape.Map(policy.AccessDefinition)),
	shape.Members("oauth_keys", shape.Map(shape.String)),
	shape.Members("mtls_static_certificate_bindings apply_policies tags", shape.List(shape.String)),
	shape.Members("basic_auth_data", shape.Object(shape.Members("user password hash_type", shape.String))),
	shape.Members("jwt_data", shape.Object(shape.Members("secret", shape.String))),
	shape.Members("monitor", shape.Object(shape.Members("trigger_limits", shape.List(shape.Float)))),
	shape.Members("meta_data", shape.Map(shape.Any)), // data of clients for their plugins
	shape.Members("smoothing", policy.Smoothing),
)
