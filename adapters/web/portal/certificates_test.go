package portal_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/identity"
)

// certificateOf makes a certificate for a name.
func certificateOf(t testing.TB, name string) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	must(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// TestCertificates: a certificate is chosen by its number or its fingerprint, and a credential
// whose certificate was removed gets another one.
func TestCertificates(t *testing.T) {
	w := newWorld(t)
	w.offering()
	b, err := w.app.Bootstrap(t.Context(), identity.First{OrgID: "one", Email: "admin@example.com"})
	must(t, err)
	req, err := http.NewRequest("POST", w.server.URL+"/api/apis", strings.NewReader(`{"api_definition":{"name":"safe","api_id":"safe","active":true,"use_standard_auth":true,"use_mutual_tls_auth":true,"proxy":{"listen_path":"/safe/","target_url":"http://up.example"}}}`))
	must(t, err)
	req.Header.Set("Authorization", b.AccessKey)
	w.answered(req)
	w.api("POST", "/portal-api/products", `{"Name":"Safe","Path":"safe","ProviderID":1,"APIDetails":[{"APIID":"safe"}],"Catalogues":[1]}`)
	w.as("ada")
	const safe, cart = "/portal/catalogue-products/safe", "/portal/private/cart/provision"
	ask := func(fields ...string) page {
		w.submit(w.open(safe), safe, "product_id", "3", "catalogue_id", "1", "plan_id", "2")
		return w.submit(w.open(cart), cart, append(fields, "redirect-to-app", "1")...)
	}
	w.shows(ask("client_name", "First", "certificate", certificateOf(t, "first"), "certificate_name", "Till of the shop"), 200, "Access is granted", "Till of the shop", "CN=first")
	var known struct{ ID, Fingerprint string }
	must(t, json.Unmarshal(w.api("GET", "/portal-api/apps/1/access-requests/1/credentials/1/certificate", ""), &known))
	if known.ID == "" || known.ID == known.Fingerprint {
		t.Fatal(known)
	}
	w.shows(ask("client_name", "Second", "cert-action", "existing", "certificate_id", known.ID), 200, "Access is granted", "Till of the shop", "CN=first")
	w.shows(ask("client_name", "Third", "cert-action", "existing", "certificate_id", known.Fingerprint), 200, "Access is granted", "CN=first")

	app := w.open("/portal/private/apps/1")
	w.shows(w.submit(app, "/portal/private/apps/1/cert/1", "cert-mode", "delete"), 200, "The certificate is taken away", "There is no certificate")
	w.shows(w.submit(app, "/portal/private/apps/1/cert/0", "cert-mode", "delete", "access-request", "1"), 404)
	w.shows(w.submit(app, "/portal/private/apps/1/cert/0", "cert-mode", "update", "access-request", "9", "selected-cert", known.ID), 404)
	w.shows(w.submit(app, "/portal/private/apps/1/cert/0", "cert-mode", "update", "access-request", "1", "selected-cert", known.ID), 200, "The credential has another certificate", "Till of the shop", "CN=first")
	w.submit(app, "/portal/private/apps/1/cert/1", "cert-mode", "delete")
	w.shows(w.submit(app, "/portal/private/apps/1/cert/", "cert-mode", "update", "access-request", "1", "selected-cert", known.ID), 200, "The credential has another certificate", "CN=first")
	w.shows(w.submit(app, "/portal/private/apps/1/cert/1", "cert-mode", "update", "certificate", certificateOf(t, "second"), "certificate_name", ""), 200, "The credential has another certificate", `<dl class="facts"><dt>Subject</dt><dd>CN=second</dd>`)
	w.shows(ask("client_name", "Fourth", "certificate", certificateOf(t, "first"), "certificate_name", strings.Repeat("x", 256)), 422, "the maximum is 255 characters")
	w.approved("1", "2", "2")
	w.wear("Plain", plain(map[string]string{
		"views/app_form_update":       `{{range .app.Credentials}}{{with .AccessRequest}}{{.ID}}{{if index $.showMTLSSection .ID}} brings{{else}} needs none{{end}};{{end}}{{end}}`,
		"views/portal_product_detail": `{{range .product.APIDetails}}{{.Name}}{{if and .IsMCPAPI .IsPRMEnabled}} for tools{{end}}.{{end}}`,
	}))
	w.shows(w.open("/portal/private/apps/1"), 200, "1 brings;", "needs none;")
	w.shows(w.open(safe), 200, "safe.")
}
