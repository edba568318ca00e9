package serve

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/config"
)

// TestWhoJoinsDays: a service without the collector joins the days that a pump has
// counted, unless the settings forbid it; a command beside a service never does.
func TestWhoJoinsDays(t *testing.T) {
	for _, c := range []struct {
		name, setting string
		purpose       Purpose
		joins         bool
	}{
		{"service", "", Purpose{}, true},
		{"switched off", "SVC_DB_ANALYTICS_JOINDAYS=false", Purpose{}, false},
		{"no database", "SVC_DB_STORAGE_ANALYTICS_TYPE=none", Purpose{}, false},
		{"command", "", Purpose{Beside: true}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, report := config.Load(nil, "", []string{"SVC_DB_HOMEDIR=" + t.TempDir(), "SVC_DB_NODESECRET=node", c.setting}, config.Options{})
			if err := report.Err(); err != nil {
				t.Fatal(err)
			}
			composed, err := ComposeFor(t.Context(), s, slog.New(slog.DiscardHandler), "test", c.purpose)
			if err != nil {
				t.Fatal(err)
			}
			defer composed.Close()
			if err := composed.App.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = composed.App.Stop(context.WithoutCancel(t.Context())) }()
			for end := time.Now().Add(map[bool]time.Duration{true: time.Minute, false: 200 * time.Millisecond}[c.joins]); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
				if composed.App.Collector().Joining {
					break
				}
			}
			if got := composed.App.Collector().Joining; got != c.joins {
				t.Errorf("joins days: %v", got)
			}
		})
	}
}
