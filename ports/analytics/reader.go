// Package analytics is the port to what gateways report about traffic.
package analytics

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/core/analytics/view"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Reader answers questions about the traffic of one organisation. What was never reported
// is empty, and no error. A scope of all organisations is refused.
type Reader interface {
	// Count returns the part of the rows that was asked for, and how many rows there are.
	Count(ctx context.Context, scope tenant.Scope, q view.Query) (rows []view.Row, total int, err error)
	// Oldest returns when the oldest single call was made, of any organisation, that a question
	// for records looks through; zero: there is none. kept is false where none are ever kept.
	Oldest(ctx context.Context, q view.Query) (oldest time.Time, kept bool, err error)
	// List is Count for records of calls.
	List(ctx context.Context, scope tenant.Scope, q view.CallQuery) (calls []view.Call, total int, err error)
}
