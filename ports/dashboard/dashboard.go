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

// Errors that a Dashboard reports, wrapped. Their text is for administrators of the
// portal: it says what the dashboard said, never a credential.
var (
	ErrGone        = errors.New("the dashboard does not have it")             // not there, or not any more
	ErrRefused     = errors.New("the dashboard refuses")                      // correct what is sent, or the rights of the user
	ErrChanged     = errors.New("the policy has changed meanwhile")           // read it again
	ErrUnreachable = errors.New("the dashboard does not answer as it should") // try again later
	// ErrUnsent is an ErrUnreachable of which is known that nothing has been sent.
	ErrUnsent = fmt.Errorf("%w: no connection", ErrUnreachable)
)

// Policy is a policy as the dashboard has it.
type Policy struct {
	Document *doc.Node
	Tag      string // of this state of it; "" when the dashboard has none
}

// Ref returns by what the policy is known.
func (p Policy) Ref() sync.Ref {
	return sync.Ref{ObjectID: p.Document.Get("_id").Text(), ID: p.Document.Get("id").Text()}
}

// Dashboard is the policies, APIs, keys, OAuth clients and registry of one organisation, as one of its users may see
// and change them.
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
	// Policy returns one policy: that with the _id or, without one, with the custom
	// identifier.
	Policy(ctx context.Context, ref sync.Ref) (Policy, error)
	// Create makes a policy, and returns the identifiers that the dashboard has given it. When
	// an answer is lost, a policy that says all that was sent is the result.
	Create(ctx context.Context, document *doc.Node) (sync.Ref, error)
	// Replace writes a policy that was read and changed, unless somebody else has changed
	// it meanwhile.
	Replace(ctx context.Context, p Policy) error
	// Delete removes a policy. One that is gone already is removed.
	Delete(ctx context.Context, ref sync.Ref) error
}
