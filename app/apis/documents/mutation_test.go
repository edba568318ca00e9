package documents_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
	definition "github.com/gatehouse-io/gatehouse/core/api/classic"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

const rich = `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"servers":[{"url":"http://u"}],"security":[{"key":[]}],
"components":{"securitySchemes":{"key":{"type":"apiKey","in":"header","name":"X-Key"},"jwt":{"type":"http","scheme":"bearer","bearerFormat":"JWT"}}},
"paths":{"/a/{id}":{"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"get":{"operationId":"a","responses":{"200":{"description":"ok"}}}}},
"x-tyk-streaming":{"streams":{"s":{"input":{"http_server":{"path":"/in"}},"output":{"http_server":{"ws_path":"/out"}}}}},
"x-tyk-api-gateway":{"info":{"name":"N","id":"x","state":{"active":true,"internal":false},"expiration":"2030-01-01 00:00","versioning":{"enabled":true,"name":"v1","default":"self","location":"header","key":"k","versions":[{"name":"v2","id":"y"}]}},
"upstream":{"url":"http://u","enforceTimeout":{"enabled":true,"duration":"1.5s"},"rateLimit":{"enabled":true,"rate":10,"per":"60s"},"loadBalancing":{"enabled":false,"targets":[{"url":"http://a","weight":1}]}},
"server":{"listenPath":{"value":"/x/","strip":true},"gatewayTags":{"enabled":true,"tags":["a"]},"customDomain":{"enabled":true,"name":"d.example","certificates":[]},"port":8080,
"authentication":{"enabled":true,"securitySchemes":{"key":{"enabled":true,"header":{"enabled":true,"name":"X-Key"}},"jwt":{"enabled":true,"source":"aHR0cHM6Ly9h","signingMethod":"rsa","scopes":{"scopeToPolicyMapping":[{"scope":"s","policyId":"p"}]}}}},
"eventHandlers":[{"enabled":true,"id":"e","name":"n","trigger":"QuotaExceeded","type":"webhook","url":"http://w","method":"POST","cooldownPeriod":"5s"}]},
"middleware":{"global":{"cors":{"enabled":true,"maxAge":10,"allowedOrigins":["*"]},"pluginConfig":{"data":{"enabled":true,"value":{"a":1}}}},
"operations":{"a":{"allow":{"enabled":true},"enforceTimeout":{"enabled":true,"duration":"500ms"},"cache":{"enabled":true,"timeout":5,"cacheResponseCodes":[200]},"rateLimit":{"enabled":true,"rate":1,"per":"1s"}}}}}}`

// nodes returns a tree and all nodes in it.
func nodes(n *doc.Node) []*doc.Node {
	out := []*doc.Node{n}
	for _, v := range n.Members() {
		out = append(out, nodes(v)...)
	}
	for _, v := range n.Items() {
		out = append(out, nodes(v)...)
	}
	return out
}

// damage replaces a random node of a tree by something else.
func damage(r *rand.Rand, n *doc.Node) {
	all := nodes(n)
	at := all[r.IntN(len(all))]
	other, err := doc.ParseNode([]byte(stray(r, 2)))
	if err != nil {
		panic(err)
	}
	switch names := at.Names(); {
	case len(names) > 0 && r.IntN(3) == 0:
		at.Delete(names[r.IntN(len(names))])
	case len(names) > 0:
		at.Set(names[r.IntN(len(names))], other)
	case at.Is(doc.TypeArray):
		at.Append(other)
	}
}

// A wrong value anywhere is refused or harmless: stored documents always have the types
// that gateways decode.
func TestDamagedDocuments(t *testing.T) {
	w := apistest.New(t, apis.Settings{Streams: true})
	w.Done("admin", "POST", "/apis/streams", rich)
	_, text := w.Stored("x")
	stored := doctest.Node(t, text)
	wrapper := doc.NewObject()
	wrapper.Set("api_definition", stored.Get("api_definition").Clone())
	wrapper.Get("api_definition").Set("is_oas", doc.NewBool(false))
	w.Done("admin", "DELETE", "/apis/x", "")
	plain, err := doc.ParseNode([]byte(rich))
	if err != nil {
		t.Fatal(err)
	}
	r, stores := rand.New(rand.NewPCG(7, 7)), 0
	for range 400 {
		for _, door := range []struct {
			path string
			body *doc.Node
		}{{"/apis", wrapper}, {"/apis/oas", plain}, {"/apis/streams", plain}, {"/mcps", plain}} {
			body := door.body.Clone()
			damage(r, body)
			got := w.Ask("admin", "POST", door.path+"?accept_additional_properties=true", string(body.JSON()))
			if got.Code >= 500 {
				t.Fatalf("%s: %d %s\n%s", door.path, got.Code, got.Body, body.JSON())
			}
			if got.Code != 200 {
				continue
			}
			stores++
			answer, err := doc.ParseNode(got.Body.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			id := answer.Get("ID").Text()
			a, _ := w.Stored(id)
			def, _, err := a.Value.Texts()
			if err != nil {
				t.Fatal(err)
			}
			if p := definition.Check(def); len(p) > 0 {
				t.Errorf("%s stored %v\n%s", door.path, p, body.JSON())
			}
			if got := w.Ask("admin", "DELETE", "/apis/"+id, ""); got.Code != 200 {
				t.Fatal(id, got.Code, got.Body)
			}
		}
	}
	t.Logf("%d were stored", stores)
}
