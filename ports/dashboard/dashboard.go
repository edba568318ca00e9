// Package dashboard is the port through which a portal reads and writes the policies and
// keys of a dashboard: the one in the same process, or any other that speaks the protocol.
package dashboard

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
)

// Errors that a Dashboard returns, wrapped. Their text is for administrators of the portal: it
// repeats the dashboard's message, and never contains a credential.
var (
	ErrGone        = errors.New("the dashboard does not have it")             // not there, or not any more
	ErrRefused     = errors.New("the dashboard refuses")                      // correct what is sent, or the rights of the user
	ErrChanged     = errors.New("the policy has changed meanwhile")           // read it again
	ErrUnreachable = errors.New("the dashboard does not answer as it should") // try again later
	// ErrUnsent is an ErrUnreachable where nothing has been sent for certain.
	ErrUnsent = fmt.Errorf("%w: no connection", ErrUnreachable)
)

// Policy is a policy as the dashboard has it.
type Policy struct {
	Document *doc.Node
	Tag      string // identifies this state of the policy; "" when the dashboard has none
}

// Ref returns the identifiers of the policy.
func (p Policy) Ref() sync.Ref {
	return sync.Ref{ObjectID: p.Document.Get("_id").Text(), ID: p.Document.Get("id").Text()}
}

// Dashboard is the policies, APIs, keys, OAuth clients and registry of one organisation, as
// far as one of its users may see and change them.
type Dashboard interface {
	Policies
	Keys
	Registry
	OAuthClients
	Usage
}

// Policies are the policies of one organisation, and the APIs that they may name.
type Policies interface {
	// Policies returns all policies in the dashboard's order.
	Policies(ctx context.Context) ([]*doc.Node, error)
	// APIs returns all APIs, MCP proxies included where the user may list them.
	APIs(ctx context.Context) ([]sync.API, error)
	// Policy returns the policy with the _id of ref or, if ref has no _id, with its custom
	// identifier.
	Policy(ctx context.Context, ref sync.Ref) (Policy, error)
	// Create makes a policy, and returns the identifiers that the dashboard has given it. When
	// the response is lost, Create returns a policy that has all members of the document.
	Create(ctx context.Context, document *doc.Node) (sync.Ref, error)
	// Replace writes a policy that was read and then changed. The error is ErrChanged if another
	// writer has changed the policy meanwhile.
	Replace(ctx context.Context, p Policy) error
	// Delete removes a policy. It returns no error if the policy is gone.
	Delete(ctx context.Context, ref sync.Ref) error
}
