package portal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/mail/mailtest"
	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// Secrets of the dashboard and its gateway.
const (
	accessKey = "0123456789abcdef0123456789abcdef"
	secret    = "a-secret-between-them"
)

// shop is a portal whose products use an API of a dashboard, a gateway of that dashboard,
// and a mail server.
type shop struct {
	*world
	gateway string // address
	mails   *mailtest.Server
}

// newShop starts all of it: portal and dashboard in one program, or in two.
func newShop(t testing.TB, mode string) *shop {
	t.Helper()
	var gateway atomic.Pointer[gatewaysim.Gateway]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { gateway.Load().Handler().ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	must(t, err)
	redis, traffic := harness.NewRedis(t).Addr(), filepath.Join(t.TempDir(), "traffic.db")
	dashboard := config.PortalOff
	if mode == config.PortalShared {
		dashboard = mode
	}
	environ := []string{
		"SVC_DB_BOOTSTRAP_EMAIL=" + admin, "SVC_DB_BOOTSTRAP_ACCESSKEY=" + accessKey, "SVC_DB_NODESECRET=" + secret, "SVC_DB_REDISADDRS=" + redis,
		"SVC_DB_TYKAPI_HOST=http://" + at.Hostname(), "SVC_DB_TYKAPI_PORT=" + at.Port(), "SVC_DB_TYKAPI_SECRET=" + secret,
		"SVC_DB_HASHKEYS=true", "SVC_DB_ENABLEHASHEDKEYSLISTING=true", "SVC_DB_ENABLEUPDATEKEYBYHASH=true", "SVC_DB_ENABLEDELETEKEYBYHASH=true",
		"SVC_DB_STORAGE_ANALYTICS_TYPE=sqlite", "SVC_DB_STORAGE_ANALYTICS_CONNECTIONSTRING=" + traffic, "SVC_DB_STORAGE_LOGS_TYPE=sqlite", "SVC_DB_STORAGE_LOGS_CONNECTIONSTRING=" + traffic,
		"SVC_DB_ANALYTICS_COLLECT=true", "SVC_DB_ANALYTICS_COLLECTINTERVAL=100ms",
	}
	s := &shop{world: &world{t: t, at: start(t, dashboard, environ)}, gateway: server.URL, mails: mailtest.Start(t)}
	from := s.at
	if mode != config.PortalShared {
		s.at = start(t, mode, nil)
	}
	s.bootstrap()
	g := gatewaysim.New(gatewaysim.Config{DashboardURL: from, NodeSecret: secret, Secret: secret, HashKeyFunction: "murmur64", Records: true, Redis: gatewaysim.Redis{Addr: redis},
		Intervals: gatewaysim.Intervals{Heartbeat: 100 * time.Millisecond, Tick: 50 * time.Millisecond, RedisRetry: 50 * time.Millisecond}})
	gateway.Store(g)
	must(t, g.Start(context.WithoutCancel(t.Context())))
	t.Cleanup(g.Kill)
	s.sell(from)
	must(t, g.WaitFor(t.Context(), func(st gatewaysim.State) bool { return st.Ready && len(st.APIs) == 1 && len(st.Policies) == 2 }))
	return s
}

// sell creates an API, and a product with a plan that requires approval.
func (s *shop) sell(dashboard string) {
	s.t.Helper()
	(&world{t: s.t, at: dashboard}).dashboardAPI("pay")
	mails, err := url.Parse("smtp://" + s.mails.Address())
	must(s.t, err)
	s.api("PUT", "/settings", object{"SMTPHost": mails.Hostname(), "SMTPPort": json.Number(mails.Port()), "EmailFrom": "portal@example.com"})
	where, err := json.Marshal(object{"URL": dashboard, "Secret": accessKey})
	must(s.t, err)
	s.api("POST", "/providers", object{"Name": "Ours", "Configuration": object{"MetaData": string(where)}})
	s.api("POST", "/products", object{"Name": "payments", "DisplayName": "Payments", "Path": "payments", "Description": "Take payments, and give refunds within a day.", "ProviderID": 1, "Catalogues": []int{1}, "APIDetails": []object{{"APIID": "pay"}}})
	s.describe("/products/1/api-details/pay/oas", payments)
	s.api("POST", "/plans", object{"Name": "Business", "ProviderID": 1, "RateLimit": 100, "Per": 1, "Quota": -1, "Catalogues": []int{1}})
}

// call calls the gateway with a key and returns the status.
func (s *shop) call(key string) int {
	s.t.Helper()
	status, _ := fetch(s.t, "GET", s.gateway+"/pay/payments", key, nil)
	return status
}

// mailed waits for a mail to an address.
func (s *shop) mailed(to, text string) {
	s.t.Helper()
	for {
		if m := s.mails.Next(s.t); m.To == to && bytes.Contains([]byte(m.Text), []byte(text)) {
			return
		}
	}
}

// fetch sends a request with a credential.
func fetch(t testing.TB, method, at, credential string, body []byte) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, at, bytes.NewReader(body))
	must(t, err)
	req.Header.Set("Authorization", credential)
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp.StatusCode, string(text)
}
