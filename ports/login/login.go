// Package login is the port to identity providers at which people log in (OpenID Connect
// Core 1.0, 3.1).
package login

import (
	"context"
	"errors"
)

// Errors that a Provider reports, wrapped. Their text is for logs: it says what the provider
// said, never a code, a token or a secret, and nothing of the person.
var (
	ErrAway    = errors.New("the identity provider does not answer as it should")
	ErrRefused = errors.New("the identity provider does not vouch for the person")
)

// Client is the control plane as an identity provider knows it.
type Client struct {
	Discovery string // address of the discovery document
	ID        string
	Secret    string   // "": the client is a public one
	Redirect  string   // address to which browsers are sent back
	Scopes    []string // besides openid
	ClaimsToo bool     // what the token does not say is asked for (userinfo)
}

// Attempt is the login of one browser. Each member is drawn for it, and is hard to guess.
type Attempt struct {
	State    string // comes back with the browser
	Nonce    string // comes back in the token
	Verifier string // proves to the provider that the code is for us (RFC 7636)
}

// Return is what a browser brings back from the provider.
type Return struct {
	Code   string
	Issuer string // who says so (RFC 9207); "": the provider does not tell
}

// Provider speaks to identity providers.
type Provider interface {
	// Begin returns the address to which the browser of a login is sent.
	Begin(ctx context.Context, c Client, a Attempt) (string, error)
	// Finish exchanges what the browser has brought back for what the provider says about
	// the person. wanted are claims for which it is asked once more when they are missing.
	Finish(ctx context.Context, c Client, a Attempt, r Return, wanted []string) (map[string]any, error)
}
