package config

import "strings"

// others lists settings of existing configurations that have no effect here, so that
// they are not reported as spelling mistakes. A setting moves to inUse when it gets a
// field.
func others() []setting {
	rows := rowsOf(ignored, secret, "license_key")
	for _, group := range []struct {
		kind  kind
		names string
	}{
		{text, otherTexts}, {secret, otherSecrets}, {address, otherAddresses}, {boolean, otherSwitches}, {integer, otherNumbers},
		{dictionary, "host_config.portal_domains ui.languages"},
	} {
		rows = append(rows, rowsOf(accepted, group.kind, strings.Fields(group.names)...)...)
	}
	for _, store := range []string{"main", "analytics", "logs", "uptime"} {
		prefix := "storage." + store + "."
		if store == "main" { // only its type and address are used
			rows = append(rows, rowsOf(accepted, address, prefix+"read_connection_string", prefix+"write_connection_string")...)
			rows = append(rows, rowsOf(accepted, boolean, prefix+"table_sharding")...)
		}
		rows = append(rows, rowsOf(accepted, text, prefix+"mongo.driver")...)
		rows = append(rows, rowsOf(accepted, integer, prefix+"mysql.default_string_size")...)
		rows = append(rows, rowsOf(accepted, boolean,
			prefix+"postgres.prefer_simple_protocol",
			prefix+"mysql.disable_datetime_precision",
			prefix+"mysql.dont_support_rename_index",
			prefix+"mysql.dont_support_rename_column",
			prefix+"mysql.skip_initialize_with_version")...)
	}
	return rows
}

func rowsOf(u use, k kind, names ...string) []setting {
	rows := make([]setting, len(names))
	for i, name := range names {
		rows[i] = setting{name: name, suffix: suffixOf(name), kind: k, use: u}
	}
	return rows
}

const otherTexts = `
	mongo_ssl_ca_file mongo_ssl_pem_keyfile mongo_session_consistency mongo_driver
	sentry_js_code
	host_config.portal_root_path
	security.allowed_content_sources
	ui.trial.hubspot_form.region ui.trial.hubspot_form.portal_id ui.trial.hubspot_form.form_id ui.default_lang
	aggregate_lookup_cutoff alternative_dashboard_url
	sso_custom_portal_login_url
	statsd_prefix`

const otherSecrets = `
	sentry_code security.private_certificate_encoding_secret
	portal_session_secret`

const otherAddresses = `mongo_url identity_broker.host.connection_string statsd_connection_string`

const otherSwitches = `
	mongo_use_ssl mongo_ssl_insecure_skip_verify mongo_ssl_allow_invalid_hostnames mongo_direct_connection
	hide_listen_path use_sentry show_org_id
	host_config.enable_host_names host_config.disable_org_slug_prefix
	http_server_options.ssl_insecure_skip_verify http_server_options.prefer_server_ciphers
	security.enable_content_security_policy
	ui.hide_help ui.dont_allow_license_management ui.onboarding.enabled
	use_sharded_analytics enable_aggregate_lookups allow_explicit_policy_id
	dcr_ssl_insecure_skip_verify disable_telemetry`

const otherNumbers = `
	mongo_batch_size
	ui.notifications.duration.success ui.notifications.duration.warning ui.notifications.duration.error ui.trial.end_date
	portal_session_lifetime`
