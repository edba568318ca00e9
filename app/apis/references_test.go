package apis_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
)

// Records that refer to an API by either ID are found, except APIs that the caller must
// not see and records of a kind that it may not read.
func TestReferences(t *testing.T) {
	w := apistest.New(t, apis.Settings{Ownership: true})
	w.Done("ann", "POST", "/apis/oas", apistest.Document("base", "Base", "/base/"))
	w.Done("ann", "POST", "/apis/oas?base_api_id=base&base_api_version_name=1&new_version_name=2", apistest.Document("child", "Child", "/child/"))
	w.Done("admin", "PUT", "/apis/child/access", `{"userIds":["ann","bob"]}`)
	w.Done("admin", "POST", "/portal/policies", `{"id":"gold","name":"Gold","access_rights":{"child":{},"other":{}}}`)
	paired := `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"paths":{},"x-tyk-api-gateway":{"info":{"name":"Tools","id":"tools","state":{"active":true}},` +
		`"upstream":{"url":"tyk://child/mcp"},"server":{"listenPath":{"value":"/tools/"}}}}`
	w.Want("tim", "POST", "/mcps", paired, 401, "Not authorised")
	w.Done("admin", "POST", "/mcps", paired)
	const (
		gold  = `"id":"gold","name":"Gold","where":`
		base  = `"id":"base","name":"Base","where":"api_definition.definition.versions.2"`
		tools = `"id":"tools","name":"Tools","where":"api_definition.proxy.target_url"`
	)
	child, _ := w.Stored("child")
	for as, want := range map[string]map[string]bool{
		"admin": {gold: true, base: true, tools: true},
		"ann":   {gold: false, base: true, tools: false}, // no permission for policies and proxies
		"bob":   {gold: false, base: false, tools: true}, // does not own the base
	} {
		for _, id := range []string{"child", child.Value.ID()} {
			got := w.Ask(as, "GET", "/apis/"+id+"/references", "")
			for text, there := range want {
				if contains := got.Code == 200 && strings.Contains(got.Body.String(), text); contains != there {
					t.Errorf("%s %s: %t for %s in %s", as, id, contains, text, got.Body)
				}
			}
		}
	}
	w.Want("admin", "GET", "/mcps/tools/references", "", 200, "[]")
	w.Want("admin", "GET", "/mcps/child/references", "", 400, "API is not an MCP Proxy")
}

// A dry run returns what would change and which references would dangle, and refuses
// what would be refused.
func TestRehearsals(t *testing.T) {
	w := apistest.New(t, apis.Settings{Streams: true})
	const plain = `{"openapi":"3.0.3","info":{"title":"U","version":"1"},"paths":{}}`
	w.Done("admin", "POST", "/apis", apistest.Classic("c", "C", "/c/"))
	w.Done("admin", "POST", "/apis/oas", apistest.Document("o", "O", "/o/"))
	w.Done("admin", "POST", "/apis/streams", apistest.Document("s", "S", "/s/"))
	w.Done("admin", "POST", "/mcps", apistest.Document("m", "M", "/m/"))
	w.Done("admin", "POST", "/portal/policies", `{"id":"gold","name":"Gold","access_rights":{"c":{}}}`)
	before := w.Head()
	for _, row := range []struct{ method, path, body, want string }{
		{"PUT", "/apis/c", apistest.Classic("d", "C", "/c/"), `"references":[{"kind":"policy","id":"gold"`},
		{"PATCH", "/apis/c", `{"sort_by":1}`, `"sort_by"`},
		{"PUT", "/apis/c/access", `{"userIds":["x"]}`, `"user_owners"`},
		{"DELETE", "/apis/c", "", `"op":"deleted"`},
		{"PUT", "/apis/oas/o", apistest.Document("o", "P", "/o/"), `"op":"updated"`},
		{"PATCH", "/apis/oas/o", plain, `"op":"updated"`},
		{"PUT", "/apis/oas/o/categories", `{"categories":["x"]}`, `"categories"`},
		{"DELETE", "/apis/oas/o", "", `"op":"deleted"`},
		{"PUT", "/apis/streams/s", apistest.Document("s", "P", "/s/"), `"op":"updated"`},
		{"PATCH", "/apis/streams/s", plain, `"op":"updated"`},
		{"DELETE", "/apis/streams/s", "", `"op":"deleted"`},
		{"PUT", "/mcps/m", apistest.Document("m", "P", "/m/"), `"op":"updated"`},
		{"DELETE", "/mcps/m", "", `"op":"deleted"`},
	} {
		w.Want("admin", row.method, row.path+"?dry_run=true", row.body, 200, "dry run: nothing was stored")
		w.Want("admin", row.method, row.path+"?dry_run=true", row.body, 200, row.want)
	}
	w.Want("admin", "PUT", "/apis/oas/o?dry_run=true", apistest.Document("o", "P", "/s/"), 403, "Found API with same url.")
	w.Want("admin", "DELETE", "/apis/oas/nothing?dry_run=true", "", 404, "Could not retrieve API detail.")
	if w.Head() != before {
		t.Error("something was stored")
	}
}
