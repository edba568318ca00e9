package validation

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Classic checks the classic form of an API of any kind: the rules of the control plane, and
// those of gateways.
func Classic(c *doc.Node) []Problem { return append(Served(c), Loadable(c)...) }

// Loadable checks the classic form of an API as gateways do before they load it
// (docs/wire/conversion.md#validation).
func Loadable(c *doc.Node) []Problem {
	var p problems
	seen := map[string]bool{} // names of data sources, which must differ by more than case
	for i, source := range c.Get("graphql", "engine", "data_sources").Items() {
		name := strings.ToLower(strings.TrimSpace(source.Get("name").Text()))
		if seen[name] {
			p.add(at("graphql.engine.data_sources", i, "name"), "is taken by another data source")
		}
		seen[name] = true
	}
	// A method that is on must know the place of the credential.
	for _, m := range authMethods {
		config := c.Get("auth_configs", m[0])
		if !c.Get(m[1]).True() || !config.Is(doc.TypeObject) {
			continue
		}
		if config.Get("disable_header").True() && !config.Get("use_param").True() && !config.Get("use_cookie").True() {
			p.add(at("auth_configs", m[0]), "is enabled without a header, query parameter or cookie to read")
		}
	}
	timeouts(c, func(field string, v *doc.Node) {
		if v.Float() < 0 || strings.HasPrefix(strings.TrimSpace(v.Text()), "-") {
			p.add(field, "must not be negative")
		}
	})
	// Schemas that gateways hold the bodies of requests against have to come to an end
	// (docs/wire/apis.md#validation).
	for name, version := range c.Get("version_data", "versions").Members() {
		for i, entry := range version.Get("extended_paths", "validate_json").Items() {
			if schema := entry.Get("schema"); endlessSchema(schema) {
				p.add(at("version_data.versions", name, "extended_paths.validate_json", i, "schema"), "has no end: it is part of itself, by $ref, allOf, anyOf, oneOf or not")
			}
		}
	}
	p.upstream(c.Get("upstream_auth"))
	proxy := c.Get("proxy")
	// With service discovery, the targets come from discovery.
	if proxy.Get("enable_load_balancing").True() && proxy.Get("target_list").Len() == 0 &&
		!proxy.Get("service_discovery", "use_discovery_service").True() {
		p.add("proxy.target_list", "needs a target with a weight when load balancing is enabled")
	}
	return p
}

// authMethods maps a method that needs a source to its switch.
var authMethods = [][2]string{
	{"authToken", "use_standard_auth"}, {"jwt", "enable_jwt"}, {"hmac", "enable_signature_checking"},
	{"oauth", "use_oauth2"}, {"oidc", "use_openid"}, {"coprocess", "enable_coprocess_auth"},
}

// timeouts calls fn for every timeout of a definition, as a duration or a number.
func timeouts(c *doc.Node, fn func(field string, v *doc.Node)) {
	for name, version := range c.Get("version_data", "versions").Members() {
		field := at("version_data.versions", name)
		fn(field+".global_enforce_timeout", version.Get("global_enforce_timeout"))
		for i, t := range version.Get("extended_paths", "hard_timeouts").Items() {
			f := at(field, "extended_paths.hard_timeouts", i)
			fn(f+".timeout", t.Get("timeout"))
			fn(f+".duration", t.Get("duration"))
		}
	}
}

// upstream checks the gateway's authentication at the upstream.
func (p *problems) upstream(auth *doc.Node) {
	const field = "upstream_auth"
	oauth := auth.Get("oauth")
	if !auth.Get("enabled").True() || !oauth.Get("enabled").True() {
		return
	}
	if auth.Get("basic_auth", "enabled").True() {
		p.add(field, "basic authentication and OAuth exclude each other")
	}
	types := oauth.Get("allowed_authorize_types").Texts()
	if len(types) != 1 || !slices.Contains([]string{"clientCredentials", "password"}, types[0]) {
		p.add(field+".oauth.allowed_authorize_types", "must be exactly one of clientCredentials and password")
	}
	for _, grant := range []string{"client_credentials", "password"} {
		if m := oauth.Get(grant, "method").Text(); !slices.Contains([]string{"", "client_secret_basic", "client_secret_post"}, m) {
			p.add(at(field, "oauth", grant, "method"), "must be client_secret_basic or client_secret_post")
		}
	}
}
