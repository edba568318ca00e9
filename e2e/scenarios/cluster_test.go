package scenarios

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// cluster is three replicas on one database and one Redis, behind a balancer.
type cluster struct {
	replicas []*service
	balancer *harness.Balancer
	gateways []*gatewaysim.Gateway
}

func newCluster(t *testing.T, dsn, redisAddr string) *cluster {
	t.Helper()
	env := onPostgres("", dsn).bootstrapping().with(environment{"REDISADDRS": redisAddr, "LIMITS_REQUESTTIMEOUT": "10s"})
	c := &cluster{replicas: launchAll(t, 3, env)}
	c.balancer = harness.NewBalancer(t, addresses(c.replicas)...)
	c.gateways = startGateways(t, c.balancer.URL(), redisAddr, "gw-1", "gw-2")
	return c
}

// TestCluster: what an administrator stores on one replica is at once on the others and
// soon at every gateway.
func TestCluster(t *testing.T) {
	redisAddr := harness.NewRedis(t).Addr()
	c := newCluster(t, harness.Database(t), redisAddr)
	t.Run("one bootstrap", c.testBootstrap)
	t.Run("gateways follow", func(t *testing.T) { c.testGateways(t, "tenant-idp-1") })
	ctx, cancel := context.WithCancel(t.Context())
	reloading := reloadAll(ctx, c.gateways)
	t.Run("read on another replica", c.testReadElsewhere)
	t.Run("one API per address", c.testAddresses)
	t.Run("gateways follow while reloading", func(t *testing.T) { c.testGateways(t, "tenant-idp-2") })
	t.Run("nodes are listed", c.testNodes)
	t.Run("one announcement per write", func(t *testing.T) { c.testAnnouncements(t, listen(t, redisAddr)) })
	cancel()
	reloading()
	checkHealthy(t, c.gateways)
}

// Three replicas that start at once create one organisation.
func (c *cluster) testBootstrap(t *testing.T) {
	for _, s := range c.replicas {
		var list struct {
			Organisations []struct {
				ID string `json:"id"`
			} `json:"organisations"`
		}
		if err := s.admin.call(t.Context(), http.MethodGet, "/admin/organisations?p=-1", nil, &list); err != nil {
			t.Fatal(err)
		}
		if len(list.Organisations) != 1 || list.Organisations[0].ID != orgID {
			t.Errorf("organisations on %s: %+v", s.addr, list.Organisations)
		}
	}
}

// A write is visible on every replica as soon as it is acknowledged, every time.
func (c *cluster) testReadElsewhere(t *testing.T) {
	ctx, began := t.Context(), time.Now()
	const repetitions = 50
	for i := range repetitions {
		id, scope := fmt.Sprintf("idp-%d", i), fmt.Sprintf("read:%d", i)
		to := c.replicas[i%3]
		if err := to.api.createIDP(ctx, idp{ClientIDPID: id, Name: id, JWKSURI: "https://idp.example.com/jwks.json"}); err != nil {
			t.Fatal(err)
		}
		for _, from := range []*service{c.replicas[(i+1)%3], c.replicas[(i+2)%3]} {
			if p, err := from.api.idp(ctx, id); err != nil || p.OrgID != orgID {
				t.Errorf("created on %s, read on %s: %+v, %v", to.addr, from.addr, p, err)
			}
		}
		if _, err := to.api.putMapping(ctx, id, "billing", mapping{map[string]string{scope: "p"}}); err != nil {
			t.Fatal(err)
		}
		for _, from := range []*service{c.replicas[(i+1)%3], c.replicas[(i+2)%3]} {
			if m, err := from.api.mapping(ctx, id, "billing"); err != nil || m.ScopeToPolicy[scope] != "p" {
				t.Errorf("mapped on %s, read on %s: %+v, %v", to.addr, from.addr, m, err)
			}
		}
	}
	t.Logf("%d creations, %d upserts and %d reads elsewhere in %v", repetitions, repetitions, 4*repetitions, time.Since(began).Round(time.Millisecond))
}

// Every gateway accepts a token soon after its scope is mapped, and refuses it soon
// after the mapping is removed.
func (c *cluster) testGateways(t *testing.T, id string) {
	ctx := t.Context()
	issuer := gatewaysim.NewIssuer()
	t.Cleanup(issuer.Close)
	record := idp{ClientIDPID: id, Name: "Tenant", Issuer: issuer.URL(), JWKSURI: issuer.JWKSURL(),
		APIMappings: map[string]mapping{ordersAPI: {map[string]string{"orders:none": "another-policy"}}}}
	if err := c.replicas[0].api.createIDP(ctx, record); err != nil {
		t.Fatal(err)
	}
	token := issuer.Sign(map[string]any{"iss": issuer.URL(), "sub": "alice", "scope": "orders:read"})
	var grants, revocations []time.Duration
	for i := range 6 {
		for _, step := range []struct {
			policy any
			status int
			took   *[]time.Duration
		}{{ordersPolicy, http.StatusOK, &grants}, {nil, http.StatusForbidden, &revocations}} {
			change := scopes(ordersAPI, map[string]any{"orders:read": step.policy})
			if _, err := c.replicas[i%3].api.patchMappings(ctx, id, change); err != nil {
				t.Fatal(err)
			}
			acknowledged := time.Now()
			for _, g := range c.gateways {
				waitFor(t, g, fmt.Sprintf("decision %d", step.status), func(gatewaysim.State) bool {
					return g.Decide(ordersAPI, token).Status == step.status
				})
			}
			*step.took = append(*step.took, time.Since(acknowledged).Round(time.Millisecond))
		}
	}
	t.Logf("from the acknowledgement until both gateways accept: %v, until both refuse: %v", grants, revocations)
}

// Every replica lists every gateway, whichever replica the gateway has called.
func (c *cluster) testNodes(t *testing.T) {
	for _, s := range c.replicas {
		until(t, gatewayLimit, "both gateways listed on "+s.addr, func() error {
			hosts, err := s.api.liveNodes(t.Context())
			if err == nil && hosts != "gw-1 gw-2" && hosts != "gw-2 gw-1" {
				err = fmt.Errorf("listed: %q", hosts)
			}
			return err
		})
	}
}

// Every successful write is announced exactly once, and a refused one never.
func (c *cluster) testAnnouncements(t *testing.T, messages <-chan *redis.Message) {
	ctx := t.Context()
	write := func(i int, method, path string, body any, want int) {
		t.Helper()
		err := c.replicas[i%3].api.call(ctx, method, path, body, nil)
		if got := statusOf(err); got != want {
			t.Fatalf("%s %s: %v, want %d", method, path, err, want)
		}
	}
	record := func(id string) idp {
		return idp{ClientIDPID: id, Name: id, JWKSURI: "https://idp.example.com/jwks.json"}
	}
	const id = "counted"
	write(0, http.MethodPost, clientIDPs, record(id), http.StatusOK)
	write(1, http.MethodPut, idpPath(id), record(id), http.StatusOK)
	for i := range 8 {
		api := fmt.Sprintf("api-%d", i)
		write(i, http.MethodPut, mappingPath(id, api), mapping{map[string]string{"read": "p"}}, http.StatusOK)
		write(i+1, http.MethodPatch, idpPath(id)+"/mappings", scopes(api, map[string]any{"write": "q"}), http.StatusOK)
		write(i, http.MethodPut, mappingPath(id, api), []string{"refused"}, http.StatusBadRequest)
		write(i+1, http.MethodPatch, idpPath(id)+"/mappings", patch{api: 7}, http.StatusBadRequest)
		write(i+2, http.MethodPost, clientIDPs, record(id), http.StatusConflict)
	}
	write(2, http.MethodDelete, mappingPath(id, "api-0"), nil, http.StatusOK)
	write(0, http.MethodDelete, mappingPath(id, "api-0"), nil, http.StatusNotFound)
	write(1, http.MethodDelete, idpPath(id), nil, http.StatusOK)
	write(2, http.MethodDelete, idpPath(id), nil, http.StatusNotFound)
	write(2, http.MethodPost, clientIDPs, record("marker"), http.StatusOK)
	count := countUntil(t, messages, "marker")
	if len(count) != 1 || count[id] != 20 {
		t.Errorf("20 writes, announced: %v", count)
	}
	write(0, http.MethodPost, clientIDPs, record("last"), http.StatusOK)
	if late := countUntil(t, messages, "last"); len(late) != 0 {
		t.Errorf("announced again: %v", late)
	}
}
