package credential_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/plan"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
)

// ordered parses a custom credential of a type, and returns the texts of failed validations.
func ordered(t *testing.T, of, rest string) (o credential.CustomOrder, wrong string) {
	t.Helper()
	wrong = strings.Join(tabletest.Apply(t, &o, `{"Alias":"x","Type":"`+of+`"`+rest+`}`, true), "; ")
	return o, wrong
}

// TestCustomOrders: the allowed custom credentials, and the resulting credentials.
func TestCustomOrders(t *testing.T) {
	const managed, elsewhere, goods = credential.Managed, credential.Elsewhere, `,"PlanID":1,"ProductIDs":[1]`
	for _, c := range []struct{ of, rest, wrong, token, method string }{
		{elsewhere, ``, "CredentialKey can't be blank", "", ""},
		{elsewhere, `,"CredentialKey":"ada"`, "", "", ""},
		{elsewhere, `,"KeyID":"ada","AuthenticationMethod":"basic"`, "", "", "basic"},
		{elsewhere, `,"KeyID":"ada","AuthenticationMethod":"magic"`, "AuthenticationMethod is invalid", "", "magic"},
		{managed, ``, "PlanID can't be blank; ProductIDs can't be blank", "", ""},
		{managed, goods, "", credential.StandardToken, request.AuthToken},
		{managed, goods + `,"KeyID":"one-two"`, "", credential.ChosenToken, request.AuthToken},
		{managed, goods + `,"KeyID":"one-two","AuthTokenType":"AUTH_TOKEN_CUSTOM","AuthenticationMethod":"key"`, "", credential.ChosenToken, request.AuthToken},
		{managed, goods + `,"AuthTokenType":"AUTH_TOKEN_TYPE_CUSTOM"`, "KeyID can't be blank", "", ""},
		{managed, goods + `,"AuthTokenType":"AUTH_TOKEN_STANDARD","KeyID":"one"`, "KeyID is only for AuthTokenType AUTH_TOKEN_TYPE_CUSTOM", "", ""},
		{managed, goods + `,"KeyID":"a/b"`, "KeyID is invalid", "", ""},
		{managed, goods + `,"KeyID":"preview"`, "KeyID is invalid", "", ""},
		{managed, goods + `,"AuthenticationMethod":"basic"`, "AuthenticationMethod: the portal makes no credentials for basic", "", ""},
		{managed, goods + `,"AuthenticationMethod":"zz"`, "AuthenticationMethod is invalid", "", ""},
		{managed, goods + `,"AuthTokenType":"zz","KeyID":"one-two"`, "AuthTokenType is invalid", "", ""},
		{managed, goods + `,"AuthenticationMethod":"oauth2"`, "ProviderID can't be blank; ClientTypeID can't be blank", "", ""},
		{managed, goods + `,"ClientTypeID":2,"ProviderID":1`, "", "", request.JWT},
	} {
		o, wrong := ordered(t, c.of, c.rest)
		if wrong != c.wrong {
			t.Errorf("%s: %q", c.rest, wrong)
		}
		if wrong != "" {
			continue
		}
		if v := o.Of(2, 3, "token"); v.TokenType(o.KeyID != "") != c.token || v.AuthType != c.method || v.AppID != 2 || v.ProviderID != 3 || v.Requests() != nil {
			t.Errorf("%s: %+v, %+v", c.rest, v, v.Custom)
		}
	}
}

// TestCustomProducts: the products that a managed credential can have.
func TestCustomProducts(t *testing.T) {
	p := plan.Plan{ProviderID: 1, Name: "Gold"}
	of := func(methods ...string) product.Product {
		return product.Product{ProviderID: 1, Name: "Orders", APIs: product.Details{{APIID: "a"}}, AuthTypes: methods}
	}
	far, docs, login := of("authToken"), product.Product{ProviderID: 1, Name: "Docs", IsDocumentationOnly: true}, of("jwt")
	far.ProviderID, login.DCREnabled, login.Templates = 2, true, []table.ID{4}
	token, client := credential.CustomOrder{}, credential.CustomOrder{Custom: credential.Custom{ClientType: 4}}
	for _, c := range []struct {
		o    credential.CustomOrder
		v    product.Product
		want string
	}{
		{token, of("authToken"), ""}, {token, of("authToken", "mutualTLS"), ""}, {token, of("jwt"), "product Orders has another authentication method"},
		{token, docs, "product Docs is documentation only: it has no credentials"}, {token, far, "product Orders and plan Gold belong to different providers"},
		{token, login, "product Orders has another authentication method"}, {client, login, ""}, {client, of("jwt"), "ClientTypeID is not a client type of product Orders"},
	} {
		if have := strings.Join(c.o.Checked(p, []product.Product{c.v}), "; "); have != c.want {
			t.Errorf("%+v: %s", c.v, have)
		}
	}
	c := credential.Credential{AppID: 2, PlanID: 3, AuthType: "authToken", Custom: &credential.Custom{}}
	if wrong := c.Reusable(request.Request{AppID: 2, PlanID: 3, AuthType: "authToken"}, at); !slices.Equal(wrong, []string{"CredentialID is invalid"}) {
		t.Error(wrong)
	}
}

// FuzzValidToken: an accepted token is one segment of a URL, unescaped.
func FuzzValidToken(f *testing.F) {
	for _, text := range []string{"abc", "a/b", "..", "a b", "ä", strings.Repeat("a", 256)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if credential.ValidToken(text) && (len(text) < 3 || len(text) > 255 || strings.ContainsAny(text, "/\\?#% \t\r\n\x00")) {
			t.Errorf("%q is taken", text)
		}
	})
}
