package invite_test

import (
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/invite"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
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

// TestTable: the fields of codes; a code is not changed afterwards.
func TestTable(t *testing.T) {
	tabletest.Sound[invite.Code](t, `{"Code":"abcdefgh","TeamID":1}`)
	tabletest.Bodies(t, invite.Code{Code: "abcdefgh", Quota: 1, TeamID: 1, Used: 1}, false, map[string]string{
		`{"Code":"other-code","Used":0,"Team":{"ID":2}}`:   `{"Code":"abcdefgh","Used":1,"TeamID":2}`,
		`{"Quota":1000000,"ExpiresAt":"2026-12-31 23:59"}`: `{"Quota":1000000,"ExpiresAt":"2026-12-31 23:59"}`,
		`{"Quota":1000001}`: "Quota is invalid", `{"Quota":-1}`: "Quota is invalid", `{"ExpiresAt":"soon"}`: "ExpiresAt is invalid", `{"TeamID":null}`: "TeamID can't be blank",
	})
	tabletest.Bodies(t, invite.Code{}, true, map[string]string{`{"Code":"abcdefg","TeamID":1}`: "Code is invalid", `{"TeamID":1}`: `{"Code":""}`})
}
