package collector_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/app/collector"
	"github.com/gatehouse-io/gatehouse/ports/analytics"
)

// idle is a queue without entries.
type idle struct{ analytics.Queue }

func (idle) Claim(context.Context, analytics.List, string) (analytics.Claim, bool, error) {
	return analytics.Claim{}, false, nil
}

func (idle) Open(context.Context) ([]analytics.Claim, error) { return nil, nil }

func (idle) Levels(_ context.Context, l []analytics.List) ([]analytics.Level, error) {
	return make([]analytics.Level, len(l)), nil
}

func (idle) Shared(context.Context, []analytics.List) ([]analytics.List, error) { return nil, nil }

// upkeep is a sink that forgets and joins, or fails to.
type upkeep struct {
	analytics.Sink
	name string
	err  error
}

func (u *upkeep) Name() string { return u.name }

func (u *upkeep) Forget(context.Context, analytics.Retention) (int64, bool, error) {
	return 0, false, u.err
}

func (u *upkeep) Roll(context.Context, time.Time) (int64, bool, error) { return 0, false, u.err }

// TestOneSinkOfTwoFails: the failure of one sink stays in the status while another sink
// works, and the log tells its begin and its end once.
func TestOneSinkOfTwoFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		bad := &upkeep{name: "calls", err: errors.New("the disk is full")}
		s, err := collector.New(collector.Settings{Queue: idle{}, Sinks: []analytics.Sink{bad, &upkeep{name: "counters"}}}, newLeases(t), time.Now,
			slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = s.Run(ctx) }()
		for range 20 {
			time.Sleep(16 * time.Minute)
			synctest.Wait()
			if err := s.Status().Trouble; err == nil || err.Error() != "calls: the disk is full" {
				t.Fatal(err)
			}
		}
		bad.err = nil
		time.Sleep(time.Hour)
		synctest.Wait()
		if err := s.Status().Trouble; err != nil {
			t.Error(err)
		}
		cancel()
		synctest.Wait()
		for _, what := range []string{"old analytics cannot be forgotten", "counters of past days cannot be joined"} {
			if n := strings.Count(log.String(), what); n != 2 {
				t.Errorf("%d lines, want one of the begin and one of the end: %s", n, log.String())
			}
		}
	})
}
