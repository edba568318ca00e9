package idp

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Grants and authentication methods of clients, as written in client types.
const (
	AuthorizationCode = "authorization_code"
	PKCE              = "pkce"
	ClientCredentials = "client_credentials"
	DeviceCode        = "device_code"
	RefreshToken      = "refresh_token"
	Password          = "password"
	Implicit          = "implicit"
	secretBasic       = "client_secret_basic"
	secretPost        = "client_secret_post"
	noSecret          = "none"
)

// Kinds of applications at Okta.
const (
	OktaWeb     = "web"
	OktaNative  = "native"
	OktaBrowser = "browser"
	OktaService = "service"
)

// The allowed entries of a client type's lists.
var (
	grants    = []string{AuthorizationCode, PKCE, ClientCredentials, DeviceCode, RefreshToken, Password, Implicit}
	responses = []string{"code", "token", "id_token", "none"}
	methods   = []string{secretBasic, secretPost}
)

// ClientType is the allowed grants and methods of clients at an identity provider.
type ClientType struct {
	table.Base
	ProviderID              table.ID
	Name                    string
	Description             string
	ResponseTypes           table.CSV
	GrantType               table.CSV
	TokenEndpointAuthMethod table.CSV
	OktaAppType             string
}

// Table implements table.Row.
func (ClientType) Table() *table.Table[ClientType] { return types }

var types = &table.Table[ClientType]{
	Kind: TypeKind, Noun: "client type",
	Base:   func(t *ClientType) *table.Base { return &t.Base },
	Parent: func(t ClientType) table.ID { return t.ProviderID },
	Fields: []table.Field[ClientType]{
		{Name: "Name", At: func(t *ClientType) any { return &t.Name }, Required: true, Max: 255},
		{Name: "Description", At: func(t *ClientType) any { return &t.Description }},
		{Name: "ResponseTypes", At: func(t *ClientType) any { return &t.ResponseTypes }, Required: true, Max: maxWords,
			Valid: func(t ClientType) bool { return within(t.ResponseTypes, append(responses, misspelt)) }, Doc: "One or more of code, token, id_token and none, separated by commas."},
		{Name: "GrantType", At: func(t *ClientType) any { return &t.GrantType }, Required: true, Max: maxWords,
			Valid: func(t ClientType) bool { return within(t.GrantType, grants) }, Doc: "One or more of " + strings.Join(grants, ", ") + "; separated by commas."},
		{Name: "TokenEndpointAuthMethod", At: func(t *ClientType) any { return &t.TokenEndpointAuthMethod }, Max: maxWords,
			Valid: func(t ClientType) bool { return within(t.TokenEndpointAuthMethod, methods) }, Doc: "One or more of client_secret_basic and client_secret_post, separated by commas. The first one is registered."},
		{Name: "OktaAppType", At: func(t *ClientType) any { return &t.OktaAppType }, Enum: []string{OktaWeb, OktaNative, OktaBrowser, OktaService},
			Doc: "Required with Okta. There it determines the other three members."},
	},
}

// maxWords is the maximum length of the lists.
const maxWords = 500

// misspelt is the wrong spelling of id_token by some clients.
const misspelt = "it_token"

// Settled returns the client type with its lists normalised: without duplicates and spaces,
// with corrected spelling.
func (t ClientType) Settled() ClientType {
	for _, list := range []*table.CSV{&t.ResponseTypes, &t.GrantType, &t.TokenEndpointAuthMethod} {
		var out []string
		for _, word := range words(string(*list)) {
			if word == misspelt {
				word = "id_token"
			}
			if !slices.Contains(out, word) {
				out = append(out, word)
			}
		}
		*list = table.CSV(strings.Join(out, ","))
	}
	return t
}

// For returns the problems of the client type at a provider of some flavour.
func (t ClientType) For(flavour string) (wrong table.Problems) {
	if flavour == Okta && t.OktaAppType == "" {
		wrong.Blank("OktaAppType")
	}
	return wrong
}

func within(list table.CSV, known []string) bool {
	all := words(string(list))
	return len(all) > 0 && !slices.ContainsFunc(all, func(word string) bool { return !slices.Contains(known, word) })
}

// words returns the non-empty values between commas and white space.
func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' })
}
