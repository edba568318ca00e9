package console_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"
)

// gold is the policy of a mapped world.
const gold = "5f1a0c5d8e3b2a1f0000000a"

// shown is a script that returns the secret in the dialog.
const shown = "(document.querySelector('dialog[open] .once')?.innerText ?? '')"

// TestKeysPage: a key is created from a policy and shown once; the page shows its
// permissions, and the problem when the policy no longer applies.
func TestKeysPage(t *testing.T) {
	t.Parallel()
	w := mapped(t)
	b := w.signIn(t)
	b.visit("access")
	b.See("There is no such key")
	b.Click("Make a key…")
	b.Fill("Name", "billing")
	b.Check("Gold")
	b.Click("Make it")
	b.See("shown now and never again")
	made := value[string](b, shown)
	b.Looks("key-once")
	b.Click("I have it")
	b.Wait("!document.querySelector('dialog[open]')")
	if _, text := w.try("GET", "/api/keys/"+made+"/effective", "", key); !strings.Contains(string(text), `"accepted":true`) {
		t.Errorf("%q may do %s", made, text)
	}
	b.Click("billing")
	for _, text := range []string{"gateways accept it", "1 call in 1 s", "orders", "rights: Gold", "rate: Gold"} {
		b.See(text)
	}
	w.ask("PUT", "/api/portal/policies/"+gold, `{"id":"`+gold+`","name":"Gold","state":"draft","rate":1,"per":1,"access_rights":{"orders":{"api_id":"orders","versions":["Default"]}}}`)
	b.visit("access")
	b.See("Refused because of their policies")
	b.See("is a draft")
	b.See("What to do: set the state of the policy to active")
	b.Looks("keys-refused")
	b.Click("billing")
	b.See("gateways refuse it")
	b.Looks("key-refused")
	b.Click("Delete…")
	b.See("It cannot be brought back")
	b.Click("Delete")
	b.See("There is no such key")
}

// TestClientsPage: a client of an API is created and its secret shown once; the secret is
// rotated, and the client deleted.
func TestClientsPage(t *testing.T) {
	t.Parallel()
	w := mapped(t)
	w.ask("POST", "/api/apis", `{"api_definition":{"name":"Issuing","api_id":"issuing","active":true,"use_oauth2":true,"proxy":{"listen_path":"/issuing/","target_url":"http://up.example/"}}}`)
	w.ask("PUT", "/api/portal/policies/"+gold, `{"id":"`+gold+`","name":"Gold","state":"active","rate":1,"per":1,"access_rights":{"issuing":{"api_id":"issuing","versions":["Default"]}}}`)
	b := w.signIn(t)
	b.visit("clients")
	b.Wait(`document.querySelector('option[value=issuing]') && !document.querySelector('option[value=orders]')`)
	b.Fill("Of the API", "issuing")
	b.See("The API has no client yet")
	b.Click("Make a client…")
	b.Fill("Description", "Shop")
	b.Fill("Redirects to", "https://shop.example/back")
	b.Check("Gold")
	b.Click("Make it")
	b.Wait(shown + " !== ''")
	first := value[string](b, shown)
	b.Click("I have it")
	b.See("https://shop.example/back")
	b.Looks("clients")
	b.Click("Tokens of Shop")
	b.See("It holds no token")
	b.Click("Close")
	b.Click("New secret of Shop")
	b.Click("Make another secret")
	b.Wait(shown + " !== '' && " + shown + " !== " + quote(first))
	b.Click("I have it")
	b.Click("Delete Shop")
	b.See("Gateways issue no more tokens to it")
	b.Click("Delete")
	b.See("The API has no client yet")
}

// certificate returns a certificate with an expiry, as PEM.
func certificate(t *testing.T, name string, ends time.Time) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{strings.ReplaceAll(name, "\u2028", " ")}, NotBefore: ends.AddDate(-1, 0, 0), NotAfter: ends}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// TestCertificatesPage: the list is sorted by expiry; before a certificate is deleted the
// page lists the APIs that use it, and can remove it from them.
func TestCertificatesPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.signIn(t)
	b.visit("certificates")
	b.See("There is no certificate")
	for name, ends := range map[string]time.Time{"later.example": time.Now().AddDate(1, 0, 0), "soon.example": time.Now().Add(9*24*time.Hour + time.Hour), "ended.example": time.Now().AddDate(0, 0, -2)} {
		b.Click("Upload…")
		b.Fill("Or its text", certificate(t, name, ends))
		b.Click("Store it")
		b.See(name)
		b.Wait("!document.querySelector('dialog[open]')")
	}
	b.Wait(`[...document.querySelectorAll('tbody tr')].map(r => r.innerText.split(/\s/)[0]).join() === 'ended.example,soon.example,later.example'`)
	b.See("has ended")
	b.See("9 days left")
	id := value[string](b, `[...document.querySelectorAll('tbody tr')].find(r => r.innerText.includes('soon.example')).querySelector('code').title`)
	body, err := json.Marshal(map[string]any{"api_definition": map[string]any{"name": "Guarded", "api_id": "guarded", "active": true, "use_mutual_tls_auth": true, "client_certificates": []string{id}, "proxy": map[string]any{"listen_path": "/guarded/", "target_url": "http://up.example/"}}})
	must(t, err)
	w.ask("POST", "/api/apis", string(body))
	b.Looks("certificates")
	b.Click("Used by: soon.example")
	b.See("Guarded: callers come with it")
	b.Click("Close")
	b.Click("Delete soon.example")
	b.See("refuse callers who come with it")
	b.Looks("certificate-delete")
	b.Click("Take it out of all, and delete")
	b.Wait("!document.querySelector('dialog[open]') && !document.querySelector('tbody').innerText.includes('soon.example')")
	if _, text := w.try("GET", "/api/apis/guarded", "", key); strings.Contains(string(text), id) {
		t.Error("the API still names the certificate")
	}
}
