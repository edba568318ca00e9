package gateway

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/certificate"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Certificates are the certificates and public keys in the store of gateways. Every method
// takes the organisation to which they belong. An identifier is that of the organisation,
// followed by the SHA-256 of the DER in lower-case hex; one that does not begin with the
// organisation is ErrForeign, and no list names it.
type Certificates interface {
	// AddCertificate stores a PEM text, a certificate with its chain and perhaps its
	// private key, or a bare public key, and returns its identifier. One that is there is
	// ErrTaken, with its identifier: a call whose answer is lost can be repeated.
	// A text that gateways cannot read is ErrRefused.
	AddCertificate(ctx context.Context, org tenant.ID, pem []byte) (id string, err error)
	// Certificate returns what is known of one, never its private key, or ErrUnknown.
	Certificate(ctx context.Context, org tenant.ID, id string) (certificate.Meta, error)
	// Certificates returns the same of several, in ascending order of their identifiers.
	// Those that are not there are left out.
	Certificates(ctx context.Context, org tenant.ID, ids []string) ([]certificate.Meta, error)
	// ListCertificates returns all of the organisation, in ascending order of their identifiers.
	ListCertificates(ctx context.Context, org tenant.ID) ([]certificate.Basics, error)
	// DeleteCertificate removes one. One that is not there is no error: it is gone.
	DeleteCertificate(ctx context.Context, org tenant.ID, id string) error
}
