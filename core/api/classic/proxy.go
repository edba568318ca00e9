package classic

import "github.com/gatehouse-io/gatehouse/core/shape"

var proxy = shape.Object(
	row("listen_path target_url", text),
	row("preserve_host_header disable_strip_slash strip_listen_path enable_load_balancing check_host_against_uptime_tests", flag),
	row("target_list", texts),
	row("service_discovery", discovery),
	row("transport", shape.Object(
		row("ssl_insecure_skip_verify ssl_force_common_name_check", flag),
		row("ssl_ciphers", texts),
		row("ssl_min_version ssl_max_version", shape.UintOf(16)),
		row("proxy_url", text),
	)),
)

var discovery = shape.Object(
	row("use_discovery_service use_nested_query use_target_list cache_disabled endpoint_returns_list", flag),
	row("query_endpoint parent_data_path data_path port_data_path target_path", text),
	row("cache_timeout", num),
)

var uptimeTests = shape.Object(
	row("disabled", flag),
	row("check_list", shape.List(shape.Object(
		row("url protocol method body", text),
		row("timeout", num), // nanoseconds
		row("enable_proxy_protocol", flag),
		row("commands", shape.List(shape.Object(row("name message", text)))),
		row("headers", textMap),
	))),
	row("config", shape.Object(
		row("expire_utime_after recheck_wait", num),
		row("service_discovery", discovery),
	)),
)
