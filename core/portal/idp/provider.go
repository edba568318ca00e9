// Package idp models the identity providers at which the portal registers clients: the
// providers, the types of clients, the registrations (RFC 7591, RFC 7592), and their data at
// dashboards (docs/wire/portal-oauth-providers.md).
package idp

import (
	"net/url"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	hook "github.com/gatehouse-io/gatehouse/core/webhook"
)

// Kinds of records.
const (
	Kind     = "portal-oauth-provider"
	TypeKind = product.TemplateKind
)

// Limits.
const (
	MaxProviders = 200 // of a portal
	MaxTypes     = 200 // of a provider
	maxURL       = 2_000
	maxToken     = 8_192
	maxClaim     = 255
)

// Flavours of identity providers.
const (
	Keycloak = "Keycloak"
	Gluu     = "Gluu"
	Okta     = "Okta"
	Other    = "Other"
)

// Provider is an identity provider at which clients are registered.
type Provider struct {
	table.Base
	Name         string
	Type         string
	WellKnownURL string // of its discovery document
	Token        string `json:"-"` // for registrations, as sent by a client
	Sealed       string // encrypted Token; "": not needed
	Insecure     bool   `json:",omitempty"` // its certificate is not verified
	ScopeClaim   string `json:",omitempty"`
}

// Table implements table.Row.
func (Provider) Table() *table.Table[Provider] { return providers }

var providers = &table.Table[Provider]{
	Kind: Kind, Noun: "identity provider",
	Base: func(p *Provider) *table.Base { return &p.Base },
	Fields: []table.Field[Provider]{
		{Name: "Name", At: func(p *Provider) any { return &p.Name }, Required: true, Max: 255, Doc: "Name of the identity provider, and of its entry in the registry of dashboards."},
		{Name: "Type", At: func(p *Provider) any { return &p.Type }, Required: true, Enum: []string{Keycloak, Gluu, Okta, Other}},
		{Name: "WellKnownURL", At: func(p *Provider) any { return &p.WellKnownURL }, Required: true, Max: maxURL, Valid: func(p Provider) bool { return Address(p.WellKnownURL) },
			Doc: "Absolute http or https address of the discovery document, without user and password."},
		{Name: "RegistrationAccessToken", At: func(p *Provider) any { return &p.Token }, Max: maxToken, Valid: func(p Provider) bool { return bearer(p.Token) },
			Doc: "Token with which clients are registered. Empty: no token is sent. Responses never have it."},
		{Name: "SSLInsecureSkipVerify", At: func(p *Provider) any { return &p.Insecure }, Doc: "true: the certificate of the provider is not verified."},
		{Name: "ScopeClaimName", At: func(p *Provider) any { return &p.ScopeClaim }, Max: maxClaim, Doc: "Claim of tokens with the scopes. Default: scope."},
	},
}

// Address reports whether the portal may send requests to a URL.
func Address(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.User == nil && u.Fragment == "" && len(text) <= maxURL && hook.Reachable(text)
}

// bearer reports whether a text can be a bearer token (RFC 6750, 2.1), leniently: any
// printable text without spaces.
func bearer(token string) bool {
	return !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}

// EntryID returns the client_idp_id of the provider at dashboards.
func (p Provider) EntryID() string { return "portal-" + p.CID }
