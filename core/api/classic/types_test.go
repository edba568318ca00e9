package classic_test

import (
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/classic"
	"github.com/gatehouse-io/gatehouse/core/shape"
)

// TestFreeMembers lists where a definition may hold any JSON. A change that adds a place gives
// the reason in the table.
func TestFreeMembers(t *testing.T) {
	want := []string{
		"config_data.{}",
		"version_data.versions.{}.extended_paths.validate_json[].schema.{}",
		"version_data.versions.{}.extended_paths.persist_graphql[].variables.{}",
		"custom_middleware.id_extractor.extractor_config.header_name", "custom_middleware.id_extractor.extractor_config.param_name",
		"custom_middleware.id_extractor.extractor_config.regex_expression", "custom_middleware.id_extractor.extractor_config.regex_match_index",
		"custom_middleware.id_extractor.extractor_config.xpath_expression", "custom_middleware.id_extractor.extractor_config.{}",
		"graphql.type_field_configurations[].data_source.data_source_config", "graphql.engine.data_sources[].config",
		"auth_provider.meta.{}", "session_provider.meta.{}",
	}
	for _, name := range []string{"id", "name", "disabled", "method", "target_path", "template_path", "header_map", "event_timeout", "prefix", "path", "{}"} {
		want = append(want, "event_handlers.events.{}[].handler_meta."+name)
	}
	want = append(want, "response_processors[].options")
	var have []string
	classic.Type().Walk(func(at shape.Place, of shape.Type) {
		if of.Free() {
			have = append(have, at.String())
		}
	})
	if !slices.Equal(have, want) {
		t.Errorf("have %q\nwant %q", have, want)
	}
}
