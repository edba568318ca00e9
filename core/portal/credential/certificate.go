package credential

import (
	"crypto/x509"
	"encoding/pem"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/certificate"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Certificate is the portal's description of a client certificate.
type Certificate struct {
	Fingerprint        string
	SignatureAlgorithm string
	Issuer             string
	Subject            string
	NotBefore          time.Time
	NotAfter           time.Time
	PEM                string // only the certificate and its chain
}

// CodeCertificate is the code of the fault of a text that is not a client certificate.
const CodeCertificate = Kind + ".certificate"

// ReadCertificate parses the text that a developer has sent. Private keys are refused: the
// portal does not need them and must not have them.
func ReadCertificate(text string) (c Certificate, err error) {
	b, err := certificate.Parse("", []byte(text))
	if err != nil {
		return c, fault.New(fault.Invalid, CodeCertificate, "Certificate is invalid: %s", err.Error())
	}
	if b.HasPrivate {
		return c, fault.New(fault.Invalid, CodeCertificate, "Certificate is invalid: it has a private key. Keep the key, send the certificate alone, and take another key if somebody may have read this one")
	}
	block, _ := pem.Decode(b.Text)
	if block == nil || block.Type != "CERTIFICATE" {
		return c, fault.New(fault.Invalid, CodeCertificate, "Certificate is invalid: a public key alone is no certificate")
	}
	x, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return c, fault.New(fault.Invalid, CodeCertificate, "Certificate is invalid: it cannot be read")
	}
	return Certificate{b.Fingerprint, x.SignatureAlgorithm.String(), x.Issuer.String(), x.Subject.String(), x.NotBefore.UTC(), x.NotAfter.UTC(), string(b.Text)}, nil
}

// Ended returns the fault of an expired certificate.
func (c Certificate) Ended(at time.Time) error {
	if at.Before(c.NotAfter) {
		return nil
	}
	return fault.New(fault.Invalid, CodeCertificate, "Certificate is invalid: it has expired")
}

// Valid reports whether the certificate is valid at a time.
func (c Certificate) Valid(at time.Time) bool {
	return !at.Before(c.NotBefore) && at.Before(c.NotAfter)
}

// listOf returns the path of the client certificates in the definition of an API: in a classic
// definition, or in an OpenAPI document.
func listOf(oas bool) []string {
	if oas {
		return []string{"x-tyk-api-gateway", "server", "clientCertificates", "allowlist"}
	}
	return []string{"client_certificates"}
}

// Allows reports whether a definition accepts clients with a certificate.
func Allows(definition *doc.Node, oas bool, id string) bool {
	return slices.Contains(definition.Get(listOf(oas)...).Texts(), id)
}

// Allow adds a certificate to the list of a definition, or removes it, and reports whether
// this changed the definition.
func Allow(definition *doc.Node, oas bool, id string, wanted bool) bool {
	if id == "" || Allows(definition, oas, id) == wanted {
		return false
	}
	at := listOf(oas)
	list := definition.Get(at...).Texts()
	if wanted {
		list = append(list, id)
	} else {
		list = slices.DeleteFunc(list, func(v string) bool { return v == id })
	}
	definition.Put(doc.NewStrings(list), at...)
	return true
}

// Certificates returns the IDs of the certificates of clients.
func (p Public) Certificates() []string {
	if p.CertificateID != "" {
		return []string{p.CertificateID}
	}
	return p.Pool
}

// Ties returns the IDs of the certificates to which the key is bound. If its certificate is
// removed, or its organisation has none any more, the key stays bound to the previous ones: an
// unbound key would work with every certificate of others on the list.
func (p Public) Ties() []string {
	switch {
	case !p.Bound:
		return nil
	case p.Managed || p.CertificateID == "":
		return p.Held
	}
	return []string{p.CertificateID}
}

// Manage sets the certificates that administrators have chosen.
func (p *Public) Manage(pool []string) {
	if p.Managed, p.Pool = true, pool; len(pool) > 0 {
		p.Held = pool
	}
}

// Standing is the certificates of a credential on the list of an API.
type Standing struct {
	API          string
	Certificates []string
}

// Standings returns the certificates of a credential on the lists of APIs, without those of
// the credential but.
func (p Public) Standings(but Public) (out []Standing) {
	for _, api := range p.Allowed {
		list := p.Certificates()
		if slices.Contains(but.Allowed, api) {
			list = slices.DeleteFunc(slices.Clone(list), func(id string) bool { return slices.Contains(but.Certificates(), id) })
		}
		if len(list) > 0 {
			out = append(out, Standing{api, list})
		}
	}
	return out
}

// Bind replaces certificates in a session with others.
func Bind(session *doc.Node, former, now []string) {
	list := slices.DeleteFunc(session.Get(key.Bindings).Texts(), func(v string) bool { return slices.Contains(former, v) || slices.Contains(now, v) })
	if list = append(list, now...); len(list) == 0 {
		session.Delete(key.Bindings)
		return
	}
	session.Set(key.Bindings, doc.NewStrings(list))
}

// Renewal is the request to replace a certificate.
type Renewal struct {
	table.Base
	Certificate     string
	CertificateName string // its name for the developer
}

// Table implements table.Row.
func (Renewal) Table() *table.Table[Renewal] { return renewals }

var renewals = &table.Table[Renewal]{
	Kind: "portal-certificate-renewal", Noun: "certificate of a credential",
	Base: func(r *Renewal) *table.Base { return &r.Base },
	Fields: []table.Field[Renewal]{
		{Name: "Certificate", At: func(r *Renewal) any { return &r.Certificate }, Required: true, Max: request.MaxCertificate, Doc: "PEM without a private key."},
		{Name: "CertificateName", At: func(r *Renewal) any { return &r.CertificateName }, Max: request.MaxCertificateName, Doc: "Name of the certificate. Default: its subject."},
	},
}
