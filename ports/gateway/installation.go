package gateway

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Breaker is the state of the circuit breaker in front of a gateway.
type Breaker string

// The states of a Breaker.
const (
	BreakerClosed Breaker = "closed" // calls go to the gateway
	BreakerOpen   Breaker = "open"   // several calls in a row failed: for a moment no call goes to the gateway
	BreakerTrying Breaker = "trying" // the next call finds out whether the gateway answers again
)

// Status is the state of one gateway, known from the calls to it.
type Status struct {
	URL     string
	Asked   bool // a call has gone to it since the start
	Answers bool // its last call got a response that gateways send
	Since   time.Time
	Breaker Breaker
	Trouble string // why the last call failed; "" if it did not
}

// Installation is the operations on gateways as a whole, and on the limits that hold for a
// whole organisation.
type Installation interface {
	// Status returns the state of the gateways, in the order of the settings. It makes no call.
	Status() []Status
	// Probe calls every gateway, and returns their state after that.
	Probe(ctx context.Context) []Status
	// Reload makes all gateways reload everything. It does not wait until they have.
	Reload(ctx context.Context) error
	// OrgKeys returns the organisations that have limits, in ascending order.
	OrgKeys(ctx context.Context) ([]tenant.ID, error)
	// OrgKey returns the session with the limits of an organisation, or ErrUnknown.
	OrgKey(ctx context.Context, org tenant.ID) (*doc.Node, error)
	// PutOrgKey stores the limits of an organisation, and replaces those that exist.
	PutOrgKey(ctx context.Context, org tenant.ID, session *doc.Node) error
	// DeleteOrgKey removes the limits of an organisation. Without limits, the error is
	// ErrUnknown.
	DeleteOrgKey(ctx context.Context, org tenant.ID) error
}
