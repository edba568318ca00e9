package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/certificate"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// CertificateRecord is a certificate as our store keeps it.
type CertificateRecord struct {
	OrgID tenant.ID `json:"org_id"`
	certificate.Meta
	Sealed string `json:"sealed"` // the PEM, which contains the private key
}

// CertificateKind is the kind of the records of certificates.
var CertificateKind = &store.Kind[CertificateRecord]{
	Name: "gatewaycertificate", Noun: "certificate of gateways",
	ID:  func(r CertificateRecord) string { return r.ID },
	Org: func(r CertificateRecord) tenant.ID { return r.OrgID },
}

// bound refuses a session that is bound to certificates of which one is unknown.
func (k *Keys) bound(ctx context.Context, org tenant.ID, s *doc.Node) error {
	ids := s.Get("mtls_static_certificate_bindings").Texts()
	if len(ids) == 0 {
		return nil
	}
	return k.view(ctx, org, func(r store.Reader) error {
		for _, id := range ids {
			var err error
			known := certificate.ValidID(org, id) // other IDs would be invalid for a store
			if known {
				_, err = CertificateKind.Get(ctx, r, id)
			}
			switch {
			case !known || err != nil && fault.KindOf(err) == fault.NotFound:
				return fmt.Errorf("%w: invalid certificate ID", gateway.ErrRefused)
			case err != nil:
				return err
			}
		}
		return nil
	})
}

// Certificates implements gateway.Certificates.
type Certificates struct{ Shelf }

var _ gateway.Certificates = (*Certificates)(nil)

// AddCertificate implements gateway.Certificates.
func (c *Certificates) AddCertificate(ctx context.Context, org tenant.ID, pem []byte) (string, error) {
	b, err := certificate.Parse(org, pem)
	if err != nil {
		return "", fmt.Errorf("%w: %w", gateway.ErrRefused, err)
	}
	sealed, err := c.Secrets.Seal(string(b.Text))
	if err != nil {
		return "", classify(err)
	}
	err = c.update(ctx, org, func(w store.Writer) error {
		switch _, err := CertificateKind.Get(ctx, w, b.ID); {
		case err == nil:
			return gateway.ErrTaken
		case fault.KindOf(err) != fault.NotFound:
			return err
		}
		return CertificateKind.Insert(ctx, w, CertificateRecord{OrgID: org, Meta: b.Meta, Sealed: sealed})
	})
	if err != nil && !errors.Is(err, gateway.ErrTaken) {
		return "", err
	}
	return b.ID, err
}

// Certificate implements gateway.Certificates.
func (c *Certificates) Certificate(ctx context.Context, org tenant.ID, id string) (certificate.Meta, error) {
	if !strings.HasPrefix(id, string(org)) {
		return certificate.Meta{}, gateway.ErrForeign
	}
	list, err := c.Certificates(ctx, org, []string{id})
	if err == nil && len(list) == 0 {
		err = gateway.ErrUnknown
	}
	if err != nil {
		return certificate.Meta{}, err
	}
	return list[0], nil
}

// Certificates implements gateway.Certificates.
func (c *Certificates) Certificates(ctx context.Context, org tenant.ID, ids []string) ([]certificate.Meta, error) {
	list := []certificate.Meta{}
	err := c.view(ctx, org, func(r store.Reader) error {
		list = list[:0]
		for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
			rec, err := CertificateKind.Get(ctx, r, id)
			if fault.KindOf(err) == fault.NotFound && err != nil {
				continue
			}
			if err != nil {
				return err
			}
			list = append(list, rec.Value.Meta)
		}
		return nil
	})
	return list, err
}

// ListCertificates implements gateway.Certificates.
func (c *Certificates) ListCertificates(ctx context.Context, org tenant.ID) ([]certificate.Basics, error) {
	list := []certificate.Basics{}
	err := c.view(ctx, org, func(r store.Reader) error {
		list = list[:0]
		for rec, err := range CertificateKind.Find(ctx, r, store.Query{}) {
			if err != nil {
				return err
			}
			list = append(list, rec.Value.Basics())
		}
		return nil
	})
	slices.SortFunc(list, func(a, b certificate.Basics) int { return strings.Compare(a.ID, b.ID) })
	return list, err
}

// DeleteCertificate implements gateway.Certificates.
func (c *Certificates) DeleteCertificate(ctx context.Context, org tenant.ID, id string) error {
	if !strings.HasPrefix(id, string(org)) {
		return gateway.ErrForeign
	}
	return c.update(ctx, org, func(w store.Writer) error {
		_, err := CertificateKind.Delete(ctx, w, id, nil)
		if fault.KindOf(err) == fault.NotFound {
			err = nil
		}
		return err
	})
}
