package apps

import (
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// TestSummed adds up days of several dashboards.
func TestSummed(t *testing.T) {
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	day := func(n int, calls, errors int64, latency float64) dashboard.Day {
		return dashboard.Day{Date: from.AddDate(0, 0, n), Calls: calls, Errors: errors, Latency: latency}
	}
	u := summed([]dashboard.Day{day(0, 10, 1, 100), day(0, 30, 2, 200), day(2, 1, 0, 5), day(-1, 9, 9, 9), day(3, 9, 9, 9), day(1, -1, 0, 0)}, from, 3)
	if u.From != "2026-01-01" || u.To != "2026-01-03" || len(u.Days) != 3 {
		t.Error(u)
	}
	for i, want := range []UsageDay{{"2026-01-01", 40, 3, 175}, {Date: "2026-01-02"}, {"2026-01-03", 1, 0, 5}} {
		if u.Days[i] != want {
			t.Errorf("%+v", u.Days[i])
		}
	}
}
