// Package gatewaytest is the test suite that every gateway.Control passes.
package gatewaytest

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

// World is an installation with nothing stored in its gateways yet. Org has the APIs
// orders (tokens) and claims (tokens), and the policies of Policies, which gateways have
// loaded; Other has the API elsewhere and the policy theirs.
type World struct {
	gateway.Control
	Away       gateway.Control // of the same installation, but the gateways do not respond
	Org, Other tenant.ID
	// Spend makes a call to the API orders with a key. It is nil where no calls pass.
	Spend func(t *testing.T, key string)
}

// The organisations of a World.
const (
	Org   tenant.ID = "5e9d9544a1dcd60001d0ed20"
	Other tenant.ID = "5e9d9544a1dcd60001d0ed21"
)

// Policies are the policies of a World. All are documents of organisation Org except the last.
var Policies = []string{
	`{"_id":"60a1c0d58e3b2a1f00000001","id":"gold","name":"Gold","org_id":"` + string(Org) + `","rate":100,"per":60,"quota_max":5,"quota_renewal_rate":3600,"active":true,"state":"active","access_rights":{"orders":{"api_id":"orders","api_name":"Orders","versions":["Default"]}}}`,
	`{"_id":"60a1c0d58e3b2a1f00000002","id":"silver","name":"Silver","org_id":"` + string(Org) + `","rate":10,"per":60,"quota_max":-1,"quota_renewal_rate":-1,"active":true,"state":"active","access_rights":{"claims":{"api_id":"claims","api_name":"Claims","versions":["Default"]}}}`,
	`{"_id":"60a1c0d58e3b2a1f00000003","id":"theirs","name":"Theirs","org_id":"` + string(Other) + `","rate":10,"per":60,"quota_max":-1,"quota_renewal_rate":-1,"active":true,"state":"active","access_rights":{"elsewhere":{"api_id":"elsewhere","api_name":"Elsewhere","versions":["Default"]}}}`,
}

// API is one of the APIs of a World.
type API struct {
	ID, Name, ListenPath string
	Org                  tenant.ID
}

// APIs are the APIs of a World. All of them require a token.
var APIs = []API{
	{"orders", "Orders", "/orders/", Org}, {"claims", "Claims", "/claims/", Org}, {"elsewhere", "Elsewhere", "/elsewhere/", Other},
}

// RunKeys runs the tests of keys. open makes a new world.
func RunKeys(t *testing.T, open func(t *testing.T) World) {
	run(t, open, map[string]func(*testing.T, World){
		"a life": life, "absence": absence, "a repeated create": again, "generated keys": generated, "other organisations": foreign,
		"one name in two organisations": namesakes, "lists": lists, "policies": policies, "refusals": refusals, "previews": previews,
		"basic-auth users": users, "HMAC secrets": hmac, "keys with slashes": slashes, "keys of certificates": certificateKeys, "bindings to certificates": bindings, "expiry": expiry, "counters": counters,
		"no gateway": keysAway, "an ended call": ended,
	})
}

func run(t *testing.T, open func(t *testing.T) World, tests map[string]func(*testing.T, World)) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}
