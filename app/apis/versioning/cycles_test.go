package versioning_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
)

// basing returns a document whose table leads to some APIs.
func basing(id string, children ...string) string {
	entries := make([]string, len(children))
	for i, c := range children {
		entries[i] = `{"name":"to ` + c + `","id":"` + c + `"}`
	}
	table := `"versioning":{"enabled":true,"name":"v1","default":"self","location":"header","key":"k","versions":[` + strings.Join(entries, ",") + `]},"state"`
	return strings.Replace(apistest.Document(id, strings.ToUpper(id), "/"+id+"/"), `"state"`, table, 1)
}

const leadsBack = "x-tyk-api-gateway.info.versioning.versions: API "

// No API is a version of one of its own versions, because deleting one with its
// versions would delete the other as well. Every operation refuses tables with cycles.
func TestCyclesOfVersions(t *testing.T) {
	w := apistest.New(t, apis.Settings{UnsafeOAS: true})
	for _, id := range []string{"a", "b", "c"} {
		w.Done("admin", "POST", "/apis/oas", apistest.Document(id, strings.ToUpper(id), "/"+id+"/"))
	}
	w.Done("admin", "PUT", "/apis/oas/a", basing("a", "b"))
	w.Want("admin", "PUT", "/apis/oas/b", basing("b", "a"), http.StatusBadRequest, leadsBack+"a leads back")
	w.Done("admin", "PUT", "/apis/oas/b", basing("b", "c"))
	_, before := w.Stored("c")
	w.Want("admin", "PUT", "/apis/oas/c", basing("c", "nothing", "a"), http.StatusBadRequest, leadsBack+"a leads back")
	if _, now := w.Stored("c"); now != before {
		t.Error("a refusal changed", now)
	}
	// A new API that is in a table already, one that becomes a version, and one that
	// gets another ID.
	w.Done("admin", "PUT", "/apis/oas/c", basing("c", "later"))
	w.Want("admin", "POST", "/apis/oas", basing("later", "a"), http.StatusBadRequest, leadsBack+"a leads back")
	w.Want("admin", "POST", "/apis/oas?base_api_id=a&new_version_name=v9", basing("d", "a"), http.StatusBadRequest, leadsBack+"a leads back")
	w.Done("admin", "POST", "/apis/oas", basing("d", "a"))
	w.Want("admin", "PATCH", "/apis/d", `{"api_definition":{"api_id":"later"}}`, http.StatusBadRequest, leadsBack+"a leads back")
	w.Want("admin", "PATCH", "/apis/d", `{"api_definition":{"api_id":"new","definition":{"versions":{"own":"d"}}}}`, http.StatusBadRequest, leadsBack+"d leads back")
	w.Done("admin", "POST", "/apis/oas", basing("above", "d"))
	w.Want("admin", "PATCH", "/apis/d", `{"api_definition":{"api_id":"new","definition":{"versions":{"above":"above"}}}}`, http.StatusBadRequest, leadsBack+"above leads back")
	w.Done("admin", "DELETE", "/apis/oas/above", "")
	// A former base becomes a version, while another version leads to the new base.
	w.Done("admin", "DELETE", "/apis/oas/d", "")
	w.Done("admin", "PUT", "/apis/oas/c", apistest.Document("c", "C", "/c/"))
	w.Done("admin", "PUT", "/apis/oas/a", basing("a", "b", "c"))
	w.Want("admin", "PATCH", "/apis/oas/a/rebase/c", "", http.StatusBadRequest, leadsBack)
	w.Done("admin", "DELETE", "/apis/oas/a?purge=true", "")
	if got := w.IDs("admin", "/apis"); got != "" {
		t.Error("there still is", got)
	}
}

// Classic APIs have tables as well.
func TestCyclesOfClassicVersions(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	to := func(id, child string) string {
		return strings.Replace(apistest.Classic(id, id, "/"+id+"/"), `"active":true`, `"active":true,"definition":{"enabled":true,"name":"v1","default":"self","location":"header","key":"k","versions":{"v2":"`+child+`"}}`, 1)
	}
	w.Done("admin", "POST", "/apis", to("a", "b"))
	w.Want("admin", "POST", "/apis", to("b", "a"), http.StatusBadRequest, "definition.versions: API a leads back")
}

// Of two concurrent writes that make a cycle together, one is refused.
func TestCyclesOfVersionsAtOnce(t *testing.T) {
	for range 20 {
		w := apistest.New(t, apis.Settings{})
		for _, id := range []string{"a", "b"} {
			w.Done("admin", "POST", "/apis/oas", apistest.Document(id, strings.ToUpper(id), "/"+id+"/"))
		}
		var both sync.WaitGroup
		codes := [2]int{}
		for i, ids := range [2][2]string{{"a", "b"}, {"b", "a"}} {
			both.Go(func() { codes[i] = w.Ask("admin", "PUT", "/apis/oas/"+ids[0], basing(ids[0], ids[1])).Code })
		}
		both.Wait()
		if codes != [2]int{http.StatusOK, http.StatusBadRequest} && codes != [2]int{http.StatusBadRequest, http.StatusOK} {
			t.Fatal(codes)
		}
	}
}
