package classic

import "github.com/gatehouse-io/gatehouse/core/shape"

// Short names for the table of this package. Where a gateway stores any JSON, the row says
// what it is for; TestFreeMembers lists these places.
var (
	row  = shape.Members
	text = shape.String
	flag = shape.Bool
	num  = shape.Int

	texts    = shape.List(text)
	nums     = shape.List(num)
	textMap  = shape.Map(text)
	anything = shape.Map(shape.Any)
)

// definitionType is the type of api_definition (docs/wire/classic-fields.md). The
// members marked with ? are absent where nothing is set.
var definitionType = shape.Object(
	row("id?", shape.ObjectID),
	row("name slug protocol api_id org_id base_identity_provided_by domain custom_middleware_bundle", text),
	row("expiration? json_rpc_version? application_protocol?", text),
	row("listen_port session_lifetime expire_analytics_after", num),
	row("active internal is_oas detailed_tracing enable_proxy_protocol enable_detailed_recording do_not_track", flag),
	row("disable_rate_limit disable_quota dont_set_quota_on_create session_lifetime_respects_key_expiration?", flag),
	row("enable_batch_request_support enable_context_vars strip_auth_data", flag),
	row("enable_ip_whitelisting enable_ip_blacklisting ip_access_control_disabled", flag),
	row("config_data_disabled custom_middleware_bundle_disabled domain_disabled? error_overrides_disabled tags_disabled?", flag),
	row("allowed_ips blacklisted_ips tags tag_headers", texts),
	row("config_data", anything), // the API's own settings for its plugins

	authentication, certificates,

	row("definition", shape.Object(
		row("enabled strip_path strip_versioning_data fallback_to_default", flag),
		row("name default location key url_versioning_pattern", text),
		row("versions", textMap),
	)),
	row("version_data", shape.Object(
		row("not_versioned", flag),
		row("default_version", text),
		row("versions", shape.Map(version)),
	)),
	row("proxy", proxy),
	row("uptime_tests", uptimeTests),
	row("upstream_auth", upstreamAuth),
	row("custom_middleware", customMiddleware),
	row("cache_options", cacheOptions),
	row("CORS", cors),
	row("graphql", graphQL),
	row("global_rate_limit", shape.Object(row("disabled", flag), row("rate per", shape.Float))),
	row("auth_provider session_provider", provider),
	row("event_handlers", shape.Object(row("events", shape.Map(shape.List(shape.Object(
		row("handler_name", text),
		row("handler_meta", handlerMeta),
	)))))),
	row("response_processors", shape.List(shape.Object(row("name", text), row("options", shape.Any)))), // each kind of processor has its own options
	row("analytics_plugin", shape.Object(row("enable?", flag), row("plugin_path? func_name?", text))),
	row("error_overrides", shape.Map(shape.List(errorOverride))),
)

// handlerMeta is the settings of an event handler. Each kind of handler has its own. A gateway
// stores them unchanged; only the handler reads them, with names in any case. The names of the
// built-in handlers are therefore listed here.
var handlerMeta = shape.Open(shape.Any, row("id name disabled method target_path template_path header_map event_timeout prefix path", shape.Any))

// provider is an engine with its own settings. Releases differ in their engines.
var provider = shape.Object(row("name storage_engine", text), row("meta", anything))

var customMiddleware = shape.Object(
	row("driver", text),
	row("pre post post_key_auth response", shape.List(plugin)),
	row("auth_check traffic_logs", plugin),
	row("id_extractor", shape.Object(
		row("disabled", flag),
		row("extract_from extract_with", text),
		row("extractor_config", shape.Optional(extractorConfig)),
	)),
)

// extractorConfig is the settings of the extractor in extract_with. An extractor reads its own
// members and ignores others.
var extractorConfig = shape.Open(shape.Any, row("header_name param_name regex_expression regex_match_index xpath_expression", shape.Any))

var plugin = shape.Object(
	row("disabled require_session raw_body_only", flag),
	row("name path code?", text),
)

var cacheOptions = shape.Object(
	row("cache_timeout", num),
	row("enable_cache cache_all_safe_requests enable_upstream_cache_control", flag),
	row("cache_control_ttl_header", text),
	row("cache_response_codes", nums),
	row("cache_by_headers", texts),
)

var cors = shape.Object(
	row("enable allow_credentials options_passthrough debug", flag),
	row("allowed_origins allowed_methods allowed_headers exposed_headers", texts),
	row("max_age", num),
)

var errorOverride = shape.Object(
	row("match?", shape.Optional(shape.Object(row("flag? message_pattern? body_field? body_value?", text)))),
	row("response", shape.Object(
		row("status_code", num),
		row("body message? template?", text),
		row("headers?", textMap),
	)),
)
