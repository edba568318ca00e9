package oas

import (
	"maps"
	"slices"
	"strings"
)

// Definition is a named part of the schema of the extension. typ explains the names of its
// types.
type Definition struct {
	Name, About string
	Type        string   // if it is not an object: texts, or alternatives "A/B"
	Members     []Member // of an object; "*" is any name, "/…/" names that match
	Open        bool     // unknown members are always allowed
	Also        string   // JSON that is merged into the schema
}

// Member is a member of a definition.
type Member struct {
	Name, Type string
	Required   bool
}

// Definitions returns the definitions in the schema of the extension, for one kind of
// document. The one named Root is the extension itself.
func Definitions(o Options) []Definition {
	var d definer
	for _, v := range variants {
		d.add(v)
	}
	for _, name := range slices.Sorted(maps.Keys(enumerations)) {
		d.add(Definition{Name: string(name), Type: enumerations[name]})
	}
	for _, c := range converters {
		d.object(c.definition, tree(c.rows))
	}
	d.object("OAuth2", tree(oauth2Rows))
	d.object("Operation", tree(slices.Concat(operationRows, responseRows)))
	d.parts(tree(handlerRows))
	root := slices.Concat(rootRows, keptRows)
	if o.MCP {
		d.add(Definition{Name: "MCPPrimitives", Members: []Member{{Name: "*", Type: "MCPPrimitive"}}})
		d.object("MCPPrimitive", tree(primitiveRows))
		root = without(root, "errorOverrides", "middleware.global.cache") // MCP proxies do not cache whole responses
	} else {
		root = without(root, "middleware.mcpTools", "middleware.mcpResources", "middleware.mcpPrompts")
	}
	d.object("Root", tree(root))
	return d.made
}

// definer collects definitions. A repeated name refers to the same definition.
type definer struct{ made []Definition }

func (d *definer) add(o Definition) {
	if n, ok := notes[o.Name]; ok {
		o.About, o.Also = n.about, n.also
	}
	d.made = append(d.made, o)
}

// object adds the definition of an object and of its parts.
func (d *definer) object(name string, b *branch) {
	if slices.ContainsFunc(d.made, func(o Definition) bool { return o.Name == name }) {
		return
	}
	o := Definition{Name: name}
	for _, member := range b.names {
		t, required := b.members[member].typ.required()
		o.Members = append(o.Members, Member{member, string(t), required})
	}
	d.add(o)
	d.parts(b)
}

// parts adds the definitions of the members that are objects.
func (d *definer) parts(b *branch) {
	for _, name := range b.names {
		member := b.members[name]
		t, _ := member.typ.required()
		for item, composed := t.item(); composed; item, composed = t.item() {
			t = item
			if member.item != nil {
				member = member.item
			} else if member.value != nil {
				member = member.value
			}
		}
		if t.named() && !strings.Contains(string(t), "/") {
			d.object(string(t), member)
		}
	}
}

// enumerations are named types with a fixed set of texts.
var enumerations = map[typ]string{
	"EventTrigger": "=QuotaExceeded|RatelimitExceeded|RateLimitSmoothingUp|RateLimitSmoothingDown|AuthFailure|UpstreamOAuthError|KeyExpired|VersionFailure|" +
		"OrgQuotaExceeded|OrgRateLimitExceeded|TriggerExceeded|BreakerTriggered|BreakerTripped|BreakerReset|HostDown|HostUp|" +
		"TokenCreated|TokenUpdated|TokenDeleted|CertificateExpiringSoon|CertificateExpired",
	"EventType": "=webhook|custom|log",
}

// variants are the definitions that are not just the rows of one object: maps with free names,
// and objects with several forms.
var variants = []Definition{
	{Name: "Operations", Members: []Member{{Name: "*", Type: "Operation"}}},
	{Name: "SecuritySchemes", Open: true, Members: []Member{{Name: `/^[a-zA-Z0-9.\-_]+$/`, Type: "Token/JWT/Basic/OAuth/ExternalOAuth/OAuth2"}}},

	{Name: "EventHandler", Type: "StoredWebhook/Webhook/ScriptEvent/LogEvent"},
	{Name: "StoredWebhook", Open: true, Members: handlerMembers("id! cooldownPeriod!")},
	{Name: "Webhook", Open: true, Members: handlerMembers("name url! method! cooldownPeriod! bodyTemplate! headers")},
	// Gateways refuse script and log handlers without a name. A fill uses the name of the
	// function, or the prefix.
	{Name: "ScriptEvent", Open: true, Members: handlerMembers("id name! functionName! path!")},
	{Name: "LogEvent", Open: true, Members: handlerMembers("id name! logPrefix!")},

	{Name: "URLRewriteRule", Members: ruleMembers("=query|path|header|sessionMetadata|requestContext", "name! pattern! negate")},
	{Name: "URLRewriteBodyRule", Members: ruleMembers("=requestBody", "name pattern! negate")},
}

func handlerMembers(names string) []Member {
	return picked(slices.Concat(below(serverRows, "server.eventHandlers[]"), handlerRows), "enabled! trigger! type! "+names)
}

func ruleMembers(in, names string) []Member {
	members := picked(below(operationRows, "urlRewrite.triggers[].rules[]"), "in! "+names)
	members[0].Type = in
	return members
}

// picked returns the members of rows with these names; "!" marks those that one form of an
// object requires.
func picked(rows []row, names string) (members []Member) {
	for name := range strings.FieldsSeq(names) {
		name, required := strings.CutSuffix(name, "!")
		t, _ := rows[slices.IndexFunc(rows, func(r row) bool { return r.ext == name })].typ.required()
		members = append(members, Member{name, string(t), required})
	}
	return members
}

// notes are the descriptions and additional JSON of the schema.
var notes = map[string]struct{ about, also string }{
	"Switch":                    {about: "Turns a feature on or off."},
	"Info":                      {about: "What the API is called and whether it is served."},
	"State":                     {about: "Inactive APIs are not loaded; internal ones answer other APIs only."},
	"Versioning":                {about: "Which APIs are versions of this one, and how a request names the version.", also: `{"anyOf": [{"properties": {"location": {"enum": ["header", "url-param"]}}, "required": ["key"]}, {"properties": {"location": {"enum": ["url"]}}}]}`},
	"Server":                    {about: "What clients see: path, domain, certificates, authentication."},
	"GatewayTags":               {about: "Only gateways that share a tag load the API."},
	"IPAccessControl":           {about: "Addresses or CIDR ranges; block wins over allow."},
	"StoredWebhook":             {about: "A webhook by reference to one that the control plane stores."},
	"Webhook":                   {about: "A webhook written out."},
	"ScriptEvent":               {about: "Runs a script."},
	"LogEvent":                  {about: "Writes a line to the gateway's log."},
	"ProtectedResourceMetadata": {about: "OAuth 2.0 protected resource metadata (RFC 9728)."},
	"ClaimRule":                 {about: "What the claim of this name must be."},
	"OAuth":                     {about: "The gateway's own token server."},
	"OAuth2":                    {about: "Scope checks, resource metadata and token exchange by the document."},
	"Upstream":                  {about: "Where requests go.", also: `{"anyOf": [{"required": ["url"]}, {"required": ["loadBalancing"]}]}`},
	"Global":                    {about: "What happens to every request of the API."},
	"Operations":                {about: "Settings by the operationId of an operation."},
	"TransformBody":             {also: `{"minProperties": 3, "anyOf": [{"required": ["body"]}, {"required": ["path"]}]}`},
	"ErrorOverrides":            {about: "Answers that replace the gateway's own, by status code or class."},
	"MCPPrimitives":             {about: "Settings by the name of a tool, resource or prompt."},
}
