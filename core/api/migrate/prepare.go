package migrate

import (
	"cmp"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// prepare changes the definition as a whole: steps 1 to 6 of docs/wire/migration.md#steps.
func prepare(def *doc.Node) {
	def.Set("is_oas", doc.NewBool(true))
	// Custom authentication had a switch for each kind of plugin.
	for _, old := range []string{"use_go_plugin_auth", "enable_coprocess_auth"} {
		if def.Get(old).True() {
			def.Set("custom_plugin_auth_enabled", doc.NewBool(true))
			def.Set(old, doc.NewBool(false))
		}
	}
	// Entries of methods that are off are removed. The others get a name, which documents
	// require.
	configs := def.Get("auth_configs")
	for _, config := range configs.Names() {
		if _, known := methods[config]; known && !inUse(def, config) {
			configs.Delete(config)
			continue
		}
		configs.Put(doc.NewString(config), config, "name")
	}
	namePlaces(configs.Get("authToken"))
	disableEmptyBlocks(def)
	// The scope mapping of older definitions is moved to where the API's method expects it. An
	// existing mapping is overwritten.
	method, scopes := "jwt", doc.NewObject()
	if def.Get("use_openid").True() {
		method = "oidc"
	}
	for _, m := range []struct{ from, to string }{
		{"jwt_scope_claim_name", "scope_claim_name"},
		{"jwt_scope_to_policy_mapping", "scope_to_policy"},
	} {
		if v := def.Get(m.from); !empty(v) {
			scopes.Set(m.to, v)
		}
		def.Delete(m.from)
	}
	def.Put(scopes, "scopes", method)
	// Endpoints no longer need these processors.
	if list := def.Get("response_processors"); list.Is(doc.TypeArray) {
		list.SetItems(slices.DeleteFunc(list.Items(), func(p *doc.Node) bool {
			return p.Get("name").Text() == "response_body_transform"
		}))
	}
	// IP lists have one switch now instead of two.
	on := def.Get("enable_ip_whitelisting").True() && def.Get("allowed_ips").Len() > 0 ||
		def.Get("enable_ip_blacklisting").True() && def.Get("blacklisted_ips").Len() > 0
	def.Set("ip_access_control_disabled", doc.NewBool(!on))
}

// methods maps the entries of auth_configs to the switch of their method.
var methods = map[string][]string{
	"authToken":     {"use_standard_auth"},
	"jwt":           {"enable_jwt"},
	"basic":         {"use_basic_auth"},
	"oauth":         {"use_oauth2"},
	"externalOAuth": {"external_oauth", "enabled"},
	"hmac":          {"enable_signature_checking"},
	"oidc":          {"use_openid"},
	"coprocess":     {"custom_plugin_auth_enabled"},
}

// defaultHeader is the header with the key if an API does not set another.
const defaultHeader = "Authorization"

// namePlaces sets the place of the key if the definition does not: a document needs the name
// that gateways use by default.
func namePlaces(token *doc.Node) {
	if token == nil {
		return
	}
	name := cmp.Or(token.Get("auth_header_name").Text(), defaultHeader)
	for _, p := range []struct {
		on     bool
		member string
	}{
		{!token.Get("disable_header").True(), "auth_header_name"},
		{token.Get("use_param").True(), "param_name"},
		{token.Get("use_cookie").True(), "cookie_name"},
	} {
		if p.on && token.Get(p.member).Text() == "" {
			token.Put(doc.NewString(name), p.member)
		}
	}
}

func inUse(def *doc.Node, config string) bool {
	on := def.Get(methods[config]...).True()
	switch config {
	case "authToken": // also the default of gateways
		for other, switches := range methods {
			if other != config && def.Get(switches...).True() {
				return on
			}
		}
		return on || !def.Get("use_keyless").True()
	case "coprocess": // a Go plugin finds the credential itself
		return on && def.Get("custom_middleware", "driver").Text() != "goplugin"
	}
	return on
}

// disableEmptyBlocks sets the disable flags of empty blocks. Without them, the blocks would be
// enabled and empty in the document.
func disableEmptyBlocks(def *doc.Node) {
	for _, b := range []struct{ block, flag string }{
		{"custom_middleware_bundle", "custom_middleware_bundle_disabled"},
		{"config_data", "config_data_disabled"},
		{"upstream_certificates", "upstream_certificates_disabled"},
		{"pinned_public_keys", "certificate_pinning_disabled"},
		{"tags", "tags_disabled"},
		{"domain", "domain_disabled"},
	} {
		if empty(def.Get(b.block)) {
			def.Set(b.flag, doc.NewBool(true))
		}
	}
	for _, block := range []string{"auth_check", "id_extractor"} {
		members := def.Get("custom_middleware", block)
		said := slices.DeleteFunc(members.Names(), func(name string) bool {
			return name == "disabled" || zero(members.Get(name))
		})
		if len(said) == 0 {
			def.Put(doc.NewBool(true), "custom_middleware", block, "disabled")
		}
	}
	if limit := def.Get("global_rate_limit"); limit.Get("rate").Float() <= 0 || limit.Get("per").Float() <= 0 {
		def.Put(doc.NewBool(true), "global_rate_limit", "disabled")
	}
}

func empty(n *doc.Node) bool { return n.Len() == 0 && n.Text() == "" }
