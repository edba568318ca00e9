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
	BreakerOpen   Breaker = "open"   // several calls in a row failed: none goes to the gateway for a moment
	BreakerTrying Breaker = "trying" // the next call finds out whether the gateway answers again
)

// Status says how one gateway is, by the calls that it got.
type Status struct {
	URL     string
	Asked   bool // a call has gone to it since the start
	Answers bool // its last call was answered as a gateway answers
	Since   time.Time
	Breaker Breaker
	Trouble string // why the last call failed; "" if it did not
}

// Installation is about gateways as a whole, and the limits that hold for a whole
// organisation.
type Installation interface {
	// Status returns the gateways, in the order of the settings. It makes no call.
	Status() []Status
	// Probe asks every gateway whether it is there, and returns their status after that.
	Probe(ctx context.Context) []Status
	// Reload asks all gateways to load everything anew, and does not wait for it.
	Reload(ctx context.Context) error
	// OrgKeys returns the organisations that have limits, in ascending order.
	OrgKeys(ctx context.Context) ([]tenant.ID, error)
	// OrgKey returns the session with the limits of an organisation, or ErrUnknown.
	OrgKey(ctx context.Context, org tenant.ID) (*doc.Node, error)
	// PutOrgKey stores the limits of an organisation, over those that are there.
	PutOrgKey(ctx context.Context, org tenant.ID, session *doc.Node) error
	// DeleteOrgKey removes them, or says ErrUnknown.
	DeleteOrgKey(ctx context.Context, org tenant.ID) error
}
