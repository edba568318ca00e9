package forms_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
	"github.com/gatehouse-io/gatehouse/app/apis/importing"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// With allow_unsafe_oas, classic endpoints write OAS APIs (docs/wire/apis.md#create-replace-delete).
func TestUnsafeOAS(t *testing.T) {
	body := func(active string) string {
		return `{"api_definition":{"api_id":"o","name":"O","is_oas":true,"active":` + active + `,"proxy":{"listen_path":"/o/","target_url":"http://t"}},"oas":` + apistest.Document("o", "O", "/o/") + `}`
	}
	w := apistest.New(t, apis.Settings{UnsafeOAS: true})
	w.Want("admin", "POST", "/apis", strings.Replace(body("true"), `"oas"`, `"other"`, 1), 400, "an OAS API needs its document in oas")
	w.Done("admin", "POST", "/apis", body("true"))
	w.Want("admin", "GET", "/apis/oas/o", "", 200, `"id":"o"`)
	w.Done("admin", "PUT", "/apis/o", body("false"))
	w.Done("admin", "PATCH", "/apis/o", `{"sort_by":4}`)
	w.Want("admin", "GET", "/apis/o", "", 200, `"sort_by":4`)
	w.Want("admin", "GET", "/apis/o", "", 200, `"is_oas":true`)
	// After a change of the definition the document is changed to match it. After a
	// change of the document, which is checked, the definition is derived from it.
	w.Done("admin", "PATCH", "/apis/o", `{"api_definition":{"name":"Other","proxy":{"listen_path":"/other/"}}}`)
	w.Want("admin", "GET", "/apis/oas/o", "", 200, `"name":"Other"`)
	w.Want("admin", "GET", "/apis/oas/o", "", 200, `"value":"/other/"`)
	w.Want("admin", "GET", "/apis/oas/o", "", 200, `"servers":[{"url":"http://gw.example/other"}`)
	w.Done("admin", "PATCH", "/apis/o", `{"api_definition":{"name":"Other"},"oas":{"info":{"description":"told"}}}`)
	w.Want("admin", "GET", "/apis/oas/o", "", 200, `"description":"told"`)
	w.Done("admin", "PATCH", "/apis/o", `{"oas":{"x-tyk-api-gateway":{"info":{"name":"Third"}}}}`)
	w.Want("admin", "GET", "/apis/o", "", 200, `"name":"Third"`)
	w.Want("admin", "PATCH", "/apis/o", `{"oas":{"x-tyk-api-gateway":{"unheard":true}}}`, 400, "unheard")
	w.Want("admin", "POST", "/apis", strings.NewReplacer(`"o"`, `"p"`, `"paths"`, `"unheard":1,"paths"`).Replace(body("true")), 400, "unheard")
	w.Done("admin", "POST", "/apis", apistest.Classic("c", "C", "/c/"))
	w.Done("admin", "POST", "/apis", strings.NewReplacer(`"o"`, `"d"`, `"is_oas":true,`, "", `/o/`, `/d/`).Replace(body("true")))
	w.Want("admin", "GET", "/apis/oas/d", "", 200, `"id":"d"`) // its document shows its class
	w.Want("admin", "PUT", "/apis/c", strings.Replace(body("true"), `"/o/"`, `"/c/"`, 1), 400, "This is an OAS API")

	w = apistest.New(t, apis.Settings{})
	w.Want("admin", "POST", "/apis", body("true"), 400, "This is an OAS API")
	// A document makes it an OAS API, whatever the definition says; a null or empty one
	// does not.
	w.Done("admin", "POST", "/apis", apistest.Classic("c", "C", "/c/"))
	beside := func(oas string) string {
		return strings.TrimSuffix(apistest.Classic("c", "C", "/c/"), "}") + `,"oas":` + oas + `}`
	}
	for oas, refused := range map[string]bool{`{"openapi":"3.0.3"}`: true, apistest.Document("c", "C", "/c/"): true, `{}`: false, `null`: false, `{"openapi":"","info":null,"paths":null}`: false} {
		other := strings.NewReplacer(`"c"`, `"n"`, `/c/`, `/n/`).Replace(beside(oas))
		if refused {
			w.Want("admin", "POST", "/apis", other, 400, "This is an OAS API")
			w.Want("admin", "PUT", "/apis/c", beside(oas), 400, "This is an OAS API")
			w.Want("admin", "PATCH", "/apis/c", `{"oas":`+oas+`}`, 400, "This is an OAS API")
			continue
		}
		w.Done("admin", "POST", "/apis", other)
		w.Done("admin", "DELETE", "/apis/n", "")
		w.Done("admin", "PUT", "/apis/c", beside(oas))
		w.Done("admin", "PATCH", "/apis/c", `{"oas":`+oas+`}`)
	}
	w.Want("admin", "PUT", "/apis/c", strings.Replace(beside("null"), `"oas"`, `"is_streams":"yes","oas"`, 1), 400, "is_streams has the wrong type")
}

// Writing back what was read changes nothing. A document may have settings without a
// place in the classic form, such as switches in blocks that are off.
func TestUnsafeOASUnchanged(t *testing.T) {
	w := apistest.New(t, apis.Settings{UnsafeOAS: true})
	w.Done("admin", "POST", "/apis/oas", strings.NewReplacer(
		`"paths":{}`, `"paths":{"/a":{"get":{"operationId":"a","responses":{"200":{"description":"d"}}}}}`,
		`"server"`, `"middleware":{"operations":{"a":{"cache":{"enabled":true},"doNotTrackEndpoint":{"enabled":false}}}},"server"`,
	).Replace(apistest.Document("o", "O", "/o/")))
	before := w.Node("admin", "/apis/oas/o")
	wrapper := w.Node("admin", "/apis/o")
	w.Done("admin", "PUT", "/apis/o", string(wrapper.JSON()))
	if got := w.Node("admin", "/apis/oas/o"); !got.Equal(before) {
		t.Errorf("have %s\nwant %s", got.JSON(), before.JSON())
	}
	if got := w.Node("admin", "/apis/o"); !got.Get("api_definition").Equal(wrapper.Get("api_definition")) {
		t.Errorf("have %s\nwant %s", got.JSON(), wrapper.JSON())
	}
	wrapper.Put(doc.NewString("Other"), "api_definition", "name")
	w.Done("admin", "PUT", "/apis/o", string(wrapper.JSON()))
	w.Want("admin", "GET", "/apis/oas/o", "", 200, `"name":"Other"`)
}

// With force_api_defaults, gateways always strip the listen path.
func TestForceDefaults(t *testing.T) {
	for _, forced := range []bool{true, false} {
		w := apistest.New(t, apis.Settings{ForceDefaults: forced})
		w.Done("admin", "POST", "/apis", apistest.Classic("c", "C", "/c/"))
		w.Done("admin", "POST", "/apis/oas", apistest.Document("o", "O", "/o/"))
		w.Done("admin", "PUT", "/apis/c", apistest.Classic("c", "C", "/c/"))
		w.Done("admin", "PUT", "/apis/oas/o", apistest.Document("o", "O", "/o/"))
		for _, id := range []string{"c", "o"} {
			if got := w.Node("admin", "/apis/"+id).Get("api_definition", "proxy", "strip_listen_path").True(); got != forced {
				t.Errorf("forced %t, %s: %t", forced, id, got)
			}
		}
		if got := w.Node("admin", "/apis/oas/o").Get("x-tyk-api-gateway", "server", "listenPath", "strip").True(); got != forced {
			t.Errorf("forced %t, document: %t", forced, got)
		}
	}
}

// Streams can be switched off. Stored ones can still be read and deleted.
func TestStreamsSwitch(t *testing.T) {
	const streams = `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"paths":{},"x-tyk-streaming":{"streams":{"s":{"input":{"generate":{}},"output":{"drop":{}}}}}}`
	w := apistest.New(t, apis.Settings{Streams: true})
	w.Want("admin", "POST", "/apis/streams", streams, 400, "is not a supported component")
	// The public example writes to standard output, from which nothing can be read.
	tee := strings.NewReplacer(`"generate"`, `"http_server"`, `{"drop":{}}`, `{"broker":{"outputs":[{"stdout":{}},{"http_server":{}}]}}`).Replace(streams)
	w.Done("admin", "POST", "/apis/streams", tee)
	w.Want("admin", "POST", "/apis/streams", strings.Replace(tee, `"input":{"http_server":{}}`, `"input":{"stdout":{}}`, 1), 400, "is not a supported component")
	w = apistest.New(t, apis.Settings{Streams: true, AllStreams: true})
	w.Done("admin", "POST", "/apis/streams", streams)
	w.Done("admin", "POST", "/apis/streams", apistest.Document("s", "S", "/s/"))
	w.Forms.Settings.Streams = false
	for _, method := range []string{"POST", "PUT", "PATCH"} {
		path := "/apis/streams/s"
		if method == "POST" {
			path = "/apis/streams"
		}
		w.Want("admin", method, path, apistest.Document("s", "S", "/s/"), 403, "switched off")
	}
	w.Done("admin", "GET", "/apis/streams/s", "")
	w.Done("admin", "DELETE", "/apis/streams/s", "")
}

// A classic definition keeps its timeouts as sent; only documents get whole seconds
// (docs/wire/apis.md#timeouts, docs/wire/oas-apis.md#timeouts).
func TestClassicTimeouts(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	const versions = `"version_data":{"not_versioned":true,"versions":{"Default":{"name":"Default","global_enforce_timeout":"2m","extended_paths":{"hard_timeouts":[{"path":"/a","method":"GET","duration":"500ms"}]}}}}`
	w.Done("admin", "POST", "/apis", strings.Replace(apistest.Classic("c", "C", "/c/"), `"active":true`, versions, 1))
	if _, text := w.Stored("c"); !strings.Contains(text, versions) {
		t.Error(text)
	}
	w.Want("admin", "GET", "/apis/c", "", 200, strings.TrimSuffix(versions, "}}}}"))
}

// Addresses are compared only within the organisation and the gateway segment.
func TestAddresses(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	tagged := func(id, tags string) string {
		return strings.Replace(apistest.Classic(id, id, "/a/"), `"active":true`, `"tags":`+tags, 1)
	}
	w.Done("admin", "POST", "/apis", tagged("a", `["eu","us"]`))
	w.Want("admin", "POST", "/apis", tagged("b", `["us","asia"]`), 403, "Found API with same url.")
	w.Done("admin", "POST", "/apis", tagged("b", `["asia"]`))
	w.Want("admin", "POST", "/apis", tagged("c", `[]`), 403, "Found API with same url.")
	w.Want("admin", "PUT", "/apis/b", tagged("b", `[]`), 403, "Found API with same url.")
	w.Want("admin", "POST", "/apis", strings.Replace(tagged("c", `["x"]`), `"tags"`, `"tags_disabled":true,"tags"`, 1), 403, "Found API with same url.")
	w.Done("other", "POST", "/apis", tagged("other-a", `["eu"]`))
	long := "/" + strings.Repeat("x", 4000) + "/"
	w.Done("admin", "POST", "/apis", apistest.Classic("long", "L", long))
	w.Want("admin", "POST", "/apis", apistest.Classic("long2", "L", long), 403, "Found API with same url.")
}

// Forced defaults add no settings for gateways to imported streams that have none:
// these stay inactive.
func TestForceDefaultsOfIncomingStreams(t *testing.T) {
	w := apistest.New(t, apis.Settings{ForceDefaults: true, Streams: true})
	n, err := doc.ParseNode([]byte(`{"openapi":"3.0.3","info":{"title":"Feed","version":"1"},"paths":{},"x-tyk-streaming":{"streams":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	checked, problems := w.Importing.Check(importing.Incoming{APIID: "feed", Class: apidef.Streams, Document: n}, w.Scope().Org())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if _, err := w.DB.Update(t.Context(), w.Scope(), func(wr store.Writer) error {
		_, err := w.Importing.Put(t.Context(), wr, checked)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if a, text := w.Stored("feed"); a.Value.Active() || strings.Contains(text, "x-tyk-api-gateway") {
		t.Error(text)
	}
}

// The operations on OAS APIs also serve streams APIs, which lists show as OAS APIs,
// with the rules of streams.
func TestStreamsAtOASDoors(t *testing.T) {
	const bad = `"x-tyk-streaming":{"streams":{"s":{"input":{"generate":{}},"output":{"drop":{}}}}},"paths"`
	w := apistest.New(t, apis.Settings{Streams: true})
	good := func(path string) string {
		return strings.Replace(apistest.Document("s", "S", path), `"paths"`, `"x-tyk-streaming":{"streams":{"s":{"input":{"kafka":{"addresses":["k"],"topics":["t"],"consumer_group":"g"}},"output":{"mqtt":{"urls":["u"],"topic":"t"}}}}},"paths"`, 1)
	}
	w.Done("admin", "POST", "/apis/streams", good("/s/"))
	w.Want("reader", "GET", "/apis/oas/s", "", 200, `"x-tyk-streaming"`)
	w.Want("reader", "GET", "/apis/oas/s/export", "", 200, `"x-tyk-streaming"`)
	w.Done("admin", "PUT", "/apis/oas/s", good("/moved/"))
	w.Want("reader", "GET", "/apis/streams/s", "", 200, "/moved/")
	w.Want("admin", "PUT", "/apis/oas/s", `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"paths":{}}`, 400, "x-tyk-api-gateway and/or x-tyk-streaming")
	w.Want("admin", "PUT", "/apis/oas/s", strings.Replace(apistest.Document("s", "S", "/s/"), `"paths"`, bad, 1), 400, "is not a supported component")
	w.Want("admin", "POST", "/apis/oas", strings.Replace(apistest.Document("o", "O", "/o/"), `"paths"`, bad, 1), 400, "is not a supported component")
	w.Done("admin", "PUT", "/apis/oas/s/categories", `{"categories":["x"]}`)
	w.Want("reader", "GET", "/apis/oas/s/categories", "", 200, `{"categories":["x"]}`)
	w.Done("admin", "POST", "/apis", apistest.Classic("c", "C", "/c/"))
	w.Want("reader", "GET", "/apis/oas/c", "", 400, "API is not in OAS format")
	if a, _ := w.Stored("s"); a.Value.Class() != apidef.Streams {
		t.Error("the API became", a.Value.Class())
	}
}

// While streams are off, no operation accepts a document with streams.
func TestStreamsOffEverywhere(t *testing.T) {
	w := apistest.New(t, apis.Settings{Streams: true, UnsafeOAS: true})
	w.Done("admin", "POST", "/apis/oas", apistest.Document("o", "O", "/o/"))
	w.Done("admin", "POST", "/apis/streams", apistest.Document("s", "S", "/s/"))
	w.Done("admin", "POST", "/mcps", apistest.Document("m", "M", "/m/"))
	w.Done("admin", "POST", "/apis", apistest.Classic("c", "C", "/c/"))
	w.Forms.Settings.Streams = false
	const key = `"x-tyk-streaming":{"streams":{}},"paths"`
	with := func(id string) string {
		return strings.Replace(apistest.Document(id, id, "/"+id+"/"), `"paths"`, key, 1)
	}
	plain := `{"openapi":"3.0.3","info":{"title":"T","version":"1"},` + key + `:{}}`
	unsafe := `{"api_definition":{"api_id":"o","name":"O","is_oas":true,"proxy":{"listen_path":"/o/","target_url":"http://t"}},"oas":` + with("o") + `}`
	for _, row := range [][3]string{
		{"POST", "/apis/oas", with("n")}, {"POST", "/apis/oas", plain}, {"POST", "/apis/oas/import?upstreamURL=http://u", plain},
		{"POST", "/apis/oas/dry-run", `{"tyk_oas":` + with("n") + `}`}, {"PUT", "/apis/oas/o", with("o")}, {"PATCH", "/apis/oas/o", plain},
		{"PUT", "/apis/oas/s", apistest.Document("s", "S", "/s/")}, {"PUT", "/apis/streams/s", with("s")}, {"PATCH", "/apis/streams/s", plain}, {"POST", "/apis/streams", with("n")},
		{"POST", "/mcps", with("n")}, {"PUT", "/mcps/m", with("m")}, {"POST", "/apis", strings.Replace(unsafe, `"api_id":"o"`, `"api_id":"n"`, 1)}, {"PUT", "/apis/o", unsafe},
		{"POST", "/apis", strings.NewReplacer(`"api_id":"o"`, `"api_id":"n"`, `"is_oas":true,`, "").Replace(unsafe)}, {"PUT", "/apis/c", strings.Replace(unsafe, `"is_oas":true,`, "", 1)},
		{"PATCH", "/apis/c", `{"oas":` + with("c") + `}`},
	} {
		before := w.Head()
		w.Want("admin", row[0], row[1], row[2], 403, "Streams APIs are switched off: set streaming.enabled to store them")
		if w.Head() != before {
			t.Errorf("%s %s stored something", row[0], row[1])
		}
	}
	w.Want("reader", "GET", "/apis/oas/s", "", 200, `"id":"s"`)
	n, err := doc.ParseNode([]byte(with("n")))
	if err != nil {
		t.Fatal(err)
	}
	if _, problems := w.Importing.Check(importing.Incoming{APIID: "n", Class: apidef.OAS, Document: n}, w.Scope().Org()); len(problems) == 0 {
		t.Error("streams came in from elsewhere")
	}
}
