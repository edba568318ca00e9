// Package certificate parses certificates, private keys and public keys that users upload, and
// describes them.
package certificate

import (
	"crypto/x509/pkix"
	"time"
)

// Basics is the data of a certificate in lists.
type Basics struct {
	ID         string    `json:"id"`
	IssuerCN   string    `json:"issuer_cn"`
	SubjectCN  string    `json:"subject_cn"`
	DNSNames   []string  `json:"dns_names"`
	HasPrivate bool      `json:"has_private"` // its private key has been uploaded with it
	NotBefore  time.Time `json:"not_before"`  // the zero time for bare public keys
	NotAfter   time.Time `json:"not_after"`
	IsCA       bool      `json:"is_ca"`
}

// Meta is all public data of a certificate.
type Meta struct {
	ID          string    `json:"id"`
	Fingerprint string    `json:"fingerprint"` // SHA-256 of the DER, in lower-case hex
	HasPrivate  bool      `json:"has_private"`
	Issuer      pkix.Name `json:"issuer"`
	Subject     pkix.Name `json:"subject"`
	NotBefore   time.Time `json:"not_before"`
	NotAfter    time.Time `json:"not_after"`
	DNSNames    []string  `json:"dns_names"`
	IsCA        bool      `json:"is_ca"`
}

// Basics returns the data of m for lists.
func (m Meta) Basics() Basics {
	return Basics{
		ID: m.ID, IssuerCN: m.Issuer.CommonName, SubjectCN: m.Subject.CommonName, DNSNames: m.DNSNames,
		HasPrivate: m.HasPrivate, NotBefore: m.NotBefore, NotAfter: m.NotAfter, IsCA: m.IsCA,
	}
}

// Shown returns m with empty lists instead of null, which clients do not expect.
func (m Meta) Shown() Meta {
	m.Issuer, m.Subject = shown(m.Issuer), shown(m.Subject)
	m.DNSNames = append([]string{}, m.DNSNames...)
	return m
}

func shown(n pkix.Name) pkix.Name {
	for _, list := range []*[]string{&n.Country, &n.Organization, &n.OrganizationalUnit, &n.Locality, &n.Province, &n.StreetAddress, &n.PostalCode} {
		*list = append([]string{}, *list...)
	}
	n.Names = append([]pkix.AttributeTypeAndValue{}, n.Names...)
	n.ExtraNames = append([]pkix.AttributeTypeAndValue{}, n.ExtraNames...)
	return n
}
