package gateway

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/certificate"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Certificates are the certificates and public keys in the store of gateways. Every method
// takes the organisation to which they belong. An identifier is the organisation's identifier,
// followed by the SHA-256 of the DER in lower-case hex. An identifier with another
// organisation is ErrForeign, and no list contains it.
type Certificates interface {
	// AddCertificate stores a PEM text and returns its identifier. The text is a certificate with
	// its chain and perhaps its private key, or a bare public key. If it is stored already, the
	// error is ErrTaken and the identifier is returned as well, so the call can be repeated when
	// its response is lost. A text that gateways cannot read is ErrRefused.
	AddCertificate(ctx context.Context, org tenant.ID, pem []byte) (id string, err error)
	// Certificate returns the facts of one certificate, never its private key, or ErrUnknown.
	Certificate(ctx context.Context, org tenant.ID, id string) (certificate.Meta, error)
	// Certificates returns the facts of several, in ascending order of their identifiers. Missing
	// certificates are left out.
	Certificates(ctx context.Context, org tenant.ID, ids []string) ([]certificate.Meta, error)
	// ListCertificates returns all of the organisation, in ascending order of their identifiers.
	ListCertificates(ctx context.Context, org tenant.ID) ([]certificate.Basics, error)
	// DeleteCertificate removes a certificate. It returns no error if the certificate is gone.
	DeleteCertificate(ctx context.Context, org tenant.ID, id string) error
}
