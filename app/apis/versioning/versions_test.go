package versioning_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
	"github.com/gatehouse-io/gatehouse/app/apis/versioning"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// serversOf returns the addresses in the document of an API.
func serversOf(w *apistest.World, id string) string {
	w.T.Helper()
	var out []string
	for _, s := range w.Node("admin", "/apis/oas/"+id).Get("servers").Items() {
		out = append(out, s.Get("url").Text())
	}
	return strings.Join(out, " ")
}

// The addresses of versions follow their base, addresses that users have added stay,
// and only documents that change are written
// (docs/wire/versions.md#when-children-change).
func TestServersFollowBase(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	base := func(path, versioning string) string {
		return strings.Replace(apistest.Document("base", "Base", path), `"state"`, `"versioning":{"enabled":true,"name":"v1",`+versioning+`,"versions":[{"name":"v2","id":"child"}]},"state"`, 1)
	}
	w.Done("admin", "POST", "/apis/oas", apistest.Document("base", "Base", "/base/"))
	w.Done("admin", "POST", "/apis/oas?base_api_id=base&base_api_version_name=v1&new_version_name=v2",
		strings.Replace(apistest.Document("child", "Child", "/child/"), `"paths"`, `"servers":[{"url":"https://own.example","description":"ours"}],"paths"`, 1))
	const own, mine = " https://own.example", "http://gw.example/child /child"
	for _, step := range []struct{ body, want string }{
		{"", "http://gw.example/base /base " + mine + own},
		{base("/moved/", `"location":"header","key":"k","default":"self"`), "http://gw.example/moved /moved " + mine + own},
		{base("/moved/", `"location":"url-param","key":"k","default":"self"`), "http://gw.example/moved?k=v2 /moved?k=v2 " + mine + own},
		{base("/moved/", `"location":"url-param","key":"l","default":"self"`), "http://gw.example/moved?l=v2 /moved?l=v2 " + mine + own},
		{base("/moved/", `"location":"url","key":"l","default":"self"`), "http://gw.example/moved/v2 /moved/v2 " + mine + own},
		{base("/moved/", `"location":"url","key":"l","default":"v2","fallbackToDefault":true`), "http://gw.example/moved/v2 /moved/v2 http://gw.example/moved /moved " + mine + own},
	} {
		if step.body != "" {
			w.Done("admin", "PUT", "/apis/oas/base", step.body)
		}
		if got := serversOf(w, "child"); got != step.want {
			t.Errorf("%s\nhave %s\nwant %s", step.body, got, step.want)
		}
	}
	before, _ := w.Stored("child")
	w.Done("admin", "PUT", "/apis/oas/base", strings.Replace(base("/moved/", `"location":"url","key":"l","default":"v2","fallbackToDefault":true`), `"T"`, `"U"`, 1))
	if after, _ := w.Stored("child"); after.Rev != before.Rev || after.Value.Updated() != before.Value.Updated() {
		t.Error("the child was written for nothing")
	}
	w.Done("admin", "DELETE", "/apis/oas/base", "")
	if got := serversOf(w, "child"); got != mine+own {
		t.Error("alone:", got)
	}
}

// APIs that are added to a routing table, removed from it, or renamed in it get other
// addresses at once (docs/wire/versions.md#when-children-change).
func TestServersFollowTable(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	base := func(enabled, versions string) string {
		table := `"versioning":{"enabled":` + enabled + `,"name":"v1","default":"self","location":"url","versions":[` + versions + `]},"state"`
		return strings.Replace(apistest.Document("base", "Base", "/base/"), `"state"`, table, 1)
	}
	w.Done("admin", "POST", "/apis/oas", apistest.Document("a", "A", "/a/"))
	w.Done("admin", "POST", "/apis/oas", apistest.Document("b", "B", "/b/"))
	const (
		a, b = "http://gw.example/a /a", "http://gw.example/b /b"
		atA  = "http://gw.example/base/v2 /base/v2 " + a
		atB  = "http://gw.example/base/v3 /base/v3 " + b
	)
	const v2, v3, gone = `{"name":"v2","id":"a"}`, `{"name":"v3","id":"b"}`, `{"name":"v9","id":"gone"}`
	for i, step := range []struct{ body, a, b string }{
		{base("true", v2), atA, b},
		{base("true", v2+","+v3+","+gone), atA, atB},
		{base("true", v3), a, atB},
		{base("true", `{"name":"two","id":"a"},`+v3), strings.ReplaceAll(atA, "v2", "two"), atB},
		{base("false", v2+","+v3), a, b},
		{base("true", v2+","+v3), atA, atB},
		{apistest.Document("base", "Base", "/base/"), a, b},
	} {
		if i == 0 {
			w.Done("admin", "POST", "/apis/oas", step.body)
		} else {
			w.Done("admin", "PUT", "/apis/oas/base", step.body)
		}
		if gotA, gotB := serversOf(w, "a"), serversOf(w, "b"); gotA != step.a || gotB != step.b {
			t.Errorf("%s\nhave %s, %s\nwant %s, %s", step.body, gotA, gotB, step.a, step.b)
		}
	}
	before, _ := w.Stored("a")
	w.Done("admin", "PUT", "/apis/oas/base", base("true", v3))
	if after, _ := w.Stored("a"); after.Rev != before.Rev {
		t.Error("a was written for nothing")
	}
}

// A routing table that has its own API, or a name twice, is refused by all operations,
// and the stored API is not changed.
func TestCorruptTables(t *testing.T) {
	w := apistest.New(t, apis.Settings{UnsafeOAS: true, Streams: true})
	const field = "x-tyk-api-gateway.info.versioning.versions: "
	list := func(entries string) func(id, path string) string {
		return func(id, path string) string {
			return strings.Replace(apistest.Document(id, id, path), `"state"`, `"versioning":{"enabled":true,"name":"v1","default":"self","location":"header","key":"k","versions":[`+entries+`]},"state"`, 1)
		}
	}
	classic := func(id, path string) string {
		return strings.Replace(apistest.Classic(id, id, path), `"active":true`, `"active":true,"definition":{"enabled":false,"name":"v1","default":"self","location":"header","key":"k","versions":{"me":"base"}}`, 1)
	}
	for _, door := range []struct {
		as, create, replace string
		body                func(id, path string) string
		status              int
		text                string
	}{
		{"admin", "/apis/oas", "/apis/oas/base", list(`{"name":"me","id":"base"}`), 400, field + `version \"me\" is the API itself`},
		{"admin", "/apis/oas", "/apis/oas/base", list(`{"name":"v2","id":"x"},{"name":"v2","id":"y"}`), 422, field + `version name \"v2\" is already in use`},
		{"admin", "/apis/oas", "/apis/oas/base", list(`{"name":"v1","id":"x"}`), 422, field + `version name \"v1\" is already in use`},
		{"admin", "/apis/oas", "/apis/oas/base", list(`{"name":"self","id":"x"}`), 422, field + `\"self\" stands for the base API and is no version name`},
		{"admin", "/apis/streams", "/apis/streams/base", list(`{"name":"me","id":"base"}`), 400, field},
		{"tim", "/mcps", "/mcps/base", list(`{"name":"me","id":"base"}`), 400, field},
		{"tim", "/mcps", "/mcps/base", list(`{"name":"v2","id":"x"},{"name":"v2","id":"x"}`), 422, field},
		{"admin", "/apis", "/apis/base", classic, 400, `definition.versions: version \"me\" is the API itself`},
	} {
		w.Want(door.as, "POST", door.create, door.body("base", "/base/"), door.status, door.text)
		if door.create == "/apis" {
			w.Done(door.as, "POST", door.create, apistest.Classic("base", "Base", "/base/"))
		} else {
			w.Done(door.as, "POST", door.create, apistest.Document("base", "Base", "/base/"))
		}
		_, before := w.Stored("base")
		w.Want(door.as, "PUT", door.replace, door.body("base", "/base/"), door.status, door.text)
		if _, now := w.Stored("base"); now != before {
			t.Error("a refusal changed", now)
		}
		w.Done(door.as, "DELETE", door.replace, "")
	}
	table := list(`{"name":"v2","id":"x"}`)("base", "/base/")
	w.Done("admin", "POST", "/apis/oas", table)
	w.Want("admin", "PUT", "/apis/oas/base", strings.Replace(table, `"name":"v1"`, `"name":"v2"`, 1), 422, field+`version name \"v2\" is already in use`)
	w.Want("admin", "POST", "/apis/oas/dry-run", `{"tyk_oas":`+list(`{"name":"me","id":"base"}`)("base", "/base/")+`}`, 400, field)
}

// Corrupt tables of earlier releases are kept: the rest of their API can be changed,
// the table can be corrected, and the API can be deleted with its versions.
func TestStoredCorruptTable(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	w.Done("admin", "POST", "/apis/oas", apistest.Document("base", "Base", "/base/"))
	w.Done("admin", "POST", "/apis/oas?base_api_id=base&base_api_version_name=v1&new_version_name=v2", apistest.Document("child", "Child", "/child/"))
	good := string(w.Node("admin", "/apis/oas/base").JSON())
	corrupt := func() {
		_, err := w.DB.Update(t.Context(), w.Scope(), func(tx store.Writer) error {
			_, err := apis.Kind.Edit(t.Context(), tx, "base", nil, func(a apidef.API) (apidef.API, error) {
				def, document, err := a.Texts()
				if err != nil {
					return a, err
				}
				def.Put(doc.NewString("base"), "definition", "versions", "me")
				list := document.Get("x-tyk-api-gateway", "info", "versioning", "versions")
				for _, id := range []string{"base", "child", "a\x00b"} {
					entry := doc.NewObject()
					entry.Set("name", doc.NewString("me"))
					entry.Set("id", doc.NewString(id))
					list.Append(entry)
				}
				return a.Rewrite(apidef.Draft{Definition: def, Document: document}, a.Updated())
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	corrupt()
	w.Done("admin", "PUT", "/apis/oas/base", strings.Replace(string(w.Node("admin", "/apis/oas/base").JSON()), `"Base"`, `"Better"`, 1))
	w.Done("admin", "PUT", "/apis/oas/base", good)
	corrupt()
	w.Done("admin", "DELETE", "/apis/oas/base?purge=true", "")
	if got := w.IDs("admin", "/apis"); got != "" {
		t.Error("there still is", got)
	}
}

// An API that gets another API ID remains a version.
func TestRenamedVersion(t *testing.T) {
	w := apistest.New(t, apis.Settings{UnsafeOAS: true})
	w.Done("admin", "POST", "/apis/oas", apistest.Document("base", "Base", "/base/"))
	w.Done("admin", "POST", "/apis/oas?base_api_id=base&base_api_version_name=v1&new_version_name=v2&set_default=true", apistest.Document("child", "Child", "/child/"))
	w.Done("admin", "PATCH", "/apis/child", `{"api_definition":{"api_id":"renamed"}}`)
	w.Want("admin", "GET", "/apis/oas/base", "", 200, `"default":"v2","location":"header","key":"x-tyk-version","versions":[{"name":"v2","id":"renamed"}]`)
	w.Want("admin", "GET", "/apis/base", "", 200, `"versions":{"v2":"renamed"}`)
	w.Want("admin", "GET", "/apis/oas/renamed", "", 200, `"id":"renamed"`)
	if got := w.Ask("admin", "GET", "/apis/renamed", "").Header().Get("X-Tyk-Base-Api-Id"); got != "base" {
		t.Error("base", got)
	}
	w.Done("admin", "DELETE", "/apis/renamed", "")
	w.Want("admin", "GET", "/apis/oas/base", "", 200, `"default":"self"`)
}

// An internal base would serve nothing, so an internal version that becomes the base is
// made reachable; the former base stays as it is.
func TestRebaseOntoInternal(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	w.Done("admin", "POST", "/apis/oas", apistest.Document("base", "Base", "/base/"))
	w.Done("admin", "POST", "/apis/oas?base_api_id=base&base_api_version_name=v1&new_version_name=v2", strings.Replace(apistest.Document("child", "Child", "/child/"), `"active":true`, `"active":true,"internal":true`, 1))
	w.Want("admin", "GET", "/apis/child", "", 200, `"internal":true`)
	w.Done("admin", "PATCH", "/apis/oas/base/rebase/child", "")
	w.Want("admin", "GET", "/apis/child", "", 200, `"internal":false`)
	w.Want("admin", "GET", "/apis/oas/child", "", 200, `"state":{"active":true,"internal":false}`)
	if got := serversOf(w, "child"); !strings.Contains(got, "http://gw.example/child") {
		t.Error("the address of the new base:", got)
	}
	w.Want("admin", "GET", "/apis/base", "", 200, `"internal":false`)
}

// Only admins of the organisation of an API can drop its cached keys.
func TestClearKeys(t *testing.T) {
	w := apistest.New(t, apis.Settings{Ownership: true})
	w.Done("ann", "POST", "/apis/oas", apistest.Document("o", "O", "/o/"))
	w.Done("tim", "POST", "/mcps", apistest.Document("m", "M", "/m/"))
	w.Want("admin", "DELETE", "/cache/jwks/o", "", 200, `{"status":"OK","message":"success"}`)
	w.Done("admin", "DELETE", "/cache/jwks/m", "")
	before := w.Head()
	w.Want("ann", "DELETE", "/cache/jwks/o", "", 403, "access denied")
	w.Want("other", "DELETE", "/cache/jwks/o", "", 404, "API not found")
	w.Want("admin", "DELETE", "/cache/jwks/nothing", "", 404, "API not found")
	if w.Head() != before {
		t.Error("a refusal was announced")
	}
}

// The fault for a base of another organisation differs from that for a base that does
// not exist, unless organisations have separate gateways: then their IDs are unrelated.
func TestForeignBase(t *testing.T) {
	for separate, want := range map[bool]int{false: 403, true: 400} {
		w := apistest.New(t, apis.Settings{SeparateGateways: separate})
		w.Done("other", "POST", "/apis/oas", apistest.Document("theirs", "Theirs", "/theirs/"))
		for base, code := range map[string]int{"theirs": want, "nothing": 400, "%00": 400} {
			w.Want("admin", "POST", "/apis/oas?base_api_version_name=v1&new_version_name=v2&base_api_id="+base, apistest.Document("o", "O", "/o/"), code, "Could not retrieve detail of apiID ")
		}
	}
}

// A base that is being deleted counts as one that does not exist, although other
// readers still see it. It is not taken for a base of another organisation.
func TestBaseUnderDeletion(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	w.Done("admin", "POST", "/apis/oas", apistest.Document("base", "Base", "/base/"))
	stored, _ := w.Stored("base")
	undone := errors.New("undone")
	_, err := w.DB.Update(t.Context(), w.Scope(), func(wr store.Writer) error {
		if err := wr.Delete(t.Context(), apidef.Kind, stored.Value.ID()); err != nil {
			return err
		}
		d := apidef.Draft{OrgID: "a", APIID: "next", Class: apidef.OAS}
		_, err := w.Documents.Versions.Attach(t.Context(), wr, apistest.Callers["admin"], d, versioning.NewVersion{Base: "base", BaseAs: "v1", Version: "v2"})
		if fault.CodeOf(err) != versioning.CodeBase {
			t.Error(err)
		}
		return undone
	})
	if !errors.Is(err, undone) {
		t.Error(err)
	}
}

// A base that the caller may not see, because it is in the other family, counts as one
// that does not exist.
func TestHiddenBase(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	w.Done("tim", "POST", "/mcps", apistest.Document("proxy", "Proxy", "/proxy/"))
	w.Done("ann", "POST", "/apis/oas", apistest.Document("rest", "Rest", "/rest/"))
	const version = "?base_api_version_name=v1&new_version_name=v2&base_api_id="
	for _, base := range []string{"proxy", "nothing"} {
		w.Want("ann", "POST", "/apis/oas"+version+base, apistest.Document("o", "O", "/o/"), 400, "Could not retrieve detail of apiID "+base)
	}
	for _, base := range []string{"rest", "nothing"} {
		w.Want("tim", "POST", "/mcps"+version+base, apistest.Document("m", "M", "/m/"), 400, "Could not retrieve detail of apiID "+base)
	}
}

// Only proxies of REST APIs may have a tool view, even an empty one, and middleware
// that MCP does not support is refused everywhere.
func TestRefusedProxies(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	with := func(old, new string) string { return strings.Replace(apistest.Document("m", "M", "/m/"), old, new, 1) }
	const view = `"x-tyk-mcp-server":{"primitives":[]},`
	for _, body := range []string{with(`"paths"`, view+`"paths"`), with(`"paths"`, `"x-tyk-mcp-server":{},"paths"`)} {
		w.Want("tim", "POST", "/mcps", body, 400, "x-tyk-mcp-server: needs an upstream that is the MCP adapter of a REST API")
	}
	w.Want("ann", "POST", "/apis/oas", with(`"paths"`, view+`"paths"`), 400, "x-tyk-mcp-server")
	for _, name := range []string{"internal", "transformRequestMethod", "transformResponseBody", "urlRewrite", "cache", "validateRequest", "mockResponse"} {
		const method = `"paths":{"/tools/call":{"post":{"operationId":"call","responses":{"200":{"description":"d"}}}}}`
		block := map[string]string{"transformRequestMethod": `{"enabled":true,"toMethod":"PUT"}`, "transformResponseBody": `{"enabled":true,"format":"json","body":"e30="}`,
			"urlRewrite": `{"enabled":true,"pattern":"a","rewriteTo":"b"}`}[name]
		if block == "" {
			block = `{"enabled":true}`
		}
		body := strings.Replace(with(`"paths":{}`, method), `"upstream"`, `"middleware":{"operations":{"call":{"`+name+`":`+block+`}}},"upstream"`, 1)
		w.Want("tim", "POST", "/mcps", body, 400, "middleware.operations.call."+name+": is not supported for MCP proxies")
	}
	w.Done("tim", "POST", "/mcps", apistest.Document("m", "M", "/m/"))
	w.Want("tim", "PUT", "/mcps/m", with(`"paths"`, view+`"paths"`), 400, "x-tyk-mcp-server")
}

// One change of a base updates the addresses of a bounded amount of versions; a refusal
// changes nothing.
func TestTextOfVersionsIsBounded(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	w.Documents.Versions.MaxText = 1 << 20
	for _, id := range []string{"a", "b"} {
		w.Done("admin", "POST", "/apis/oas", strings.Replace(apistest.Document(id, strings.ToUpper(id), "/"+id+"/"), `"T"`, `"`+strings.Repeat("T", 600_000)+`"`, 1))
	}
	w.Done("admin", "POST", "/apis/oas", basing("base", "a"))
	w.Done("admin", "PUT", "/apis/oas/base", basing("base", "a", "b"))
	before := serversOf(w, "a")
	moved := func(body string) string { return strings.Replace(body, "/base/", "/moved/", 1) }
	for _, ask := range [][2]string{{"PUT", moved(basing("base", "a", "b"))}, {"DELETE", ""}} {
		w.Want("admin", ask[0], "/apis/oas/base", ask[1], 400, "have more than 1 MiB of text")
	}
	if now := serversOf(w, "a"); now != before {
		t.Error("a refusal changed", now)
	}
	w.Done("admin", "PUT", "/apis/oas/base", strings.Replace(basing("base", "a", "b"), `"BASE"`, `"Better"`, 1)) // no address depends on it
	w.Done("admin", "PUT", "/apis/oas/base", basing("base", "b"))
	w.Done("admin", "PUT", "/apis/oas/base", moved(basing("base", "b")))
	w.Done("admin", "DELETE", "/apis/oas/base", "")
}

// A new API that is in the table of a base already has the addresses of a version from
// the start.
func TestVersionThatWasAwaited(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	w.Done("admin", "POST", "/apis/oas", basing("base", "a"))
	w.Done("admin", "POST", "/apis/oas", apistest.Document("a", "A", "/a/"))
	if got, want := serversOf(w, "a"), "http://gw.example/base /base http://gw.example/a /a"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A version of several bases is removed from all their tables when it is deleted, alone
// or with one of them, and is renamed in all when it gets another ID: a later API with
// its old ID is another one.
func TestVersionOfSeveralBases(t *testing.T) {
	w := apistest.New(t, apis.Settings{UnsafeOAS: true})
	tables := func() string {
		var out []string
		for _, id := range []string{"one", "two"} {
			for _, v := range w.Node("admin", "/apis/oas/"+id).Get("x-tyk-api-gateway", "info", "versioning", "versions").Items() {
				out = append(out, id+":"+v.Get("id").Text())
			}
		}
		return strings.Join(out, " ")
	}
	for _, id := range []string{"one", "two"} {
		w.Done("admin", "POST", "/apis/oas", basing(id, "a", "b"))
	}
	for _, id := range []string{"a", "b"} {
		w.Done("admin", "POST", "/apis/oas", apistest.Document(id, strings.ToUpper(id), "/"+id+"/"))
	}
	w.Done("admin", "PATCH", "/apis/a", `{"api_definition":{"api_id":"c"}}`)
	if got := tables(); got != "one:c one:b two:c two:b" {
		t.Error("renamed:", got)
	}
	w.Done("admin", "DELETE", "/apis/oas/c", "")
	if got := tables(); got != "one:b two:b" {
		t.Error("deleted:", got)
	}
	w.Done("admin", "POST", "/apis/oas", basing("three", "b"))
	w.Done("admin", "DELETE", "/apis/oas/three?purge=true", "")
	if got := tables(); got != "" {
		t.Error("deleted with a base:", got)
	}
}
