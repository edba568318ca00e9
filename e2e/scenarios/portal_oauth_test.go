package scenarios

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestPortalOAuth follows OAuth clients of the gateway from approval to deletion: the rights
// and limits of their tokens.
func TestPortalOAuth(t *testing.T) {
	t.Run("in one process", func(t *testing.T) {
		e := controlled(t, environment{"PORTAL_SERVE": "shared"}.with(hashing))
		newShop(t, e, e.addr).clients(t)
	})
	t.Run("as two processes", func(t *testing.T) {
		e := controlled(t, hashing)
		newShop(t, e, startPortal(t)).clients(t)
	})
}

// issued requests a token from the gateway with the only credential of an access request.
func (s *shop) issued(t *testing.T, api, app string, request int) (token string, status int) {
	t.Helper()
	list := s.credentials(t, app, request)
	if len(list) != 1 || list[0]["OAuthClientID"] == "" || list[0]["OAuthClientSecret"] == "" || list[0]["Credential"] != "" {
		t.Fatalf("credentials %v", list)
	}
	return s.tokenOf(t, api, fmt.Sprint(list[0]["OAuthClientID"]), fmt.Sprint(list[0]["OAuthClientSecret"]))
}

// tokenOf requests a token of a client from the gateway.
func (s *shop) tokenOf(t *testing.T, api, id, secret string) (token string, status int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.address+"/"+api+"/oauth/token/", strings.NewReader(url.Values{"grant_type": {"client_credentials"}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(id, secret)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Token string `json:"access_token"`
	}
	_ = json.Unmarshal(body, &said) // refusals have another form
	return said.Token, res.StatusCode
}

func (s *shop) clients(t *testing.T) {
	for _, id := range []string{"shop", "stock"} {
		s.api.do(t, http.MethodPost, classicAPIs, classicAPI(id, object{"use_standard_auth": false, "use_oauth2": true}))
		s.write(t, "POST", "/products", object{"Name": "About " + id, "ProviderID": 1, "APIDetails": []object{{"APIID": id}}})
	}
	s.write(t, "POST", "/plans", object{"Name": "Wide", "ProviderID": 1, "RateLimit": 1000, "Per": 1, "Quota": -1, "AutoApproveAccessRequests": true})
	s.write(t, "POST", "/plans", object{"Name": "Narrow", "ProviderID": 1, "RateLimit": 2, "Per": 3600, "Quota": -1})
	s.becomes(t, "the APIs are loaded", request{path: "/stock/x"}, http.StatusUnauthorized, "")
	s.becomes(t, "the APIs are loaded", request{path: "/shop/x"}, http.StatusUnauthorized, "")
	if p := s.at(t, "/products/1"); p["AuthType"] != "oauth" {
		t.Fatalf("product %v", p)
	}
	app := number(s.write(t, "POST", "/apps", object{"Name": "Till", "UserID": 1, "RedirectURLs": "https://till.example.com/back"}))
	s.write(t, "PUT", "/apps/"+app+"/provision", object{"PlanID": 1, "ProductIDs": []int{1}})
	token, status := s.issued(t, "shop", app, 1)
	if token == "" {
		t.Fatalf("no token: %d", status)
	}
	s.becomes(t, "a token opens the product", request{path: "/shop/x", token: "Bearer " + token}, http.StatusOK, `"policies":["portal-client-`)
	if c := s.credentials(t, app, 1)[0]; c["RedirectURI"] != "https://till.example.com/back" || !strings.HasPrefix(fmt.Sprint(c["Expires"]), "1970") {
		t.Errorf("credential %v", c)
	}
	if _, status := s.issued(t, "stock", app, 1); status != http.StatusForbidden {
		t.Errorf("a token for another product: %d", status)
	}
	err := s.portal.call(t.Context(), "PUT", "/portal-api/apps/"+app+"/access-requests/1/credentials/1/rotate", nil, nil)
	if statusOf(err) != http.StatusUnprocessableEntity {
		t.Errorf("rotation: %v", err)
	}

	s.write(t, "PUT", "/apps/"+app+"/provision", object{"PlanID": 1, "ProductIDs": []int{2}, "CredentialID": 1})
	more, _ := s.issued(t, "stock", app, 1)
	s.becomes(t, "a further product", request{path: "/stock/x", token: "Bearer " + more}, http.StatusOK, "")
	s.answers(t, "the one before", request{path: "/shop/x", token: "Bearer " + token}, http.StatusOK, "")

	// Another plan: until it is approved, the old one is in force.
	s.write(t, "PUT", "/apps/"+app+"/provision", object{"PlanID": 2, "ProductIDs": []int{1, 2}, "CredentialID": 1})
	for range 3 {
		s.answers(t, "the plan before", request{path: "/shop/x", token: "Bearer " + token}, http.StatusOK, "")
	}
	s.write(t, "PUT", "/access_requests/3/approve", nil)
	s.becomes(t, "the rate of the other plan", request{path: "/shop/x", token: "Bearer " + token}, http.StatusTooManyRequests, "")
	s.write(t, "PUT", "/plans/2", object{"RateLimit": 1000, "Per": 1})
	s.becomes(t, "the plan has another rate", request{path: "/shop/x", token: "Bearer " + token}, http.StatusOK, "")

	// A product that loses an API, and one that is deleted.
	c := s.credentials(t, app, 1)[0]
	id, secret := fmt.Sprint(c["OAuthClientID"]), fmt.Sprint(c["OAuthClientSecret"])
	s.write(t, "DELETE", "/products/2", nil)
	s.becomes(t, "without the product", request{path: "/stock/x", token: "Bearer " + more}, http.StatusForbidden, "")
	if _, status := s.tokenOf(t, "stock", id, secret); status != http.StatusForbidden {
		t.Errorf("a token for a product that is gone: %d", status)
	}
	s.answers(t, "the product that is left", request{path: "/shop/x", token: "Bearer " + token}, http.StatusOK, "")
	s.nothingLost(t)

	s.write(t, "DELETE", "/apps/"+app, nil)
	if _, status := s.tokenOf(t, "shop", id, secret); status != http.StatusForbidden {
		t.Errorf("a token for a client that was deleted: %d", status)
	}
	s.becomes(t, "a token of a client that was deleted", request{path: "/shop/x", token: "Bearer " + token}, http.StatusForbidden, "")
	s.nothingLost(t)
	var left struct{ Data []struct{ ID, Name string } }
	s.api.get(t, policies+"?p=-2", &left)
	for _, p := range left.Data {
		if strings.HasPrefix(p.ID, "portal-client-") {
			t.Errorf("the policy %v is left", p)
		}
	}
}

// nothingLost fails if the doctor finds something, or a synchronisation makes products or
// plans from the policies of clients.
func (s *shop) nothingLost(t *testing.T) {
	t.Helper()
	var before, after []object
	s.portal.get(t, "/portal-api/products?page=-1", &before)
	s.write(t, "PUT", "/providers/1/synchronize", nil)
	s.portal.get(t, "/portal-api/products?page=-1", &after)
	var found struct{ Findings []object }
	s.portal.get(t, "/portal-api/doctor", &found)
	if len(found.Findings) > 0 || len(before) != len(after) {
		t.Errorf("the doctor finds %v; %d products, then %d", found.Findings, len(before), len(after))
	}
}
