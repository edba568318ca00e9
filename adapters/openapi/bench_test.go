package openapi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	port "github.com/gatehouse-io/gatehouse/ports/openapi"
)

// sized returns a valid document with n operations, each with a parameter, a body,
// two answers and settings.
func sized(version string, n int) []byte {
	var paths, settings strings.Builder
	for i := range n {
		if i > 0 {
			paths.WriteByte(',')
			settings.WriteByte(',')
		}
		fmt.Fprintf(&paths, `"/things/%d/{id}":{"post":{"operationId":"op%d","summary":"A thing","tags":["things"],
			"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string","pattern":"^[a-z]+$"}},
				{"name":"limit","in":"query","schema":{"type":"integer","minimum":1}}],
			"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Thing"}}}},
			"responses":{"200":{"description":"done","content":{"application/json":{"schema":{"type":"array","items":{"$ref":"#/components/schemas/Thing"}}}}},
				"default":{"description":"no","content":{"application/json":{"schema":{"type":"object","properties":{"error":{"type":"string"}}}}}}}}}`, i, i)
		fmt.Fprintf(&settings, `"op%d":{"allow":{"enabled":true},"validateRequest":{"enabled":true,"errorResponseCode":422},
			"enforceTimeout":{"enabled":true,"duration":"1.5s","value":2},
			"transformRequestHeaders":{"enabled":true,"add":[{"name":"X-A","value":"1"}],"remove":["X-B"]},
			"rateLimit":{"enabled":true,"rate":10,"per":"1m"}}`, i)
	}
	return fmt.Appendf(nil, `{"openapi":%q,"info":{"title":"t","version":"1"},"paths":{%s},
		"components":{"schemas":{"Thing":{"type":"object","required":["name"],"properties":{"name":{"type":"string","maxLength":80},"more":{"$ref":"#/components/schemas/Thing"}}}}},
		"x-tyk-api-gateway":{"info":{"name":"n","state":{"active":true}},"upstream":{"url":"http://up.example"},
			"server":{"listenPath":{"value":"/n/","strip":true}},"middleware":{"operations":{%s}}}}`, version, paths.String(), settings.String())
}

func BenchmarkValidate(b *testing.B) {
	for _, version := range []string{"3.0.3", "3.1.0"} {
		for _, n := range []int{200, 1000} {
			document := sized(version, n)
			b.Run(fmt.Sprintf("%s/%d", version, n), func(b *testing.B) {
				v := New()
				if found := v.Validate(tree(document), port.Options{}); len(found) > 0 {
					b.Fatal(found)
				}
				b.SetBytes(int64(len(document)))
				b.ReportAllocs()
				for b.Loop() {
					v.Validate(tree(document), port.Options{})
				}
			})
		}
	}
	b.Run("compile", func(b *testing.B) {
		for b.Loop() {
			New().Validate(doc.NewObject(), port.Options{Variant: port.Streams})
		}
	})
}
