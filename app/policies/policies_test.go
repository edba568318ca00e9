package policies_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

const (
	missing   = `{"Status":"Error","Message":"Could not retrieve portal object.","Meta":null}`
	updated   = `{"Status":"OK","Message":"Data updated","Meta":null}`
	deleted   = `{"Status":"OK","Message":"Data deleted","Meta":null}`
	badID     = `{"Status":"Error","Message":"Invalid policy ID.","Meta":null}`
	malformed = `{"Status":"Error","Message":"Request body malformed.","Meta":null}`
	notOwned  = `{"Status":"Error","Message":"Not authorised","Meta":null}`
	fixed     = "5f1a0c5d8e3b2a1f00000009"
)

// TestRows creates, reads, changes and deletes a policy.
func TestRows(t *testing.T) {
	w := newWorld(t, policies.Settings{})
	w.want("reader", "GET", "", "", 200, `{"Data":[],"Pages":1}`)
	w.want("admin", "POST", "/", `{"_id":"`+fixed+`","id":"gold","name":"Gold","z":1.50,"rate":1e2}`, 200,
		`{"Status":"OK","Message":"`+fixed+`","Meta":null}`)
	doc := `{"_id":"` + fixed + `","id":"gold","name":"Gold","z":1.50,"rate":1e2,"date_created":"2026-01-02T03:04:06Z","org_id":"a",` +
		`"last_updated":"1767323046","state":"active","access_rights":{},"access_rights_array":[],` +
		`"per":0,"quota_max":0,"quota_renewal_rate":0,"throttle_interval":0,"throttle_retry_limit":0,"max_query_depth":0,"smoothing":null,` +
		`"partitions":{"quota":false,"rate_limit":false,"complexity":false,"acl":false,"per_api":false},"hmac_enabled":false,` +
		`"enable_http_signature_validation":false,"active":false,"is_inactive":false,"tags":[],"meta_data":{},"key_expires_in":0,` +
		`"post_expiry_grace_period":0,"graphql_enabled":false,"auth_type":"","auth_types":[]}`
	w.want("reader", "GET", "/gold", "", 200, doc)
	w.want("reader", "GET", "/"+fixed, "", 200, doc)
	w.want("reader", "GET", "", "", 200, `{"Data":[`+doc+`],"Pages":1}`)

	w.want("admin", "PUT", "/gold", doc, 200, updated) // a client can write what it has read
	w.want("bob", "PUT", "/gold", `{"name":"Silver","id":"silver"}`, 200, updated)
	w.want("reader", "GET", "/gold", "", 404, missing)
	w.want("admin", "PUT", "/"+fixed, `{"name":"Silver"}`, 200, updated) // without id in the document, the id stays
	w.want("reader", "GET", "/silver", "", 200, "")

	w.want("admin", "DELETE", "/silver", "", 200, deleted)
	w.want("admin", "DELETE", "/silver", "", 404, failure("Could not retrieve object for deletion"))
	w.want("admin", "PUT", "/silver", `{"name":"x","rate":"1"}`, 404, missing) // existence is checked before the document
}

func TestRefusals(t *testing.T) {
	w := newWorld(t, policies.Settings{})
	w.create("admin", `{"id":"gold","name":"Gold","_id":"`+fixed+`"}`)
	w.create("admin", `{"id":"silver","name":"Silver"}`)
	long := strings.Repeat("a", 257)
	const nameTaken, idTaken = "This policy name has already been used. Enter a unique policy name.", "This policy ID has already been used. Enter a unique policy ID."
	for _, c := range []struct {
		method, path, body string
		status             int
		text               string
	}{
		{"POST", "", ``, 403, malformed}, {"POST", "", `{`, 403, malformed}, {"POST", "", `[]`, 403, malformed}, {"POST", "", `null`, 403, malformed},
		{"PUT", "/gold", ``, 403, malformed}, {"PUT", "/gold", `"x"`, 403, malformed},
		{"POST", "", `{"name":"Gold"}`, 400, failure(nameTaken)}, {"PUT", "/silver", `{"name":"Gold"}`, 400, failure(nameTaken)},
		{"POST", "", `{"name":"x","id":"gold"}`, 400, failure(idTaken)}, {"PUT", "/silver", `{"name":"x","id":"gold"}`, 400, failure(idTaken)},
		{"POST", "", `{"name":"x","_id":"` + fixed + `"}`, 400, failure(idTaken)},
		{"POST", "", `{"name":"x","_id":"12"}`, 400, failure("policy _id must be 24 hexadecimal digits")},
		{"POST", "", `{"name":"x","rate":"1"}`, 400, failure("policy rate must be a number, not a string")},
		{"PUT", "/gold", `{"name":"x","tags":"a"}`, 400, failure("policy tags must be a list, not a string")},
		{"POST", "", `{"name":"x","id":"a b"}`, 400, failure("Invalid Policy ID: Allowed characters: a-z, A-Z, 0-9, ., _, -, ~")},
		{"GET", "/a%20b", ``, 400, badID}, {"PUT", "/a%20b", `{"name":"x"}`, 400, badID}, {"DELETE", "/a%20b", ``, 400, badID}, {"GET", "/a%2Fb", ``, 400, badID},
		{"POST", "", `{"name":"x","id":"` + long + `"}`, 400, failure("Invalid Policy ID: not more than 256 characters")},
		{"GET", "/" + long, ``, 404, missing}, {"PUT", "/" + long, `{"name":"x"}`, 404, missing}, {"DELETE", "/" + long, ``, 404, ""},
		{"GET", "/search?policy_ids=" + long, ``, 200, `{"Data":[],"Pages":1}`},
		{"GET", "/no-hex~at.all_", ``, 404, missing}, {"PUT", "/unknown", `{"name":"x"}`, 404, missing}, {"GET", "/" + strings.Repeat("0", 24), ``, 404, missing},
		{"GET", "?p=x", ``, 400, ""}, {"GET", "/search?policy_ids=a%20b", ``, 400, failure("Policy ID is not in hex format.")},
		{"GET", "/search?sort=id", ``, 400, failure("sort must be one of date_created, name, state, with - in front for descending")},
	} {
		before := w.revision()
		w.want("admin", c.method, c.path, c.body, c.status, c.text)
		if w.revision() != before {
			t.Errorf("%s %s %s: something was written", c.method, c.path, c.body)
		}
	}
	for _, as := range []string{"reader", "nobody"} {
		w.want(as, "POST", "", `{"name":"x"}`, 403, failure("access denied: You do not have permission to access  /api/portal/policies"))
		w.want(as, "DELETE", "/gold", "", 403, "")
	}
	w.want("nobody", "GET", "", "", 403, "")
	w.want("stranger", "GET", "", "", 401, notOwned)
	w.want("other", "GET", "/gold", "", 404, missing) // a policy of another organisation does not exist
	w.want("other", "POST", "", `{"name":"Gold","id":"gold"}`, 200, "")
}

func (w *world) revision() store.Revision {
	rev, err := w.db.Head(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return rev
}

func TestUnsafeIDs(t *testing.T) {
	w := newWorld(t, policies.Settings{UnsafeIDs: true})
	w.create("admin", `{"id":"a b/ü","name":"n"}`)
	w.want("admin", "GET", "/a%20b%2F%C3%BC", "", 200, "")
	w.want("admin", "GET", "/a%00b", "", 400, badID)
	w.want("admin", "GET", "/%FF", "", 400, badID)
	w.want("admin", "POST", "", `{"name":"m","id":"a\u0000"}`, 400, "")
}

func TestPreconditions(t *testing.T) {
	w := newWorld(t, policies.Settings{})
	w.create("admin", `{"id":"gold","name":"Gold"}`)
	tag := w.ask("admin", "GET", "/gold", "").Header().Get("Etag")
	w.want("admin", "GET", "/gold", "", 304, "", "If-None-Match", tag)
	w.want("admin", "PUT", "/gold", `{"name":"Gold"}`, 412, "", "If-Match", `"0"`)
	w.want("admin", "DELETE", "/gold", "", 412, "", "If-Match", `"0"`)
	got := w.ask("admin", "PUT", "/gold", `{"name":"Gold"}`, "If-Match", tag)
	if got.Code != 200 || got.Header().Get("Etag") == tag {
		t.Error(got.Code, got.Header())
	}
	w.want("admin", "DELETE", "/gold", "", 412, "", "If-Match", tag)
	w.want("admin", "DELETE", "/gold", "", 200, deleted, "If-Match", got.Header().Get("Etag"))
}

// TestAmbiguous checks that an id wins over a database ID.
func TestAmbiguous(t *testing.T) {
	w := newWorld(t, policies.Settings{})
	w.create("admin", `{"_id":"`+fixed+`","id":"a","name":"by database ID"}`)
	w.create("admin", `{"id":"`+fixed+`","name":"by id"}`)
	if got := w.ask("admin", "GET", "/"+fixed, "").Body.String(); !strings.Contains(got, `"by id"`) {
		t.Error(got)
	}
}

func TestMCP(t *testing.T) {
	w := newWorld(t, policies.Settings{})
	w.api("a", "rest", apidef.Classic, `{"use_keyless":true}`)
	w.api("a", "tools", apidef.MCP, `{"enable_jwt":true}`)
	w.api("b", "theirs", apidef.Classic, `{}`)
	w.want("admin", "POST", "", `{"name":"x","access_rights":{"rest":{"mcp_access_rights":{"tools":{"allowed":["a"]}}}}}`, 400,
		failure(`MCP fields can only be configured on MCP Proxies, API "rest" is not an MCP Proxy`))
	w.want("admin", "POST", "", `{"name":"x","access_rights":{"tools":{"allowed_urls":[{"url":"/"}]}}}`, 400,
		failure(`allowed_urls cannot be configured on MCP Proxies, API "tools" is an MCP Proxy`))
	w.want("admin", "POST", "", `{"name":"x","access_rights":{"tools":{"mcp_primitives":[{"type":"file"}]}}}`, 400,
		failure(`mcp_primitives of API "tools": type must be tool, resource or prompt`))
	// An API of another organisation counts as one that does not exist.
	w.create("admin", `{"name":"x","access_rights":{"theirs":{"mcp_primitives":[{"type":"file"}]},"gone":{},"rest":{},"tools":{"mcp_primitives":[{"type":"tool"}]}}}`)
	got := w.ask("admin", "GET", "/search?q=x", "").Body.String()
	if !strings.Contains(got, `"auth_types":["jwt","keyless"]`) {
		t.Error(got)
	}
}

// TestAPIsElsewhere: a key gets no access to APIs of another organisation. A gateway
// that two organisations share checks the rights of a key, and not its organisation.
func TestAPIsElsewhere(t *testing.T) {
	for _, separate := range []bool{false, true} {
		w := newWorld(t, policies.Settings{SeparateGateways: separate})
		w.api("b", "theirs", apidef.Classic, `{}`)
		w.create("admin", `{"id":"p","name":"p","access_rights":{"theirs":{},"gone":{}}}`) // the feed of policies leaves both APIs out
		known := w.service.Known(callers["admin"])
		if err := w.service.Allow(t.Context(), "a", known, []string{"theirs"}, nil); (err != nil) == separate {
			t.Error(separate, err)
		}
		if err := w.service.Allow(t.Context(), "a", known, []string{"theirs", "gone"}, []string{"theirs"}); err != nil {
			t.Error("what was there before:", err)
		}
		// The API did not exist when the caller's own APIs were read, and is created
		// before those of other organisations are.
		w.api("a", "mine", apidef.Classic, `{}`)
		if err := w.service.Allow(t.Context(), "a", known, []string{"mine"}, nil); err != nil {
			t.Error("an API of the own organisation:", err)
		}
	}
}

// TestForget checks what the deletion of an API changes in policies.
func TestForget(t *testing.T) {
	w := newWorld(t, policies.Settings{})
	w.create("admin", `{"name":"both","access_rights":{"x":{},"y":{}}}`)
	w.create("admin", `{"name":"only","access_rights":{"x":{}}}`)
	w.create("admin", `{"name":"neither","access_rights":{"y":{}}}`)
	w.create("other", `{"name":"theirs","access_rights":{"x":{},"y":{}}}`)
	before := w.ask("admin", "GET", "/search?q=only", "").Body.String()
	w.update("a", func(wr store.Writer) error { return w.service.Forget(t.Context(), wr, "x") })
	if got := w.names("admin", "/search?api_id=x"); got != "only" {
		t.Error(got)
	}
	if got := w.names("admin", "/search?api_id=y&sort=name"); got != "both neither" {
		t.Error(got)
	}
	if after := w.ask("admin", "GET", "/search?q=only", "").Body.String(); after != before {
		t.Error("a policy that keeps its last API was written")
	}
	if got := w.names("other", "/search?api_id=x"); got != "theirs" {
		t.Error(got)
	}
}

// TestBulk checks that a policy with thousands of APIs is validated in one pass: the
// number of reads does not grow with the number of APIs.
func TestBulk(t *testing.T) {
	w := newWorld(t, policies.Settings{Ownership: true})
	const n = 2000 // the cap
	for i := range n {
		w.api("a", fmt.Sprintf("api-%d", i), apidef.Classic, `{}`)
	}
	count := &counting{Store: w.db}
	w.service.Store = count
	body := bulk(n)
	for _, step := range []struct{ as, method, path string }{{"ann", "POST", ""}, {"ann", "PUT", "/bulk"}, {"admin", "PUT", "/bulk"}} {
		count.reads.Store(0)
		w.want(step.as, step.method, step.path, body, 200, "")
		if got := count.reads.Load(); got > 5 {
			t.Errorf("%s as %s: %d reads", step.method, step.as, got)
		}
	}
}

func bulk(n int) string {
	var b strings.Builder
	b.WriteString(`{"id":"bulk","name":"bulk","access_rights":{`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"api-%d":{"versions":["Default"],"limit":{"rate":10,"per":1}}`, i)
	}
	return b.String() + "}}"
}

// broken is a store that always fails.
type broken struct{ store.Store }

var errBroken = errors.New("no disk")

func (broken) View(context.Context, tenant.Scope, func(store.Reader) error) error { return errBroken }
func (broken) Update(context.Context, tenant.Scope, func(store.Writer) error) (store.Revision, error) {
	return 0, errBroken
}

// TestTrouble checks the responses of the operations when the store fails.
func TestTrouble(t *testing.T) {
	w := newWorld(t, policies.Settings{})
	w.service.Store = broken{}
	w.want("admin", "GET", "", "", 500, failure("Failed to marshal data."))
	w.want("admin", "GET", "/search", "", 500, failure("Failed to marshal data"))
	w.want("admin", "GET", "/x", "", 500, failure("Failure creating data, please contact your administrator."))
	w.want("admin", "POST", "", `{"name":"x"}`, 500, failure("Failure creating data, please contact your administrator."))
	w.want("admin", "PUT", "/x", `{"name":"x"}`, 500, failure("Failure saving data, please contact your administrator."))
	w.want("admin", "DELETE", "/x", "", 500, failure("Failure deleting data, please contact your administrator."))
}

// A database ID in capitals is stored in small letters, and means the same in a path.
func TestCapitals(t *testing.T) {
	w := newWorld(t, policies.Settings{})
	const capitals, small = "5F1A0C5D8E3B2A1F0000ABCD", "5f1a0c5d8e3b2a1f0000abcd"
	reads := func(text string) {
		t.Helper()
		if got := w.ask("reader", "GET", "/"+capitals, "").Body.String(); !strings.Contains(got, text) {
			t.Errorf("%s, not %s", got, text)
		}
	}
	w.create("admin", `{"_id":"`+capitals+`","id":"gold","name":"Gold"}`)
	reads(`"_id":"` + small + `"`)
	w.want("admin", "PUT", "/"+capitals, `{"_id":"`+capitals+`","id":"gold","name":"Silver"}`, 200, updated)
	// What people choose comes first, and is as they spell it.
	w.create("admin", `{"id":"`+capitals+`","name":"Chosen"}`)
	reads(`"Chosen"`)
	w.want("admin", "DELETE", "/"+capitals, "", 200, deleted)
	w.want("admin", "DELETE", "/"+capitals, "", 200, deleted)
	w.want("reader", "GET", "/gold", "", 404, missing)
}
