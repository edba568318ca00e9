package scenarios

import (
	"fmt"
	"net/http"
	"testing"
)

// hashing makes gateways and dashboards store keys as hashes.
var hashing = environment{"HASHKEYS": "true", "ENABLEHASHEDKEYSLISTING": "true", "ENABLEUPDATEKEYBYHASH": "true", "ENABLEDELETEKEYBYHASH": "true"}

// TestPortalAccess follows a developer from registration to the last credential: each step
// takes effect at the gateway at once, with a dashboard in the same process and over HTTP.
func TestPortalAccess(t *testing.T) {
	t.Run("in one process", func(t *testing.T) {
		e := controlled(t, environment{"PORTAL_SERVE": "shared"}.with(hashing))
		newShop(t, e, e.addr).access(t)
	})
	t.Run("as two processes", func(t *testing.T) {
		e := controlled(t, hashing)
		newShop(t, e, startPortal(t)).access(t)
	})
}

// number returns the number of the record in an answer.
func number(o object) string { return fmt.Sprint(o["ID"]) }

func (s *shop) access(t *testing.T) {
	for _, id := range []string{"shop", "stock"} {
		s.api.do(t, http.MethodPost, classicAPIs, classicAPI(id, nil))
		s.write(t, "POST", "/products", object{"Name": "About " + id, "ProviderID": 1, "APIDetails": []object{{"APIID": id}}})
	}
	s.write(t, "POST", "/plans", object{"Name": "Manual", "ProviderID": 1, "RateLimit": 100, "Per": 1, "Quota": -1, "KeyExpiresIn": 3600})
	s.write(t, "POST", "/plans", object{"Name": "Automatic", "ProviderID": 1, "RateLimit": 100, "Per": 1, "Quota": -1, "AutoApproveAccessRequests": true})
	s.becomes(t, "the API is loaded", request{path: "/shop/x"}, http.StatusUnauthorized, "")
	user := number(s.write(t, "POST", "/users", object{"Email": "ada@example.com", "First": "Ada", "Active": true}))
	app := number(s.write(t, "POST", "/apps", object{"Name": "Till", "UserID": user}))

	s.write(t, "PUT", "/apps/"+app+"/provision", object{"PlanID": 1, "ProductIDs": []int{1}})
	if c := s.credentials(t, app, 1); len(c) != 0 {
		t.Fatalf("a pending request has credentials: %v", c)
	}
	s.write(t, "PUT", "/access_requests/1/approve", nil)
	first := s.valueOf(t, app, 1)
	s.becomes(t, "the credential opens the product", request{path: "/shop/x", token: first}, http.StatusOK, "")
	s.answers(t, "and no other one", request{path: "/stock/x", token: first}, http.StatusForbidden, "")

	s.write(t, "PUT", "/apps/"+app+"/access-requests/1/credentials/1/rotate", nil)
	second := s.valueOf(t, app, 1)
	s.answers(t, "the value before", request{path: "/shop/x", token: first}, http.StatusForbidden, "")
	s.answers(t, "the value after a rotation", request{path: "/shop/x", token: second}, http.StatusOK, "")

	s.write(t, "PUT", "/apps/"+app+"/provision", object{"PlanID": 1, "ProductIDs": []int{2}, "CredentialID": 1})
	s.write(t, "PUT", "/access_requests/2/approve", nil)
	s.answers(t, "a further product", request{path: "/stock/x", token: second}, http.StatusOK, "")
	s.write(t, "DELETE", "/access_requests/1", nil)
	s.answers(t, "the product that is left", request{path: "/stock/x", token: second}, http.StatusOK, "")
	s.answers(t, "the product that was given back", request{path: "/shop/x", token: second}, http.StatusForbidden, "")

	s.write(t, "PUT", "/apps/"+app+"/provision", object{"PlanID": 2, "ProductIDs": []int{1, 2}})
	third := s.valueOf(t, app, 3)
	s.answers(t, "a request that was approved at once", request{path: "/shop/x", token: third}, http.StatusOK, "")
	s.write(t, "DELETE", "/apps/"+app+"/access-requests/2/credentials/1", nil)
	s.answers(t, "a credential that was deleted", request{path: "/stock/x", token: second}, http.StatusForbidden, "")
	s.answers(t, "the other one", request{path: "/stock/x", token: third}, http.StatusOK, "")

	var found struct{ Findings []object }
	s.portal.get(t, "/portal-api/doctor", &found)
	if len(found.Findings) != 0 {
		t.Errorf("the doctor finds %v", found.Findings)
	}
	s.write(t, "DELETE", "/users/"+user, nil)
	s.answers(t, "after the user has left", request{path: "/stock/x", token: third}, http.StatusForbidden, "")
	if a := s.at(t, "/apps/"+app); a != nil {
		t.Errorf("the app is still there: %v", a)
	}
	var keys struct{ Keys []object }
	s.api.get(t, "/api/keys/detailed?p=-1", &keys)
	if len(keys.Keys) != 0 {
		t.Errorf("keys are left: %v", keys.Keys)
	}
}

// credentials returns the credentials of an access request.
func (s *shop) credentials(t *testing.T, app string, request int) (out []object) {
	t.Helper()
	s.portal.get(t, fmt.Sprintf("/portal-api/apps/%s/access-requests/%d/credentials", app, request), &out)
	return out
}

// valueOf returns the value of the only credential of an access request.
func (s *shop) valueOf(t *testing.T, app string, request int) string {
	t.Helper()
	c := s.credentials(t, app, request)
	if len(c) != 1 || c[0]["Credential"] == "" || c[0]["CredentialHash"] == "" {
		t.Fatalf("credentials %v", c)
	}
	return fmt.Sprint(c[0]["Credential"])
}
