package apis_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
)

// atOnce sends requests concurrently and returns how many had each status.
func atOnce(w *apistest.World, n int, send func(i int) (path, body string)) map[int]int {
	var mu sync.Mutex
	var wg sync.WaitGroup
	out, start := map[int]int{}, make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			path, body := send(i)
			got := w.Ask("admin", "POST", path, body)
			mu.Lock()
			defer mu.Unlock()
			out[got.Code]++
		})
	}
	close(start)
	wg.Wait()
	return out
}

// Of many concurrent clients that want the same address, one succeeds. Of many equal
// requests, one succeeds, even where addresses may be shared
// (docs/wire/apis.md#create-replace-delete).
func TestConcurrentCreates(t *testing.T) {
	const clients = 50
	for _, c := range []struct {
		name       string
		duplicates bool
		send       func(i int) (string, string)
		won, lost  int // how many succeed, and the status of the others
	}{
		{"one listen path", false, func(i int) (string, string) {
			return "/apis", apistest.Classic(fmt.Sprint("a", i), fmt.Sprint("A", i), "/a/")
		}, 1, 403},
		{"one listen path, two classes", false, func(i int) (string, string) {
			if i%2 == 0 {
				return "/apis", apistest.Classic(fmt.Sprint("a", i), fmt.Sprint("A", i), "/a/")
			}
			return "/apis/oas", apistest.Document(fmt.Sprint("a", i), fmt.Sprint("A", i), "/a/")
		}, 1, 403},
		{"double clicks where listen paths may be shared", true, func(int) (string, string) { return "/apis", apistest.Classic("", "A", "/a/") }, 1, 403},
		{"shared listen paths", true, func(i int) (string, string) { return "/apis", apistest.Classic("", fmt.Sprint("A", i), "/a/") }, clients, 403},
		{"one identifier", false, func(i int) (string, string) { return "/apis", apistest.Classic("a", "A", fmt.Sprintf("/a%d/", i)) }, 1, 409},
		{"one identifier where listen paths may be shared", true, func(i int) (string, string) { return "/apis/oas", apistest.Document("a", "A", fmt.Sprintf("/a%d/", i)) }, 1, 409},
		{"one MCP proxy again and again", false, func(int) (string, string) { return "/mcps", apistest.Document("", "A", "/a/") }, 1, 409},
		{"one MCP proxy where listen paths may be shared", true, func(int) (string, string) { return "/mcps", apistest.Document("", "A", "/a/") }, 1, 409},
		{"one name of MCP proxies", false, func(i int) (string, string) { return "/mcps", apistest.Document("", "A", fmt.Sprintf("/a%d/", i)) }, 1, 409},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := apistest.New(t, apis.Settings{DuplicatePaths: c.duplicates})
			got := atOnce(w, clients, c.send)
			if got[200] != c.won || got[c.lost] != clients-c.won {
				t.Errorf("%v", got)
			}
		})
	}
}

// Where listen paths may be shared, stored APIs may get the same name as well; only
// creations are refused then.
func TestEditsOfSharedPaths(t *testing.T) {
	for _, shared := range []bool{true, false} {
		w := apistest.New(t, apis.Settings{DuplicatePaths: shared})
		want := func(as, method, path, body string) {
			if t.Helper(); shared {
				w.Done(as, method, path, body)
			} else {
				w.Want(as, method, path, body, 403, "Found API with same url.")
			}
		}
		w.Done("admin", "POST", "/apis", apistest.Classic("a", "A", "/p/"))
		w.Done("admin", "POST", "/apis", apistest.Classic("q", "Q", "/q/"))
		w.Done("admin", "POST", "/apis/oas", apistest.Document("r", "R", "/r/"))
		want("admin", "POST", "/apis", apistest.Classic("b", "B", "/p/"))
		want("admin", "PUT", "/apis/q", apistest.Classic("q", "A", "/p/"))
		want("admin", "PUT", "/apis/oas/r", apistest.Document("r", "A", "/p/"))
		if shared {
			w.Done("admin", "PUT", "/apis/b", apistest.Classic("b", "A", "/p/"))
			w.Done("admin", "PUT", "/apis/b", strings.Replace(apistest.Classic("b", "A", "/p/"), `"active":true`, `"active":false`, 1))
			w.Done("admin", "PATCH", "/apis/q", `{"api_definition":{"active":false}}`)
		}
		w.Want("admin", "POST", "/apis", apistest.Classic("c", "A", "/p/"), 403, "Found API with same url.")
		w.Want("admin", "POST", "/apis/oas", apistest.Document("c", "A", "/p/"), 403, "Found API with same url.")
		w.Done("tim", "POST", "/mcps", apistest.Document("m", "M", "/m/"))
		w.Done("tim", "POST", "/mcps", apistest.Document("n", "N", "/n/"))
		w.Want("tim", "PUT", "/mcps/m", apistest.Document("m", "N", "/n/"), 409, "Found MCP Proxy with the same name")
	}
}

// A refused write changes neither the stored API nor the revision of the store.
func TestRefusedWrites(t *testing.T) {
	w := apistest.New(t, apis.Settings{Streams: true})
	w.Done("admin", "POST", "/apis", apistest.Classic("c", "C", "/c/"))
	w.Done("admin", "POST", "/apis", apistest.Classic("d", "D", "/d/"))
	w.Done("admin", "POST", "/apis/oas", apistest.Document("o", "O", "/o/"))
	w.Done("admin", "POST", "/apis/streams", apistest.Document("s", "S", "/s/"))
	w.Done("admin", "POST", "/mcps", apistest.Document("m", "M", "/m/"))
	w.Done("admin", "POST", "/mcps", apistest.Document("n", "N", "/n/"))
	for _, row := range []struct {
		method, path, id, body string
		status                 int
	}{
		{"PUT", "/apis/", "c", apistest.Classic("c", "C", "c/"), 400},
		{"PUT", "/apis/", "c", apistest.Classic("c", "C", "/d/"), 403},
		{"PUT", "/apis/", "c", apistest.Classic("d", "C", "/c"), 409},
		{"PUT", "/apis/", "c", apistest.Classic("c", "", "/c"), 400},
		{"PUT", "/apis/", "c", strings.Replace(apistest.Classic("c", "C", "/c"), `"active":true`, `"active":1`, 1), 400},
		{"PUT", "/apis/", "c", strings.Replace(apistest.Classic("c", "C", "/c"), `"active":true`, `"Active":"x"`, 1), 400},
		{"PATCH", "/apis/", "c", `{"api_definition":{"proxy":null}}`, 400},
		{"PATCH", "/apis/", "c", `{"user_owners":7}`, 400},
		{"PATCH", "/apis/", "c", `{"api_definition":{"id":"5f1a0c5d8e3b2a1f00000099"}}`, 400},
		{"PUT", "/apis/", "o", apistest.Classic("o", "O", "/o/"), 400},
		{"PUT", "/apis/oas/", "o", apistest.Document("x", "O", "/o/"), 400},
		{"PUT", "/apis/oas/", "o", apistest.Document("o", "O", "o/"), 400},
		{"PUT", "/apis/oas/", "o", apistest.Document("o", "O", "/c/"), 403},
		{"PUT", "/apis/oas/", "o", apistest.Document("o", "", "/o/"), 400},
		{"PUT", "/apis/oas/", "o", `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"paths":{},"x-tyk-api-gateway":[]}`, 400},
		{"PUT", "/apis/oas/", "o", `{}`, 400},
		{"PATCH", "/apis/oas/", "o", apistest.Document("o", "O", "/o/"), 400},
		{"PATCH", "/apis/oas/%?upstreamURL=%25%25", "o", `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"paths":{}}`, 400},
		{"PUT", "/apis/streams/", "s", apistest.Document("s", "S", "/o/"), 403},
		{"PUT", "/apis/streams/", "s", `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"paths":{}}`, 400},
		{"PUT", "/mcps/", "m", apistest.Document("m", "N", "/m/"), 409},
		{"PUT", "/mcps/", "m", apistest.Document("m", "N", "/n/"), 409},
		{"PUT", "/mcps/", "m", apistest.Document("m", "M", "/s/"), 403},
		{"DELETE", "/apis/streams/", "o", "", 400},
		{"DELETE", "/mcps/", "o", "", 400},
		{"PATCH", "/apis/oas/%/rebase/s", "o", "", 400},
	} {
		before := w.Head()
		api, text := w.Stored(row.id)
		w.Want("admin", row.method, at(row.path, row.id), row.body, row.status, `"Status":"Error"`)
		again, now := w.Stored(row.id)
		if w.Head() != before || again.Rev != api.Rev || now != text {
			t.Errorf("%s %s %s: something changed", row.method, row.path, row.body)
		}
	}
}

// Each write is announced as docs/wire/announcements.md#commands says: once, and not at
// all if it does not concern gateways.
func TestAnnouncements(t *testing.T) {
	w := apistest.New(t, apis.Settings{Streams: true})
	const plain = `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"paths":{}}`
	for _, row := range []struct{ method, path, body, want string }{
		{"POST", "/apis", apistest.Classic("c", "C", "/c/"), "ApiAdded c"},
		{"PUT", "/apis/c", apistest.Classic("c", "C", "/c/"), "ApiUpdated c"},
		{"PATCH", "/apis/c", `{"api_definition":{"active":false}}`, "ApiUpdated c"},
		{"PUT", "/apis/c/access", `{"userIds":["x"]}`, ""},
		{"PUT", "/apis/c?dry_run=true", apistest.Classic("c", "C", "/c/"), ""},
		{"POST", "/apis?base_api_id=c&base_api_version_name=1&new_version_name=2", apistest.Classic("c2", "C2", "/c2/"), "ApiAdded c2"},
		{"PUT", "/apis/c2", apistest.Classic("c3", "C3", "/c2/"), "ApiUpdated c3"},
		{"DELETE", "/cache/c", "", "DeleteAPICache c"},
		{"DELETE", "/cache/jwks/c", "", "InvalidateJWKSCacheForAPI c"},
		{"POST", "/apis/oas", apistest.Document("o", "O", "/o/"), "ApiAdded o"},
		{"PUT", "/apis/oas/o", apistest.Document("o", "O", "/o/"), "ApiUpdated o"},
		{"PATCH", "/apis/oas/o", plain, "ApiUpdated o"},
		{"PUT", "/apis/oas/o/categories", `{"categories":["x"]}`, ""},
		{"POST", "/apis/oas/import?apiID=p&listenPath=/p/&upstreamURL=http://p&base_api_id=o&base_api_version_name=1&new_version_name=2", plain, "ApiAdded p"},
		{"POST", "/apis/oas/dry-run?apiID=q&listenPath=/q/&upstreamURL=http://p&base_api_id=o&new_version_name=3", `{"oas":` + plain + `}`, ""},
		{"POST", "/portal/policies", `{"id":"gold","name":"Gold","access_rights":{"p":{},"o":{}}}`, "PolicyChanged gold"},
		{"PATCH", "/apis/oas/o/rebase/p", "", "GroupReload"},
		{"PATCH", "/apis/oas/p/o?dry_run=true", "", ""},
		{"DELETE", "/apis/oas/o", "", "PolicyChanged gold, ApiRemoved o"},
		{"DELETE", "/apis/oas/p", "", "ApiRemoved p"},
		{"POST", "/apis/streams", apistest.Document("s", "S", "/s/"), "ApiAdded s"},
		{"PUT", "/apis/streams/s", apistest.Document("s", "S", "/s/"), "ApiUpdated s"},
		{"PATCH", "/apis/streams/s", plain, "ApiUpdated s"},
		{"DELETE", "/apis/streams/s", "", "ApiRemoved s"},
		{"POST", "/mcps", apistest.Document("m", "M", "/m/"), "ApiAdded m"},
		{"PUT", "/mcps/m", apistest.Document("m", "M", "/m/"), "ApiUpdated m"},
		{"DELETE", "/mcps/m", "", "ApiRemoved m"},
		{"DELETE", "/apis/c", "", "ApiRemoved c"},
		{"GET", "/apis/c3", "", ""},
	} {
		before := w.Head()
		w.Done("admin", row.method, row.path, row.body)
		if got := w.Announced(before); got != row.want {
			t.Errorf("%s %s announces %q, want %q", row.method, row.path, got, row.want)
		}
	}
}

// A deleted API is removed from policies, but a policy keeps its last one
// (docs/wire/policies.md#reads-and-writes) and an MCP proxy
// (docs/wire/mcp-proxies.md#rules).
func TestPoliciesForget(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	w.Done("admin", "POST", "/apis/oas", apistest.Document("base", "Base", "/base/"))
	w.Done("admin", "POST", "/apis/oas?base_api_id=base&base_api_version_name=1&new_version_name=2", apistest.Document("child", "Child", "/child/"))
	w.Done("admin", "POST", "/portal/policies", `{"id":"both","name":"Both","access_rights":{"base":{},"child":{}}}`)
	w.Done("admin", "POST", "/portal/policies", `{"id":"more","name":"More","access_rights":{"base":{},"child":{},"else":{}}}`)
	w.Done("admin", "DELETE", "/apis/oas/base?purge=true", "")
	w.Done("admin", "POST", "/mcps", apistest.Document("m", "M", "/m/"))
	w.Done("admin", "POST", "/portal/policies", `{"id":"tools","name":"Tools","access_rights":{"m":{},"else":{}}}`)
	w.Done("admin", "DELETE", "/mcps/m", "")
	for id, want := range map[string]int{"both": 1, "more": 1, "tools": 2} {
		if got := w.Node("admin", "/portal/policies/"+id).Get("access_rights").Len(); got != want {
			t.Errorf("%s has %d APIs", id, got)
		}
	}
}

// Reads of a version show its base, also under the database ID.
func TestBaseHeader(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	w.Done("admin", "POST", "/apis/oas", apistest.Document("base", "Base", "/base/"))
	w.Done("admin", "POST", "/apis/oas?base_api_id=base&base_api_version_name=1&new_version_name=2", apistest.Document("child", "Child", "/child/"))
	child, _ := w.Stored("child")
	for path, want := range map[string]string{
		"/apis/child": "base", "/apis/oas/child": "base", "/apis/oas/" + child.Value.ID(): "base", "/apis/base": "", "/apis/oas/base": "",
	} {
		if got := w.Ask("reader", "GET", path, "").Header().Get("X-Tyk-Base-Api-Id"); got != want {
			t.Errorf("%s: base %q", path, got)
		}
	}
	w.Done("admin", "DELETE", "/apis/base", "")
	if got := w.Ask("reader", "GET", "/apis/child", "").Header().Get("X-Tyk-Base-Api-Id"); got != "" {
		t.Errorf("the base %q is gone", got)
	}
}
