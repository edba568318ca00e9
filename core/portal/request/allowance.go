package request

import (
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// AllowanceKind is the name of allowances in storage.
const AllowanceKind = "portal-allowance"

// Allowance is the number of a user's access requests with a plan in the current period.
// Deleted requests count too.
type Allowance struct {
	Portal tenant.ID `json:"org_id"`
	Plan   table.ID  `json:"plan"`
	User   table.ID  `json:"user"`
	Since  time.Time `json:"since"` // beginning of the period: the first request after the previous period
	Count  int64     `json:"count"`
}

// Key returns the ID of the allowance in storage.
func (a Allowance) Key() string { return a.Plan.Key() + "-" + a.User.Key() }

// Take returns the allowance after one more request, or false if the plan allows no more:
// quota requests per renewal seconds. Without a quota there is no limit; with a renewal of
// less than a second the period never ends. A period that begins further in the future than
// its length was started by a clock that has been put back: it counts as over, because it
// would last until then.
func (a Allowance) Take(now time.Time, quota, renewal int64) (Allowance, bool) {
	passed := now.Unix() - a.Since.Unix()
	if over := renewal > 0 && (passed >= renewal || -passed >= renewal); over || a.Since.IsZero() {
		a.Since, a.Count = now.UTC(), 0
	}
	if quota > 0 && a.Count >= quota {
		return a, false
	}
	a.Count++
	return a, true
}
