package apps

import (
	"cmp"
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/certificates"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Certificate is the certificate of a credential as administrators see it.
type Certificate struct {
	ID                 string `json:"ID" doc:"ID of the certificate at the dashboard."`
	Name               string `json:"Name" doc:"Name that the developer gave the certificate. Default: its subject."`
	Fingerprint        string `json:"Fingerprint" doc:"SHA-256 of the certificate, in hex."`
	SignatureAlgorithm string `json:"SignatureAlgorithm"`
	Issuer             string `json:"Issuer"`
	Subject            string `json:"Subject"`
	IsValid            bool   `json:"IsValid" doc:"true: the certificate is within its validity period."`
	ValidNotBefore     string `json:"ValidNotBefore"`
	ValidNotAfter      string `json:"ValidNotAfter"`
	Certificate        string `json:"Certificate" doc:"PEM."`
}

const exampleFingerprint = "38edce514c2d0a866063550c64d6c90be99d01561ac5aa7e82b8610b7e273d37"

var exampleCertificate = Certificate{"5f1a0c5d8e3b2a1f00000001" + exampleFingerprint, "Till of the shop", exampleFingerprint, "ECDSA-SHA256", "CN=Shop", "CN=till.example.com", true, "2026-01-02 03:04", "2027-01-02 03:04", "-----BEGIN CERTIFICATE-----…"}

// certificateOf returns the certificate of a credential, with its status at the time now.
func certificateOf(p credential.Public, now time.Time) (Certificate, error) {
	c, err := credential.ReadCertificate(p.Certificate)
	return Certificate{p.CertificateID, cmp.Or(p.CertificateName, c.Subject), c.Fingerprint, c.SignatureAlgorithm, c.Issuer, c.Subject, c.Valid(now), table.Stamp(c.NotBefore.In(now.Location())), table.Stamp(c.NotAfter.In(now.Location())), c.PEM}, err
}

// CertificateUsers returns the function that lists the APIs for which credentials need a
// certificate.
func CertificateUsers(st store.Store) issuers.Others {
	return func(ctx context.Context, org tenant.ID, at table.ID, certificate string, but table.ID) (list []string, used bool, err error) {
		scope, err := tenant.Of(org)
		if err != nil {
			return nil, false, err
		}
		err = st.View(ctx, scope, func(r store.Reader) error {
			list, used, err = needing(ctx, r, at, certificate, but)
			return err
		})
		return list, used, err
	}
}

func needing(ctx context.Context, r store.Reader, at table.ID, certificate string, but table.ID) (list []string, used bool, err error) {
	all, err := Credentials.Values(ctx, r, store.Query{Index: byPEM, Value: certificate})
	for _, c := range all {
		if c.ProviderID == at && c.ID != but {
			used, list = true, append(list, c.Allowed...)
		}
	}
	return list, used, err
}

// Needed reports whether a credential of a provider needs a certificate of its store.
func Needed(ctx context.Context, r store.Reader, at table.ID, certificate string) (bool, error) {
	_, used, err := needing(ctx, r, at, certificate, 0)
	return used, err
}

// Pool returns the certificates that administrators have assigned to the organisation of
// an app's owner.
func Pool(ctx context.Context, r store.Reader, a application.App, at table.ID) ([]string, error) {
	owner, err := portal.Find(ctx, r, people.Users, a.UserID.String())
	if err != nil {
		return nil, fault.AbsentFine(err)
	}
	return certificates.Pool(ctx, r, owner.OrganisationID, at)
}

func (s *Service) getCertificate(ctx context.Context, in credentialNamed) (out Certificate, err error) {
	c, err := s.stored(ctx, in)
	if err == nil && c.Certificate == "" {
		err = Credentials.Absent()
	}
	if err != nil {
		return out, err
	}
	return certificateOf(c.Public, s.Now())
}

type renewing struct {
	credentialNamed
	Body table.Body[credential.Renewal] `body:""`
}

func (s *Service) renewCertificate(ctx context.Context, in renewing) (out Certificate, err error) {
	c, err := s.stored(ctx, in.credentialNamed)
	if err != nil {
		return out, err
	}
	var wanted credential.Renewal
	err = in.Body.Apply(&wanted, true, func(string, string) (table.ID, bool, error) { return 0, false, nil })
	if err == nil {
		err = s.replace(ctx, in.Scope, c.ID, issuers.Renew, wanted)
	}
	if err != nil {
		return out, err
	}
	return s.getCertificate(ctx, in.credentialNamed)
}

func (s *Service) forgetCertificate(ctx context.Context, in credentialNamed) (portal.Status, error) {
	c, err := s.stored(ctx, in)
	if err == nil && c.Certificate == "" {
		err = Credentials.Absent()
	}
	if err == nil {
		err = s.replace(ctx, in.Scope, c.ID, issuers.Renew, credential.Renewal{})
	}
	return portal.Status{Status: "ok"}, err
}
