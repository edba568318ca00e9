// Package analytics is the port to the traffic that gateways report.
package analytics

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/core/analytics/view"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Reader answers questions about the traffic of one organisation. Without any reports the
// result is empty and no error is returned. A scope of all organisations is refused.
type Reader interface {
	// Count returns the requested part of the rows, and how many rows there are.
	Count(ctx context.Context, scope tenant.Scope, q view.Query) (rows []view.Row, total int, err error)
	// Oldest returns the time of the oldest single call, of any organisation, that a query for
	// records searches; zero: there is none. kept is false where calls are never kept.
	Oldest(ctx context.Context, q view.Query) (oldest time.Time, kept bool, err error)
	// List is Count for records of calls.
	List(ctx context.Context, scope tenant.Scope, q view.CallQuery) (calls []view.Call, total int, err error)
}
