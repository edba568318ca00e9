package serve

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/config"
)

// TestGateways: probes and the check of the store report whether the gateways of
// tyk_api_config respond. Strangers do not see their addresses, and no response has the
// secret. Probes call gateways only once in a while.
func TestGateways(t *testing.T) {
	const secret = "hunter2hunter2"
	var asked atomic.Int64
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Header.Get("X-Tyk-Authorization") != secret {
			t.Error("a call without the secret")
		}
		_, _ = io.WriteString(w, `{"keys":[]}`)
	}))
	defer up.Close()
	down := httptest.NewServer(nil)
	down.Close()
	s, report := config.Load(nil, "", []string{"SVC_DB_STORAGE_MAIN_TYPE=memory", "SVC_DB_HOMEDIR=" + t.TempDir(), "SVC_DB_TYKAPI_HOST=" + up.URL + "," + down.URL, "SVC_DB_TYKAPI_SECRET=" + secret}, config.Options{})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	c, err := Compose(t.Context(), s, slog.New(slog.DiscardHandler), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 5 {
		w := httptest.NewRecorder()
		c.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/hello", nil))
		if got := w.Body.String(); w.Code != 200 || !strings.Contains(got, `"gateways":{"status":"warn"`) || !strings.Contains(got, "1 of 2 gateways do not answer") || strings.Contains(got, "127.0.0.1") {
			t.Errorf("%d %s", w.Code, got)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	var out bytes.Buffer
	c.showGateways(t.Context(), &out)
	if got := out.String(); !strings.Contains(got, fmt.Sprintf("gateway %s: answers\ngateway %s: does not answer: ", up.URL, down.URL)) || strings.Contains(got, secret) {
		t.Error(got)
	}
	w := httptest.NewRecorder()
	c.Metrics.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, line := range []string{"gatehouse_gateways_away 1", `gatehouse_operation_duration_seconds_count{operation="gateway/orgkeys.list",status="200"} 2`, `operation="gateway/orgkeys.list",status="0"`} {
		if !strings.Contains(w.Body.String(), line) {
			t.Errorf("no %s", line)
		}
	}
}
