package apis_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
)

// Whoever names an API is found, by either of its identifiers; APIs that a caller
// must not see are not.
func TestReferences(t *testing.T) {
	w := newWorld(t, apis.Settings{Ownership: true})
	w.done("ann", "POST", "/apis/oas", document("base", "Base", "/base/"))
	w.done("ann", "POST", "/apis/oas?base_api_id=base&base_api_version_name=1&new_version_name=2", document("child", "Child", "/child/"))
	w.done("admin", "PUT", "/apis/child/access", `{"userIds":["ann","bob"]}`)
	w.done("admin", "POST", "/portal/policies", `{"id":"gold","name":"Gold","access_rights":{"child":{},"other":{}}}`)
	paired := `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"paths":{},"x-tyk-api-gateway":{"info":{"name":"Tools","id":"tools","state":{"active":true}},` +
		`"upstream":{"url":"tyk://child/mcp"},"server":{"listenPath":{"value":"/tools/"}}}}`
	w.want("tim", "POST", "/mcps", paired, 401, "Not authorised")
	w.done("admin", "POST", "/mcps", paired)
	const (
		gold  = `"id":"gold","name":"Gold","where":`
		base  = `"id":"base","name":"Base","where":"api_definition.definition.versions.2"`
		tools = `"id":"tools","name":"Tools","where":"api_definition.proxy.target_url"`
	)
	child, _ := w.stored("child")
	for as, want := range map[string]map[string]bool{
		"admin": {gold: true, base: true, tools: true},
		"ann":   {gold: true, base: true, tools: false}, // no permission for proxies
		"bob":   {gold: true, base: false, tools: true}, // does not own the base
	} {
		for _, id := range []string{"child", child.Value.ID()} {
			got := w.ask(as, "GET", "/apis/"+id+"/references", "")
			for text, there := range want {
				if contains := got.Code == 200 && strings.Contains(got.Body.String(), text); contains != there {
					t.Errorf("%s %s: %t for %s in %s", as, id, contains, text, got.Body)
				}
			}
		}
	}
	w.want("admin", "GET", "/mcps/tools/references", "", 200, "[]")
	w.want("admin", "GET", "/mcps/child/references", "", 400, "API is not an MCP Proxy")
}

// A rehearsal says what would change and which references would lead nowhere, and
// refuses what would be refused.
func TestRehearsals(t *testing.T) {
	w := newWorld(t, apis.Settings{Streams: true})
	const plain = `{"openapi":"3.0.3","info":{"title":"U","version":"1"},"paths":{}}`
	w.done("admin", "POST", "/apis", classic("c", "C", "/c/"))
	w.done("admin", "POST", "/apis/oas", document("o", "O", "/o/"))
	w.done("admin", "POST", "/apis/streams", document("s", "S", "/s/"))
	w.done("admin", "POST", "/mcps", document("m", "M", "/m/"))
	w.done("admin", "POST", "/portal/policies", `{"id":"gold","name":"Gold","access_rights":{"c":{}}}`)
	before := w.head()
	for _, row := range []struct{ method, path, body, want string }{
		{"PUT", "/apis/c", classic("d", "C", "/c/"), `"references":[{"kind":"policy","id":"gold"`},
		{"PATCH", "/apis/c", `{"sort_by":1}`, `"sort_by"`},
		{"PUT", "/apis/c/access", `{"userIds":["x"]}`, `"user_owners"`},
		{"DELETE", "/apis/c", "", `"op":"deleted"`},
		{"PUT", "/apis/oas/o", document("o", "P", "/o/"), `"op":"updated"`},
		{"PATCH", "/apis/oas/o", plain, `"op":"updated"`},
		{"PUT", "/apis/oas/o/categories", `{"categories":["x"]}`, `"categories"`},
		{"DELETE", "/apis/oas/o", "", `"op":"deleted"`},
		{"PUT", "/apis/streams/s", document("s", "P", "/s/"), `"op":"updated"`},
		{"PATCH", "/apis/streams/s", plain, `"op":"updated"`},
		{"DELETE", "/apis/streams/s", "", `"op":"deleted"`},
		{"PUT", "/mcps/m", document("m", "P", "/m/"), `"op":"updated"`},
		{"DELETE", "/mcps/m", "", `"op":"deleted"`},
	} {
		w.want("admin", row.method, row.path+"?dry_run=true", row.body, 200, "dry run: nothing was stored")
		w.want("admin", row.method, row.path+"?dry_run=true", row.body, 200, row.want)
	}
	w.want("admin", "PUT", "/apis/oas/o?dry_run=true", document("o", "P", "/s/"), 403, "Found API with same url.")
	w.want("admin", "DELETE", "/apis/oas/nothing?dry_run=true", "", 404, "Could not retrieve API detail.")
	if w.head() != before {
		t.Error("something was stored")
	}
}
