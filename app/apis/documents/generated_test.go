package documents_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
)

// TestGeneratedOperationIDs: no generated operation ID equals another one in the
// document, in imports and patches of a description and in conversions of a definition.
func TestGeneratedOperationIDs(t *testing.T) {
	w := apistest.New(t, apis.Settings{UnsafeOAS: true})
	const description = `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"servers":[{"url":"http://u.example"}],"paths":{
		"/a":{"get":{"responses":{"200":{"description":"d"}}}},
		"/b":{"get":{"operationId":"aGET","responses":{"200":{"description":"d"}}},"put":{"operationId":"aGET-2","responses":{"200":{"description":"d"}}}}}}`
	ids := func(id, want string) {
		t.Helper()
		paths := w.Node("admin", "/apis/oas/"+id).Get("paths")
		if got := paths.Get("/a", "get", "operationId").Text() + " " + paths.Get("/b", "get", "operationId").Text(); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	w.Done("admin", "POST", "/apis/oas/import?apiID=i&allowList=true", description)
	ids("i", "aGET-3 aGET")
	w.Done("admin", "PATCH", "/apis/oas/i?allowList=true", description)
	ids("i", "aGET-3 aGET")
	w.Done("admin", "POST", "/apis/oas", `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"paths":{"/b":{"get":{"operationId":"aGET","responses":{"200":{"description":"d"}}}}},
		"x-tyk-api-gateway":{"info":{"name":"O","id":"o","state":{"active":true}},"upstream":{"url":"http://t"},"server":{"listenPath":{"value":"/o/"}}}}`)
	w.Done("admin", "PATCH", "/apis/o", `{"api_definition":{"version_data":{"versions":{"":{"use_extended_paths":true,"extended_paths":{"track_endpoints":[{"path":"/a","method":"GET"}]}}}}}}`)
	ids("o", "aGET-2 aGET")
}
