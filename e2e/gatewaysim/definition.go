package gatewaysim

// definition is the part of a classic API definition that a decision needs.
type definition struct {
	APIID      string `json:"api_id"`
	OrgID      string `json:"org_id"`
	Name       string
	Expiration string

	Internal            bool   // reachable through other APIs only
	IsOAS               bool   `json:"is_oas"`
	ApplicationProtocol string `json:"application_protocol"`
	JSONRPCVersion      string `json:"json_rpc_version"`
	TagsDisabled        bool   `json:"tags_disabled"`
	DoNotTrack          bool   `json:"do_not_track"`
	Tags                []string

	UseKeyless   bool     `json:"use_keyless"`
	StandardAuth bool     `json:"use_standard_auth"`
	EnableJWT    bool     `json:"enable_jwt"`
	BasicAuth    bool     `json:"use_basic_auth"`
	OAuth        bool     `json:"use_oauth2"`
	MutualTLS    bool     `json:"use_mutual_tls_auth"`
	Clients      []string `json:"client_certificates"` // of mutual TLS: identifiers
	Auth         authConfig
	AuthConfigs  map[string]authConfig `json:"auth_configs"`

	JWTSigningMethod   string    `json:"jwt_signing_method"`
	JWTSource          string    `json:"jwt_source"`
	JWTJWKSURIs        []jwksURI `json:"jwt_jwks_uris"`
	JWTSkipKid         bool      `json:"jwt_skip_kid"`
	JWTIdentityField   string    `json:"jwt_identity_base_field"`
	JWTPolicyField     string    `json:"jwt_policy_field_name"`
	JWTDefaultPolicies []string  `json:"jwt_default_policies"`
	JWTIssuedSkew      int64     `json:"jwt_issued_at_validation_skew"`  // seconds
	JWTExpiresSkew     int64     `json:"jwt_expires_at_validation_skew"` // seconds
	JWTNotBeforeSkew   int64     `json:"jwt_not_before_validation_skew"` // seconds

	Scopes         struct{ JWT scopeConfig }
	OldScopeClaim  string            `json:"jwt_scope_claim_name"`
	OldScopePolicy map[string]string `json:"jwt_scope_to_policy_mapping"`

	Proxy struct {
		ListenPath string `json:"listen_path"`
		TargetURL  string `json:"target_url"`
	}
	VersionData struct {
		NotVersioned   bool   `json:"not_versioned"`
		DefaultVersion string `json:"default_version"`
		Versions       map[string]version
	} `json:"version_data"`
	Definition    routing
	EventHandlers struct {
		Events map[string][]handler
	} `json:"event_handlers"`
}

type authConfig struct {
	Header string `json:"auth_header_name"`
}

type jwksURI struct {
	URL          string
	CacheTimeout string `json:"cache_timeout"`
}

type scopeConfig struct {
	Claim  string            `json:"scope_claim_name"`
	Policy map[string]string `json:"scope_to_policy"`
}
