package apis_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
)

// Owners see their APIs, all users see APIs without owners, and admins see all
// (docs/wire/ownership.md#rules).
func TestOwnership(t *testing.T) {
	w := apistest.New(t, apis.Settings{Ownership: true})
	w.Done("ann", "POST", "/apis", apistest.Classic("anns", "Anns #x", "/anns/"))
	w.Done("admin", "POST", "/apis", apistest.Classic("everybodys", "Everybody #x", "/all/"))
	w.Done("admin", "POST", "/apis/oas", apistest.Document("team", "Team", "/team/"))
	w.Done("admin", "PUT", "/apis/oas/team/categories", `{"categories":["y"]}`)
	w.Done("admin", "PUT", "/apis/team/access", `{"userIds":[],"userGroupIds":["team"]}`)
	w.Want("ann", "GET", "/apis/anns/access", "", 200, `{"userIds":["ann"],"userGroupIds":[]}`)
	for as, want := range map[string][4]string{
		"admin": {"team everybodys anns", "everybodys anns", `{"name":"x","count":2},{"name":"y","count":1}`, `{"x":["anns","everybodys"],"y":["team"]}`},
		"ann":   {"team everybodys anns", "everybodys anns", `{"name":"x","count":2},{"name":"y","count":1}`, `{"x":["anns","everybodys"],"y":["team"]}`},
		"bob":   {"everybodys", "everybodys", `{"name":"x","count":1}`, `{"x":["everybodys"]}`},
	} {
		if got := w.IDs(as, "/apis"); got != want[0] {
			t.Errorf("%s sees %s", as, got)
		}
		if got := w.IDs(as, "/apis?sort=-name&category=x"); len(got) != len(want[1]) {
			t.Errorf("%s sees %s in category x", as, got)
		}
		if got := w.IDs(as, "/apis/search?q=anns"); (got == "anns") != (as != "bob") {
			t.Errorf("%s finds %q", as, got)
		}
		w.Want(as, "GET", "/apis/categories", "", 200, want[2])
		w.Want(as, "GET", "/apis/groups", "", 200, want[3])
	}
}

// An API that exists but is not the caller's leads to 401; the response for an API that
// does not exist is the same for all callers.
func TestDirectAccess(t *testing.T) {
	w := apistest.New(t, apis.Settings{Ownership: true, Streams: true})
	w.Done("ann", "POST", "/apis", apistest.Classic("c", "C", "/c/"))
	w.Done("ann", "POST", "/apis/oas", apistest.Document("o", "O", "/o/"))
	w.Done("ann", "POST", "/apis/streams", apistest.Document("s", "S", "/s/"))
	w.Done("tim", "POST", "/mcps", apistest.Document("m", "M", "/m/"))
	for _, row := range []struct {
		method, path, id, body string
		absent                 int
	}{
		{"GET", "/apis/", "c", "", 400}, {"GET", "/apis/", "o", "", 400},
		{"GET", "/apis/%/url", "c", "", 400}, {"GET", "/apis/%/access", "c", "", 404}, {"GET", "/apis/%/references", "c", "", 404},
		{"PUT", "/apis/", "c", apistest.Classic("c", "C", "/c/"), 404}, {"PATCH", "/apis/", "c", `{"sort_by":1}`, 404}, {"DELETE", "/apis/", "c", "", 404},
		{"PUT", "/apis/%/access", "c", `{"userIds":[],"userGroupIds":[]}`, 404},
		{"GET", "/apis/oas/", "o", "", 400}, {"GET", "/apis/oas/%/export", "o", "", 400}, {"GET", "/apis/oas/%/urls", "o", "", 404},
		{"GET", "/apis/oas/%/versions", "o", "", 404}, {"GET", "/apis/oas/%/categories", "o", "", 404},
		{"PUT", "/apis/oas/", "o", apistest.Document("", "O", "/o/"), 404}, {"DELETE", "/apis/oas/", "o", "", 404},
		{"PATCH", "/apis/oas/", "o", `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"paths":{}}`, 404},
		{"PUT", "/apis/oas/%/categories", "o", `{"categories":[]}`, 404},
		{"PATCH", "/apis/oas/%/rebase/o", "o", "", 404},
		{"GET", "/apis/streams/", "s", "", 400}, {"PUT", "/apis/streams/", "s", apistest.Document("", "S", "/s/"), 404}, {"DELETE", "/apis/streams/", "s", "", 404},
		{"DELETE", "/cache/", "c", "", 404},
	} {
		before := w.Head()
		w.Want("bob", row.method, at(row.path, row.id), row.body, 401, `"Message":"Not authorised"`)
		for _, as := range []string{"bob", "ann", "admin"} {
			w.Want(as, row.method, at(row.path, "nothing"), row.body, row.absent, `"Status":"Error"`)
		}
		if w.Head() != before {
			t.Errorf("%s %s stored something", row.method, row.path)
		}
	}
	w.Want("bob", "POST", "/apis/oas?base_api_id=o&base_api_version_name=a&new_version_name=b", apistest.Document("v", "V", "/v/"), 401, "Not authorised")
	w.Want("other", "GET", "/apis/c", "", 400, "Could not retrieve API detail")
}

// at inserts an ID into a path.
func at(path, id string) string {
	for i := range len(path) {
		if path[i] == '%' {
			return path[:i] + id + path[i+1:]
		}
	}
	return path + id
}

// Only an owner can change the owners; a purge deletes all versions of a base.
func TestOwnersDecide(t *testing.T) {
	w := apistest.New(t, apis.Settings{Ownership: true})
	w.Done("ann", "POST", "/apis/oas", apistest.Document("base", "Base", "/base/"))
	w.Done("ann", "POST", "/apis/oas?base_api_id=base&base_api_version_name=1&new_version_name=2", apistest.Document("mine", "Mine", "/mine/"))
	w.Done("ann", "POST", "/apis/oas?base_api_id=base&new_version_name=3", apistest.Document("bobs", "Bobs", "/bobs/"))
	w.Done("ann", "PUT", "/apis/bobs/access", `{"userIds":["bob"],"userGroupIds":[]}`)
	w.Want("ann", "PUT", "/apis/bobs/access", `{"userIds":["ann"],"userGroupIds":[]}`, 401, "Not authorised")
	w.Want("ann", "GET", "/apis/oas/base/versions", "", 200, `{"apis":[{"id":"mine",`)
	if got := w.Node("ann", "/apis/oas/base/versions").Get("apis").Len(); got != 1 {
		t.Errorf("%d versions are shown", got)
	}
	w.Want("ann", "PATCH", "/apis/oas/base/rebase/bobs", "", 401, "Not authorised")
	before := w.Head()
	w.Want("ann", "DELETE", "/apis/oas/base?purge=true", "", 401, "Not authorised")
	if w.Head() != before || w.IDs("admin", "/apis?sort=name") != "base bobs mine" {
		t.Error("something is gone")
	}
	w.Done("admin", "DELETE", "/apis/oas/base?purge=true", "")
	if got := w.IDs("admin", "/apis"); got != "" {
		t.Error("left:", got)
	}
}

// A body that names no list of owners does not open the API; one list that is left out
// becomes empty.
func TestOwnersAreNamed(t *testing.T) {
	w := apistest.New(t, apis.Settings{Ownership: true})
	w.Done("ann", "POST", "/apis", apistest.Classic("anns", "Anns", "/anns/"))
	for _, body := range []string{`{}`, `{"user_owners":[]}`, `{"userIds":null,"userGroupIds":null}`} {
		w.Want("ann", "PUT", "/apis/anns/access", body, 400, "userIds or userGroupIds is required")
	}
	w.Want("ann", "GET", "/apis/anns/access", "", 200, `{"userIds":["ann"],"userGroupIds":[]}`)
	w.Done("ann", "PUT", "/apis/anns/access", `{"userGroupIds":["team"]}`)
	w.Want("admin", "GET", "/apis/anns/access", "", 200, `{"userIds":[],"userGroupIds":["team"]}`)
	w.Done("admin", "PUT", "/apis/anns/access", `{"userIds":[],"userGroupIds":[]}`)
	w.Want("bob", "GET", "/apis/anns/access", "", 200, `{"userIds":[],"userGroupIds":[]}`)
}

// The creator becomes the owner unless the request names owners, the creator is an
// admin, or ownership is off.
func TestCreatorOwns(t *testing.T) {
	named := `{"user_owners":["ann"],` + apistest.Classic("n", "N", "/n/")[1:]
	for _, c := range []struct {
		on             bool
		as, body, want string
	}{
		{true, "bob", apistest.Classic("n", "N", "/n/"), `{"userIds":["bob"],"userGroupIds":[]}`},
		{true, "bob", named, `{"userIds":["ann"],"userGroupIds":[]}`},
		{true, "admin", apistest.Classic("n", "N", "/n/"), `{"userIds":[],"userGroupIds":[]}`},
		{false, "bob", apistest.Classic("n", "N", "/n/"), `{"userIds":[],"userGroupIds":[]}`},
	} {
		w := apistest.New(t, apis.Settings{Ownership: c.on})
		w.Done(c.as, "POST", "/apis", c.body)
		w.Want("admin", "GET", "/apis/n/access", "", 200, c.want)
	}
}

// APIs and MCP proxies do not exist for users who have only the permission of the other
// family.
func TestFamilies(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	w.Done("tim", "POST", "/mcps", apistest.Document("m", "M", "/m/"))
	w.Done("ann", "POST", "/apis/oas", apistest.Document("o", "O", "/o/"))
	w.Want("tim", "GET", "/mcps/o", "", 404, "MCP Proxy not found")
	w.Want("tim", "DELETE", "/mcps/o", "", 404, "MCP Proxy not found")
	w.Want("tim", "GET", "/mcps/o/versions", "", 422, "o is not recognised")
	w.Want("tim", "GET", "/mcps/m/versions", "", 200, "[]")
	w.Want("admin", "GET", "/mcps/o", "", 400, "API is not an MCP Proxy")
	w.Want("ann", "GET", "/apis/m", "", 400, "Could not retrieve API detail")
	w.Want("ann", "DELETE", "/apis/m", "", 404, "Could not retrieve API detail")
	w.Want("bob", "GET", "/apis/m", "", 200, `"api_id":"m"`) // bob has mcp:read
	w.Want("bob", "DELETE", "/apis/m", "", 404, "Could not retrieve API detail")
	w.Want("bob", "PUT", "/apis/m/access", `{}`, 404, "API not found")
	w.Want("bob", "GET", "/apis/oas/m", "", 400, "API is not in OAS format")
	w.Want("ann", "GET", "/apis/oas/m", "", 400, "Could not retrieve Api detail")
	w.Done("admin", "DELETE", "/apis/m", "")
}

// TestRoutesToOthers: the table of versions in a document may not have APIs that the
// caller could not make a version, except those that it had before.
func TestRoutesToOthers(t *testing.T) {
	w := apistest.New(t, apis.Settings{Ownership: true})
	w.Done("ann", "POST", "/apis/oas", apistest.Document("anns", "Anns", "/anns/"))
	w.Done("other", "POST", "/apis/oas", apistest.Document("foreign", "Foreign", "/foreign/"))
	text := func(to ...string) string {
		var versions []string
		for _, child := range to {
			versions = append(versions, `{"name":"v-`+child+`","id":"`+child+`"}`)
		}
		table := `"info":{"versioning":{"enabled":true,"name":"v0","default":"self","location":"header","key":"x","versions":[` + strings.Join(versions, ",") + `]},`
		before, extension, _ := strings.Cut(apistest.Document("bobs", "bobs", "/bobs/"), `"x-tyk-api-gateway"`)
		return before + `"x-tyk-api-gateway"` + strings.Replace(extension, `"info":{`, table, 1)
	}
	for _, to := range []string{"anns", "foreign"} {
		w.Want("bob", "POST", "/apis/oas", text(to), 401, "Not authorised")
	}
	w.Done("bob", "POST", "/apis/oas", text("nothing"))
	for _, to := range []string{"anns", "foreign"} {
		w.Want("bob", "PUT", "/apis/oas/bobs", text("nothing", to), 401, "Not authorised")
	}
	w.Want("bob", "POST", "/apis", strings.Replace(apistest.Classic("c", "C", "/c/"), `"active":true`, `"active":true,"definition":{"enabled":true,"name":"a","location":"header","key":"x","versions":{"v":"anns"}}`, 1), 401, "Not authorised")
	w.Done("admin", "PUT", "/apis/oas/bobs", text("nothing", "anns"))
	w.Done("bob", "PUT", "/apis/oas/bobs", text("nothing", "anns"))
}
