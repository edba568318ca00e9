package scenarios

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// oauthClients is the path of the clients of the API shop.
const oauthClients = classicAPIs + "/oauth/shop"

// oauthApp is an application with a client of the API shop.
type oauthApp struct {
	*estate
	ID     string `json:"client_id"`
	Secret string `json:"secret"`
}

// token requests an access token from the gateway; it is "" for a refusal.
func (a *oauthApp) token(t *testing.T, secret string) (string, answer) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.address+"/shop/oauth/token/", strings.NewReader(url.Values{"grant_type": {"client_credentials"}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(a.ID, secret)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("the gateway: %v", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var issued struct {
		Token string `json:"access_token"`
	}
	_ = json.Unmarshal(body, &issued) // refusals have another form
	return issued.Token, answer{res.StatusCode, string(body)}
}

// issued returns a token that the gateway must issue.
func (a *oauthApp) issued(t *testing.T) string {
	t.Helper()
	token, said := a.token(t, a.Secret)
	if token == "" {
		t.Fatalf("no token: %s", said)
	}
	return token
}

func (a *oauthApp) refusedToken(t *testing.T, what, secret string) {
	t.Helper()
	if token, said := a.token(t, secret); token != "" || said.status != http.StatusForbidden {
		t.Errorf("%s: %s", what, said)
	}
}

func bearer(token string) request { return request{path: "/shop/x", token: "Bearer " + token} }

// TestOAuthClients states that a client that is registered here gets tokens at the gateway,
// that its policy determines their rights, and that the gateway sees at once when its
// secret is rotated, its tokens are revoked and the client is deleted.
func TestOAuthClients(t *testing.T) {
	e := controlled(t, nil)
	e.api.do(t, http.MethodPost, classicAPIs, classicAPI("shop", object{"use_standard_auth": false, "use_oauth2": true}))
	e.api.do(t, http.MethodPost, policies, policy("gold", object{"rate": 100, "per": 60, "quota_max": -1}, "shop"))
	a := &oauthApp{estate: e}
	until(t, gatewayLimit, "the gateway has the API", func() error { // until then the gateway refuses clients of the API
		return e.api.call(t.Context(), http.MethodPost, oauthClients, object{"client_id": "app", "redirect_uri": "https://app.example/cb", "policy_id": "gold", "client_name": "App"}, a)
	})
	e.becomes(t, "the gateway has the policy", bearer(a.issued(t)), http.StatusOK, `"policies":["gold"]`)
	t.Run("rotation", a.testRotation)
	t.Run("revocation", a.testRevocation)
	t.Run("code", a.testCode)
	t.Run("deletion", a.testDeletion)
}

func (a *oauthApp) testRotation(t *testing.T) {
	before, old := a.issued(t), a.Secret
	if err := a.api.call(t.Context(), http.MethodPut, oauthClients+"/app/rotate", nil, a); err != nil || a.Secret == old {
		t.Fatalf("rotation: %v", err)
	}
	a.refusedToken(t, "the old secret", old)
	a.answers(t, "a token of the new secret", bearer(a.issued(t)), http.StatusOK, "")
	a.answers(t, "a token of the old secret", bearer(before), http.StatusOK, "")
}

func (a *oauthApp) testRevocation(t *testing.T) {
	first, second := a.issued(t), a.issued(t)
	before := a.tokens(t)
	a.api.do(t, http.MethodPost, classicAPIs+"/oauth/app/revoke", object{"token": first, "token_type_hint": "access_token"})
	a.answers(t, "a token that is revoked", bearer(first), http.StatusForbidden, noAccess)
	a.answers(t, "the other token", bearer(second), http.StatusOK, "")
	if after := a.tokens(t); len(after) != len(before)-1 {
		t.Errorf("tokens %v, before the revocation %v", after, before)
	}
	a.api.refused(t, http.MethodPost, classicAPIs+"/oauth/app/revoke_all", object{"client_secret": a.Secret + "x"}, http.StatusForbidden, "client_secret is not the secret of the client")
	a.answers(t, "after a revocation that was refused", bearer(second), http.StatusOK, "")
	a.api.do(t, http.MethodPost, classicAPIs+"/oauth/app/revoke_all", object{"client_secret": a.Secret})
	a.answers(t, "all tokens are revoked", bearer(second), http.StatusForbidden, noAccess)
	if after := a.tokens(t); len(after) > 0 {
		t.Errorf("tokens %v are left", after)
	}
	a.answers(t, "a token after that", bearer(a.issued(t)), http.StatusOK, "")
}

// tokens returns the tokens of the client.
func (a *oauthApp) tokens(t *testing.T) (codes []string) {
	t.Helper()
	var list []struct{ Code string }
	a.api.get(t, oauthClients+"/app/tokens", &list)
	for _, entry := range list {
		codes = append(codes, entry.Code)
	}
	if slices.Contains(codes, "") {
		t.Errorf("a token without a name: %v", codes)
	}
	return codes
}

func (a *oauthApp) testCode(t *testing.T) {
	var code struct {
		Code       string
		RedirectTo string `json:"redirect_to"`
	}
	wanted := object{"response_type": "code", "client_id": "app", "redirect_uri": "https://app.example/cb"}
	if err := a.api.call(t.Context(), http.MethodPost, oauthClients+"/authorize-client", wanted, &code); err != nil ||
		code.Code == "" || !strings.HasPrefix(code.RedirectTo, "https://app.example/cb") {
		t.Errorf("a code: %+v, %v", code, err)
	}
}

func (a *oauthApp) testDeletion(t *testing.T) {
	a.api.do(t, http.MethodDelete, oauthClients+"/app", nil)
	a.refusedToken(t, "a client that is gone", a.Secret)
	if err := a.api.call(t.Context(), http.MethodGet, oauthClients+"/app", nil, nil); statusOf(err) != http.StatusNotFound {
		t.Errorf("a client that is gone: %v", err)
	}
	if list := a.api.read(t, oauthClients); strings.Contains(list, `"app"`) {
		t.Errorf("a client that is gone is in %s", list)
	}
}
