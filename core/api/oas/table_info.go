package oas

// infoRows: contract oas-extension.md 2.1.
var infoRows = []row{
	{"info.id", "api_id", same, text, may},
	{"info.dbId", "id?", same, hexID, may},
	{"info.orgId", "org_id", same, text, may},
	{"info.name", "name", same, text, must},
	{"info.expiration", "expiration?", same, text, may},
	{"info.state.active", "active", same, flag, must},
	{"info.state.internal", "internal", same, flag, may},
	{"info.versioning.enabled", "definition.enabled", same, flag, must},
	{"info.versioning.name", "definition.name", same, text, may},
	{"info.versioning.default", "definition.default", same, text, must},
	{"info.versioning.location", "definition.location", same, text, must},
	{"info.versioning.key", "definition.key", same, text, may},
	{"info.versioning.versions[].name", "definition.versions (key)", pairs, text, must},
	{"info.versioning.versions[].id", "definition.versions (value)", pairs, text, must},
	{"info.versioning.stripVersioningData", "definition.strip_versioning_data", same, flag, may},
	{"info.versioning.urlVersioningPattern", "definition.url_versioning_pattern", same, text, may},
	{"info.versioning.fallbackToDefault", "definition.fallback_to_default", same, flag, may},
}

// serverRows: contract oas-extension.md 2.2 and 2.3.
var serverRows = []row{
	{"server.listenPath.value", "proxy.listen_path", same, text, must},
	{"server.listenPath.strip", "proxy.strip_listen_path", same, flag, may},
	{"server.clientCertificates.enabled", "use_mutual_tls_auth", same, flag, must},
	{"server.clientCertificates.allowlist", "client_certificates", same, texts, must},
	{"server.gatewayTags.enabled", "tags_disabled?", not, flag, must},
	{"server.gatewayTags.tags", "tags", same, texts, must},
	{"server.customDomain.enabled", "domain_disabled?", not, flag, must},
	{"server.customDomain.name", "domain", same, text, must},
	{"server.customDomain.certificates", "certificates", same, texts, may},
	{"server.detailedActivityLogs.enabled", "enable_detailed_recording", same, flag, must},
	{"server.detailedTracing.enabled", "detailed_tracing", same, flag, must},
	{"server.eventHandlers[].enabled", "event_handlers.events.*[].handler_meta.disabled", event, flag, must},
	{"server.eventHandlers[].trigger", "event_handlers.events (key)", event, text, must},
	{"server.eventHandlers[].type", "event_handlers.events.*[].handler_name", event, text, must},
	{"server.eventHandlers[].id", "event_handlers.events.*[].handler_meta.id", event, text, may},
	{"server.eventHandlers[].name", "event_handlers.events.*[].handler_meta.name", event, text, may},
	{"server.ipAccessControl.enabled", "ip_access_control_disabled", not, flag, must},
	{"server.ipAccessControl.allow", "allowed_ips", same, texts, may},
	{"server.ipAccessControl.block", "blacklisted_ips", same, texts, may},
	{"server.batchProcessing.enabled", "enable_batch_request_support", same, flag, must},
	{"server.protocol", "protocol", same, text, may},
	{"server.port", "listen_port", same, whole, may},
}

// errorRows: contract oas-extension.md 2.9.
var errorRows = []row{
	{"errorOverrides.enabled", "error_overrides_disabled", not, flag, must},
	{"errorOverrides.value.*[].match.flag", "error_overrides.*[].match.flag?", same, text, may},
	{"errorOverrides.value.*[].match.messagePattern", "error_overrides.*[].match.message_pattern?", same, text, may},
	{"errorOverrides.value.*[].match.bodyField", "error_overrides.*[].match.body_field?", same, text, may},
	{"errorOverrides.value.*[].match.bodyValue", "error_overrides.*[].match.body_value?", same, text, may},
	{"errorOverrides.value.*[].response.statusCode", "error_overrides.*[].response.status_code", same, whole, must},
	{"errorOverrides.value.*[].response.body", "error_overrides.*[].response.body?", same, text, may},
	{"errorOverrides.value.*[].response.message", "error_overrides.*[].response.message?", same, text, may},
	{"errorOverrides.value.*[].response.template", "error_overrides.*[].response.template?", same, text, may},
	{"errorOverrides.value.*[].response.headers", "error_overrides.*[].response.headers?", same, textMap, may},
}
