package classic

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/shape"
)

// IsAddress reports whether a source of keys, decoded from base64, is the URL of a key set.
// Gateways accept its scheme in any case.
func IsAddress(source string) bool {
	scheme, _, ok := strings.Cut(source, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// skew is a tolerance in seconds, which gateways decode as unsigned.
var skew = shape.UintOf(64)

var authentication = shape.Join(
	row("use_keyless use_oauth2 use_openid use_basic_auth use_mutual_tls_auth use_standard_auth use_go_plugin_auth", flag),
	row("enable_jwt enable_coprocess_auth custom_plugin_auth_enabled enable_signature_checking", flag),
	row("auth", authConfig),
	row("auth_configs", shape.Map(authConfig)),
	row("basic_auth", shape.Object(
		row("disable_caching extract_from_body", flag),
		row("cache_ttl", num),
		row("body_user_regexp body_password_regexp", text),
	)),
	row("jwt_signing_method jwt_source jwt_identity_base_field jwt_client_base_field jwt_policy_field_name jwt_scope_claim_name", text),
	row("jwt_jwks_uris", shape.List(shape.Object(row("url", text), row("cache_timeout", shape.Duration)))),
	row("jwt_default_policies", texts),
	row("jwt_issued_at_validation_skew jwt_expires_at_validation_skew jwt_not_before_validation_skew", skew),
	row("jwt_skip_kid idp_client_id_mapping_disabled", flag),
	row("jwt_scope_to_policy_mapping", textMap),
	row("scopes", shape.Object(row("jwt oidc", shape.Object(row("scope_claim_name?", text), row("scope_to_policy?", textMap))))),
	row("external_oauth", externalOAuth),
	row("openid_options", shape.Object(
		row("providers", shape.List(shape.Object(row("issuer", text), row("client_ids", textMap)))),
		row("segregate_by_client", flag),
	)),
	row("oauth_meta", shape.Object(
		row("allowed_access_types allowed_authorize_types", texts),
		row("auth_login_redirect", text),
	)),
	row("notifications", shape.Object(row("shared_secret oauth_on_keychange_url", text))),
	row("hmac_allowed_clock_skew", shape.Float),
	row("hmac_allowed_algorithms", texts),
	row("request_signing", shape.Object(
		row("is_enabled", flag),
		row("secret key_id algorithm certificate_id signature_header", text),
		row("header_list", texts),
	)),
	row("security_requirements?", shape.List(texts)),
	row("security_requirement_scopes?", shape.List(shape.Map(texts))),
)

var certificates = shape.Join(
	row("client_certificates certificates", texts),
	row("upstream_certificates pinned_public_keys", textMap),
	row("upstream_certificates_disabled? certificate_pinning_disabled?", flag),
)

var authConfig = shape.Object(
	row("name param_name cookie_name auth_header_name", text),
	row("use_param use_cookie disable_header use_certificate validate_signature", flag),
	row("signature", shape.Object(
		row("algorithm header param_name secret error_message", text),
		row("use_param", flag),
		row("allowed_clock_skew error_code", num),
	)),
)

var externalOAuth = shape.Object(
	row("enabled", flag),
	row("providers", shape.List(shape.Object(
		row("jwt", shape.Object(
			row("enabled", flag),
			row("signing_method source identity_base_field", text),
			row("issued_at_validation_skew not_before_validation_skew expires_at_validation_skew", skew),
		)),
		row("introspection", shape.Object(
			row("enabled", flag),
			row("url client_id client_secret identity_base_field", text),
			row("cache", shape.Object(row("enabled", flag), row("timeout", num))),
		)),
	))),
)

var authHeader = shape.Object(row("enabled", flag), row("name", text))

var upstreamAuth = shape.Object(
	row("enabled", flag),
	row("basic_auth", shape.Object(
		row("enabled?", flag),
		row("username password", text),
		row("header", authHeader),
	)),
	row("oauth", shape.Object(
		row("enabled", flag),
		row("allowed_authorize_types", texts),
		row("client_credentials", shape.Object(oauthClient)),
		row("password", shape.Object(oauthClient, row("username password", text))),
	)),
)

var oauthClient = shape.Join(
	row("client_id client_secret? method? token_url", text),
	row("header", authHeader),
	row("scopes? extra_metadata?", texts),
)
