package oas

// webhookRows: contract oas-extension.md 2.3, relative to the handler settings.
var webhookRows = []row{
	{"url", "target_path", same, text, must},
	{"method", "method", same, text, must},
	{"cooldownPeriod", "event_timeout", durS, duration, must},
	{"bodyTemplate", "template_path", same, text, may},
	{"headers[].name", "header_map (key)", pairs, text, must},
	{"headers[].value", "header_map (value)", pairs, text, must},
}

// scriptRows: contract oas-extension.md 2.3, relative to the handler settings.
var scriptRows = []row{
	{"functionName", "name", same, text, must},
	{"path", "path", same, text, must},
}

// logRows: contract oas-extension.md 2.3, relative to the handler settings.
var logRows = []row{
	{"logPrefix", "prefix", same, text, must},
}
