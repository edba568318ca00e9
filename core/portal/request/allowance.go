package request

import (
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// AllowanceKind is the name of allowances in storage.
const AllowanceKind = "portal-allowance"

// Allowance is how many access requests a user has made with a plan in the period that
// runs. Deleted requests count: they were made.
type Allowance struct {
	Portal tenant.ID `json:"org_id"`
	Plan   table.ID  `json:"plan"`
	User   table.ID  `json:"user"`
	Since  time.Time `json:"since"` // when the period began: with the first request after the one before
	Count  int64     `json:"count"`
}

// Key is by what the allowance is stored.
func (a Allowance) Key() string { return a.Plan.Key() + "-" + a.User.Key() }

// Take returns the allowance after one more request, or false when the plan allows no
// more: quota requests in renewal seconds. No quota is no limit; without a renewal of one
// second at least the period never ends. A period that begins further ahead than one lasts is
// from before a clock was put back: it would last until that time comes.
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
