package scenarios

import (
	"net/http"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// subscribers is one service with two gateways that subscribe again as slowly as real
// ones may, and a token that is accepted as long as its scope is mapped.
type subscribers struct {
	*service
	redis    *harness.Server
	gateways []*gatewaysim.Gateway
	token    string
}

func newSubscribers(t *testing.T) *subscribers {
	s := &subscribers{redis: harness.NewRedis(t)}
	s.service = serve(t, onSQLite(t.TempDir()).bootstrapping().with(environment{"REDISADDRS": s.redis.Addr()}))
	url := "http://" + s.addr
	for _, host := range []string{"gw-1", "gw-2"} {
		s.gateways = append(s.gateways, startGatewayWith(t, url, s.redis.Addr(), host, slowRedis))
	}
	for _, g := range s.gateways {
		waitFor(t, g, "loaded and subscribed", func(st gatewaysim.State) bool { return st.Ready && st.Subscribed })
	}
	issuer := gatewaysim.NewIssuer()
	t.Cleanup(issuer.Close)
	record := idp{ClientIDPID: sharedIDP, Name: "Shared", Issuer: issuer.URL(), JWKSURI: issuer.JWKSURL()}
	if err := s.api.createIDP(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	s.token = issuer.Sign(map[string]any{"iss": issuer.URL(), "sub": "alice", "scope": "orders:read"})
	s.change(t, ordersPolicy)
	s.follow(t, "before any loss", http.StatusOK)
	return s
}

// change maps the scope of the token to a policy, or to none.
func (s *subscribers) change(t *testing.T, policy any) {
	t.Helper()
	if _, err := s.api.patchMappings(t.Context(), sharedIDP, scopes(ordersAPI, map[string]any{"orders:read": policy})); err != nil {
		t.Fatal(err)
	}
}

// follow waits until every gateway decides by the stored state.
func (s *subscribers) follow(t *testing.T, what string, status int) {
	t.Helper()
	for _, g := range s.gateways {
		waitFor(t, g, what, func(gatewaysim.State) bool { return g.Decide(ordersAPI, s.token).Status == status })
	}
}

// TestLostSubscriptions: only the gateways lose their subscription, and a right is
// removed before they have it back.
func TestLostSubscriptions(t *testing.T) {
	s := newSubscribers(t)
	operator := redis.NewClient(&redis.Options{Addr: s.redis.Addr()})
	t.Cleanup(func() { _ = operator.Close() })
	for round := range 3 {
		status, policy := http.StatusForbidden, any(nil)
		if round%2 == 1 {
			status, policy = http.StatusOK, ordersPolicy
		}
		if err := operator.Do(t.Context(), "CLIENT", "KILL", "TYPE", "pubsub").Err(); err != nil {
			t.Fatal(err)
		}
		for _, g := range s.gateways {
			waitFor(t, g, "loss of the subscription", func(st gatewaysim.State) bool { return !st.Subscribed })
		}
		s.change(t, policy)
		s.follow(t, "after the loss of subscriptions", status)
	}
}

// TestRestartWithoutRedis: a right is removed while Redis is down, and the process dies
// before Redis is back.
func TestRestartWithoutRedis(t *testing.T) {
	s := newSubscribers(t)
	for round := range 2 {
		status, policy := http.StatusForbidden, any(nil)
		if round%2 == 1 {
			status, policy = http.StatusOK, ordersPolicy
		}
		s.redis.Stop(t)
		s.change(t, policy)
		s.process.Kill()
		s.restart(t)
		s.redis.Start(t)
		s.follow(t, "after a crash without Redis", status)
	}
	checkHealthy(t, s.gateways)
}
