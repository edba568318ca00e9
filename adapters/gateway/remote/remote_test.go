// Package remote_test tests the adapter against simulated gateways.
package remote_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	fetching "github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/adapters/gateway/remote"
	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	"github.com/gatehouse-io/gatehouse/ports/gateway/gatewaytest"
)

const secret = "control-secret-1"

// installation is several gateways that share a store.
type installation struct {
	gateways []*gatewaysim.Gateway
	urls     []string
	store    *gatewaysim.Store
}

// start starts gateways that have the APIs and policies of the suite.
func start(t *testing.T, n int, adjust func(*gatewaysim.Config)) installation {
	t.Helper()
	plane := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		message := "null"
		if r.URL.Path == "/register/node" {
			message = `{"NodeID":"node-1"}`
		}
		fmt.Fprintf(w, `{"Status":"OK","Message":%s,"Nonce":"n"}`, message)
	}))
	t.Cleanup(plane.Close)
	in := installation{store: &gatewaysim.Store{}}
	for range n {
		c := gatewaysim.Config{DashboardURL: plane.URL, NodeSecret: "n", Secret: secret, Store: in.store, HashKeyFunction: "murmur64"}
		for _, a := range gatewaytest.APIs {
			c.LocalAPIs = append(c.LocalAPIs, definition(a))
		}
		for _, p := range gatewaytest.Policies {
			c.LocalPolicies = append(c.LocalPolicies, json.RawMessage(p))
		}
		if adjust != nil {
			adjust(&c)
		}
		g := gatewaysim.New(c)
		if err := g.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(g.Kill)
		if err := g.WaitFor(t.Context(), func(s gatewaysim.State) bool { return s.Ready }); err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(g.Handler())
		t.Cleanup(server.Close)
		in.gateways, in.urls = append(in.gateways, g), append(in.urls, server.URL)
	}
	return in
}

func definition(a gatewaytest.API) json.RawMessage {
	text, _ := json.Marshal(map[string]any{
		"api_id": a.ID, "name": a.Name, "org_id": a.Org, "use_standard_auth": true,
		"proxy":        map[string]any{"listen_path": a.ListenPath, "target_url": "http://127.0.0.1:9/"},
		"version_data": map[string]any{"not_versioned": true, "versions": map[string]any{"Default": map[string]any{"name": "Default"}}},
	})
	return text
}

// client returns a client of the installation.
func (in installation) client(adjust func(*remote.Config)) *remote.Client {
	c := remote.Config{URLs: in.urls, Secret: secret, Timeout: 5 * time.Second}
	if adjust != nil {
		adjust(&c)
	}
	return remote.New(fetching.New(fetching.Config{MaxBytes: 1 << 20}), c)
}

// call sends a request to an API as a client of it does.
func call(t *testing.T, url, key string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", key)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// forms are gateways with every setting that changes the names of keys.
var forms = map[string]struct {
	gateways  int
	function  string
	plainKeys bool
}{
	"murmur64": {1, "murmur64", false}, "murmur128": {1, "murmur128", false}, "sha256": {1, "sha256", false}, "murmur32": {1, "murmur32", false},
	"the oldest form": {1, "", false}, "keys in clear": {1, "murmur64", true}, "the oldest form in clear": {1, "", true}, "three gateways": {3, "murmur64", false},
}

func TestKeys(t *testing.T) {
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gatewaytest.RunKeys(t, func(t *testing.T) gatewaytest.World { return world(t, form.gateways, form.function, form.plainKeys) })
		})
	}
}

func TestClients(t *testing.T) {
	gatewaytest.RunClients(t, func(t *testing.T) gatewaytest.World { return world(t, 2, "murmur64", false) })
}

func TestCertificates(t *testing.T) {
	gatewaytest.RunCertificates(t, func(t *testing.T) gatewaytest.World { return world(t, 2, "murmur64", false) })
}

func TestInstallation(t *testing.T) {
	gatewaytest.RunInstallation(t, func(t *testing.T) gatewaytest.World { return world(t, 2, "murmur64", false) })
}

func world(t *testing.T, n int, function string, plain bool) gatewaytest.World {
	in := start(t, n, func(c *gatewaysim.Config) { c.HashKeyFunction, c.PlainKeys = function, plain })
	closed := httptest.NewServer(nil)
	closed.Close()
	return gatewaytest.World{
		Control: in.client(nil).Control(),
		Away:    in.client(func(c *remote.Config) { c.URLs = []string{closed.URL} }).Control(),
		Org:     gatewaytest.Org, Other: gatewaytest.Other,
		Spend: func(t *testing.T, key string) {
			if status := call(t, slices.Concat(in.urls, in.urls)[1]+"/orders/", key); status != http.StatusOK {
				t.Errorf("a call is answered %d", status)
			}
		},
	}
}
