package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/certificate"
)

// Certificates are the certificates of an organisation.
type Certificates interface {
	// FindCertificate returns the identifier of the certificate with a fingerprint; "":
	// there is none.
	FindCertificate(ctx context.Context, fingerprint string) (string, error)
	// ListCertificates returns all that are stored.
	ListCertificates(ctx context.Context) ([]certificate.Stored, error)
	// AddCertificate stores a certificate in PEM.
	AddCertificate(ctx context.Context, pem []byte) error
	// DeleteCertificate removes a certificate. It returns no error if the certificate is gone.
	DeleteCertificate(ctx context.Context, id string) error
}

// maxCertificates is how many certificates a dashboard may list.
const maxCertificates = 100_000

// FindCertificate implements Certificates. Identifiers end with the fingerprint; what they
// begin with depends on the dashboard.
func (e Entries) FindCertificate(ctx context.Context, fingerprint string) (string, error) {
	a, err := e.Wire(ctx, Request{Operation: "certs.list", Method: "GET", Path: "/api/certs", Query: map[string][]string{"p": {"-1"}}})
	if err != nil {
		return "", fmt.Errorf("list certificates: %w", err)
	}
	n, _, err := parsed(a)
	if err != nil {
		return "", fmt.Errorf("list certificates: %w", err)
	}
	list := n.Get("certs").Texts()
	if len(list) > maxCertificates {
		return "", fmt.Errorf("list certificates: %w: it lists more than %d", ErrRefused, maxCertificates)
	}
	for _, id := range list {
		if fingerprint != "" && strings.HasSuffix(id, fingerprint) {
			return id, nil
		}
	}
	return "", nil
}

// fingerprintLength is that of SHA-256 in hex.
const fingerprintLength = 64

// listed is a certificate as a dashboard lists it.
type listed struct {
	ID        string    `json:"id"`
	Issuer    string    `json:"issuer_cn"`
	Subject   string    `json:"subject_cn"`
	NotBefore time.Time `json:"not_before"`
	NotAfter  time.Time `json:"not_after"`
}

// ListCertificates implements Certificates.
func (e Entries) ListCertificates(ctx context.Context) ([]certificate.Stored, error) {
	a, err := e.Wire(ctx, Request{Operation: "certs.list", Method: "GET", Path: "/api/certs", Query: map[string][]string{"p": {"-1"}, "mode": {"detailed"}}})
	if err != nil {
		return nil, fmt.Errorf("list certificates: %w", err)
	}
	var answer struct {
		List *[]listed `json:"cert_basics"`
	}
	if err := json.Unmarshal(a.Body, &answer); err != nil || answer.List == nil {
		return nil, fmt.Errorf("list certificates: %w: it lists none", ErrUnreachable)
	}
	if len(*answer.List) > maxCertificates {
		return nil, fmt.Errorf("list certificates: %w: it lists more than %d", ErrRefused, maxCertificates)
	}
	out := make([]certificate.Stored, 0, len(*answer.List))
	for _, c := range *answer.List {
		if len(c.ID) < fingerprintLength { // not a certificate, but for example a pinned public key
			continue
		}
		out = append(out, certificate.Stored{ID: c.ID, Fingerprint: c.ID[len(c.ID)-fingerprintLength:], Issuer: "CN=" + c.Issuer, Subject: "CN=" + c.Subject, NotBefore: c.NotBefore, NotAfter: c.NotAfter})
	}
	return out, nil
}

// AddCertificate implements Certificates.
func (e Entries) AddCertificate(ctx context.Context, pem []byte) error {
	if _, err := e.Wire(ctx, Request{Operation: "certs.create", Method: "POST", Path: "/api/certs", File: pem}); err != nil {
		return fmt.Errorf("add a certificate: %w", err)
	}
	return nil
}

// DeleteCertificate implements Certificates.
func (e Entries) DeleteCertificate(ctx context.Context, id string) error {
	_, err := e.Wire(ctx, Request{Operation: "certs.delete", Method: "DELETE", Path: "/api/certs/{certId}", Param: "certId", Record: id})
	if err != nil && !errors.Is(err, ErrGone) {
		return fmt.Errorf("delete the certificate %s: %w", id, err)
	}
	return nil
}
