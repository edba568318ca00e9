package policies_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
)

const (
	mergePatch = "application/merge-patch+json"
	jsonPatch  = "application/json-patch+json; charset=utf-8"
)

// TestPatch checks both kinds of patch: members that a patch does not name keep their
// place and spelling.
func TestPatch(t *testing.T) {
	const before = `"name":"Gold","z":{"a":1.50,"b":[1,2]},"rate":1e2,"access_rights":{"x":{"api_id":"x"},"y":{"api_id":"y"}},"tags":["t"],"last":0`
	for _, c := range []struct{ mediaType, patch, old, new string }{
		{mergePatch, `{"rate":7,"tags":null}`, `"rate":1e2,"access_rights":{"x":{"api_id":"x"},"y":{"api_id":"y"}},"tags":["t"],`, `"rate":7,"access_rights":{"x":{"api_id":"x"},"y":{"api_id":"y"}},`},
		{"", `{"z":{"a":null},"_id":"x","org_id":"b"}`, `{"a":1.50,"b":[1,2]}`, `{"b":[1,2]}`},
		{"application/json", `{"access_rights":{"x":null}}`, `"x":{"api_id":"x"},`, ``},
		{mergePatch, `{"access_rights":null}`, `"access_rights":{"x":{"api_id":"x"},"y":{"api_id":"y"}},"tags":["t"],"last":0`, `"tags":["t"],"last":0`},
		{jsonPatch, `[{"op":"test","path":"/z/a","value":1.5},{"op":"add","path":"/z/b/-","value":3.0},{"op":"remove","path":"/last"}]`, `[1,2]`, `[1,2,3.0]`},
		{jsonPatch, `[]`, ``, ``},
	} {
		w := newWorld(t, policies.Settings{})
		w.create("admin", `{"id":"gold",`+before+`}`)
		w.want("ann", "PATCH", "/gold", c.patch, 200, updated, "Content-Type", c.mediaType)
		got := w.ask("admin", "GET", "/gold", "").Body.String()
		want := `{"id":"gold",` + strings.Replace(before, c.old, c.new, 1)
		if strings.Contains(c.patch, "/last") {
			want = strings.Replace(want, `,"last":0`, "", 1)
		}
		for _, api := range []string{`"x"`, `"y"`} { // reads return these lists even if they were not written
			want = strings.Replace(want, `{"api_id":`+api+`}`, `{"api_id":`+api+`,"versions":[],"allowed_urls":[],"restricted_types":[],`+
				`"allowed_types":[],"field_access_rights":[],"endpoints":[]}`, 1)
		}
		if !strings.HasPrefix(got, want) || !strings.Contains(got, `"org_id":"a"`) {
			t.Errorf("%s:\ngot  %s\nwant %s…", c.patch, got, want)
		}
	}
}

func TestPatchRefused(t *testing.T) {
	w := newWorld(t, policies.Settings{Ownership: true})
	w.api("a", "bobs", apidef.Classic, `{}`, "bob")
	w.create("admin", `{"id":"gold","name":"Gold","access_rights":{"x":{}}}`)
	w.create("admin", `{"id":"bobs","name":"Bobs","access_rights":{"bobs":{}}}`)
	before := w.revision()
	for _, c := range []struct {
		as, path, mediaType, patch string
		status                     int
		text                       string
	}{
		{"admin", "/gold", "", ``, 403, malformed}, {"admin", "/gold", jsonPatch, `[`, 403, malformed},
		{"admin", "/none", "", `{}`, 404, missing}, {"admin", "/a%20b", "", `{}`, 400, badID},
		{"admin", "/gold", mergePatch, `[]`, 403, malformed},
		{"admin", "/gold", mergePatch, `{"name":null}`, 400, failure("policy name is required")},
		{"admin", "/gold", mergePatch, `{"name":"Bobs"}`, 400, failure("This policy name has already been used. Enter a unique policy name.")},
		{"admin", "/gold", mergePatch, `{"rate":"1"}`, 400, failure("policy rate must be a number, not a string")},
		{"admin", "/gold", jsonPatch, `{}`, 403, malformed}, {"admin", "/gold", jsonPatch, `[{"op":"remove","path":"/none"}]`, 400, ""},
		{"admin", "/gold", jsonPatch, `[{"op":"replace","path":"","value":1}]`, 400, failure("the patched document is no object")},
		{"admin", "/gold", jsonPatch, `[{"op":"remove","path":"/name"},{"op":"test","path":"/id","value":"iron"}]`, 409, ""},
		{"ann", "/gold", mergePatch, `{"access_rights":{"bobs":{}}}`, 401, notOwned},
		{"ann", "/bobs", mergePatch, `{"rate":1}`, 401, notOwned}, {"reader", "/gold", mergePatch, `{"rate":1}`, 403, ""},
	} {
		w.want(c.as, "PATCH", c.path, c.patch, c.status, c.text, "Content-Type", c.mediaType)
	}
	w.want("admin", "PATCH", "/gold", `{"rate":1}`, 412, "", "If-Match", `"0"`)
	if w.revision() != before {
		t.Error("something was written")
	}
	tag := w.ask("admin", "GET", "/gold", "").Header().Get("Etag")
	w.want("admin", "PATCH", "/gold", `{"rate":1}`, 200, updated, "If-Match", tag)
}

// TestPatchWritable stores no policy that a body could not bring back: patches add up.
func TestPatchWritable(t *testing.T) {
	w := newWorld(t, policies.Settings{})
	w.service.Room.Values = 100
	w.create("admin", `{"id":"gold","name":"Gold"}`)
	list := func(n int) string { return `{"meta_data":{"l":[` + strings.Repeat("1,", n-1) + `1]}}` }
	tooLarge := func(n int) string {
		return failure(fmt.Sprintf("The policy would be too large to be sent back: it would hold more than %d values", n))
	}
	head := w.revision()
	w.want("admin", "PATCH", "/gold", list(90), 413, tooLarge(100))
	w.want("admin", "PATCH", "/gold?dry_run=true", list(90), 413, tooLarge(100))
	if w.revision() != head {
		t.Error("something is stored")
	}
	w.want("admin", "PATCH", "/gold", list(40), 200, updated)
	back := w.ask("admin", "GET", "/gold", "").Body.String()
	w.want("admin", "PUT", "/gold", back, 200, updated)
	// What was stored when more was allowed can be changed as long as it does not grow.
	w.service.Room.Values = 20
	w.want("admin", "PATCH", "/gold", `{"name":"Silver"}`, 200, updated)
	w.want("admin", "PATCH", "/gold", list(41), 413, tooLarge(20))
	w.want("admin", "PATCH", "/gold", list(3), 200, updated)
}
