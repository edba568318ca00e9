package versioning_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
)

// TestRebaseAcrossClasses: an API that may be a version of a streams API may also
// become its base, and both keep their classes.
func TestRebaseAcrossClasses(t *testing.T) {
	w := apistest.New(t, apis.Settings{Streams: true})
	w.Done("admin", "POST", "/apis/streams", apistest.Document("s", "S", "/s/"))
	w.Done("admin", "POST", "/apis/oas?base_api_id=s&base_api_version_name=v1&new_version_name=v2", apistest.Document("o", "O", "/o/"))
	w.Want("admin", "PATCH", "/apis/oas/s/rebase/o", "", 200, "API converted successfully")
	w.Want("admin", "GET", "/apis/oas/o/versions", "", 200, `{"apis":[{"id":"s","name":"S","versionName":"v1","internal":false,"expirationDate":"","isDefaultVersion":true}],"pages":1}`)
	w.Want("admin", "GET", "/apis/streams/s", "", 200, `"id":"s"`)
	w.Want("admin", "GET", "/apis/streams/o", "", 400, "API is not a streams API")
	w.Want("admin", "PATCH", "/apis/oas/o/rebase/s", "", 200, "API converted successfully")
	w.Want("admin", "GET", "/apis/oas/s/versions", "", 200, `{"apis":[{"id":"o","name":"O","versionName":"v2","internal":false,"expirationDate":"","isDefaultVersion":false}],"pages":1}`)
}

// TestTwoBases: an API that two bases route to has the addresses of both, in order of the API
// IDs of the bases, independent of the order of writes. When one base goes, those of the
// other stay, and an internal version gets no address of its own, which would lead nowhere.
func TestTwoBases(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	base := func(id, version string) string {
		return `{"api_definition":{"api_id":"` + id + `","name":"` + id + `","proxy":{"listen_path":"/` + id + `/","target_url":"http://up.example/"},` +
			`"definition":{"enabled":true,"name":"base","default":"self","location":"url","key":"v","versions":{"` + version + `":"o"}}}}`
	}
	document := func(state string) string {
		return strings.Replace(apistest.Document("o", "O", "/o/"), `"active":true`, `"active":true`+state, 1)
	}
	want := func(when, servers string) {
		t.Helper()
		if got := serversOf(w, "o"); got != servers {
			t.Errorf("%s: %s, want %s", when, got, servers)
		}
	}
	const a, b, own = "http://gw.example/a/v1 /a/v1", " http://gw.example/b/v2 /b/v2", " http://gw.example/o /o"
	w.Done("admin", "POST", "/apis", base("b", "v2"))
	w.Done("admin", "POST", "/apis/oas", document(""))
	w.Done("admin", "POST", "/apis", base("a", "v1"))
	want("created", a+b+own)
	for _, id := range []string{"b", "a"} {
		w.Done("admin", "PATCH", "/apis/"+id, `{"api_definition":{"definition":{"key":"`+id+`"}}}`)
		want(id+" written", a+b+own)
	}
	w.Done("admin", "PUT", "/apis/oas/o", document("")) // a document without servers
	want("version written", a+b+own)
	if text := w.Ask("admin", "GET", "/apis/oas/o/urls", "").Body.String(); !strings.Contains(text, "/a/v1") || !strings.Contains(text, "/b/v2") {
		t.Error(text)
	}
	w.Done("admin", "PATCH", "/apis/b", `{"api_definition":{"api_id":"Z","definition":{"versions":{"v2":null,"v3":"o"}}}}`)
	want("the other ID first", strings.ReplaceAll(strings.TrimSpace(b), "v2", "v3")+" "+a+own)
	w.Done("admin", "PUT", "/apis/oas/o", document(`,"internal":true`))
	w.Done("admin", "DELETE", "/apis/Z", "")
	want("one base deleted", a)
	w.Done("admin", "DELETE", "/apis/a", "")
	want("both deleted", strings.TrimSpace(own))
}

// TestClassicTable: a classic API may route to APIs with documents. Their addresses follow every change
// of it, not only the create.
func TestClassicTable(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	base := func(path, versions string) string {
		return `{"api_definition":{"api_id":"c","name":"C","proxy":{"listen_path":"` + path + `","target_url":"http://up.example/"},` +
			`"definition":{"enabled":true,"name":"base","default":"self","location":"url","key":"v","versions":` + versions + `}}}`
	}
	w.Done("admin", "POST", "/apis/oas", apistest.Document("o", "O", "/o/"))
	w.Done("admin", "POST", "/apis", base("/c/", `{"v1":"o"}`))
	w.Want("admin", "GET", "/apis/oas/o", "", 200, `/c/v1"`)
	w.Done("admin", "PUT", "/apis/c", base("/moved/", `{"v1":"o"}`))
	w.Want("admin", "GET", "/apis/oas/o", "", 200, `/moved/v1"`)
	w.Done("admin", "PATCH", "/apis/c", `{"api_definition":{"definition":{"versions":{"v1":null,"v2":"o"}}}}`)
	w.Want("admin", "GET", "/apis/oas/o", "", 200, `/moved/v2"`)
	w.Done("admin", "PUT", "/apis/c", base("/moved/", `{}`))
	if text := w.Ask("admin", "GET", "/apis/oas/o", "").Body.String(); strings.Contains(text, "/moved/") {
		t.Errorf("an address that leads nowhere stays: %s", text)
	}
}
