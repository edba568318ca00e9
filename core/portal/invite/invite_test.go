package invite_test

import (
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/invite"
)

// TestAdmits: when a code allows a registration.
func TestAdmits(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		code invite.Code
		want bool
	}{
		"good":              {invite.Code{Active: true, Quota: 2, Used: 1}, true},
		"used up":           {invite.Code{Active: true, Quota: 2, Used: 2}, false},
		"inactive":          {invite.Code{Quota: 2}, false},
		"until now":         {invite.Code{Active: true, Quota: 1, ExpiresAt: "2026-01-02 03:04"}, false},
		"until soon":        {invite.Code{Active: true, Quota: 1, ExpiresAt: "2026-01-02 03:05"}, true},
		"until a day":       {invite.Code{Active: true, Quota: 1, ExpiresAt: "2026-01-03"}, true},
		"until in a zone":   {invite.Code{Active: true, Quota: 1, ExpiresAt: "2026-01-02T03:04:00+01:00"}, false},
		"until a damaged t": {invite.Code{Active: true, Quota: 1, ExpiresAt: "soon"}, false},
	} {
		if got := c.code.Admits(now); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
