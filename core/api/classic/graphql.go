package classic

import "github.com/gatehouse-io/gatehouse/core/shape"

// graphQL: the settings of data sources depend on their kind. Gateways decode them only when
// they build the engine of the API.
var graphQL = shape.Object(
	row("enabled", flag),
	row("execution_mode version schema", text),
	row("last_schema_update?", shape.Optional(shape.Time)),
	row("type_field_configurations", shape.List(shape.Object(
		row("type_name field_name", text),
		row("mapping", shape.Object(row("disabled", flag), row("path", text))),
		row("data_source", shape.Object(row("kind", text), row("data_source_config", shape.Raw))),
	))),
	row("playground", shape.Object(row("enabled", flag), row("path", text))),
	row("engine", shape.Object(
		row("field_configs", shape.List(shape.Object(
			row("type_name field_name", text), row("disable_default_mapping", flag), row("path", texts),
		))),
		row("data_sources", shape.List(shape.Object(
			row("kind name", text), row("internal", flag),
			row("root_fields", shape.List(shape.Object(row("type", text), row("fields", texts)))),
			row("config", shape.Raw),
		))),
		row("global_headers", shape.List(shape.Object(row("key value", text)))),
	)),
	row("proxy", shape.Object(
		row("features", shape.Object(row("use_immutable_headers", flag))),
		row("auth_headers request_headers", textMap),
		row("subscription_type?", text),
		row("sse_use_post", flag),
		row("use_response_extensions", shape.Object(row("on_error_forwarding", flag))),
		row("request_headers_rewrite", shape.Map(shape.Object(row("value", text), row("remove", flag)))),
	)),
	row("subgraph", shape.Object(row("sdl", text))),
	row("supergraph", shape.Object(
		row("updated_at?", shape.Optional(shape.Time)),
		row("subgraphs", shape.List(shape.Object(
			row("api_id name url sdl subscription_type", text), row("headers", textMap), row("sse_use_post", flag),
		))),
		row("merged_sdl", text),
		row("global_headers", textMap),
		row("disable_query_batching", flag),
	)),
	row("introspection", shape.Object(row("disabled", flag))),
)
