package serve

import (
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
)

// TestGatewaysOf: the gateways that users may call include the hosts in the URLs of
// APIs.
func TestGatewaysOf(t *testing.T) {
	for host, want := range map[string]string{"gw.example:8080": "http://gw.example:8080", "https://gw.example": "https://gw.example", "": ""} {
		var have []string
		for _, g := range gatewaysOf(config.Settings{}, servers.Config{Protocol: "http://", DefaultHost: host}) {
			have = append(have, g.URL)
		}
		if (len(have) > 0) != (want != "") || want != "" && !slices.Contains(have, want) {
			t.Errorf("%q: %q", host, have)
		}
	}
}
