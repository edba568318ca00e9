package idp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
)

// TestRequestAtOkta: a client type from before its provider was at Okta has no kind of
// application, so it cannot register a client there.
func TestRequestAtOkta(t *testing.T) {
	is := idp.ClientType{Name: "Server", ResponseTypes: "none", GrantType: "client_credentials"}
	if _, err := is.Request(idp.Other, idp.Wanted{Name: "Shop"}); err != nil {
		t.Error(err)
	}
	if _, err := is.Request(idp.Okta, idp.Wanted{Name: "Shop"}); fault.KindOf(err) != fault.Invalid || err.Error() != "OktaAppType of the client type Server can't be blank" {
		t.Error(err)
	}
}

// TestRequests: the registration of each client type at each flavour.
func TestRequests(t *testing.T) {
	app := idp.Wanted{Name: "Shop", Redirects: []string{"https://shop.example/cb"}, Scopes: []string{"orders", "gold"}}
	for name, test := range map[string]struct {
		flavour string
		is      idp.ClientType
		app     idp.Wanted
		want    string // "": refused
	}{
		"code": {
			idp.Keycloak, idp.ClientType{ResponseTypes: "code", GrantType: "authorization_code,refresh_token", TokenEndpointAuthMethod: "client_secret_post,client_secret_basic"}, app,
			`{"client_name":"Shop","redirect_uris":["https://shop.example/cb"],"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"client_secret_post","scope":"orders gold"}`,
		},
		"pkce has no secret": {
			idp.Gluu, idp.ClientType{ResponseTypes: "code", GrantType: "pkce,authorization_code", TokenEndpointAuthMethod: "client_secret_basic"}, app,
			`{"client_name":"Shop","redirect_uris":["https://shop.example/cb"],"grant_types":["authorization_code"],"response_types":["code"],"token_endpoint_auth_method":"none","scope":"orders gold"}`,
		},
		"pkce and tokens for itself": {
			idp.Other, idp.ClientType{ResponseTypes: "code", GrantType: "pkce,client_credentials"}, app,
			`{"client_name":"Shop","redirect_uris":["https://shop.example/cb"],"grant_types":["authorization_code","client_credentials"],"response_types":["code"],"scope":"orders gold"}`,
		},
		"without redirection": {
			idp.Other, idp.ClientType{ResponseTypes: "none", GrantType: "client_credentials,device_code,password"}, idp.Wanted{Name: "Shop", Scopes: []string{"orders"}},
			`{"client_name":"Shop","grant_types":["client_credentials","urn:ietf:params:oauth:grant-type:device_code","password"],"response_types":["none"],"scope":"orders"}`,
		},
		"Okta": {
			idp.Okta, idp.ClientType{ResponseTypes: "none", GrantType: "implicit", TokenEndpointAuthMethod: "client_secret_post", OktaAppType: idp.OktaService}, idp.Wanted{Name: "Shop", Scopes: []string{"orders"}},
			`{"client_name":"Shop","grant_types":["client_credentials"],"response_types":["token"],"token_endpoint_auth_method":"client_secret_basic","scope":"orders","application_type":"service"}`,
		},
		"Okta, native": {
			idp.Okta, idp.ClientType{ResponseTypes: "none", GrantType: "implicit", OktaAppType: idp.OktaNative}, app,
			`{"client_name":"Shop","redirect_uris":["https://shop.example/cb"],"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"none","scope":"orders gold","application_type":"native"}`,
		},
		"code without redirection":     {idp.Other, idp.ClientType{ResponseTypes: "code", GrantType: "authorization_code"}, idp.Wanted{Name: "Shop"}, ""},
		"pkce without redirection":     {idp.Other, idp.ClientType{ResponseTypes: "code", GrantType: "pkce"}, idp.Wanted{Name: "Shop"}, ""},
		"implicit without redirection": {idp.Other, idp.ClientType{ResponseTypes: "token", GrantType: "implicit"}, idp.Wanted{Name: "Shop"}, ""},
		"browser without redirection":  {idp.Okta, idp.ClientType{OktaAppType: idp.OktaBrowser}, idp.Wanted{Name: "Shop"}, ""},
	} {
		got, err := test.is.Request(test.flavour, test.app)
		switch {
		case test.want == "" && (fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "RedirectURLs")):
			t.Errorf("%s: %v", name, err)
		case test.want != "" && (err != nil || string(got.JSON()) != test.want):
			t.Errorf("%s: %v\n%s\n%s", name, err, got.JSON(), test.want)
		}
	}
}

// TestTypes: lists are normalised, and Okta requires the kind of application.
func TestTypes(t *testing.T) {
	is := idp.ClientType{ResponseTypes: " code, it_token,code", GrantType: "pkce,pkce", TokenEndpointAuthMethod: ""}.Settled()
	if is.ResponseTypes != "code,id_token" || is.GrantType != "pkce" || is.TokenEndpointAuthMethod != "" {
		t.Errorf("%+v", is)
	}
	if wrong := is.For(idp.Okta); !slices.Equal(wrong, table.Problems{"OktaAppType can't be blank"}) || is.For(idp.Other) != nil {
		t.Error(wrong)
	}
}

// TestAddresses: URLs that the portal may call.
func TestAddresses(t *testing.T) {
	for at, want := range map[string]bool{
		"https://login.example.com/.well-known/openid-configuration": true, "http://127.0.0.1:8080": true,
		"": false, "login.example.com": false, "ftp://login.example.com": false, "https://": false, "https://user@login.example.com": false, "https://login.example.com/#a": false,
		"https://login.example.com/" + strings.Repeat("a", 2_000): false, "file:///etc/passwd": false,
	} {
		if idp.Address(at) != want {
			t.Error(at)
		}
	}
}

// TestDiscovery: gateways need the issuer and the keys; the registration URL is required only
// for a registration.
func TestDiscovery(t *testing.T) {
	d, err := idp.ReadDiscovery([]byte(`{"issuer":"https://a","jwks_uri":"https://a/keys","registration_endpoint":"https://a/register","token_endpoint":"https://a/token","more":[1]}`))
	if err != nil || d != (idp.Discovery{Issuer: "https://a", JWKSURI: "https://a/keys", Registration: "https://a/register", Token: "https://a/token"}) || d.Registers() != nil {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := idp.ReadDiscovery([]byte(`{"issuer":"https://a","jwks_uri":"https://a/keys"}`)); err != nil || d.Registers() == nil {
		t.Errorf("%+v, %v", d, err)
	}
	for _, text := range []string{
		``, `[]`, `<html>`, `{}`, `{"issuer":"https://a"}`, `{"issuer":7,"jwks_uri":"https://a/keys"}`, `{"issuer":"https://a","jwks_uri":"keys"}`, `{"issuer":"a\nb","jwks_uri":"https://a/keys"}`,
		`{"issuer":"https://a","jwks_uri":"https://a/keys","registration_endpoint":"file:///etc/passwd"}`, `{"issuer":"https://a","jwks_uri":"https://a/keys","token_endpoint":"x"}`,
		strings.Repeat("[", 100) + strings.Repeat("]", 100), `{"issuer":"` + strings.Repeat("a", idp.MaxAnswer) + `"}`,
	} {
		if _, err := idp.ReadDiscovery([]byte(text)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%.80s: %v", text, err)
		}
	}
}

// TestClients: a response needs an identifier; values that a later response lacks stay.
func TestClients(t *testing.T) {
	c, err := idp.ReadClient([]byte(`{"client_id":"c1","client_secret":"s","registration_client_uri":"https://a/register/c1","registration_access_token":"t1","grant_types":["authorization_code"],"scope":"a b","client_id_issued_at":7,"client_secret_expires_at":0,"vendor":{"x":1}}`))
	if err != nil || !c.Managed() || c.Secret != "s" || c.Scope != "a b" {
		t.Fatalf("%+v, %v", c, err)
	}
	n, err := c.Revised([]string{"a", "b", "c"}, nil)
	if want := `{"client_id":"c1","client_secret":"s","grant_types":["authorization_code"],"scope":"a b c","vendor":{"x":1}}`; err != nil || string(n.JSON()) != want {
		t.Errorf("%s, %v", n.JSON(), err)
	}
	if n, err = c.Revised(nil, []string{"https://b"}); err != nil || n.Get("scope").Text() != "" || n.Get("redirect_uris").Texts()[0] != "https://b" {
		t.Errorf("%s, %v", n.JSON(), err)
	}
	several, err := idp.ReadClient([]byte(`{"client_id":"c1","token_endpoint_auth_method":["client_secret_basic","client_secret_post"]}`)) // Glewlwyd sends a list, and does not accept one
	if n, revised := several.Revised(nil, nil); err != nil || revised != nil || several.Method != "client_secret_basic" || n.Get("token_endpoint_auth_method").Text() != several.Method {
		t.Errorf("%+v, %v, %v", several, err, revised)
	}
	later, err := idp.ReadClient([]byte(`{"client_id":"c1","registration_access_token":"t2"}`))
	if later = c.After(later); err != nil || later.Secret != "s" || later.URI != c.URI || later.Token != "t2" || !later.Managed() {
		t.Errorf("%+v, %v", later, err)
	}
	for text, want := range map[string]int64{"1900000000": 1900000000, "0": 0, "-1": 0, `"1900000000"`: 0, "null": 0, "1e300": 0, "253402300800": 0, "253402300799": 253402300799} {
		c, err := idp.ReadClient([]byte(`{"client_id":"c1","client_secret":"s","client_secret_expires_at":` + text + `}`))
		if got := max(c.Ends.Unix(), 0); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, c.Ends, err)
		}
		if same := c.After(idp.Client{ID: "c1"}); !same.Ends.Equal(c.Ends) {
			t.Errorf("%s: %v", text, same.Ends)
		}
		if other := c.After(idp.Client{ID: "c1", Secret: "t"}); !other.Ends.IsZero() {
			t.Errorf("%s: %v", text, other.Ends)
		}
	}
	for _, text := range []string{`{}`, `{"client_id":""}`, `{"client_id":7}`, `null`, `{"client_id":"a\u0000"}`, `{"client_id":"` + strings.Repeat("c", 2_000) + `"}`, `{"client_id":"a","client_secret":"` + strings.Repeat("c", 10_000) + `"}`} {
		if _, err := idp.ReadClient([]byte(text)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%.80s: %v", text, err)
		}
	}
	for _, text := range []string{`{"client_id":"a"}`, `{"client_id":"a","registration_client_uri":"gopher://a","registration_access_token":"t"}`, `{"client_id":"a","registration_client_uri":"https://a/x","registration_access_token":"t\r\nHost: b"}`} {
		if c, err := idp.ReadClient([]byte(text)); err != nil || c.Managed() {
			t.Errorf("%s: %+v, %v", text, c, err)
		}
	}
}

// FuzzAnswers: no response of an identity provider makes the portal send invalid data.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"client_id":"c1","client_secret":"s","registration_client_uri":"https://a/register/c1","registration_access_token":"t1","scope":"a b"}`))
	f.Add([]byte(`{"issuer":"https://a","jwks_uri":"https://a/keys","registration_endpoint":"https://a/register"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if d, err := idp.ReadDiscovery(text); err == nil && (!idp.Address(d.JWKSURI) || d.Registration != "" && !idp.Address(d.Registration) || d.Issuer == "") {
			t.Errorf("%+v", d)
		}
		c, err := idp.ReadClient(text)
		if err != nil {
			return
		}
		if c.ID == "" || c.URI != "" && !idp.Address(c.URI) || strings.ContainsAny(c.Token, " \r\n") {
			t.Errorf("%+v", c)
		}
		n, err := c.Revised([]string{"a"}, nil)
		if err != nil || !json.Valid(n.JSON()) || n.Get("registration_access_token") != nil || n.Get("client_id").Text() != c.ID || n.Get("scope").Text() != "a" {
			t.Errorf("%v: %s", err, n.JSON())
		}
	})
}

// TestScopes: scopes are added and removed; those that an administrator has added at the
// provider stay.
func TestScopes(t *testing.T) {
	all := idp.Grown(idp.Scopes("profile, orders  gold orders"), []string{"gold", "claims"})
	if !slices.Equal(all, []string{"profile", "orders", "gold", "claims"}) {
		t.Error(all)
	}
	if less := idp.Reduced(all, []string{"gold", "claims"}, []string{"gold"}); !slices.Equal(less, []string{"profile", "orders", "gold"}) {
		t.Error(less)
	}
	if err := idp.CheckScopes("Orders", nil); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "Orders") {
		t.Error(err)
	}
	if err := idp.CheckScopes("Orders", []string{"a"}); err != nil {
		t.Error(err)
	}
	if err := idp.CheckScopes("Orders", make([]string, 2_000)); fault.KindOf(err) != fault.Invalid {
		t.Error(err)
	}
}

// TestTables: the fields of providers and client types.
func TestTables(t *testing.T) {
	const lists = `"ResponseTypes":"code","GrantType":"pkce"`
	tabletest.Sound[idp.Provider](t, `{"Name":"Corp","Type":"Okta","WellKnownURL":"https://a.example"}`)
	tabletest.Sound[idp.ClientType](t, `{"Name":"Web",`+lists+`}`)
	tabletest.Bodies(t, idp.Provider{}, true, map[string]string{
		`{"Name":"Corp","Type":"Else","WellKnownURL":"https://u:p@a.example"}`:                                         "Type is invalid; WellKnownURL is invalid",
		`{"Name":"Corp","Type":"Okta","WellKnownURL":"https://a.example","RegistrationAccessToken":"a b"}`:             "RegistrationAccessToken is invalid",
		`{"Name":"Corp","Type":"Okta","WellKnownURL":"https://a.example","RegistrationAccessToken":"a\r\nX-Other: 1"}`: "RegistrationAccessToken is invalid",
		`{"Name":"Corp","Type":"Okta","WellKnownURL":"https://a.example","SSLInsecureSkipVerify":"true"}`:              `{"Insecure":true}`,
	})
	tabletest.Bodies(t, idp.ClientType{}, true, map[string]string{
		`{"Name":"Web","ResponseTypes":["code","it_token"],"GrantType":"pkce, implicit"}`: `{"ResponseTypes":"code,it_token"}`,
		`{"Name":"Web","ResponseTypes":"code,other","GrantType":"pkce"}`:                  "ResponseTypes is invalid",
		`{"Name":"Web","ResponseTypes":"code","GrantType":","}`:                           "GrantType is invalid",
		`{"Name":"Web",` + lists + `,"TokenEndpointAuthMethod":"none"}`:                   "TokenEndpointAuthMethod is invalid",
		`{"Name":"Web",` + lists + `,"OktaAppType":"server"}`:                             "OktaAppType is invalid",
	})
	if c := (idp.ClientType{ProviderID: 3}); c.Table().Parent(c) != 3 {
		t.Error("a client type is not below its provider")
	}
}

// TestKeys: records about different things have different identifiers.
func TestKeys(t *testing.T) {
	if (idp.Registered{App: 1, IdP: 2}).Key() == (idp.Registered{App: 2, IdP: 1}).Key() || (idp.Entry{IdP: 1, Dashboard: 2}).Key() == (idp.Entry{IdP: 2, Dashboard: 1}).Key() {
		t.Error("apps share clients, or dashboards entries")
	}
	if (idp.Approval{IdP: 1, Product: 2, Plan: 3}).Key() == (idp.Approval{IdP: 1, Product: 3, Plan: 2}).Key() {
		t.Error("two products share an approval")
	}
	if id := (idp.Provider{Base: table.Base{CID: "c"}}).EntryID(); id != "portal-c" {
		t.Error(id)
	}
	if _, ok := (idp.Registered{}).Claimed("1"); ok {
		t.Error("a client without claims has one")
	}
}
