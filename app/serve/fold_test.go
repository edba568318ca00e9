package serve_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/serve"
)

// output is a buffer for several goroutines.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

// lines returns the lines since the last call.
func (o *output) lines() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	text := strings.TrimSpace(o.b.String())
	o.b.Reset()
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// An outage of a minute with a thousand requests a second writes a few lines, the first
// at once, and they have the number of all.
func TestRepeatedLinesAreFolded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out output
		log := serve.NewLogger(&out, config.Log{Level: "info", Format: "json"})
		refuse := func(n int) {
			log.Warn("request failed", "operation", "apis.list", "request_id", fmt.Sprint("r", n), "error", fmt.Sprintf("dial tcp 127.0.0.1:%d: refused", n))
			log.Warn("request", "operation", "apis.list", "status", 503, "duration", time.Duration(n), "request_id", fmt.Sprint("r", n))
		}
		refuse(0)
		if lines := out.lines(); len(lines) != 2 || !strings.Contains(lines[0], "127.0.0.1:0") {
			t.Fatalf("the first lines do not come at once: %q", lines)
		}
		for second := range 60 {
			for n := range 1000 {
				refuse(1000*second + n)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(20 * time.Second)
		lines := out.lines()
		total := 0
		for _, l := range lines {
			var n int
			if _, after, ok := strings.Cut(l, `"repeated":`); ok && strings.Contains(l, `"within":10000000000`) {
				if _, err := fmt.Sscan(strings.Split(after, ",")[0], &n); err != nil {
					t.Fatal(err)
				}
			}
			total += n
		}
		if len(lines) > 14 || total != 120_000 {
			t.Errorf("%d lines tell of %d: %.500q", len(lines), total, lines)
		}
		refuse(7)
		if lines := out.lines(); len(lines) != 2 {
			t.Errorf("after a quiet window the next line comes at once: %q", lines)
		}
	})
}

// Lines that differ, and lines below warnings, are not folded, and memory is bounded.
func TestOtherLinesAreNotFolded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out output
		log := serve.NewLogger(&out, config.Log{Level: "info", Format: "standard"})
		for range 3 {
			log.Info("audit", "operation", "apis.delete", "outcome", "done")
		}
		log.Warn("request", "operation", "a", "status", 503)
		log.Warn("request", "operation", "a", "status", 500)
		log.Warn("request", "operation", "b", "status", 503)
		log.Error("request", "operation", "b", "status", 503)
		log.With("component", "relay").Warn("request", "operation", "b", "status", 503)
		log.WithGroup("g").Warn("request", "operation", "b", "status", 503)
		if lines := out.lines(); len(lines) != 9 {
			t.Errorf("%d lines: %q", len(lines), lines)
		}
		for n := range 5000 {
			log.Warn("w", "n", n)
		}
		if lines := out.lines(); len(lines) != 5000 {
			t.Errorf("%d different lines of 5000", len(lines))
		}
		time.Sleep(time.Minute)
		if lines := out.lines(); len(lines) != 0 {
			t.Errorf("single lines were repeated: %.300q", lines)
		}
		log.Log(t.Context(), slog.LevelWarn, "w", "n", 1)
		if lines := out.lines(); len(lines) != 1 {
			t.Errorf("%q", lines)
		}
	})
}
