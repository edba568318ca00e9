package gateway

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// ClientName identifies an OAuth client: its API and its identifier there.
type ClientName struct{ API, ID string }

// Client is an OAuth client of the gateways' authorisation server.
type Client struct {
	ID          string
	Secret      string // in clear: the holder of the client needs it
	RedirectURI string // several in one text, with a separator that gateways know
	Policy      string // says what the client's tokens may do; "" when each authorisation says it
	Description string
	Meta        *doc.Node // a JSON object, or nil
}

// ClientToken is a token that gateways have issued to a client.
type ClientToken struct {
	Code    string `json:"code"`    // the token, or its hash where gateways hash keys
	Expires int64  `json:"expires"` // Unix seconds
}

// Authorization asks a gateway for a code or a token for a client, on behalf of a person who
// has agreed.
type Authorization struct {
	Client       ClientName
	Domain       string // of the API; "" for any
	ListenPath   string // of the API
	ResponseType string // "code" or "token"
	RedirectURI  string
	KeyRules     *doc.Node // the session of the token, or nil where the client has a policy
}

// Clients are the OAuth clients of gateways and their tokens. Every method takes the
// organisation of the API. The caller has checked that the API belongs to this organisation.
type Clients interface {
	// PutClient stores a client with an identifier and a secret of the caller's choice. It
	// replaces a client with this identifier, so the call can be repeated when its response is
	// lost. The client's tokens stay. An API that gateways do not know is ErrRefused.
	PutClient(ctx context.Context, org tenant.ID, api string, c Client) error
	// Client returns one client, or ErrUnknown.
	Client(ctx context.Context, org tenant.ID, name ClientName) (Client, error)
	// ListClients returns the clients of an API in ascending order of their identifiers.
	// An API that gateways do not know has none.
	ListClients(ctx context.Context, org tenant.ID, api string) ([]Client, error)
	// DeleteClient removes a client; its tokens live until they expire. It returns no error if
	// the client is gone.
	DeleteClient(ctx context.Context, org tenant.ID, name ClientName) error
	// ClientAPIs returns the APIs that have a client of this identifier, in ascending order.
	ClientAPIs(ctx context.Context, org tenant.ID, id string) ([]string, error)
	Issued
}

// Issued is the tokens that gateways issue to OAuth clients.
type Issued interface {
	// ClientTokens returns the tokens of a client that have not expired, the earliest to expire
	// first. A client that does not exist has none.
	ClientTokens(ctx context.Context, org tenant.ID, name ClientName) ([]ClientToken, error)
	// RevokeToken revokes one token of a client; hint is "access_token", "refresh_token" or "".
	// It returns no error if the token does not exist.
	RevokeToken(ctx context.Context, org tenant.ID, client, token, hint string) error
	// RevokeTokens revokes all tokens of a client.
	RevokeTokens(ctx context.Context, org tenant.ID, client, secret string) error
	// Authorize returns the gateway's response: a JSON object with the code or the token, and the
	// URL for the browser. The error is ErrRefused if the redirect URL is not one of the
	// client's, or if the gateway issues nothing for the API. An issued code or token that is
	// lost on the way expires by itself.
	Authorize(ctx context.Context, org tenant.ID, a Authorization) (*doc.Node, error)
}
