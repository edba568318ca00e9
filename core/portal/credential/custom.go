package credential

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/plan"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Types of custom credentials.
const (
	Managed   = "CREDENTIAL_TYPE_TYK_MANAGED" // the portal creates and deletes it
	Elsewhere = "CREDENTIAL_TYPE_CUSTOM"      // created elsewhere; the portal only shows it
)

// Types of tokens.
const (
	ChosenToken   = "AUTH_TOKEN_TYPE_CUSTOM" // an administrator has chosen its text
	StandardToken = "AUTH_TOKEN_STANDARD"    // its text is random
	chosenShort   = "AUTH_TOKEN_CUSTOM"      // another spelling of ChosenToken by some clients
)

// Custom is the data of a credential that administrators give to an app without an access
// request (docs/wire/portal-apps.md#custom-credentials).
type Custom struct {
	Alias      string
	Type       string
	TokenType  string   `json:",omitempty"`
	Means      string   `json:",omitempty"` // authentication method, as sent
	IdP        table.ID `json:",omitzero"`
	ClientType table.ID `json:",omitzero"`
}

// CustomOrder is the request for a custom credential.
type CustomOrder struct {
	table.Base
	Custom
	PlanID     table.ID
	ProductIDs []table.ID
	KeyID      string
	Key        string
	Secret     string
}

// Table implements table.Row.
func (CustomOrder) Table() *table.Table[CustomOrder] { return customs }

// Limits of a custom credential.
const (
	maxAlias = 255
	minToken = 3 // gateways accept no shorter one
	maxToken = 255
	maxValue = 10_000
)

var customs = &table.Table[CustomOrder]{
	Kind: "portal-custom-credential", Noun: "custom credential",
	Base: func(o *CustomOrder) *table.Base { return &o.Base },
	Fields: []table.Field[CustomOrder]{
		{Name: "Alias", At: func(o *CustomOrder) any { return &o.Alias }, Required: true, Max: maxAlias},
		{Name: "Type", At: func(o *CustomOrder) any { return &o.Type }, Required: true, Enum: []string{Managed, Elsewhere}, Doc: "Whether the portal issues the credential, or shows one that is managed elsewhere."},
		{Name: "PlanID", Also: []string{"Plan"}, At: func(o *CustomOrder) any { return &o.PlanID }, Target: plan.Kind, Doc: "Plan. Required for managed credentials."},
		{Name: "ProductIDs", Also: []string{"Products"}, At: func(o *CustomOrder) any { return &o.ProductIDs }, Target: product.Kind, Doc: "Products of one provider. Required for managed credentials."},
		{Name: "AuthenticationMethod", At: func(o *CustomOrder) any { return &o.Means }, Enum: means, Doc: "authToken or key: a token. oauth2, oauth or jwt: a client of an identity provider. For credentials managed elsewhere: any authentication method of products."},
		{Name: "AuthTokenType", At: func(o *CustomOrder) any { return &o.TokenType }, Enum: []string{ChosenToken, StandardToken, chosenShort}, Doc: "Type of a managed token. When absent, KeyID decides: with a KeyID the token is custom, otherwise it is generated."},
		{Name: "KeyID", At: func(o *CustomOrder) any { return &o.KeyID }, Max: maxValue, Doc: "Exact value of the token, for AUTH_TOKEN_TYPE_CUSTOM."},
		{Name: "CredentialKey", At: func(o *CustomOrder) any { return &o.Key }, Max: maxValue, Doc: "Value that the developer sees, for credentials managed elsewhere."},
		{Name: "CredentialSecret", At: func(o *CustomOrder) any { return &o.Secret }, Max: maxValue, Doc: "Secret that the developer sees, for credentials managed elsewhere. Optional."},
		{Name: "ProviderID", At: func(o *CustomOrder) any { return &o.IdP }, Target: idp.Kind, Doc: "Identity provider that registers the client."},
		{Name: "ClientTypeID", At: func(o *CustomOrder) any { return &o.ClientType }, Target: idp.TypeKind, Doc: "Client type of the client."},
	},
	Check: func(o CustomOrder, wrong *table.Problems) {
		if len(o.ProductIDs) > request.MaxProducts {
			*wrong = append(*wrong, fmt.Sprintf("ProductIDs is too long (the maximum is %d products)", request.MaxProducts))
		}
		switch o.Type {
		case Elsewhere:
			if o.Key == "" && o.KeyID == "" {
				wrong.Blank("CredentialKey")
			}
		case Managed:
			o.managed(wrong)
		}
	},
}

// Names of authentication methods for tokens and for clients of identity providers; products
// use the others.
var (
	tokens  = []string{request.AuthToken, "key"}
	clients = []string{"oauth2", request.OAuth, request.JWT}
	means   = slices.Concat(tokens, clients, []string{request.MultiAuth, "mutualTLS", "ba", "basic", "hmac", "custom"})
)

// OAuth reports whether the request is for a client of an identity provider instead of a
// token.
func (o CustomOrder) OAuth() bool {
	return slices.Contains(clients, o.Means) || o.Means == "" && o.ClientType != 0
}

// Chosen reports whether the text of the token is chosen instead of random.
func (o CustomOrder) Chosen() bool {
	return o.TokenType == ChosenToken || o.TokenType == chosenShort || o.TokenType == "" && o.KeyID != ""
}

func (o CustomOrder) managed(wrong *table.Problems) {
	if o.PlanID == 0 {
		wrong.Blank("PlanID")
	}
	if len(o.ProductIDs) == 0 {
		wrong.Blank("ProductIDs")
	}
	switch {
	case o.OAuth():
		if o.IdP == 0 {
			wrong.Blank("ProviderID")
		}
		if o.ClientType == 0 {
			wrong.Blank("ClientTypeID")
		}
	case o.Means != "" && !slices.Contains(means, o.Means): // existing names of methods
	case o.Means != "" && !slices.Contains(tokens, o.Means):
		*wrong = append(*wrong, fmt.Sprintf("AuthenticationMethod: the portal makes no credentials for %s", o.Means))
	case o.Chosen() && o.KeyID == "":
		wrong.Blank("KeyID")
	case o.Chosen() && !ValidToken(o.KeyID):
		wrong.Invalid("KeyID")
	case o.TokenType == StandardToken && o.KeyID != "":
		*wrong = append(*wrong, "KeyID is only for AuthTokenType "+ChosenToken)
	}
}

// detailed is a path segment at dashboards for a list, at the place of a key.
const detailed = "detailed"

// ValidToken reports whether a text can be a chosen token: gateways use it in URLs, and
// callers send it in a header.
func ValidToken(text string) bool {
	return len(text) >= minToken && len(text) <= maxToken && !slices.Contains(key.ControlPaths, text) && text != detailed &&
		!strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`/\?#%`, r) })
}

// Checked returns the problems of a managed credential for products under a plan.
func (o CustomOrder) Checked(p plan.Plan, list []product.Product) (wrong table.Problems) {
	for _, v := range list {
		switch {
		case v.IsDocumentationOnly:
			wrong = append(wrong, fmt.Sprintf("product %s is documentation only: it has no credentials", v.Title()))
		case v.ProviderID != p.ProviderID:
			wrong = append(wrong, fmt.Sprintf("product %s and plan %s belong to different providers", v.Title(), p.Title()))
		case o.OAuth() && !slices.Contains(v.Templates, o.ClientType):
			wrong = append(wrong, fmt.Sprintf("ClientTypeID is not a client type of product %s", v.Title()))
		case o.OAuth() && !v.DCREnabled, !o.OAuth() && !slices.Contains(v.Methods(), request.AuthToken):
			wrong = append(wrong, fmt.Sprintf("product %s has another authentication method", v.Title()))
		}
	}
	slices.Sort(wrong)
	return slices.Compact(wrong)
}

// Of returns the credential of an app for an order, without its values. method is the issuer;
// "": it is created elsewhere.
func (o CustomOrder) Of(app, provider table.ID, method string) Credential {
	said := o.Custom
	out := Credential{Base: table.Base{CID: o.CID}, AppID: app, PlanID: o.PlanID, ProviderID: provider, Products: o.ProductIDs, Method: method, Custom: &said}
	switch {
	case o.Type == Elsewhere:
		out.AuthType = o.Means
	case o.OAuth():
		out.AuthType = request.JWT
	default:
		out.AuthType = request.AuthToken
	}
	return out
}

// TokenType returns the type of a managed token: a chosen text stays until the token is
// rotated. "": it is not a token.
func (c Credential) TokenType(chosen bool) string {
	switch {
	case c.AuthType != request.AuthToken:
		return ""
	case chosen:
		return ChosenToken
	}
	return StandardToken
}

// Renamed is the changeable data of a custom credential.
type Renamed struct {
	table.Base
	Alias string
}

// Table implements table.Row.
func (Renamed) Table() *table.Table[Renamed] { return names }

var names = &table.Table[Renamed]{
	Kind: "portal-custom-credential-name", Noun: "name of a custom credential",
	Base:   func(r *Renamed) *table.Base { return &r.Base },
	Fields: []table.Field[Renamed]{{Name: "Alias", At: func(r *Renamed) any { return &r.Alias }, Required: true, Max: maxAlias}},
}
