package apis_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// With allow_unsafe_oas, classic endpoints write OAS APIs (contract dashboard.md 9.3).
func TestUnsafeOAS(t *testing.T) {
	body := func(active string) string {
		return `{"api_definition":{"api_id":"o","name":"O","is_oas":true,"active":` + active + `,"proxy":{"listen_path":"/o/","target_url":"http://t"}},"oas":` + document("o", "O", "/o/") + `}`
	}
	w := newWorld(t, apis.Settings{UnsafeOAS: true})
	w.want("admin", "POST", "/apis", strings.Replace(body("true"), `"oas"`, `"other"`, 1), 400, "an OAS API needs its document in oas")
	w.done("admin", "POST", "/apis", body("true"))
	w.want("admin", "GET", "/apis/oas/o", "", 200, `"id":"o"`)
	w.done("admin", "PUT", "/apis/o", body("false"))
	w.done("admin", "PATCH", "/apis/o", `{"sort_by":4}`)
	w.want("admin", "GET", "/apis/o", "", 200, `"sort_by":4`)
	w.want("admin", "GET", "/apis/o", "", 200, `"is_oas":true`)
	w.done("admin", "POST", "/apis", classic("c", "C", "/c/"))
	w.want("admin", "PUT", "/apis/c", strings.Replace(body("true"), `"/o/"`, `"/c/"`, 1), 400, "This is an OAS API")

	w = newWorld(t, apis.Settings{})
	w.want("admin", "POST", "/apis", body("true"), 400, "This is an OAS API")
}

// With force_api_defaults, gateways always strip the listen path.
func TestForceDefaults(t *testing.T) {
	for _, forced := range []bool{true, false} {
		w := newWorld(t, apis.Settings{ForceDefaults: forced})
		w.done("admin", "POST", "/apis", classic("c", "C", "/c/"))
		w.done("admin", "POST", "/apis/oas", document("o", "O", "/o/"))
		w.done("admin", "PUT", "/apis/c", classic("c", "C", "/c/"))
		w.done("admin", "PUT", "/apis/oas/o", document("o", "O", "/o/"))
		for _, id := range []string{"c", "o"} {
			if got := w.node("admin", "/apis/"+id).Get("api_definition", "proxy", "strip_listen_path").True(); got != forced {
				t.Errorf("forced %t, %s: %t", forced, id, got)
			}
		}
		if got := w.node("admin", "/apis/oas/o").Get("x-tyk-api-gateway", "server", "listenPath", "strip").True(); got != forced {
			t.Errorf("forced %t, document: %t", forced, got)
		}
	}
}

// Streams can be switched off; what is stored stays readable and can go.
func TestStreamsSwitch(t *testing.T) {
	const streams = `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"paths":{},"x-tyk-streaming":{"streams":{"s":{"input":{"generate":{}},"output":{"drop":{}}}}}}`
	w := newWorld(t, apis.Settings{Streams: true})
	w.want("admin", "POST", "/apis/streams", streams, 400, "is not a supported component")
	w = newWorld(t, apis.Settings{Streams: true, AllStreams: true})
	w.done("admin", "POST", "/apis/streams", streams)
	w.done("admin", "POST", "/apis/streams", document("s", "S", "/s/"))
	w.library.Settings.Streams = false
	for _, method := range []string{"POST", "PUT", "PATCH"} {
		path := "/apis/streams/s"
		if method == "POST" {
			path = "/apis/streams"
		}
		w.want("admin", method, path, document("s", "S", "/s/"), 403, "switched off")
	}
	w.done("admin", "GET", "/apis/streams/s", "")
	w.done("admin", "DELETE", "/apis/streams/s", "")
}

// A classic definition keeps its timeouts as they were sent; only documents get
// the whole seconds (contract dashboard.md 9.3, 10.5).
func TestClassicTimeouts(t *testing.T) {
	w := newWorld(t, apis.Settings{})
	const versions = `"version_data":{"not_versioned":true,"versions":{"Default":{"name":"Default","global_enforce_timeout":"2m","extended_paths":{"hard_timeouts":[{"path":"/a","method":"GET","duration":"500ms"}]}}}}`
	w.done("admin", "POST", "/apis", strings.Replace(classic("c", "C", "/c/"), `"active":true`, versions, 1))
	if _, text := w.stored("c"); !strings.Contains(text, versions) {
		t.Error(text)
	}
	w.want("admin", "GET", "/apis/c", "", 200, strings.TrimSuffix(versions, "}}}}"))
}

// An address is only compared within the organisation and the gateway segment.
func TestAddresses(t *testing.T) {
	w := newWorld(t, apis.Settings{})
	tagged := func(id, tags string) string {
		return strings.Replace(classic(id, id, "/a/"), `"active":true`, `"tags":`+tags, 1)
	}
	w.done("admin", "POST", "/apis", tagged("a", `["eu","us"]`))
	w.want("admin", "POST", "/apis", tagged("b", `["us","asia"]`), 403, "Found API with same url.")
	w.done("admin", "POST", "/apis", tagged("b", `["asia"]`))
	w.want("admin", "POST", "/apis", tagged("c", `[]`), 403, "Found API with same url.")
	w.want("admin", "PUT", "/apis/b", tagged("b", `[]`), 403, "Found API with same url.")
	w.want("admin", "POST", "/apis", strings.Replace(tagged("c", `["x"]`), `"tags"`, `"tags_disabled":true,"tags"`, 1), 403, "Found API with same url.")
	w.done("other", "POST", "/apis", tagged("other-a", `["eu"]`))
	long := "/" + strings.Repeat("x", 5000) + "/"
	w.done("admin", "POST", "/apis", classic("long", "L", long))
	w.want("admin", "POST", "/apis", classic("long2", "L", long), 403, "Found API with same url.")
}

// Defaults that are forced bring no settings for gateways into streams that come
// from elsewhere without any: they stay switched off.
func TestForceDefaultsOfIncomingStreams(t *testing.T) {
	w := newWorld(t, apis.Settings{ForceDefaults: true, Streams: true})
	n, err := doc.ParseNode([]byte(`{"openapi":"3.0.3","info":{"title":"Feed","version":"1"},"paths":{},"x-tyk-streaming":{"streams":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	checked, problems := w.library.Check(apis.Incoming{APIID: "feed", Class: apidef.Streams, Document: n}, w.scope().Org())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if _, err := w.db.Update(t.Context(), w.scope(), func(wr store.Writer) error {
		_, err := w.library.Put(t.Context(), wr, checked)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if a, text := w.stored("feed"); a.Value.Active() || strings.Contains(text, "x-tyk-api-gateway") {
		t.Error(text)
	}
}

// The OAS doors serve streams APIs, which lists call OAS APIs, under the rules of
// streams.
func TestStreamsAtOASDoors(t *testing.T) {
	const bad = `"x-tyk-streaming":{"streams":{"s":{"input":{"generate":{}},"output":{"drop":{}}}}},"paths"`
	w := newWorld(t, apis.Settings{Streams: true})
	good := func(path string) string {
		return strings.Replace(document("s", "S", path), `"paths"`, `"x-tyk-streaming":{"streams":{"s":{"input":{"kafka":{"addresses":["k"],"topics":["t"],"consumer_group":"g"}},"output":{"mqtt":{"urls":["u"],"topic":"t"}}}}},"paths"`, 1)
	}
	w.done("admin", "POST", "/apis/streams", good("/s/"))
	w.want("reader", "GET", "/apis/oas/s", "", 200, `"x-tyk-streaming"`)
	w.want("reader", "GET", "/apis/oas/s/export", "", 200, `"x-tyk-streaming"`)
	w.done("admin", "PUT", "/apis/oas/s", good("/moved/"))
	w.want("reader", "GET", "/apis/streams/s", "", 200, "/moved/")
	w.want("admin", "PUT", "/apis/oas/s", `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"paths":{}}`, 400, "x-tyk-api-gateway and/or x-tyk-streaming")
	w.want("admin", "PUT", "/apis/oas/s", strings.Replace(document("s", "S", "/s/"), `"paths"`, bad, 1), 400, "is not a supported component")
	w.want("admin", "POST", "/apis/oas", strings.Replace(document("o", "O", "/o/"), `"paths"`, bad, 1), 400, "is not a supported component")
	w.done("admin", "PUT", "/apis/oas/s/categories", `{"categories":["x"]}`)
	w.want("reader", "GET", "/apis/oas/s/categories", "", 200, `{"categories":["x"]}`)
	w.done("admin", "POST", "/apis", classic("c", "C", "/c/"))
	w.want("reader", "GET", "/apis/oas/c", "", 400, "API is not in OAS format")
	if a, _ := w.stored("s"); a.Value.Class() != apidef.Streams {
		t.Error("the API became", a.Value.Class())
	}
}

// While streams are off no door takes a document that has some.
func TestStreamsOffEverywhere(t *testing.T) {
	w := newWorld(t, apis.Settings{Streams: true, UnsafeOAS: true})
	w.done("admin", "POST", "/apis/oas", document("o", "O", "/o/"))
	w.done("admin", "POST", "/apis/streams", document("s", "S", "/s/"))
	w.done("admin", "POST", "/mcps", document("m", "M", "/m/"))
	w.library.Settings.Streams = false
	const key = `"x-tyk-streaming":{"streams":{}},"paths"`
	with := func(id string) string { return strings.Replace(document(id, id, "/"+id+"/"), `"paths"`, key, 1) }
	plain := `{"openapi":"3.0.3","info":{"title":"T","version":"1"},` + key + `:{}}`
	unsafe := `{"api_definition":{"api_id":"o","name":"O","is_oas":true,"proxy":{"listen_path":"/o/","target_url":"http://t"}},"oas":` + with("o") + `}`
	for _, row := range [][3]string{
		{"POST", "/apis/oas", with("n")}, {"POST", "/apis/oas", plain}, {"POST", "/apis/oas/import?upstreamURL=http://u", plain},
		{"POST", "/apis/oas/dry-run", `{"tyk_oas":` + with("n") + `}`}, {"PUT", "/apis/oas/o", with("o")}, {"PATCH", "/apis/oas/o", plain},
		{"PUT", "/apis/oas/s", document("s", "S", "/s/")}, {"PUT", "/apis/streams/s", with("s")}, {"PATCH", "/apis/streams/s", plain}, {"POST", "/apis/streams", with("n")},
		{"POST", "/mcps", with("n")}, {"PUT", "/mcps/m", with("m")}, {"POST", "/apis", strings.Replace(unsafe, `"api_id":"o"`, `"api_id":"n"`, 1)}, {"PUT", "/apis/o", unsafe},
	} {
		before := w.head()
		w.want("admin", row[0], row[1], row[2], 403, "Streams APIs are switched off: set streaming.enabled to store them")
		if w.head() != before {
			t.Errorf("%s %s stored something", row[0], row[1])
		}
	}
	w.want("reader", "GET", "/apis/oas/s", "", 200, `"id":"s"`)
	n, err := doc.ParseNode([]byte(with("n")))
	if err != nil {
		t.Fatal(err)
	}
	if _, problems := w.library.Check(apis.Incoming{APIID: "n", Class: apidef.OAS, Document: n}, w.scope().Org()); len(problems) == 0 {
		t.Error("streams came in from elsewhere")
	}
}
