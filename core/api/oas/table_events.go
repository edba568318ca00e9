package oas

// webhookRows: contract oas-extension.md 2.3, relative to the handler settings.
var webhookRows = []row{
	{"url", "target_path", same, "uriref!", must},
	{"method", "method", same, "=GET|PUT|POST|DELETE|PATCH!", must},
	{"cooldownPeriod", "event_timeout", durS, "seconds!", must},
	{"bodyTemplate", "template_path", same, "string!", may},
	{"headers", "", block, "[Header]", may},
	{"headers[].name", "header_map (key)", pairs, "string!", must},
	{"headers[].value", "header_map (value)", pairs, "string!", must},
}

// scriptRows: contract oas-extension.md 2.3, relative to the handler settings.
var scriptRows = []row{
	{"functionName", "name", same, "string!", must},
	{"path", "path", same, "string!", must},
}

// logRows: contract oas-extension.md 2.3, relative to the handler settings.
var logRows = []row{
	{"logPrefix", "prefix", same, "string!", must},
}
