package openapi

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	port "github.com/gatehouse-io/gatehouse/ports/openapi"
)

// TestOrderOfProblems checks that problems are in the order of the document, the same at
// every call, whichever of them an answer names.
func TestOrderOfProblems(t *testing.T) {
	const text = `{"openapi":"3.0.3","info":{"version":7,"title":8},"zebra":1,"apple":1,"paths":{"/z":{"get":{"operationId":1}},"/a":{"get":{"operationId":2}}},
		"x-tyk-api-gateway":{"upstream":{"url":5},"server":{"port":"x","listenPath":{"strip":"y","value":9}},"info":{"state":{"active":"no"},"name":1}},
		"tags":[{"name":3},{"name":4}]}`
	want := ": has unknown members: apple, zebra, info.version: , info.title: , paths./z.get: lacks responses, paths./z.get.operationId: , " +
		"paths./a.get: lacks responses, paths./a.get.operationId: , x-tyk-api-gateway.upstream.url: , x-tyk-api-gateway.server.port: , " +
		"x-tyk-api-gateway.server.listenPath.strip: , x-tyk-api-gateway.server.listenPath.value: , x-tyk-api-gateway.info.state.active: , x-tyk-api-gateway.info.name: , tags.0.name: , tags.1.name: "
	d := doctest.Node(t, text)
	v := New()
	for range 20 {
		var got []string
		for _, p := range v.form(d, port.Options{Variant: port.OAS}) {
			if strings.HasPrefix(p.Message, "is ") {
				p.Message = ""
			}
			got = append(got, p.Field+": "+p.Message)
		}
		if all := strings.Join(got, ", "); all != want {
			t.Fatalf("%s\nwant %s", all, want)
		}
	}
}
