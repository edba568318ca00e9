package expiry_test

import (
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/expiry"
)

func TestOver(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		ahead time.Duration
		over  bool
	}{{0, true}, {-time.Second, true}, {time.Second, false}, {time.Minute, false}, {2 * time.Minute, false}, {2*time.Minute + 1, true}, {1000 * time.Hour, true}} {
		if have := expiry.Over(now.Add(c.ahead), now, time.Minute); have != c.over {
			t.Errorf("%v ahead: %v", c.ahead, have)
		}
	}
	if !expiry.Over(time.Time{}, now, time.Minute) {
		t.Error("no end")
	}
}
