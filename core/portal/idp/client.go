package idp

import (
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Codes of faults.
const (
	CodeRedirect = Kind + ".redirect"
	CodeScope    = Kind + ".scope"
	CodeOkta     = Kind + ".okta"
)

// Limits of values that identity providers choose.
const (
	maxClientID = 1_024
	maxSecret   = 8_192
	maxScopes   = 1_000
)

// Wanted is the client that an app needs.
type Wanted struct {
	Name      string
	Redirects []string
	Scopes    []string
}

// deviceGrant is the grant type of RFC 8628 for devices.
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// terms is the form of a client type in a registration.
type terms struct {
	grants, responses []string
	method            string
}

// atOkta maps kinds of applications at Okta to their terms.
var atOkta = map[string]terms{
	OktaWeb:     {[]string{AuthorizationCode, RefreshToken}, []string{"code"}, secretBasic},
	OktaNative:  {[]string{AuthorizationCode, RefreshToken}, []string{"code"}, noSecret},
	OktaBrowser: {[]string{AuthorizationCode}, []string{"code"}, noSecret},
	OktaService: {[]string{ClientCredentials}, []string{"token"}, secretBasic},
}

// terms returns the terms of the client type at a flavour of providers. A client with PKCE has
// no secret, unless it also uses client_credentials.
func (t ClientType) terms(flavour string) terms {
	t = t.Settled()
	if flavour == Okta {
		return atOkta[t.OktaAppType]
	}
	out := terms{responses: words(string(t.ResponseTypes))}
	if list := words(string(t.TokenEndpointAuthMethod)); len(list) > 0 {
		out.method = list[0]
	}
	list := words(string(t.GrantType))
	if slices.Contains(list, PKCE) && !slices.Contains(list, ClientCredentials) {
		out.method = noSecret
	}
	for _, grant := range list {
		switch grant {
		case PKCE:
			grant = AuthorizationCode
		case DeviceCode:
			grant = deviceGrant
		}
		if !slices.Contains(out.grants, grant) {
			out.grants = append(out.grants, grant)
		}
	}
	return out
}

// Addressed refuses an app without redirect URLs if clients of the type need one.
func (t ClientType) Addressed(flavour string, redirects []string) error {
	grants := t.terms(flavour).grants
	for _, grant := range []string{AuthorizationCode, Implicit} {
		if slices.Contains(grants, grant) && len(redirects) == 0 {
			return fault.New(fault.Invalid, CodeRedirect, "RedirectURLs of the app can't be blank: the client type %s uses %s", t.Name, grant).At("RedirectURLs")
		}
	}
	return nil
}

// Request returns the request body for registering a client (RFC 7591, 2).
func (t ClientType) Request(flavour string, w Wanted) (*doc.Node, error) {
	if len(t.For(flavour)) > 0 { // the provider had another flavour when the type was created
		return nil, fault.New(fault.Invalid, CodeOkta, "OktaAppType of the client type %s can't be blank", t.Name).At("OktaAppType")
	}
	if err := t.Addressed(flavour, w.Redirects); err != nil {
		return nil, err
	}
	is := t.terms(flavour)
	out := doc.NewObject()
	out.Set("client_name", doc.NewString(w.Name))
	if len(w.Redirects) > 0 {
		out.Set("redirect_uris", doc.NewStrings(w.Redirects))
	}
	out.Set("grant_types", doc.NewStrings(is.grants))
	out.Set("response_types", doc.NewStrings(is.responses))
	if is.method != "" {
		out.Set(methodMember, doc.NewString(is.method))
	}
	out.Set("scope", doc.NewString(strings.Join(w.Scopes, " ")))
	if flavour == Okta {
		out.Set("application_type", doc.NewString(t.OktaAppType))
	}
	return out, nil
}

// Client is a client with the data from its identity provider.
type Client struct {
	ID        string
	Secret    string    // "": none
	Ends      time.Time `json:",omitzero"` // expiry of the secret; zero: never
	URI       string    // URL for reading, changing and deleting the client; "": not possible (RFC 7592, 3)
	Token     string    // credential for URI; each call may replace it
	Grants    []string
	Responses []string
	Method    string
	Scope     string
	Redirects []string
	Raw       string // the unchanged response
}

// ReadClient decodes the response to a registration, or to a call about a client. Only the
// identifier is required: without a URL the client cannot be managed.
func ReadClient(text []byte) (c Client, err error) {
	n, err := parsed("its answer about the client", text)
	if err != nil {
		return c, err
	}
	c = Client{
		ID: n.Get("client_id").Text(), Secret: n.Get("client_secret").Text(), URI: n.Get("registration_client_uri").Text(), Token: n.Get("registration_access_token").Text(),
		Grants: n.Get("grant_types").Texts(), Responses: n.Get("response_types").Texts(), Method: n.Get(methodMember).Text(),
		Scope: n.Get("scope").Text(), Redirects: n.Get("redirect_uris").Texts(), Raw: string(text),
	}
	if at := n.Get(endsMember).Int(); at > 0 && at <= lastSecond {
		c.Ends = time.Unix(at, 0).UTC()
	}
	if c.ID == "" || len(c.ID) > maxClientID || !clean(c.ID) {
		return Client{}, unusable("its answer about the client has no client_id")
	}
	if c.Method == "" {
		c.Method = method(n)
	}
	if len(c.Secret) > maxSecret {
		return Client{}, unusable("the client_secret of its answer is too long")
	}
	if !Address(c.URI) {
		c.URI = ""
	}
	if len(c.Token) > maxSecret || !bearer(c.Token) {
		c.Token = ""
	}
	return c, nil
}

// endsMember is the expiry of a client's secret in Unix seconds; 0: never (RFC 7591, 3.2.1). A
// time after the year 9999 counts as never too, because JSON times cannot express it.
const (
	endsMember = "client_secret_expires_at"
	lastSecond = 253_402_300_799
)

// methodMember is the client's authentication method at the token endpoint: a text (RFC 7591,
// 2).
const methodMember = "token_endpoint_auth_method"

// method returns the first method if a provider sends a list, or "".
func method(n *doc.Node) string {
	if list := n.Get(methodMember).Texts(); len(list) > 0 {
		return list[0]
	}
	return ""
}

// After returns the client updated from a later response. Values that the response lacks stay,
// because a provider may send secrets only once.
func (c Client) After(answer Client) Client {
	if answer.Secret == "" {
		if answer.Secret = c.Secret; answer.Ends.IsZero() {
			answer.Ends = c.Ends
		}
	}
	if answer.URI == "" {
		answer.URI = c.URI
	}
	if answer.Token == "" {
		answer.Token = c.Token
	}
	return answer
}

// Managed reports whether the client can be changed and deleted.
func (c Client) Managed() bool { return c.URI != "" && c.Token != "" }

// spared are the members that an update must not have (RFC 7592, 2.2).
var spared = []string{"registration_access_token", "registration_client_uri", endsMember, "client_id_issued_at"}

// Revised returns the request body for an update of the client: all data from the last
// response, with other scopes and, unless nil, other redirect URLs.
func (c Client) Revised(scopes, redirects []string) (*doc.Node, error) {
	n, err := parsed("its answer about the client", []byte(c.Raw))
	if err != nil {
		return nil, err
	}
	for _, name := range spared {
		n.Delete(name)
	}
	if one := method(n); one != "" { // providers refuse the list that they sent
		n.Set(methodMember, doc.NewString(one))
	}
	n.Set("client_id", doc.NewString(c.ID))
	n.Set("scope", doc.NewString(strings.Join(scopes, " ")))
	if redirects != nil {
		n.Set("redirect_uris", doc.NewStrings(redirects))
	}
	return n, nil
}

// Scopes returns the scopes in a text, without duplicates.
func Scopes(text string) (out []string) {
	for _, s := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' }) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Grown returns scopes with others added.
func Grown(scopes, more []string) []string {
	out := slices.Clone(scopes)
	for _, s := range more {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Reduced returns scopes without those of less, except needed ones.
func Reduced(scopes, less, needed []string) []string {
	return slices.DeleteFunc(slices.Clone(scopes), func(s string) bool { return slices.Contains(less, s) && !slices.Contains(needed, s) })
}

// CheckScopes returns a fault if a request has no scopes or too many.
func CheckScopes(product string, scopes []string) error {
	switch {
	case len(scopes) == 0:
		return fault.New(fault.Invalid, CodeScope, "Scopes of the product %s can't be blank: tokens of clients say by them what they may call", product)
	case len(scopes) > maxScopes:
		return fault.New(fault.Invalid, CodeScope, "the products and plans of the app have too many scopes (the maximum is %d)", maxScopes)
	}
	return nil
}
