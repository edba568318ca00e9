package gatewaysim

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"net/http"
	"slices"
	"strings"
	"time"
)

const noCertificate = "Certificate with given SHA256 fingerprint not found"

// readPEM parses a certificate, with or without its private key, or a bare public key,
// and returns its fingerprint.
func readPEM(body []byte) (c *certificate, fingerprint string) {
	c = &certificate{}
	var der []byte
	for block, rest := pem.Decode(body); block != nil; block, rest = pem.Decode(rest) {
		switch {
		case block.Type == "CERTIFICATE" && der == nil:
			parsed, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				return nil, ""
			}
			c.x509, der = parsed, block.Bytes
		case block.Type == "PUBLIC KEY" && der == nil:
			der = block.Bytes
		case strings.HasSuffix(block.Type, "PRIVATE KEY"):
			c.private = true
		}
	}
	if _, err := tls.X509KeyPair(body, body); der == nil || c.private && err != nil {
		return nil, ""
	}
	sum := sha256.Sum256(der)
	return c, hex.EncodeToString(sum[:])
}

func addCertificate(c *controlCall) (int, any) {
	read, fingerprint := readPEM(c.body)
	if read == nil {
		return failed(http.StatusForbidden, "Failed to decode certificate. It should be PEM encoded.")
	}
	id := c.query.Get("org_id") + fingerprint
	if c.store.certificates[id] != nil {
		return failed(http.StatusForbidden, "Certificate with "+id+" id already exists")
	}
	c.store.certificates[id] = read
	return http.StatusOK, map[string]string{"id": id, "status": "ok", "message": "Certificate added"}
}

// name is a distinguished name in the gateways' format.
type name struct {
	CommonName string   `json:"CommonName"`
	Country    []string `json:"Country,omitempty"`
	Org        []string `json:"Organization,omitempty"`
}

// details of a certificate.
type details struct {
	ID          string    `json:"id"`
	Fingerprint string    `json:"fingerprint"`
	Private     bool      `json:"has_private"`
	Issuer      name      `json:"issuer"`
	Subject     name      `json:"subject"`
	NotBefore   time.Time `json:"not_before"`
	NotAfter    time.Time `json:"not_after"`
	DNSNames    []string  `json:"dns_names"`
	CA          bool      `json:"is_ca"`
}

// basics of a certificate.
type basics struct {
	ID        string    `json:"id"`
	Issuer    string    `json:"issuer_cn"`
	Subject   string    `json:"subject_cn"`
	DNSNames  []string  `json:"dns_names"`
	Private   bool      `json:"has_private"`
	NotBefore time.Time `json:"not_before"`
	NotAfter  time.Time `json:"not_after"`
	CA        bool      `json:"is_ca"`
}

func (c *certificate) details(id string) details {
	d := details{ID: id, Fingerprint: id[max(0, len(id)-2*sha256.Size):], Private: c.private}
	if x := c.x509; x != nil {
		d.Issuer, d.Subject = name{x.Issuer.CommonName, x.Issuer.Country, x.Issuer.Organization}, name{x.Subject.CommonName, x.Subject.Country, x.Subject.Organization}
		d.NotBefore, d.NotAfter, d.DNSNames, d.CA = x.NotBefore, x.NotAfter, x.DNSNames, x.IsCA
	}
	return d
}

func listCertificates(c *controlCall) (int, any) {
	ids := []string{}
	for id := range c.store.certificates {
		if strings.HasPrefix(id, c.query.Get("org_id")) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	if c.query.Get("mode") != "detailed" {
		return http.StatusOK, map[string]any{"certs": ids}
	}
	out := make([]basics, len(ids))
	for i, id := range ids {
		d := c.store.certificates[id].details(id)
		out[i] = basics{id, d.Issuer.CommonName, d.Subject.CommonName, d.DNSNames, d.Private, d.NotBefore, d.NotAfter, d.CA}
	}
	return http.StatusOK, map[string]any{"certs": out}
}

func readCertificate(c *controlCall) (int, any) {
	ids := strings.Split(c.PathValue("id"), ",")
	out := []details{}
	for _, id := range ids {
		if found := c.store.certificates[id]; found != nil {
			out = append(out, found.details(id))
		}
	}
	switch {
	case len(out) == 0:
		return failed(http.StatusNotFound, noCertificate)
	case len(ids) == 1:
		return http.StatusOK, out[0]
	}
	return http.StatusOK, out
}

func deleteCertificate(c *controlCall) (int, any) {
	delete(c.store.certificates, c.PathValue("id"))
	return http.StatusOK, said{"ok", "removed"}
}

// trusts reports whether a mutual TLS API accepts a client's certificate: the API names
// it, and it is in the store.
func (v view) trusts(a *api, client *x509.Certificate) bool {
	if client == nil {
		return false
	}
	sum := sha256.Sum256(client.Raw)
	id, s := a.OrgID+hex.EncodeToString(sum[:]), v.p.cfg.Store
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(a.Clients, id) && s.certificates[id] != nil
}
