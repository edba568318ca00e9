package oas

// webhookRows are the members of an event handler that calls a webhook, relative to its settings.
var webhookRows = []row{
	{"url", "target_path", same, "uriref!", must},
	{"method", "method", same, "=GET|PUT|POST|DELETE|PATCH!", must},
	{"cooldownPeriod", "event_timeout", durS, "seconds!", must},
	{"bodyTemplate", "template_path", same, "string!", may},
	{"headers", "", block, "[Header]", may},
	{"headers[].name", "header_map (key)", pairs, "string!", must},
	{"headers[].value", "header_map (value)", pairs, "string!", must},
}

// scriptRows are the members of an event handler that runs a script.
var scriptRows = []row{
	{"functionName", "name", same, "string!", must},
	{"path", "path", same, "string!", must},
}

// logRows are the members of an event handler that writes to the log.
var logRows = []row{
	{"logPrefix", "prefix", same, "string!", must},
}
