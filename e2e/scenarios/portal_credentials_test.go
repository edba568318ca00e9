package scenarios

import (
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestPortalCredentials calls the gateway with each kind of credential that is a key: chosen
// and random ones without an access request, and one that needs the developer's certificate.
func TestPortalCredentials(t *testing.T) {
	e := controlled(t, environment{"PORTAL_SERVE": "shared", "HASHKEYS": "true", "ENABLEHASHEDKEYSLISTING": "true", "ENABLEUPDATEKEYBYHASH": "true", "ENABLEDELETEKEYBYHASH": "true"})
	s := newShop(t, e, e.addr)
	s.api.do(t, http.MethodPost, classicAPIs, classicAPI("shop", nil))
	s.api.do(t, http.MethodPost, classicAPIs, classicAPI("vault", object{"use_mutual_tls_auth": true}))
	s.write(t, "POST", "/products", object{"Name": "Shop", "ProviderID": 1, "APIDetails": []object{{"APIID": "shop"}}})
	s.write(t, "POST", "/products", object{"Name": "Vault", "ProviderID": 1, "APIDetails": []object{{"APIID": "vault"}}, "BindCertificateToToken": true})
	s.write(t, "POST", "/plans", object{"Name": "Automatic", "ProviderID": 1, "RateLimit": 100, "Per": 1, "Quota": -1, "AutoApproveAccessRequests": true})
	s.becomes(t, "the API is loaded", request{path: "/shop/x"}, http.StatusUnauthorized, "")
	app := number(s.write(t, "POST", "/apps", object{"Name": "Till", "UserID": 1}))
	s.customs(t, app)
	s.certificates(t, e.overTLS(t), app)

	s.write(t, "DELETE", "/apps/"+app, nil)
	var found struct{ Findings, Keys []object }
	s.portal.get(t, "/portal-api/doctor", &found)
	s.api.get(t, "/api/keys/detailed?p=-1", &found)
	if len(found.Findings)+len(found.Keys) != 0 {
		t.Errorf("something is left: %v", found)
	}
}

// customs tests custom credentials.
func (s *shop) customs(t *testing.T, app string) {
	t.Helper()
	managed := func(more object) object {
		out := object{"Alias": "x", "Type": "CREDENTIAL_TYPE_TYK_MANAGED", "PlanID": 1, "ProductIDs": []int{1}}
		for name, v := range more {
			out[name] = v
		}
		return out
	}
	at := "/apps/" + app + "/custom_credentials"
	s.write(t, "POST", at, managed(object{"KeyID": "till-of-old"}))
	s.answers(t, "a key that was chosen", request{path: "/shop/x", token: "till-of-old"}, http.StatusOK, "")
	drawn := s.write(t, "POST", at, managed(nil))
	s.answers(t, "a key that was drawn", request{path: "/shop/x", token: fmt.Sprint(drawn["KeyID"])}, http.StatusOK, "")
	s.write(t, "POST", at, object{"Alias": "x", "Type": "CREDENTIAL_TYPE_CUSTOM", "CredentialKey": "elsewhere"})
	s.answers(t, "what is managed elsewhere is no key here", request{path: "/shop/x", token: "elsewhere"}, http.StatusForbidden, "")

	s.write(t, "PUT", at+"/1/rotate", nil)
	s.answers(t, "the value before", request{path: "/shop/x", token: "till-of-old"}, http.StatusForbidden, "")
	s.answers(t, "the value after", request{path: "/shop/x", token: fmt.Sprint(s.at(t, at+"/1")["KeyID"])}, http.StatusOK, "")
	s.write(t, "DELETE", at+"/2", nil)
	s.answers(t, "one that was deleted", request{path: "/shop/x", token: fmt.Sprint(drawn["KeyID"])}, http.StatusForbidden, "")
}

// certificates tests the certificate of a credential.
func (s *shop) certificates(t *testing.T, front *httptest.Server, app string) {
	t.Helper()
	text := func(c tls.Certificate) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]}))
	}
	first, second := clientCertificate(t, "first"), clientCertificate(t, "second")
	s.write(t, "PUT", "/apps/"+app+"/provision", object{"PlanID": 1, "ProductIDs": []int{2}, "Certificate": text(first)})
	c := s.credentials(t, app, 1)
	if len(c) != 1 {
		t.Fatalf("credentials %v", c)
	}
	token, at := fmt.Sprint(c[0]["Credential"]), fmt.Sprintf("/apps/%s/access-requests/1/credentials/%v/certificate", app, c[0]["ID"])
	becomes := func(what, token string, with tls.Certificate, status int) {
		t.Helper()
		until(t, gatewayLimit, what, func() error {
			if a := callWith(t, front, "/vault/x", token, with); a.status != status {
				return fmt.Errorf("answer %s, want %d", a, status)
			}
			return nil
		})
	}
	becomes("the certificate and the token", token, first, http.StatusOK)
	becomes("the certificate without the token", "", first, http.StatusUnauthorized)
	becomes("the token with another certificate", token, second, http.StatusForbidden)
	s.write(t, "PUT", at, object{"Certificate": text(second)})
	becomes("the certificate after a renewal", token, second, http.StatusOK)
	becomes("the one before", token, first, http.StatusForbidden)
	s.write(t, "DELETE", at, nil)
	becomes("a certificate that was taken away", token, second, http.StatusForbidden)
}
