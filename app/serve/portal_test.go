package serve

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/portal/webhooks"
	"github.com/gatehouse-io/gatehouse/core/portal/webhook"
)

// TestIncompleteBucket: a bucket without keys is refused, with a message.
func TestIncompleteBucket(t *testing.T) {
	s, report := config.Load(nil, "", []string{"SVC_DB_STORAGE_MAIN_TYPE=memory", "SVC_DB_HOMEDIR=" + t.TempDir()}, config.Options{})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	s.Portal.Serve, s.Portal.Storage = config.PortalShared, config.FilesInBucket
	s.Portal.S3.Bucket, s.Portal.S3.Endpoint = "files", "http://127.0.0.1:1"
	c, err := Compose(t.Context(), s, slog.New(slog.DiscardHandler), "test")
	if err == nil || !strings.Contains(err.Error(), "S3") {
		t.Error(c, err)
	}
}

// TestPortalWithoutAddress: a portal without a URL for links logs a warning at start;
// commands beside it do not.
func TestPortalWithoutAddress(t *testing.T) {
	for name, c := range map[string]struct {
		mode, url string
		purpose   Purpose
		want      bool
	}{
		"none": {config.PortalShared, "", Purpose{}, true}, "one": {config.PortalShared, "https://portal.example", Purpose{}, false},
		"beside": {config.PortalShared, "", Purpose{Beside: true}, false}, "no portal": {config.PortalOff, "", Purpose{}, false},
	} {
		s := portalSettings(t, c.mode)
		s.Portal.URL = c.url
		var log strings.Builder
		if _, err := (&Composition{}).portal(s, slog.New(slog.NewTextHandler(&log, nil)), c.purpose); err != nil || strings.Contains(log.String(), "portal.url is not set") != c.want {
			t.Errorf("%s: %v %s", name, err, log.String())
		}
	}
}

// TestWebhookLimit: the timeout of webhooks has the same limit when deliveries are off.
func TestWebhookLimit(t *testing.T) {
	for disable, calls := range map[string]bool{"false": true, "true": false} {
		own := webhooksOf(portalSettings(t, config.PortalOwn, "SVC_PORTAL_WEBHOOKS_DISABLE="+disable, "SVC_PORTAL_WEBHOOKS_DISPATCH_TIMEOUT=12"))
		var w webhook.Webhook
		webhooks.New(webhooks.Config{Settings: own}).Resource().Begin(&w, 0)
		if w.Longest != 12 || (own.Deliveries.Fetcher != nil) != calls {
			t.Errorf("disabled %s: at most %d s, %+v", disable, w.Longest, own)
		}
	}
}

// TestPortalListeners states at which listeners the portal is served. A portal alone, whose
// organisations are in dashboards elsewhere, does not warn that there is no organisation.
func TestPortalListeners(t *testing.T) {
	for mode, want := range map[string]map[string]int{ // listener and path
		config.PortalOff:    {"0/live": 404, "0/portal-api/tags": 404, "0/hello": 200},
		config.PortalOwn:    {"0/live": 404, "0/hello": 200, "1/live": 200, "1/portal-api/tags": 503, "1/hello": 503},
		config.PortalShared: {"0/live": 200, "0/portal-api/tags": 503, "0/hello": 200},
		config.PortalAlone:  {"0/live": 200, "0/portal-api/tags": 503, "0/hello": 503},
	} {
		t.Run(mode, func(t *testing.T) {
			s, report := config.Load(nil, "", []string{"SVC_DB_STORAGE_MAIN_TYPE=memory", "SVC_DB_HOMEDIR=" + t.TempDir(), "SVC_DB_SHUTDOWN_GRACEPERIOD=0s",
				"SVC_DB_LISTENPORT=0", "SVC_DB_LISTENADDRESS=127.0.0.1"}, config.Options{})
			if err := report.Err(); err != nil {
				t.Fatal(err)
			}
			s.Portal.Serve = mode
			l, err := openSockets(t.Context(), s, nil)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(l.all()); n != 1 && mode != config.PortalOwn || n > 2 {
				t.Fatalf("%d sockets", n)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var log strings.Builder
			if err := run(ctx, s, slog.New(slog.NewTextHandler(&log, nil)), "test", l, func() {
				defer cancel()
				for at, status := range want {
					have, text := ask(t, l.all()[at[0]-'0'].Addr(), at[1:])
					if have != status || strings.Contains(at, "portal-api") && status == 503 && !strings.Contains(text, "portal is not bootstrapped") {
						t.Errorf("%s: %d %s", at, have, text)
					}
				}
			}); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(log.String(), "no organisation yet") != (mode != config.PortalAlone) {
				t.Error(log.String())
			}
		})
	}
}

func ask(t *testing.T, at net.Addr, path string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at.String()+path, nil)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp.StatusCode, string(text)
}
