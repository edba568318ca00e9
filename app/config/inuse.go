package config

// inUse lists the settings that have a field, with their defaults.
func inUse() []setting {
	rows := serving()
	for _, more := range [][]setting{keeping(), guarding(), recognising(), defining(), keying(), reaching(), announcing(), mailing(), extending(), limiting(), starting(), hosting(), showing(), sending()} {
		rows = append(rows, more...)
	}
	for i := range rows {
		rows[i].use = used
		rows[i].suffix = suffixOf(rows[i].name)
		rows[i].kind = kindOf(rows[i].field(new(Settings)))
	}
	return rows
}

func serving() []setting {
	return []setting{
		{name: "listen_port", preset: "3000", field: func(s *Settings) any { return &s.Listen.Port },
			meaning: "TCP port of all surfaces; 0 picks a free one"},
		{name: "listen_address", field: func(s *Settings) any { return &s.Listen.Host },
			meaning: "address to listen on; empty means all"},
		{name: "http_server_options.use_ssl", preset: "false", field: func(s *Settings) any { return &s.TLS.Enabled },
			meaning: "serve HTTPS instead of HTTP"},
		{name: "http_server_options.certificates", field: func(s *Settings) any { return &s.TLS.Certificates },
			meaning: "certificates to serve, as PEM files: domain_name (optional), cert_file, key_file"},
		{name: "http_server_options.ssl_certificates", field: func(s *Settings) any { return &s.TLS.Files },
			meaning: "certificates to serve, as PEM files that hold the key as well"},
		{name: "http_server_options.min_version", preset: "771", zero: true, field: func(s *Settings) any { return &s.TLS.MinVersion },
			meaning: "oldest TLS version accepted: 771 is 1.2, 772 is 1.3; 769 (1.0) and 770 (1.1) are known and count as 771"},
		{name: "http_server_options.ssl_ciphers", field: func(s *Settings) any { return &s.TLS.CipherSuites },
			meaning: "names of cipher suites of TLS 1.2, as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256; empty means all that are safe"},
		{name: "health_check_endpoint_name", preset: "health", field: func(s *Settings) any { return &s.HealthEndpoint },
			meaning: "path of the health check"},
		{name: "maintenance_mode", preset: "false", field: func(s *Settings) any { return &s.Maintenance },
			meaning: "the management API answers 503; gateways are served on"},
		{name: "page_size", preset: "10", zero: true, field: func(s *Settings) any { return &s.PageSize },
			meaning: "items on a page of a list"},
		{name: "log_level", preset: LevelInfo, lenient: true, choices: []string{LevelError, LevelWarn, LevelInfo, LevelDebug},
			field:   func(s *Settings) any { return &s.Log.Level },
			meaning: "least important messages to log: error, warn, info or debug"},
		{name: "log_format", preset: FormatStandard, choices: []string{FormatStandard, FormatJSON},
			field:   func(s *Settings) any { return &s.Log.Format },
			meaning: "standard or json"},
	}
}

func keeping() []setting {
	return append([]setting{
		{name: "home_dir", preset: ".", field: func(s *Settings) any { return &s.HomeDir },
			meaning: "directory of the program's own files"},
		{name: "storage.main.type", preset: SQLite, choices: []string{SQLite, Postgres, Memory},
			hint:    "leave it out for a SQLite file in home_dir, or set it to postgres and storage.main.connection_string to a PostgreSQL database",
			field:   func(s *Settings) any { return &s.Storage.Type },
			meaning: "sqlite, postgres or memory (forgets everything on exit)"},
		{name: "storage.main.connection_string", field: func(s *Settings) any { return &s.Storage.ConnectionString },
			meaning: "sqlite: database file, empty means gatehouse.db in home_dir; postgres: URL or key=value pairs, required"},
	}, append(places(), collecting()...)...)
}

func guarding() []setting {
	return []setting{
		{name: "admin_secret", field: func(s *Settings) any { return &s.AdminSecret },
			meaning: "credential of /admin; without it /admin answers 401"},
		{name: "shared_node_secret", field: func(s *Settings) any { return &s.NodeSecret },
			meaning: "credential of gateways; without it no gateway can register"},
		{name: "security.open_policy.enabled", preset: "false", field: func(s *Settings) any { return &s.Security.OpenPolicy.Enabled },
			meaning: "Rego rules decide instead of the built-in permission check"},
		{name: "security.open_policy.debug", preset: "false", field: func(s *Settings) any { return &s.Security.OpenPolicy.Debug },
			meaning: "log inputs and outputs of rules, credentials masked"},
		{name: "security.open_policy.enable_api", preset: "false", field: func(s *Settings) any { return &s.Security.OpenPolicy.API },
			meaning: "admins may read, replace and try the rules of their organisation through /api/org/opa"},
		{name: "security.additional_permissions", field: func(s *Settings) any { return &s.Security.AdditionalPermissions },
			meaning: "custom permissions, name to label"},
		{name: "security.allow_admin_reset_password", preset: "false", field: func(s *Settings) any { return &s.Security.AdminResetsPassword },
			meaning: "administrators may set passwords of other users"},
		{name: "security.user_password_max_days", preset: "0", field: func(s *Settings) any { return &s.Security.PasswordMaxDays },
			meaning: "for how many days users may keep a password, unless the user or its group says otherwise; 0 means for ever"},
		{name: "security.enforce_password_history", preset: "0", field: func(s *Settings) any { return &s.Security.PasswordHistory },
			meaning: "how many of a user's last passwords are refused as a new one, the current one among them; at most 24"},
		{name: "security.force_first_login_pw_reset", preset: "false", field: func(s *Settings) any { return &s.Security.FirstLoginChange },
			meaning: "a password that somebody else chose must be changed after the first login with it"},
		{name: "security.login_failure_username_limit", preset: "0", field: func(s *Settings) any { return &s.Sessions.PerName },
			meaning: "wrong passwords for one user name before further logins wait, from browsers that are not known; 0 means no limit"},
		{name: "security.login_failure_ip_limit", preset: "0", field: func(s *Settings) any { return &s.Sessions.PerAddress },
			meaning: "wrong passwords from one address before further logins wait; 0 means no limit"},
		{name: "security.login_failure_expiration", preset: "900", zero: true, field: func(s *Settings) any { return &s.Sessions.Window },
			meaning: "for how long wrong passwords are counted from the first one on, in seconds; no user waits for longer"},
		{name: "security.hide_login_failure_limit_error", preset: "false", field: func(s *Settings) any { return &s.Sessions.Hidden },
			meaning: "who must wait is told that the credentials are wrong"},
		{name: "security.login_disallow_forward_proxy", preset: "false", field: func(s *Settings) any { return &s.Sessions.Direct },
			meaning: "wrong passwords count for the address of the connection, not for the one in X-Forwarded-For"},
		{name: "security.forbid_admin_view_access_token", preset: "false", field: func(s *Settings) any { return &s.Security.HideAccessKeys },
			meaning: "administrators see no access key of another user"},
		{name: "security.forbid_admin_reset_access_token", preset: "false", field: func(s *Settings) any { return &s.Security.KeepAccessKeys },
			meaning: "only users themselves renew their access keys"},
		{name: "security.audit_log_path", field: func(s *Settings) any { return &s.Audit.OldPath },
			meaning: "the older name of audit.path; it switches audit.enabled on"},
		{name: "security.allowed_examples_urls", field: func(s *Settings) any { return &s.Security.AllowedExamples },
			meaning: "exact addresses of indexes of example APIs that may be read, the first by default; empty means none"},
	}
}

// recognising lists how people get in whom somebody else vouches for, and browsers.
func recognising() []setting {
	return []setting{
		{name: "identity_broker.enabled", preset: "false", field: func(s *Settings) any { return &s.SSO.Broker },
			meaning: "operators log in at the identity providers of profiles, by OpenID Connect, below /auth"},
		{name: "identity_broker.private_providers", preset: "false", field: func(s *Settings) any { return &s.SSO.PrivateProviders },
			meaning: "identity providers of profiles may have private addresses; who writes profiles then learns what answers inside the network"},
		{name: "identity_broker.ssl_insecure_skip_verify", preset: "false", field: func(s *Settings) any { return &s.SSO.Insecure },
			meaning: "do not look at certificates of identity providers: whoever is in between logs in as anybody"},
		{name: "identity_broker.host.secret", field: func(s *Settings) any { return &s.SSO.BrokerSecret },
			meaning: "credential of an identity broker at POST /admin/sso, and nowhere else; without it brokers need admin_secret"},
		{name: "sso_enable_user_lookup", preset: "false", field: func(s *Settings) any { return &s.SSO.Lookup },
			meaning: "a person whom an identity broker has recognised is the user with the same address, if there is one"},
		{name: "sso_default_group_id", field: func(s *Settings) any { return &s.SSO.DefaultGroup },
			meaning: "user group whose permissions a person gets for whom the broker names none"},
		{name: "sso_permission_defaults", field: func(s *Settings) any { return &s.SSO.Defaults },
			meaning: "permissions, group to level, of people without a group; added to what groups give where they give less"},
		{name: "sso_allow_admin_default", preset: "false", field: func(s *Settings) any { return &s.SSO.AdminDefault },
			meaning: "a person without any of these is an admin; false: is refused"},
		{name: "sso_custom_login_url", field: func(s *Settings) any { return &s.SSO.LoginURL },
			meaning: "where GET /login sends browsers"},
		{name: "sso_custom_login_error_url", field: func(s *Settings) any { return &s.SSO.ErrorURL },
			meaning: "where browsers go whom single sign-on refuses; empty means that they get an error"},
		{name: "dashboard_session_lifetime", preset: "3600", zero: true, field: func(s *Settings) any { return &s.Sessions.Lifetime },
			meaning: "how long a browser stays logged in, in seconds"},
		{name: "disable_parallel_sessions", preset: "false", field: func(s *Settings) any { return &s.Sessions.One },
			meaning: "a login ends the other sessions of the user"},
		{name: "enable_multi_org_users", preset: "false", field: func(s *Settings) any { return &s.MultiOrgUsers },
			meaning: "one address may belong to users of several organisations"},
	}
}

// defining lists how API definitions and policies are treated.
func defining() []setting {
	return []setting{
		{name: "enable_ownership", preset: "false", field: func(s *Settings) any { return &s.Definitions.Ownership },
			meaning: "only owners and administrators see an API that has owners"},
		{name: "allow_unsafe_policy_ids", preset: "false", field: func(s *Settings) any { return &s.Definitions.UnsafePolicyIDs },
			meaning: "identifiers of policies may hold any characters"},
		{name: "enable_duplicate_slugs", preset: "false", field: func(s *Settings) any { return &s.Definitions.DuplicateSlugs },
			meaning: "APIs of an organisation may share domain and listen path"},
		{name: "separate_gateways", preset: "false", field: func(s *Settings) any { return &s.Definitions.SeparateGateways },
			meaning: "no gateway loads APIs of two organisations (tags see to that), which may then use the same api_id; false: an api_id is of one organisation"},
		{name: "force_api_defaults", preset: "false", field: func(s *Settings) any { return &s.Definitions.ForceDefaults },
			meaning: "APIs are always saved so that gateways strip the listen path"},
		{name: "allow_unsafe_oas", preset: "false", field: func(s *Settings) any { return &s.Definitions.UnsafeOAS },
			meaning: "OAS APIs may be written through the operations of classic APIs"},
		{name: "oas_config.validate_examples", preset: "false", field: func(s *Settings) any { return &s.Definitions.ValidateExamples },
			meaning: "examples in OpenAPI documents must fit their schemas"},
		{name: "oas_config.validate_schema_defaults", preset: "false", field: func(s *Settings) any { return &s.Definitions.ValidateDefaults },
			meaning: "default values in OpenAPI documents must fit their schemas"},
		{name: "escape_dots_in_oas_paths", preset: "false", field: func(s *Settings) any { return &s.Definitions.EscapeDots },
			meaning: "accepted; dots in paths of OpenAPI documents survive either way"},
		{name: "streaming.enabled", preset: "false", field: func(s *Settings) any { return &s.Definitions.Streams },
			meaning: "streams APIs can be stored; writes are refused with 403 while this is off"},
		{name: "streaming.enable_all_experimental", preset: "false", field: func(s *Settings) any { return &s.Definitions.ExperimentalStreams },
			meaning: "streams may use every input, output and processor"},
	}
}

// keying lists how keys of gateways are treated.
func keying() []setting {
	return []setting{
		{name: "hash_keys", preset: "false", field: func(s *Settings) any { return &s.Keys.Hashed },
			meaning: "gateways know keys by their hashes; it must say what gateways do"},
		{name: "enable_hashed_keys_listing", preset: "false", field: func(s *Settings) any { return &s.Keys.ListHashes },
			meaning: "hashes of keys may be listed"},
		{name: "enable_update_key_by_hash", preset: "false", field: func(s *Settings) any { return &s.Keys.UpdateByHash },
			meaning: "keys may be changed by those who know the hash only"},
		{name: "enable_delete_key_by_hash", preset: "false", field: func(s *Settings) any { return &s.Keys.DeleteByHash },
			meaning: "keys may be deleted by those who know the hash only"},
		{name: "disable_key_actions_by_username", preset: "false", field: func(s *Settings) any { return &s.Keys.NotByUser },
			meaning: "`username=true` does not reach basic-auth users by their names"},
		{name: "enable_master_keys", preset: "false", field: func(s *Settings) any { return &s.Keys.Master },
			meaning: "a key without rights and policies can be made: it may use every API"},
	}
}

// reaching lists where gateways are, and whom the control plane calls itself.
func reaching() []setting {
	return []setting{
		{name: "tyk_api_config.Host", field: func(s *Settings) any { return &s.Gateway.Host },
			meaning: "address of the gateway, with or without http:// or https://; several that share a store with commas between: keys, OAuth clients and certificates are asked for at any that answers, all else at the first"},
		{name: "tyk_api_config.Port", zero: true, field: func(s *Settings) any { return &s.Gateway.Port },
			meaning: "port of the gateways whose address has none; empty means that of the scheme"},
		{name: "tyk_api_config.Secret", field: func(s *Settings) any { return &s.Gateway.Secret },
			meaning: "credential of the gateway's own API"},
		{name: "gateway_control.timeout", preset: "5s", field: func(s *Settings) any { return &s.Gateway.Timeout },
			meaning: "time that an operation on keys, OAuth clients or certificates may wait for gateways, over all calls that it makes"},
		{name: "oauth_redirect_uri_separator", field: func(s *Settings) any { return &s.RedirectSeparator },
			meaning: "stands between the redirect addresses of an OAuth client, as at gateways; empty means that a client has one"},
		{name: "notifications.certificate_expiry_monitor.metadata_refresh_interval_minutes", preset: "60", zero: true, field: func(s *Settings) any { return &s.Expiry.Minutes },
			meaning: "how old what is known of certificates may become before gateways are asked again"},
		{name: "notifications.certificate_expiry_monitor.warning_threshold_days", preset: "30", zero: true, field: func(s *Settings) any { return &s.Expiry.Days },
			meaning: "how many days before its end people are told of a certificate"},
		{name: "edge_endpoints", field: func(s *Settings) any { return &s.Edges },
			meaning: "gateways elsewhere: name, endpoint, tags of the APIs they load"},
		{name: "host_config.secure_cookies", preset: "false", field: func(s *Settings) any { return &s.Sessions.SecureCookies },
			meaning: "browsers send cookies over HTTPS only"},
		{name: "host_config.hostname", field: func(s *Settings) any { return &s.Hosts.Dashboard },
			meaning: "host under which people reach the control plane"},
		{name: "host_config.override_hostname", field: func(s *Settings) any { return &s.Hosts.Gateway },
			meaning: "host, with its port if need be, under which clients reach gateways; empty means that of tyk_api_config"},
		{name: "host_config.generate_secure_paths", preset: "false", field: func(s *Settings) any { return &s.Hosts.Secure },
			meaning: "addresses that are generated begin with https://"},
		{name: "import.allow_private_addresses", preset: "false", field: func(s *Settings) any { return &s.AllowPrivateAddresses },
			meaning: "descriptions may be imported from, and gateways on domains of APIs called at, private addresses"},
	}
}

// mailing lists how mail is sent to people.
func mailing() []setting {
	return []setting{
		{name: "email_backend.enable_email_notifications", preset: "false", field: func(s *Settings) any { return &s.Mail.Enabled },
			meaning: "mails are sent; without them no password is reset by mail"},
		{name: "email_backend.code", field: func(s *Settings) any { return &s.Mail.Code },
			meaning: "how mail is sent: smtp is the only way here, and what an empty text means"},
		{name: "email_backend.settings", field: func(s *Settings) any { return &s.Mail.Server },
			meaning: "the mail server: SMTPAddress (host:port; TLS from the beginning on port 465, elsewhere if the server can), SMTPUsername and SMTPPassword"},
		{name: "email_backend.default_from_email", field: func(s *Settings) any { return &s.Mail.From },
			meaning: "address of the sender of mails"},
		{name: "email_backend.default_from_name", field: func(s *Settings) any { return &s.Mail.FromName },
			meaning: "name of the sender of mails"},
		{name: "email_backend.dashboard_hostname", field: func(s *Settings) any { return &s.Mail.Hostname },
			meaning: "host, or address with http:// or https://, under which people reach the control plane from a mail; empty means host_config.hostname"},
	}
}

func announcing() []setting {
	return []setting{
		{name: "notify_on_change", preset: "true", field: func(s *Settings) any { return &s.NotifyOnChange },
			meaning: "tell gateways about changes"},
		{name: "private_key_path", field: func(s *Settings) any { return &s.PrivateKeyPath },
			meaning: "PEM file of the RSA key that signs notifications; empty means signed with shared_node_secret"},
		{name: "redis_host", field: func(s *Settings) any { return &s.Redis.Host },
			meaning: "host of Redis; Redis is off until this, redis_addrs or redis_hosts is set"},
		{name: "redis_port", preset: "6379", zero: true, field: func(s *Settings) any { return &s.Redis.Port },
			meaning: "port of redis_host"},
		{name: "redis_addrs", field: func(s *Settings) any { return &s.Redis.Addrs },
			meaning: "several host:port, beats redis_hosts and redis_host"},
		{name: "redis_hosts", field: func(s *Settings) any { return &s.Redis.Hosts },
			meaning: "several hosts, host to port, beats redis_host"},
		{name: "redis_username", field: func(s *Settings) any { return &s.Redis.Username },
			meaning: "user of Redis"},
		{name: "redis_password", field: func(s *Settings) any { return &s.Redis.Password },
			meaning: "password of Redis"},
		{name: "redis_master_name", field: func(s *Settings) any { return &s.Redis.MasterName },
			meaning: "name of the master when the addresses are those of sentinels"},
		{name: "redis_sentinel_password", field: func(s *Settings) any { return &s.Redis.SentinelPassword },
			meaning: "password of the sentinels"},
		{name: "redis_timeout", preset: "5", field: func(s *Settings) any { return &s.Redis.TimeoutSeconds },
			meaning: "seconds that one network operation may take; 0 leaves it to the client"},
		{name: "redis_database", preset: "0", field: func(s *Settings) any { return &s.Redis.Database },
			meaning: "number of the database"},
		{name: "enable_cluster", preset: "false", field: func(s *Settings) any { return &s.Redis.Cluster },
			meaning: "the addresses are those of a Redis cluster"},
		{name: "redis_use_ssl", preset: "false", field: func(s *Settings) any { return &s.Redis.TLS.Enabled },
			meaning: "reach Redis over TLS"},
		{name: "redis_ssl_insecure_skip_verify", preset: "false", field: func(s *Settings) any { return &s.Redis.TLS.InsecureSkipVerify },
			meaning: "do not check the certificate of Redis"},
		{name: "redis_ca_file", field: func(s *Settings) any { return &s.Redis.TLS.CAFile },
			meaning: "PEM file of the authority that signed the certificate of Redis; empty means those of the system"},
		{name: "redis_cert_file", field: func(s *Settings) any { return &s.Redis.TLS.CertFile },
			meaning: "PEM file of the certificate shown to Redis"},
		{name: "redis_key_file", field: func(s *Settings) any { return &s.Redis.TLS.KeyFile },
			meaning: "PEM file of its key"},
		{name: "redis_tls_min_version", choices: tlsVersions, field: func(s *Settings) any { return &s.Redis.TLS.MinVersion },
			meaning: "oldest TLS version: 1.0, 1.1, 1.2 or 1.3"},
		{name: "redis_tls_max_version", choices: tlsVersions, field: func(s *Settings) any { return &s.Redis.TLS.MaxVersion },
			meaning: "newest TLS version: 1.0, 1.1, 1.2 or 1.3"},
		{name: "redis_max_active", preset: "0", field: func(s *Settings) any { return &s.Redis.MaxActive },
			meaning: "open connections at most; 0 leaves it to the client"},
	}
}

var tlsVersions = []string{"1.0", "1.1", "1.2", "1.3"}

// sending lists how events reach receivers outside.
func sending() []setting {
	return []setting{
		{name: "deliveries.enabled", preset: "true", field: func(s *Settings) any { return &s.Deliveries.Enabled },
			meaning: "send events to the addresses that organisations name in event_options"},
		{name: "deliveries.workers", preset: "8", field: func(s *Settings) any { return &s.Deliveries.Workers },
			meaning: "deliveries that are sent at once; one organisation has half of them at most"},
		{name: "deliveries.pause", preset: "5s", field: func(s *Settings) any { return &s.Deliveries.Pause },
			meaning: "pause after the first failed attempt of a delivery; it doubles with each of the five"},
		{name: "deliveries.keep_done", preset: "24h", field: func(s *Settings) any { return &s.Deliveries.KeepDone },
			meaning: "how long deliveries are listed that went well"},
		{name: "deliveries.keep_failed", preset: "720h", field: func(s *Settings) any { return &s.Deliveries.KeepFailed },
			meaning: "how long deliveries are listed, and can be sent again, that no attempt brought to the receiver"},
		{name: "deliveries.allowed_networks", field: func(s *Settings) any { return &s.Deliveries.Networks },
			meaning: "addresses or networks (10.0.0.0/8) that deliveries may reach although they are not public; empty means none"},
	}
}

// extending lists what Gatehouse adds to the settings of the field.
func extending() []setting {
	return []setting{
		{name: "encryption_keys", field: func(s *Settings) any { return &s.EncryptionKeys },
			meaning: "secrets that protect what is stored: the first encrypts, all decrypt; empty means the key file gatehouse.key in home_dir, with postgres admin_secret"},
		{name: "encrypt_at_rest", preset: "true", field: func(s *Settings) any { return &s.EncryptAtRest },
			meaning: "documents and their history are encrypted where they are stored, with the first of encryption_keys; values of indexes are not. After a change to false, what is encrypted is still read, and is stored in clear when it is written next"},
		{name: "reads", preset: ReadsCurrent, choices: []string{ReadsCurrent, ReadsLocal, ReadsPrimary},
			field:   func(s *Settings) any { return &s.Reads },
			meaning: "current: local replica after it has the newest commit; local: as it is; primary: the store itself"},
		{name: "max_staleness", preset: "60s", field: func(s *Settings) any { return &s.MaxStaleness },
			meaning: "how long a replica that has lost the store counts as ready"},
		{name: "history.max_age", preset: "720h", field: func(s *Settings) any { return &s.History.MaxAge },
			meaning: "how long commits are kept; 0 keeps them whatever their age"},
		{name: "history.max_bytes", preset: "2147483648", field: func(s *Settings) any { return &s.History.MaxBytes },
			meaning: "size of the log of commits at most, about: the oldest go first; 0 keeps them whatever their size"},
		{name: "audit.enabled", preset: "true", field: func(s *Settings) any { return &s.Audit.Enabled },
			meaning: "keep an audit trail of writes and refused calls"},
		{name: "audit.store_type", preset: AuditDB, lenient: true, choices: []string{AuditDB, AuditFile, AuditNone},
			field:   func(s *Settings) any { return &s.Audit.Store },
			meaning: "where the audit trail is kept: db is the store, signed, where it can be read; file is only the file in audit.path; no_op keeps none"},
		{name: "audit.path", field: func(s *Settings) any { return &s.Audit.Path },
			meaning: "a file to which audit records are written as well, or with audit.store_type file only; empty means none"},
		{name: "audit.format", preset: AuditText, lenient: true, choices: []string{AuditText, AuditJSON}, field: func(s *Settings) any { return &s.Audit.Format },
			meaning: "format of the file: text has a line for each field, json one for each record"},
		{name: "audit.reads", preset: "false", field: func(s *Settings) any { return &s.Audit.Reads },
			meaning: "record reads as well, each of them; left out, it is true where audit.enabled is set to true: who asks for the trail gets all of it"},
		{name: "audit.detailed_recording", preset: "false", field: func(s *Settings) any { return &s.Audit.Detailed },
			meaning: "audit records have the request without its body, and the answer, both without secrets and of 4 and 16 KiB at most"},
		{name: "audit.signing_keys", field: func(s *Settings) any { return &s.Audit.Signing },
			meaning: "secrets that sign the trail in the store, each of 16 characters or more, or file: and the path of a file that holds it: the first signs, all verify; empty means that a key signs which derives from encryption_keys"},
		{name: "audit.file_max_bytes", preset: "104857600", field: func(s *Settings) any { return &s.Audit.FileSize },
			meaning: "size at which the file is moved away, to a name with .1, and another one begins"},
		{name: "audit.file_keep", preset: "5", field: func(s *Settings) any { return &s.Audit.FileKeep },
			meaning: "how many files that were moved away are kept"},
		{name: "audit.max_age", preset: "9600h", field: func(s *Settings) any { return &s.Audit.MaxAge },
			meaning: "how long audit records are kept; 0 keeps them whatever their age"},
		{name: "audit.max_bytes", preset: "67108864", field: func(s *Settings) any { return &s.Audit.MaxBytes },
			meaning: "size of the audit trail of one organisation at most, compressed, about: the oldest records go first; 0 keeps them whatever their size"},
	}
}

// limiting lists bounds on requests, and where a service can be watched.
func limiting() []setting {
	return []setting{
		{name: "limits.max_body_bytes", preset: "33554432", field: func(s *Settings) any { return &s.Limits.MaxBodyBytes },
			meaning: "size of a request body at most"},
		{name: "limits.max_body_values", preset: "300000", field: func(s *Settings) any { return &s.Limits.MaxBodyValues },
			meaning: "values in a request body at most: members, items and what holds them"},
		{name: "limits.body_memory", preset: "167772160", field: func(s *Settings) any { return &s.Limits.BodyMemory },
			meaning: "memory in bytes that request bodies under way may take together; more of them wait, and get 503 at request_timeout; large answers may take a quarter as much besides"},
		{name: "limits.body_rate", preset: "65536", field: func(s *Settings) any { return &s.Limits.BodyRate },
			meaning: "bytes a second that a large request body must come with, on average and after two seconds: it takes memory from others while it comes, and is ended with 408 when it is slower; 0 means no limit"},
		{name: "limits.failed_credentials", preset: "1000", field: func(s *Settings) any { return &s.Limits.Failures },
			meaning: "wrong credentials from one address (IPv6: /64) in a minute before further ones get 429; right ones never do; 0 means no limit"},
		{name: "limits.trusted_proxies", field: func(s *Settings) any { return &s.Limits.Proxies },
			meaning: "addresses or networks (10.0.0.0/8) of proxies whose X-Forwarded-For says who calls; empty means that the peer calls"},
		{name: "limits.max_depth", preset: "128", field: func(s *Settings) any { return &s.Limits.MaxDepth },
			meaning: "nesting of a request body at most"},
		{name: "limits.request_timeout", preset: "30s", field: func(s *Settings) any { return &s.Limits.RequestTimeout },
			meaning: "time one request may take"},
		{name: "limits.write_time", preset: "5s", field: func(s *Settings) any { return &s.Limits.WriteTime },
			meaning: "time one write may keep all others waiting; it is refused with 503 when it takes longer"},
		{name: "metrics.listen_address", field: func(s *Settings) any { return &s.MetricsAddress },
			meaning: "host:port of a listener for metrics only; empty means none"},
		{name: "tracing.otlp_endpoint", field: func(s *Settings) any { return &s.OTLPEndpoint },
			meaning: "OTLP collector that receives traces; empty means no tracing"},
		{name: "shutdown.grace_period", preset: "3s", field: func(s *Settings) any { return &s.StopGrace },
			meaning: "how long a service that stops goes on answering gateways and reads, after it has refused changes and ended announcements"},
	}
}

// starting lists what a service without organisations starts with.
func starting() []setting {
	return []setting{
		{name: "bootstrap.owner_name", field: func(s *Settings) any { return &s.Bootstrap.OwnerName },
			meaning: "name of the first organisation"},
		{name: "bootstrap.owner_slug", field: func(s *Settings) any { return &s.Bootstrap.OwnerSlug },
			meaning: "slug of the first organisation"},
		{name: "bootstrap.org_id", field: func(s *Settings) any { return &s.Bootstrap.OrgID },
			meaning: "identifier of the first organisation; empty means drawn"},
		{name: "bootstrap.email", field: func(s *Settings) any { return &s.Bootstrap.Email },
			meaning: "address of the first administrator; the bootstrap runs at start when it is set"},
		{name: "bootstrap.password", field: func(s *Settings) any { return &s.Bootstrap.Password },
			meaning: "password of the first administrator"},
		{name: "bootstrap.first_name", field: func(s *Settings) any { return &s.Bootstrap.FirstName },
			meaning: "first name of the first administrator"},
		{name: "bootstrap.last_name", field: func(s *Settings) any { return &s.Bootstrap.LastName },
			meaning: "last name of the first administrator"},
		{name: "bootstrap.access_key", field: func(s *Settings) any { return &s.Bootstrap.AccessKey },
			meaning: "access key of the first administrator; empty means drawn"},
	}
}
