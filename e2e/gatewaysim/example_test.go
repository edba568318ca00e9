package gatewaysim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
)

// A gateway under a control plane that serves no APIs yet: a local API and a local
// policy make its registry testable.
func Example() {
	issuer := gatewaysim.NewIssuer()
	defer issuer.Close()

	// The control plane under test; here three answers.
	controlPlane := http.NewServeMux()
	controlPlane.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"Status":"OK","Message":null,"Nonce":"n"}`)
	})
	controlPlane.HandleFunc("/register/node", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"Status":"OK","Message":{"NodeID":"node-1"},"Nonce":"n"}`)
	})
	controlPlane.HandleFunc("/system/clientidps", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"Status":"OK","Nonce":"n","Message":[{"client_idp_id":"idp","issuer":%q,"jwks_uri":%q,
			"api_mappings":{"orders":{"scope_to_policy":{"orders:read":"reader"}}}}]}`, issuer.URL(), issuer.JWKSURL())
	})
	server := httptest.NewServer(controlPlane)
	defer server.Close()

	gateway := gatewaysim.New(gatewaysim.Config{
		DashboardURL: server.URL,
		NodeSecret:   "node-secret",
		LocalAPIs: []json.RawMessage{[]byte(`{"api_id":"orders","org_id":"o1","enable_jwt":true,
			"jwt_signing_method":"rsa","proxy":{"listen_path":"/orders/","target_url":"http://127.0.0.1:9"},
			"version_data":{"not_versioned":true,"versions":{"Default":{}}}}`)},
		LocalPolicies: []json.RawMessage{[]byte(`{"id":"reader","org_id":"o1"}`)},
	})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := gateway.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	err := gateway.WaitFor(ctx, func(s gatewaysim.State) bool { return s.Ready && len(s.IdPs) == 1 })
	fmt.Println("loaded:", err == nil)

	token := issuer.Sign(map[string]any{"iss": issuer.URL(), "sub": "alice", "scope": "orders:read"})
	fmt.Println(gateway.Decide("orders", token))
	fmt.Println(gateway.Decide("orders", issuer.Sign(map[string]any{"iss": "https://elsewhere", "sub": "alice"})))
	fmt.Println("stopped:", gateway.Stop(ctx) == nil)
	// Output:
	// loaded: true
	// {200  [reader] alice}
	// {403 Key not authorized [] }
	// stopped: true
}
