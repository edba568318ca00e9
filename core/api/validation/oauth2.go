package validation

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/pattern"
	"github.com/gatehouse-io/gatehouse/core/weburl"
)

// Allowed values of OAuth 2.0 entries; "" is the default.
var (
	scopeSources = []string{"", "operation", "global", "union"}
	grantTypes   = []string{"", "token-exchange", jwtBearer}
	clientAuths  = []string{"", "client_secret_basic", "client_secret_post", "private_key_jwt"}
	cacheModes   = []string{"", "derived", "static"}
)

const jwtBearer = "jwt-bearer"

// Parameters of a token request that gateways set themselves, by grant.
var (
	reservedForExchange = []string{
		"grant_type", "subject_token", "subject_token_type", "requested_token_type", "audience", "resource", "scope",
		"actor_token", "actor_token_type", "client_id", "client_secret", "client_assertion", "client_assertion_type",
	}
	reservedForBearer = []string{
		"grant_type", "assertion", "scope", "client_id", "client_secret", "client_assertion", "client_assertion_type",
	}
)

// unaddressed reports whether operations or primitives exchange tokens and none of them names
// an audience.
func unaddressed(d *doc.Node) (used bool) {
	middleware := d.Get(gatewayExtension, "middleware")
	for _, group := range settingKinds {
		for _, settings := range middleware.Get(group).Members() {
			e := settings.Get("exchange")
			on := e.Get("enabled").True()
			if (on || e.Get("enabled") == nil) && e.Get("audience").Text() != "" {
				return false
			}
			used = used || on
		}
	}
	return used
}

// oauth2 checks an entry for scope checks and token exchange. An exchange that is on needs an
// audience, from a provider or an override; unaddressed means that no override has one.
func (p *problems) oauth2(field string, entry *doc.Node, unaddressed bool) {
	if check := entry.Get("scopeCheck"); check.Get("enabled").True() {
		p.oneOf(field+".scopeCheck.scopeSource", check.Get("scopeSource"), scopeSources)
	}
	exchange := entry.Get("tokenExchange")
	if !exchange.Get("enabled").True() {
		return
	}
	field += ".tokenExchange.providers"
	providers := exchange.Get("providers").Items()
	if len(providers) == 0 {
		p.add(field, "needs at least one provider when token exchange is enabled")
		return
	}
	names, issuers := map[string]bool{}, map[string]int{}
	for i, provider := range providers {
		f := at(field, i)
		switch name := strings.TrimSpace(provider.Get("name").Text()); {
		case name == "":
			p.add(f+".name", "must not be empty")
		case names[name]:
			p.add(f+".name", "is taken by another provider")
		default:
			names[name] = true
		}
		p.provider(f, provider)
		p.issuers(f+".issuers", i, provider, issuers)
	}
	known := func(provider *doc.Node) bool {
		return provider.Get("grantType").Text() == jwtBearer || provider.Get("defaultTarget", "audience").Text() != ""
	}
	if unaddressed && !slices.ContainsFunc(providers, known) {
		p.add(field, "token exchange is used, but no provider and no operation says for which audience")
	}
}

func (p *problems) oneOf(field string, v *doc.Node, allowed []string) {
	if !slices.Contains(allowed, v.Text()) {
		p.add(field, "must be one of %q", allowed[1:])
	}
}

func (p *problems) provider(field string, provider *doc.Node) {
	p.oneOf(field+".grantType", provider.Get("grantType"), grantTypes)
	endpoint := provider.Get("tokenEndpoint").Text()
	u, err := weburl.Parse(endpoint)
	filledIn := strings.Contains(endpoint, "$tyk_context.") || isSecret(endpoint) // at the time of a request
	if !filledIn && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		p.add(field+".tokenEndpoint", "must be an absolute http or https address")
	}
	client := provider.Get("clientAuth")
	if client.Get("clientId").Text() == "" {
		p.add(field+".clientAuth.clientId", "must not be empty")
	}
	p.oneOf(field+".clientAuth.method", client.Get("method"), clientAuths)
	if client.Get("method").Text() == "private_key_jwt" && client.Get("certId").Text() == "" {
		p.add(field+".clientAuth.certId", "is needed for private_key_jwt")
	}
	p.oneOf(field+".cache.mode", provider.Get("cache", "mode"), cacheModes)
	reserved := reservedForExchange
	if provider.Get("grantType").Text() == jwtBearer {
		reserved = reservedForBearer
	}
	for name := range provider.Get("customParams").Members() {
		if slices.Contains(reserved, name) {
			p.add(at(field, "customParams", name), "is a reserved parameter")
		}
	}
}

// issuers checks the issuers of provider i; seen maps each issuer to its provider.
func (p *problems) issuers(field string, i int, provider *doc.Node, seen map[string]int) {
	for n, issuer := range provider.Get("issuers").Texts() {
		if other, ok := seen[issuer]; ok && other != i {
			p.add(at(field, n), "belongs to another provider")
		}
		seen[issuer] = i
		expression, ok := strings.CutPrefix(issuer, "regex:")
		if !ok {
			continue
		}
		if !strings.HasPrefix(expression, "^") || !strings.HasSuffix(expression, "$") {
			p.add(at(field, n), "must be anchored with ^ and $")
		} else if _, err := pattern.Check(expression); err != nil {
			p.add(at(field, n), "is no regular expression")
		}
	}
}
