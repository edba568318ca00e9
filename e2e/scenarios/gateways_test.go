package scenarios

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
)

// The API and the policy that every test gateway has loaded.
const (
	ordersAPI    = "orders"
	ordersPolicy = "orders-reader"
)

// gatewayLimit is how long a gateway may take to load a change.
const gatewayLimit = 15 * time.Second

// startGateways starts gateways with these host names and waits until each has loaded
// and is subscribed.
func startGateways(t *testing.T, url, redis string, hosts ...string) []*gatewaysim.Gateway {
	t.Helper()
	var all []*gatewaysim.Gateway
	for _, host := range hosts {
		all = append(all, startGateway(t, url, redis, host))
	}
	for i, g := range all {
		waitFor(t, g, hosts[i]+" loaded and subscribed", func(s gatewaysim.State) bool { return s.Ready && s.Subscribed })
	}
	return all
}

// startGateway starts a gateway with one local API and one local policy. It subscribes
// to announcements unless redis is empty.
func startGateway(t *testing.T, url, redis, host string) *gatewaysim.Gateway {
	t.Helper()
	return startGatewayWith(t, url, redis, host, haste)
}

// haste are the intervals of gateways in most tests. A real gateway reloads at most
// once a second; shorter intervals make calls overlap more often.
var haste = gatewaysim.Intervals{Heartbeat: 200 * time.Millisecond, Probe: 300 * time.Millisecond, Retry: 200 * time.Millisecond,
	Tick: 50 * time.Millisecond, RedisRetry: 50 * time.Millisecond}

// slowRedis is haste with a slow renewal of the subscription.
var slowRedis = func() gatewaysim.Intervals { i := haste; i.RedisRetry = 2 * time.Second; return i }()

func startGatewayWith(t *testing.T, url, redis, host string, intervals gatewaysim.Intervals) *gatewaysim.Gateway {
	t.Helper()
	g := gatewaysim.New(gatewaysim.Config{
		DashboardURL: url, NodeSecret: nodeSecret, Hostname: host, Redis: gatewaysim.Redis{Addr: redis},
		LocalAPIs: []json.RawMessage{fmt.Appendf(nil, `{"api_id":%q,"org_id":%q,"enable_jwt":true,"jwt_signing_method":"rsa",
			"proxy":{"listen_path":"/orders/","target_url":"http://127.0.0.1:9"},
			"version_data":{"not_versioned":true,"versions":{"Default":{}}}}`, ordersAPI, orgID)},
		LocalPolicies: []json.RawMessage{fmt.Appendf(nil, `{"id":%q,"org_id":%q}`, ordersPolicy, orgID)},
		Intervals:     intervals,
	})
	if err := g.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Kill)
	return g
}

func waitFor(t *testing.T, g *gatewaysim.Gateway, what string, cond func(gatewaysim.State) bool) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), gatewayLimit)
	defer cancel()
	began := time.Now()
	if err := g.WaitFor(ctx, cond); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return time.Since(began)
}

// reloadAll keeps gateways reloading until ctx ends: the next reload is requested as
// soon as the last one is done.
func reloadAll(ctx context.Context, gateways []*gatewaysim.Gateway) (wait func()) {
	done := make(chan struct{})
	for _, g := range gateways {
		go func() {
			defer func() { done <- struct{}{} }()
			for ctx.Err() == nil {
				before := g.State().Reloads
				g.Reload()
				_ = g.WaitFor(ctx, func(s gatewaysim.State) bool { return s.Reloads > before }) // ends with ctx
			}
		}()
	}
	return func() {
		for range gateways {
			<-done
		}
	}
}

// checkHealthy fails the test for a gateway that stopped loading or was refused.
func checkHealthy(t *testing.T, gateways []*gatewaysim.Gateway) {
	t.Helper()
	for i, g := range gateways {
		s := g.State()
		if s.Wedged != "" || s.Crashed != "" {
			t.Errorf("gateway %d: wedged %q, crashed %q; last error %s", i+1, s.Wedged, s.Crashed, s.LastError)
		}
		for r, n := range g.Requests() {
			if r.Status == http.StatusForbidden {
				t.Errorf("gateway %d: %s was answered 403 %d times", i+1, r.Path, n)
			}
		}
		t.Logf("gateway %d: %d reloads, %d registry refreshes, %d heartbeats, requests %v", i+1, s.Reloads, s.IdPRefreshes, s.Heartbeats, g.Requests())
	}
}

// sameBinding returns how a gateway's view of a provider differs from the record.
func sameBinding(g *gatewaysim.Gateway, want idp) error {
	for _, b := range g.Bindings(ordersAPI) {
		if b.IdP != want.ClientIDPID {
			continue
		}
		if b.Issuer != want.Issuer || b.JWKSURI != want.JWKSURI || !maps.Equal(b.ScopeToPolicy, want.APIMappings[ordersAPI].ScopeToPolicy) {
			return fmt.Errorf("the gateway has %+v, the record says %+v", b, want)
		}
		return nil
	}
	return errors.New("the gateway does not have " + want.ClientIDPID)
}

// liveNodes returns the list of nodes of a replica.
func (c *client) liveNodes(ctx context.Context) (hosts string, err error) {
	var list struct {
		Nodes []struct {
			Hostname string `json:"hostname"`
		} `json:"nodes"`
	}
	err = c.call(ctx, http.MethodGet, "/api/system/nodes", nil, &list)
	for _, n := range list.Nodes {
		hosts += n.Hostname + " "
	}
	return strings.TrimSpace(hosts), err
}
