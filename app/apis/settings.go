package apis

// Settings are the settings about APIs, with their names in the configuration.
type Settings struct {
	Ownership      bool // enable_ownership
	DuplicatePaths bool // enable_duplicate_slugs
	ForceDefaults  bool // force_api_defaults
	UnsafeOAS      bool // allow_unsafe_oas
	Examples       bool // oas_config.validate_examples
	Defaults       bool // oas_config.validate_schema_defaults
	Streams        bool // streaming.enabled
	AllStreams     bool // streaming.enable_all_experimental
	// SeparateGateways means that no gateway loads APIs of two organisations
	// (separate_gateways), which may then have the same api_id.
	SeparateGateways bool
}
