// Package login is the port to identity providers where people log in (OpenID Connect Core
// 1.0, 3.1).
package login

import (
	"context"
	"errors"
)

// Errors that a Provider returns, wrapped. Their text is for logs: it repeats the provider's
// message, never a code, a token or a secret, and no data of the person.
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
	ClaimsToo bool     // asks userinfo for claims that are not in the token
}

// Attempt is the login of one browser. Each field is random and hard to guess.
type Attempt struct {
	State    string // comes back with the browser
	Nonce    string // comes back in the token
	Verifier string // proves to the provider that the code was issued for this client (RFC 7636)
}

// Return is the parameters that a browser brings back from the provider.
type Return struct {
	Code   string
	Issuer string // issuer of the response (RFC 9207); "": the provider does not send it
}

// Provider talks to identity providers.
type Provider interface {
	// Begin returns the URL to which the browser is redirected for a login.
	Begin(ctx context.Context, c Client, a Attempt) (string, error)
	// Finish exchanges the parameters of r for the provider's claims about the person. If claims
	// in wanted are missing, Finish asks for them once more.
	Finish(ctx context.Context, c Client, a Attempt, r Return, wanted []string) (map[string]any, error)
}
