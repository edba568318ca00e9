package scenarios

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// clientCertificate returns a certificate that expires in two days.
func clientCertificate(t *testing.T, name string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(48 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// upload sends a certificate without its key, as forms do, and returns its identifier.
func (c *client) upload(t *testing.T, certificate tls.Certificate) string {
	t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("cert", "client.pem")
	if err == nil {
		err = pem.Encode(part, &pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.base+"/api/certs", &form)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = c.header.Clone()
	req.Header.Set("Content-Type", w.FormDataContentType())
	res, err := c.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var made struct{ ID string }
	if err := json.NewDecoder(res.Body).Decode(&made); err != nil || made.ID == "" {
		t.Fatalf("upload: %d, %v", res.StatusCode, err)
	}
	return made.ID
}

// overTLS is the gateway's address for clients that may send a certificate.
func (e *estate) overTLS(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(e.gateway.Handler())
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// callWith calls an address with one certificate or none, and with a token or none.
func callWith(t *testing.T, server *httptest.Server, path, token string, certificates ...tls.Certificate) answer {
	t.Helper()
	transport := server.Client().Transport.(*http.Transport).Clone()
	transport.TLSClientConfig.Certificates, transport.DisableKeepAlives = certificates, true
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", token)
	}
	res, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		t.Fatalf("the gateway: %v", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, strings.TrimSpace(string(body))}
}

// TestMutualTLS states that an uploaded certificate gives access to an API at the gateway,
// until the certificate is deleted or removed from the API.
func TestMutualTLS(t *testing.T) {
	e := controlled(t, nil)
	front, mine, other := e.overTLS(t), clientCertificate(t, "mine"), clientCertificate(t, "other")
	id := e.api.upload(t, mine)
	e.api.upload(t, other)
	e.api.do(t, http.MethodPost, classicAPIs, classicAPI("shop", object{"use_standard_auth": false, "use_mutual_tls_auth": true, "client_certificates": []string{id}}))
	becomes := func(what string, status int) {
		t.Helper()
		until(t, gatewayLimit, what, func() error {
			if a := callWith(t, front, "/shop/x", "", mine); a.status != status {
				return fmt.Errorf("answer %s, want %d", a, status)
			}
			return nil
		})
	}
	tells := func(path string, texts ...string) {
		t.Helper()
		answer := e.api.read(t, path)
		for _, text := range texts {
			if !strings.Contains(answer, text) {
				t.Errorf("GET %s: %s, want %s", path, answer, text)
			}
		}
	}
	becomes("the certificate opens the API", http.StatusOK)
	if a := callWith(t, front, "/shop/x", ""); a.status != http.StatusForbidden {
		t.Errorf("without a certificate: %s", a)
	}
	if a := callWith(t, front, "/shop/x", "", other); a.status != http.StatusForbidden {
		t.Errorf("with a certificate that the API does not name: %s", a)
	}
	tells("/api/certs/"+id+"/apis", `"api_id":"shop"`, `"client"`)
	tells("/api/org/notifications?refresh=true", id, `"warning"`)

	e.api.do(t, http.MethodDelete, "/api/certs/"+id, nil)
	if a := callWith(t, front, "/shop/x", "", mine); a.status != http.StatusForbidden {
		t.Errorf("with a certificate that is deleted: %s", a)
	}
	if again := e.api.upload(t, mine); again != id {
		t.Errorf("the same certificate is now %s, was %s", again, id)
	}
	becomes("the certificate is there again", http.StatusOK)

	e.api.do(t, http.MethodDelete, "/api/certs/dependencies/"+id, nil)
	becomes("the certificate is taken from the API", http.StatusForbidden)
	tells("/api/certs/"+id+"/apis", `"apis":[]`)
}
