package apidef

import (
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// facts are the values of a classic definition that rules and lists use. Members of a wrong
// type count as absent: stored records are served anyway, and types are checked on write.
type facts struct {
	apiID, orgID, name    string
	active, internal      bool
	listenPath, targetURL string
	domain                string // "" when none is in force
	protocol              string
	graphql               string // execution mode; "" when GraphQL is off
	tags                  []string
	auth                  []string
	versions              []string          // names in version_data
	children              map[string]string // version name to API ID
	shown                 atomic.Pointer[[]byte]
}

// authSwitches are the members of a definition that switch on a method of authentication, with
// the name of the method in lists.
var authSwitches = []struct{ member, method string }{
	{"use_standard_auth", "authToken"}, {"enable_jwt", "jwt"}, {"use_basic_auth", "basic"}, {"use_oauth2", "oauth"},
	{"enable_signature_checking", "hmac"}, {"use_openid", "oidc"}, {"use_mutual_tls_auth", "mutualTLS"},
	{"custom_plugin_auth_enabled", "custom"}, {"enable_coprocess_auth", "custom"}, {"use_go_plugin_auth", "custom"},
}

// AuthMethods returns the names of the methods of authentication in lists.
func AuthMethods() []string {
	out := []string{keyless, externalOAuth}
	for _, s := range authSwitches {
		out = append(out, s.method)
	}
	return out
}

// The methods without a single switch in the definition.
const (
	keyless       = "keyless"
	externalOAuth = "externalOAuth"
)

func read(definition []byte) (*facts, error) {
	o, err := doc.LoadObject(definition)
	if err != nil {
		return nil, err
	}
	f := &facts{
		apiID: text(o, "api_id"), orgID: text(o, "org_id"), name: text(o, "name"),
		active: truth(o, "active"), internal: truth(o, "internal"),
		protocol: text(o, "protocol"),
	}
	proxy := child(o, "proxy")
	f.listenPath, f.targetURL = text(proxy, "listen_path"), text(proxy, "target_url")
	if !truth(o, "domain_disabled") {
		f.domain = text(o, "domain")
	}
	if !truth(o, "tags_disabled") {
		f.tags = texts(o, "tags")
	}
	if gql := child(o, "graphql"); truth(gql, "enabled") {
		f.graphql = text(gql, "execution_mode")
		if f.graphql == "" {
			f.graphql = "proxyOnly"
		}
	}
	f.auth = authentication(o)
	for name := range child(child(o, "version_data"), "versions").All() {
		f.versions = append(f.versions, name)
	}
	// The table of child versions, which only a base has.
	if table := child(o, "definition"); truth(table, "enabled") {
		versions := child(table, "versions")
		for name := range versions.All() {
			if f.children == nil {
				f.children = map[string]string{}
			}
			f.children[name] = text(versions, name)
		}
	}
	return f, nil
}

// authentication returns the methods that a definition switches on. A definition that is not
// keyless and has no method uses tokens.
func authentication(o doc.Object) []string {
	if truth(o, "use_keyless") {
		return []string{keyless}
	}
	var out []string
	for _, s := range authSwitches {
		if truth(o, s.member) && !slices.Contains(out, s.method) {
			out = append(out, s.method)
		}
	}
	if truth(child(o, "external_oauth"), "enabled") {
		out = append(out, externalOAuth)
	}
	if len(out) == 0 {
		return []string{"authToken"}
	}
	return out
}

// MethodsOf returns the methods of authentication that a definition switches on.
func MethodsOf(definition []byte) []string {
	o, err := doc.LoadObject(definition)
	if err != nil {
		return nil
	}
	return authentication(o)
}

func text(o doc.Object, name string) (s string) {
	raw, _ := o.Get(name)
	_ = json.Unmarshal(raw, &s)
	return s
}

func texts(o doc.Object, name string) (list []string) {
	raw, _ := o.Get(name)
	_ = json.Unmarshal(raw, &list)
	return list
}

func truth(o doc.Object, name string) bool {
	raw, _ := o.Get(name)
	return strings.TrimSpace(string(raw)) == "true"
}

func child(o doc.Object, name string) doc.Object {
	raw, _ := o.Get(name)
	if !doc.IsObject(raw) {
		return doc.Object{}
	}
	inner, err := doc.LoadObject(raw)
	if err != nil {
		return doc.Object{}
	}
	return inner
}

// Name returns the name, including its categories.
func (a API) Name() string { return a.facts.name }

// Active reports whether gateways get the API.
func (a API) Active() bool { return a.facts.active }

// ListenPath returns the path at which gateways listen.
func (a API) ListenPath() string { return a.facts.listenPath }

// Domain returns the custom domain in force, or "".
func (a API) Domain() string { return a.facts.domain }

// Tags returns the gateway tags in force.
func (a API) Tags() []string { return a.facts.tags }

// AuthTypes returns the methods of authentication: keyless, authToken, jwt, basic, oauth,
// hmac, oidc, mutualTLS, custom, externalOAuth.
func (a API) AuthTypes() []string { return a.facts.auth }

// Children returns the API IDs of child versions by version name; nil unless the
// API is a base with versioning switched on.
func (a API) Children() map[string]string { return a.facts.children }

// ChildIDs returns the API IDs of child versions. An orphan is in no such list
// (docs/wire/extension-fields.md#info).
func (a API) ChildIDs() []string {
	out := make([]string, 0, len(a.facts.children))
	for _, id := range a.facts.children {
		if id != "" {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Source returns the API ID of the REST API with the operations that an MCP proxy offers as
// tools, or "" (docs/wire/mcp-proxies.md#pairing).
func (a API) Source() string {
	if !a.IsMCP() {
		return ""
	}
	id, _ := oas.PairedSource(a.facts.targetURL)
	return id
}
