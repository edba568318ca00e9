package apistest_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
)

// Every request is either stored or refused as an error of the client, and a refused
// one stores nothing.
func FuzzWrites(f *testing.F) {
	for i, body := range []string{
		apistest.Classic("a", "A", "/a/"), apistest.Document("a", "A", "/a/"), `{"api_definition":{"proxy":{}}}`, `{"x-tyk-streaming":{"streams":{"s":null}}}`, `null`, `[]`, `{"oas":7}`,
		`{"openapi":"3.1.0","info":{"title":"T","version":"1"},"paths":{"/{a":{}},"x-tyk-api-gateway":{"info":{"versioning":{"versions":[null,{"id":7}]}}}}`,
		`{"api_definition":{"name":"A","definition":{"enabled":true,"versions":{"a":"a"}},"proxy":{"listen_path":"/{a","target_url":"tyk://a/mcp"}},"hook_references":[null]}`,
		`[{"op":"remove","path":"/api_definition/proxy"}]`, `{"api_definition":null}`,
		`{"openapi":"3.0.3","info":{"title":"G"},"servers":[{"url":"http://g"}],"paths":{"/a/{b}":{"get":{"operationId":"a"}}}}`,
	} {
		f.Add(uint8(i), body)
	}
	rows := [][2]string{
		{"POST", "/apis"}, {"PUT", "/apis/c"}, {"PATCH", "/apis/c"}, {"PUT", "/apis/c/access"}, {"POST", "/apis/oas"}, {"PUT", "/apis/oas/o"}, {"PATCH", "/apis/oas/o"},
		{"POST", "/apis/oas/import"}, {"POST", "/apis/oas/dry-run"}, {"PUT", "/apis/oas/o/categories"}, {"POST", "/apis/streams"}, {"PUT", "/apis/streams/s"},
		{"PATCH", "/apis/streams/s"}, {"POST", "/mcps"}, {"PUT", "/mcps/m"}, {"POST", "/apis/oas?base_api_id=o&base_api_version_name=1&new_version_name=2"},
		{"POST", "/data-graphs/data-sources/import"},
	}
	w := apistest.New(f, apis.Settings{Streams: true})
	w.Done("admin", "POST", "/apis", apistest.Classic("c", "C", "/c/"))
	w.Done("admin", "POST", "/apis/oas", apistest.Document("o", "O", "/o/"))
	w.Done("admin", "POST", "/apis/streams", apistest.Document("s", "S", "/s/"))
	w.Done("admin", "POST", "/mcps", apistest.Document("m", "M", "/m/"))
	f.Fuzz(func(t *testing.T, row uint8, body string) {
		w.T = t
		r := rows[int(row)%len(rows)]
		before := w.Head()
		for _, kind := range []string{"application/json", "application/json-patch+json", "application/x-yaml"} {
			got := w.Ask("admin", r[0], r[1], body, "Content-Type", kind)
			if got.Code >= 500 {
				t.Fatalf("%s %s %s as %s: %d %s", r[0], r[1], body, kind, got.Code, got.Body)
			}
			if now := w.Head(); got.Code >= 400 && now != before {
				t.Fatalf("%s %s %s as %s: %d, and something was stored", r[0], r[1], body, kind, got.Code)
			} else {
				before = now
			}
		}
	})
}
