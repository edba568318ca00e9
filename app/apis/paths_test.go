package apis_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
)

// door is a pair of operations that store an API with a listen path and an upstream.
type door struct {
	name, create, replace string
	body                  func(id, path, upstream string) string
	field                 string // of the upstream, as faults name it
}

var paths = []door{
	{"classic", "/apis", "/apis/", func(id, path, upstream string) string {
		return strings.Replace(apistest.Classic(id, id, path), `"http://t"`, fmt.Sprintf("%q", upstream), 1)
	}, "proxy.target_url"},
	{"OAS", "/apis/oas", "/apis/oas/", withUpstream, "upstream.url"},
	{"streams", "/apis/streams", "/apis/streams/", withUpstream, "upstream.url"},
	{"MCP", "/mcps", "/mcps/", withUpstream, "upstream.url"},
}

func withUpstream(id, path, upstream string) string {
	return strings.Replace(apistest.Document(id, id, path), `"http://t"`, fmt.Sprintf("%q", upstream), 1)
}

// TestListenPathsByReference: gateways resolve references in paths.
func TestListenPathsByReference(t *testing.T) {
	for _, d := range paths {
		t.Run(d.name, func(t *testing.T) {
			w := apistest.New(t, apis.Settings{Streams: true})
			for i, path := range []string{"env://PATH", "secrets://path", "consul://a/b", "vault://a.b", "file:///etc/path"} {
				id := fmt.Sprint("a", i)
				w.Done("admin", "POST", d.create, d.body(id, path, "http://t"))
				if a, _ := w.Stored(id); a.Value.ListenPath() != path {
					t.Errorf("%q became %q", path, a.Value.ListenPath())
				}
				w.Done("admin", "PUT", d.replace+id, d.body(id, path, "http://u"))
			}
			w.Want("admin", "POST", d.create, d.body("b", "env://PATH", "http://t"), 403, "Found API with same url.")
			w.Want("admin", "POST", d.create, d.body("b", "https://path", "http://t"), 400, `Listen path must start with`)
		})
	}
}

// TestLongAddresses: the parts of addresses are bounded to a length that people can
// read.
func TestLongAddresses(t *testing.T) {
	for _, d := range paths {
		t.Run(d.name, func(t *testing.T) {
			w := apistest.New(t, apis.Settings{Streams: true})
			long := "/" + strings.Repeat("a", 4096)
			w.Want("admin", "POST", d.create, d.body("a", long, "http://t"), 400, "must not be longer than 4096 characters")
			w.Done("admin", "POST", d.create, d.body("a", long[:4096], "http://t"))
			w.Want("admin", "PUT", d.replace+"a", d.body("a", long, "http://t"), 400, "must not be longer than 4096 characters")
		})
	}
}

// TestListenPathsAsWritten: a path with a slash at the end is another path.
func TestListenPathsAsWritten(t *testing.T) {
	for _, d := range paths {
		t.Run(d.name, func(t *testing.T) {
			w := apistest.New(t, apis.Settings{Streams: true})
			w.Done("admin", "POST", d.create, d.body("a", "/a/", "http://t"))
			w.Done("admin", "POST", d.create, d.body("b", "/a", "http://t"))
			w.Want("admin", "POST", d.create, d.body("c", "/a", "http://t"), 403, "Found API with same url.")
			w.Want("admin", "PUT", d.replace+"b", d.body("b", "/a/", "http://t"), 403, "Found API with same url.")
		})
	}
}

// TestProxiesAreNoOthers: an MCP proxy cannot have streams, because gateways would run it as
// a streams API, and it cannot be written in the classic form, which has too little.
func TestProxiesAreNoOthers(t *testing.T) {
	w := apistest.New(t, apis.Settings{Streams: true})
	body := apistest.Document("m", "M", "/m/")
	streams := strings.Replace(body, `"x-tyk-api-gateway"`,
		`"x-tyk-streaming":{"streams":{"a":{"input":{"http_server":{"path":"/in"}},"output":{"http_server":{"path":"/out"}}}}},"x-tyk-api-gateway"`, 1)
	w.Want("admin", "POST", "/mcps", streams, 400, "x-tyk-streaming")
	w.Done("admin", "POST", "/mcps", body)
	w.Want("admin", "PUT", "/mcps/m", streams, 400, "x-tyk-streaming")
	w.Want("admin", "PUT", "/apis/m", apistest.Classic("m", "M", "/m/"), 400, "This is an MCP proxy: use the endpoints below /api/mcps, or")
}

// TestUpstreams: an upstream to which gateways cannot send requests is refused, and the
// fault names its field.
func TestUpstreams(t *testing.T) {
	for _, d := range paths {
		t.Run(d.name, func(t *testing.T) {
			w := apistest.New(t, apis.Settings{Streams: true})
			w.Done("admin", "POST", d.create, d.body("a", "/a/", "http://t"))
			before, text := w.Stored("a")
			for _, upstream := range []string{"invalid-url", "up.example", "/relative", "//up.example", "http://", "http:///x", "not an address", "mailto:x"} {
				w.Want("admin", "POST", d.create, d.body("b", "/b/", upstream), 400, d.field)
				w.Want("admin", "PUT", d.replace+"a", d.body("a", "/a/", upstream), 400, d.field)
			}
			if after, now := w.Stored("a"); after.Rev != before.Rev || now != text {
				t.Error("a refusal changed", now)
			}
			for _, upstream := range []string{"http://up.example:8080/x", "h2c://[::1]:80", "env://UP", "secrets://up", "tyk://a", "http://$kv{a/b}/x"} {
				w.Done("admin", "PUT", d.replace+"a", d.body("a", "/a/", upstream))
			}
		})
	}
	t.Run("by query", func(t *testing.T) {
		w := apistest.New(t, apis.Settings{})
		const plain = `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"paths":{}}`
		w.Want("admin", "POST", "/apis/oas/import?upstreamURL=invalid-url&listenPath=/x/", plain, 400, "upstreamURL must be an absolute URL")
		w.Done("admin", "POST", "/apis/oas", apistest.Document("a", "A", "/a/"))
		w.Want("admin", "PATCH", "/apis/oas/a?upstreamURL=invalid-url", plain, 400, "upstreamURL must be an absolute URL")
	})
	t.Run("of a version", func(t *testing.T) {
		w := apistest.New(t, apis.Settings{})
		w.Want("admin", "POST", "/apis", strings.Replace(apistest.Classic("a", "A", "/a/"), `"active":true`,
			`"version_data":{"not_versioned":true,"versions":{"v":{"name":"v","override_target":"up"}}}`, 1), 400, "version_data.versions.v.override_target")
	})
}
