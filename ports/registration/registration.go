// Package registration is the port through which the portal registers clients at identity
// providers, changes and deletes them (RFC 7591, RFC 7592).
package registration

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
)

// Errors that a Registrar returns, wrapped. Their text is for administrators of the portal: it
// repeats the provider's message, never a token or a secret.
var (
	ErrRefused   = errors.New("the identity provider refuses")                      // correct what is sent, or the token
	ErrGone      = errors.New("the identity provider does not have it")             // the client is not there, or not any more
	ErrDenied    = errors.New("the identity provider does not take the token")      // of the client: it may be gone
	ErrUntouched = errors.New("the identity provider cannot be reached")            // nothing was sent: try again later
	ErrUncertain = errors.New("the identity provider does not answer as it should") // the request may have been carried out
)

// Place is an identity provider.
type Place struct {
	WellKnown string // address of its discovery document
	Token     string // for registrations; "": without one
	Insecure  bool   // its certificate is not verified
}

// Registrar talks to identity providers.
type Registrar interface {
	// Discover reads the discovery document.
	Discover(ctx context.Context, at Place) (idp.Discovery, error)
	// Register registers a client at an endpoint of the provider. key is the same in all attempts
	// at one registration: providers that support it create only one client.
	Register(ctx context.Context, at Place, endpoint, key string, metadata *doc.Node) (idp.Client, error)
	// Read reads a client. The returned client may have another token.
	Read(ctx context.Context, at Place, c idp.Client) (idp.Client, error)
	// Update changes a client to what idp.Client.Revised returned.
	Update(ctx context.Context, at Place, c idp.Client, metadata *doc.Node) (idp.Client, error)
	// Delete deletes a client. It returns no error if the client is gone.
	Delete(ctx context.Context, at Place, c idp.Client) error
}
