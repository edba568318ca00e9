package live_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/account"
)

// TestLoginsAtOnce: of many concurrent logins of one account all with the right password
// succeed, and no more wrong passwords are tried than the limit of an account.
func TestLoginsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, nil)
		w.developer("ada@example.com", account.Member, 1)
		w.takes = 10 * time.Millisecond
		together := func(password func(int) string) (in int64) {
			var done atomic.Int64
			var all sync.WaitGroup
			for i := range 30 {
				all.Go(func() {
					if _, err := w.call("portal-live.login", nil, nil, fmt.Sprintf(`{"Email":"ada@example.com","Password":%q}`, password(i))); err == nil {
						done.Add(1)
					}
				})
			}
			all.Wait()
			return done.Load()
		}
		if in := together(func(int) string { return "secret" }); in != 30 {
			t.Errorf("%d of 30 are let in", in)
		}
		before := w.checks
		if in := together(func(i int) string { return strings.Repeat("x", i+1) }); in != 0 || w.checks-before > 10 {
			t.Errorf("%d are let in, %d passwords were tried", in, w.checks-before)
		}
		w.refused("portal-live.login", nil, nil, `{"Email":"ada@example.com","Password":"secret"}`, "portal_live.credentials")
	})
}
