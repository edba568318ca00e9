package gateway

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// ClientName says which OAuth client is meant: one of an API.
type ClientName struct{ API, ID string }

// Client is an OAuth client of the authorisation server that gateways have.
type Client struct {
	ID          string
	Secret      string // in clear: the holder of the client needs it
	RedirectURI string // several in one text, with a separator that gateways know
	Policy      string // what its tokens may do; "" when each authorisation says it
	Description string
	Meta        *doc.Node // a JSON object, or nil
}

// ClientToken is a token that gateways have issued to a client.
type ClientToken struct {
	Code    string `json:"code"`    // the token, or its hash where gateways hash keys
	Expires int64  `json:"expires"` // Unix seconds
}

// Authorization asks a gateway, in the name of a person who has agreed, for a code or a
// token for a client.
type Authorization struct {
	Client       ClientName
	Domain       string // of the API; "" for any
	ListenPath   string // of the API
	ResponseType string // "code" or "token"
	RedirectURI  string
	KeyRules     *doc.Node // the session of the token, or nil where the client has a policy
}

// Clients are the OAuth clients of gateways and the tokens they hold. Every method takes the
// organisation of the API; the caller has seen that the API belongs to it.
type Clients interface {
	// PutClient stores a client with an identifier and a secret of our choice, over the one
	// that is there: a call whose answer is lost can be repeated. Its tokens stay.
	// An API that gateways do not know is ErrRefused.
	PutClient(ctx context.Context, org tenant.ID, api string, c Client) error
	// Client returns one client, or ErrUnknown.
	Client(ctx context.Context, org tenant.ID, name ClientName) (Client, error)
	// ListClients returns the clients of an API in ascending order of their identifiers.
	// An API that gateways do not know has none.
	ListClients(ctx context.Context, org tenant.ID, api string) ([]Client, error)
	// DeleteClient removes a client; its tokens live until they expire. One that is not
	// there is no error: it is gone.
	DeleteClient(ctx context.Context, org tenant.ID, name ClientName) error
	// ClientAPIs returns the APIs that have a client of this identifier, in ascending order.
	ClientAPIs(ctx context.Context, org tenant.ID, id string) ([]string, error)
	Issued
}

// Issued is what gateways issue to OAuth clients.
type Issued interface {
	// ClientTokens returns the tokens of a client that have not expired, the earliest to
	// expire first. A client that is not there has none.
	ClientTokens(ctx context.Context, org tenant.ID, name ClientName) ([]ClientToken, error)
	// RevokeToken takes one token of a client away; hint is "access_token", "refresh_token"
	// or "". One that is not there is no error.
	RevokeToken(ctx context.Context, org tenant.ID, client, token, hint string) error
	// RevokeTokens takes all tokens of a client away.
	RevokeTokens(ctx context.Context, org tenant.ID, client, secret string) error
	// Authorize returns what the gateway answers: a JSON object with the code or the token,
	// and where to send the browser. A redirect address that is not the client's is
	// ErrRefused, as is a gateway that issues nothing for the API. What was issued and never
	// arrived expires by itself.
	Authorize(ctx context.Context, org tenant.ID, a Authorization) (*doc.Node, error)
}
