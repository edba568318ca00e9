package postgres_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// TestDefaultIsolation: the server's default isolation level may be another one. Transactions
// that took their snapshot before their turn would not see the commits that they waited for.
func TestDefaultIsolation(t *testing.T) {
	for _, level := range []string{"repeatable read", "serializable"} {
		t.Run(level, func(t *testing.T) {
			dsn := harness.Database(t)
			join := "?"
			if strings.Contains(dsn, "?") {
				join = "&"
			}
			dsn += join + "default_transaction_isolation=" + strings.ReplaceAll(level, " ", "%20")
			var all sync.WaitGroup
			for i := range 3 {
				s := open(t, dsn)
				for j := range 2 {
					all.Go(func() {
						for n := range 20 {
							if err := insert(t.Context(), s, fmt.Sprint(i, j, n)); err != nil {
								t.Error(err)
								return
							}
						}
					})
				}
			}
			all.Wait()
		})
	}
}
