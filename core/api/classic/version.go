package classic

import "github.com/gatehouse-io/gatehouse/core/shape"

var version = shape.Object(
	row("name expires override_target", text),
	row("use_extended_paths ignore_endpoint_case", flag),
	row("paths", shape.Object(row("ignored white_list black_list", texts))),
	row("extended_paths", extendedPaths),
	row("global_headers global_response_headers", textMap),
	row("global_headers_remove global_response_headers_remove", texts),
	row("global_headers_disabled global_response_headers_disabled global_size_limit_disabled global_enforce_timeout_disabled", flag),
	row("global_size_limit", num),
	row("global_enforce_timeout", shape.Duration),
)

// endpoint is the common members of most kinds of endpoint middleware.
var endpoint = shape.Join(row("disabled", flag), row("path method", text))

// at is a list of endpoints with the members of one kind of middleware.
func at(groups ...shape.Group) shape.Type { return shape.List(shape.Object(groups...)) }

var extendedPaths = shape.Object(
	row("ignored? white_list? black_list?", at(endpoint, row("ignore_case", flag), row("method_actions?", shape.Map(shape.Object(
		row("action data", text), row("code", num), row("headers", textMap),
	))))),
	row("mock_response?", at(endpoint, row("ignore_case", flag), row("code", num), row("body", text), row("headers", textMap))),
	row("cache?", texts),
	row("advance_cache_config?", at(endpoint, row("cache_key_regex", text), row("cache_response_codes", nums), row("timeout", num))),
	row("transform? transform_response?", at(endpoint, row("template_data", shape.Object(
		row("input_type template_mode template_source", text), row("enable_session", flag),
	)))),
	row("transform_jq? transform_jq_response?", at(row("filter path method", text))),
	row("transform_headers? transform_response_headers?", at(endpoint, row("delete_headers", texts), row("add_headers", textMap), row("act_on", flag))),
	row("hard_timeouts?", at(endpoint, row("timeout", num), row("duration", shape.Duration))),
	row("circuit_breakers?", at(endpoint, row("threshold_percent", shape.Float), row("samples return_to_service_after", num), row("disable_half_open_state", flag))),
	row("url_rewrites?", at(endpoint, row("match_pattern rewrite_to", text), row("triggers", shape.List(trigger)))),
	row("virtual?", at(endpoint, row("response_function_name function_source_type function_source_uri", text), row("use_session proxy_on_error", flag))),
	row("size_limits?", at(endpoint, row("size_limit", num))),
	row("method_transforms?", at(endpoint, row("to_method", text))),
	row("track_endpoints? do_not_track_endpoints? internal?", at(endpoint)),
	row("validate_json?", at(endpoint, row("schema", anything /* JSON schema */), row("schema_b64", text), row("error_response_code", num))),
	row("validate_request?", at(row("enabled", flag), row("path method", text), row("error_response_code", num))),
	row("go_plugin?", at(endpoint, row("plugin_path func_name", text))),
	row("persist_graphql", at(row("path method operation", text), row("variables", anything /* of the query */))),
	row("rate_limit", at(endpoint, row("rate per", shape.Float))),
)

var pattern = shape.Object(row("match_rx", text), row("reverse", flag))

var trigger = shape.Object(
	row("on rewrite_to", text),
	row("options", shape.Object(
		row("header_matches query_val_matches path_part_matches session_meta_matches request_context_matches", shape.Map(pattern)),
		row("payload_matches", pattern),
	)),
)
