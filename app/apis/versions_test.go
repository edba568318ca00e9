package apis_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
)

// servers returns the addresses in the document of an API.
func (w *world) servers(id string) string {
	w.t.Helper()
	var out []string
	for _, s := range w.node("admin", "/apis/oas/"+id).Get("servers").Items() {
		out = append(out, s.Get("url").Text())
	}
	return strings.Join(out, " ")
}

// The addresses of versions follow their base, what users wrote beside them stays,
// and only documents that change are written (contract oas-extension.md 7.3).
func TestServersFollowBase(t *testing.T) {
	w := newWorld(t, apis.Settings{})
	base := func(path, versioning string) string {
		return strings.Replace(document("base", "Base", path), `"state"`, `"versioning":{"enabled":true,"name":"v1",`+versioning+`,"versions":[{"name":"v2","id":"child"}]},"state"`, 1)
	}
	w.done("admin", "POST", "/apis/oas", document("base", "Base", "/base/"))
	w.done("admin", "POST", "/apis/oas?base_api_id=base&base_api_version_name=v1&new_version_name=v2",
		strings.Replace(document("child", "Child", "/child/"), `"paths"`, `"servers":[{"url":"https://own.example","description":"ours"}],"paths"`, 1))
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
			w.done("admin", "PUT", "/apis/oas/base", step.body)
		}
		if got := w.servers("child"); got != step.want {
			t.Errorf("%s\nhave %s\nwant %s", step.body, got, step.want)
		}
	}
	before, _ := w.stored("child")
	w.done("admin", "PUT", "/apis/oas/base", strings.Replace(base("/moved/", `"location":"url","key":"l","default":"v2","fallbackToDefault":true`), `"T"`, `"U"`, 1))
	if after, _ := w.stored("child"); after.Rev != before.Rev || after.Value.Updated() != before.Value.Updated() {
		t.Error("the child was written for nothing")
	}
	w.done("admin", "DELETE", "/apis/oas/base", "")
	if got := w.servers("child"); got != mine+own {
		t.Error("alone:", got)
	}
}

// An API that gets another API ID stays the version that it was.
func TestRenamedVersion(t *testing.T) {
	w := newWorld(t, apis.Settings{UnsafeOAS: true})
	w.done("admin", "POST", "/apis/oas", document("base", "Base", "/base/"))
	w.done("admin", "POST", "/apis/oas?base_api_id=base&base_api_version_name=v1&new_version_name=v2&set_default=true", document("child", "Child", "/child/"))
	w.done("admin", "PATCH", "/apis/child", `{"api_definition":{"api_id":"renamed"}}`)
	w.want("admin", "GET", "/apis/oas/base", "", 200, `"default":"v2","location":"header","key":"x-tyk-version","versions":[{"name":"v2","id":"renamed"}]`)
	w.want("admin", "GET", "/apis/base", "", 200, `"versions":{"v2":"renamed"}`)
	w.want("admin", "GET", "/apis/oas/renamed", "", 200, `"id":"renamed"`)
	if got := w.ask("admin", "GET", "/apis/renamed", "").Header().Get("X-Tyk-Base-Api-Id"); got != "base" {
		t.Error("base", got)
	}
	w.done("admin", "DELETE", "/apis/renamed", "")
	w.want("admin", "GET", "/apis/oas/base", "", 200, `"default":"self"`)
}
