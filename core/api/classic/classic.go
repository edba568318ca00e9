// Package classic describes the classic API definition: the form of an API that gateways
// execute (docs/wire/classic-fields.md).
package classic

import (
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/shape"
)

// Check returns the places where a gateway would fail to decode a definition, and with it the
// whole feed (docs/wire/gateway-nodes.md#rules-that-matter-most); nil: none. null is not a
// definition.
func Check(definition *doc.Node) []shape.Problem {
	if definition.Is(doc.TypeNull, doc.Absent) {
		return []shape.Problem{{Want: definitionType.String(), Got: "nothing"}}
	}
	return definitionType.Check(definition)
}

// Type returns the type of the classic definition.
func Type() shape.Type { return definitionType }

// Zero returns the complete classic form of an OAS document without any settings. Not all of
// its values are zero: some switches are off in the definition, so that a missing setting
// means disabled (docs/wire/conversion.md#forced-values). The caller owns the result.
func Zero() *doc.Node {
	n := definitionType.Zero()
	for _, name := range []string{
		"is_oas", "use_keyless", "certificate_pinning_disabled", "upstream_certificates_disabled", "config_data_disabled",
		"custom_middleware_bundle_disabled", "do_not_track", "domain_disabled", "error_overrides_disabled",
		"ip_access_control_disabled", "tags_disabled",
	} {
		n.Set(name, doc.NewBool(true))
	}
	for _, path := range [][]string{
		{"custom_middleware", "auth_check", "disabled"}, {"custom_middleware", "id_extractor", "disabled"},
		{"global_rate_limit", "disabled"}, {"uptime_tests", "disabled"}, {"version_data", "not_versioned"},
		{"proxy", "service_discovery", "cache_disabled"}, {"uptime_tests", "config", "service_discovery", "cache_disabled"},
	} {
		n.Put(doc.NewBool(true), path...)
	}
	n.Put(doc.NewObject(), "auth_configs")
	n.Put(doc.NewObject(), "event_handlers", "events")
	// The only version of a definition that is made from a document.
	v := version.Zero()
	for _, name := range []string{
		"global_enforce_timeout_disabled", "global_headers_disabled", "global_response_headers_disabled",
		"global_size_limit_disabled", "use_extended_paths",
	} {
		v.Set(name, doc.NewBool(true))
	}
	v.Set("global_headers", doc.NewObject())
	v.Set("global_response_headers", doc.NewObject())
	n.Put(v, "version_data", "versions", "")
	return n
}
