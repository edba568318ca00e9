package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/config"
)

// TestServing: announcements wait until requests are answered, which is after all
// that a start has to do.
func TestServing(t *testing.T) {
	s, report := config.Load(nil, "", []string{"SVC_DB_STORAGE_MAIN_TYPE=memory", "SVC_DB_HOMEDIR=" + t.TempDir(), "SVC_DB_SHUTDOWN_GRACEPERIOD=0s"}, config.Options{})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	c, err := Compose(t.Context(), s, log, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.serving(); !errors.Is(err, errNotServing) {
		t.Errorf("before anything is served: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := c.serve(ctx, s, log, &sockets{main: l}, security{}, func() {
		if err := c.serving(); err != nil {
			t.Error(err)
		}
		cancel()
	}); err != nil {
		t.Fatal(err)
	}
}
