package migrate_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
	"github.com/gatehouse-io/gatehouse/app/apis/forms"
	"github.com/gatehouse-io/gatehouse/app/apis/migrate"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// farm is a set of APIs, served over HTTP, for migrations.
type farm struct {
	t    *testing.T
	db   *memdb.DB
	http http.Handler
	log  *strings.Builder
}

// farmers are the principals by access key.
var farmers = apptest.Callers{
	"admin":  {ID: "admin", OrgID: "a", Permissions: access.Map{"IsAdmin": "admin"}},
	"ann":    {ID: "ann", OrgID: "a", Permissions: access.Map{"apis": "write"}},
	"reader": {ID: "reader", OrgID: "a", Permissions: access.Map{"apis": "read"}},
}

// newFarm returns a farm; change may modify its services first.
func newFarm(t *testing.T, settings apis.Settings, change ...func(*migrate.Service)) *farm {
	t.Helper()
	f := &farm{t: t, log: &strings.Builder{}}
	now := apptest.Clock()
	var err error
	if f.db, err = memdb.New(now); err != nil {
		t.Fatal(err)
	}
	a := apis.New(apis.Config{
		Store: f.db, Now: now, PageSize: 10, Settings: settings,
		NewID:    apptest.Numbered("%024x"),
		NewAPIID: apptest.Numbered("%032x"),
	})
	d := apistest.Documents(a, &forms.Forms{Settings: settings, Validator: apistest.Validator, Hosts: servers.Config{Protocol: "https", DefaultHost: "gw.example"}})
	var ops []operation.Operation
	for _, s := range apistest.Services(d, slog.New(slog.NewTextHandler(f.log, nil))) {
		if m, ok := s.(*migrate.Service); ok {
			for _, c := range change {
				c(m)
			}
		}
		ops = append(ops, s.Operations()...)
	}
	f.http = apptest.Checked(t, ops, farmers.Guard())
	return f
}

// call sends a request and returns the response.
func (f *farm) call(as, method, path, body string, wantStatus int) *doc.Node {
	f.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", as)
	w := httptest.NewRecorder()
	f.http.ServeHTTP(w, r)
	if w.Code != wantStatus {
		f.t.Fatalf("%s %s %s: %d %s", method, path, body, w.Code, w.Body)
	}
	n, err := doc.ParseNode(w.Body.Bytes())
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

// classic creates a classic API; more has further members of its definition.
func (f *farm) classic(id, more string) {
	f.t.Helper()
	f.call("admin", "POST", "/api/apis", fmt.Sprintf(`{"api_definition":{"name":"%[1]s #shop","api_id":"%[1]s","active":true,"use_keyless":true,%[2]s
		"proxy":{"listen_path":"/%[1]s/","target_url":"http://up.example/","strip_listen_path":true}}}`, id, more), 200)
}

const versioned = `"definition":{"location":"header","key":"v"},"version_data":{"not_versioned":false,"default_version":"v1","versions":{
	"v1":{"name":"v1","use_extended_paths":true},"v2":{"name":"v2","use_extended_paths":true,"override_target":"http://two.example/"}}},`

// migrate runs a migration.
func (f *farm) migrate(as, body string) *doc.Node {
	f.t.Helper()
	return f.call(as, "POST", "/api/apis/migrate", body, 200)
}

// outcome summarises a response.
func outcome(n *doc.Node) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ok%v", n.Get("success", "apiIDs").Texts())
	for _, s := range n.Get("success", "stagedAPIs").Items() {
		fmt.Fprintf(&b, " %s>%s", s.Get("classicAPIID").Text(), s.Get("oasAPIID").Text())
	}
	for _, s := range n.Get("success", "definitions").Items() {
		fmt.Fprintf(&b, " def %s+%d", s.Get("apiID").Text(), s.Get("versions").Len())
	}
	for _, s := range n.Get("failure", "errors").Items() {
		fmt.Fprintf(&b, " fail %s:%s", s.Get("apiID").Text(), strings.Join(s.Get("message").Texts(), "|"))
	}
	for _, s := range n.Get("skipped", "apis").Items() {
		fmt.Fprintf(&b, " skip %s:%s", s.Get("apiID").Text(), s.Get("key").Text())
	}
	if n.Get("abortedOnFailure").True() {
		b.WriteString(" aborted")
	}
	return b.String()
}

// signals returns the signals of the last commit.
func (f *farm) signals() (out []string) {
	f.t.Helper()
	head, err := f.db.Head(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	for c, err := range f.db.Follow(f.t.Context(), head-1) {
		if err != nil {
			f.t.Fatal(err)
		}
		var changes []signal.Change
		for _, ch := range c.Changes {
			changes = append(changes, signal.Change{Op: signal.Op(ch.Op), Kind: ch.Kind, ID: ch.ID, Key: ch.Key})
		}
		for _, s := range apistest.Signals.Of(changes) {
			out = append(out, string(s.Command)+" "+s.Payload)
		}
		break
	}
	return out
}

func (f *farm) expect(got, want string) {
	f.t.Helper()
	if got != want {
		f.t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMigrationRequests(t *testing.T) {
	f := newFarm(t, apis.Settings{})
	for body, status := range map[string]int{
		``: 400, `{`: 400, `{}`: 400, `{"mode":"dryRun"}`: 400, `{"mode":"dryRun","apiIDs":["a"],"all":true}`: 400,
		`{"mode":"other","all":true}`: 400, `{"mode":"direct","all":true,"overrideStaged":true}`: 400, `{"mode":"dryRun","all":true}`: 200,
		`{"mode":"dryRun","apiIDs":"a"}`: 400,
	} {
		f.call("admin", "POST", "/api/apis/migrate", body, status)
	}
	f.call("reader", "POST", "/api/apis/migrate", `{"mode":"dryRun","all":true}`, 403)
	n := f.migrate("admin", `{"mode":"direct","all":true}`)
	f.expect(string(n.JSON()), `{"success":{"count":0,"apiIDs":[],"stagedAPIs":[],"definitions":[]},"failure":{"count":0,"errors":[]},"skipped":{"count":0,"apis":[]},"abortedOnFailure":false}`)
}

func TestMigrationDirect(t *testing.T) {
	f := newFarm(t, apis.Settings{})
	f.classic("one", `"config_data":{"k":1.50},`)
	f.classic("two", versioned)
	f.call("admin", "PUT", "/api/apis/two/access", `{"userIds":["ann"],"userGroupIds":[]}`, 200)
	before := f.call("admin", "GET", "/api/apis/one", "", 200)
	n := f.migrate("admin", `{"mode":"direct","apiIDs":["one"]}`)
	f.expect(outcome(n), "ok[one]")
	f.expect(strings.Join(f.signals(), ","), "ApiUpdated one")
	after := f.call("admin", "GET", "/api/apis/one", "", 200)
	for _, same := range [][]string{{"api_definition", "id"}, {"api_definition", "api_id"}, {"api_definition", "name"}, {"created_at"}, {"api_definition", "config_data"}, {"api_definition", "proxy", "target_url"}} {
		if !before.Get(same...).Equal(after.Get(same...)) {
			t.Errorf("%v: %s", same, after.Get(same...).JSON())
		}
	}
	if !after.Get("api_definition", "is_oas").True() || string(after.Get("categories").JSON()) != `["shop"]` {
		t.Error(string(after.JSON()))
	}
	d := f.call("admin", "GET", "/api/apis/oas/one", "", 200)
	f.expect(d.Get("x-tyk-api-gateway", "info", "dbId").Text(), before.Get("api_definition", "id").Text())
	f.expect(string(d.Get("servers").JSON()), `[{"url":"https://gw.example/one"},{"url":"/one"}]`)

	n = f.migrate("admin", `{"mode":"direct","apiIDs":["two","one","none","two"]}`)
	f.expect(outcome(n), "ok[two] fail none:API not found skip one:already_migrated")
	f.expect(strings.Join(f.signals(), ","), "GroupReload ")
	if n.Get("success", "count").Int() != 1 || n.Get("failure", "count").Int() != 1 || n.Get("skipped", "count").Int() != 1 {
		t.Error(string(n.JSON()))
	}
	versions := f.call("admin", "GET", "/api/apis/oas/two/versions", "", 200)
	if versions.Get("apis").Len() == 0 {
		t.Fatal(string(versions.JSON()))
	}
	child := f.call("admin", "GET", "/api/apis/00000000000000000000000000000001", "", 200)
	f.expect(child.Get("api_definition", "proxy", "listen_path").Text(), "/two-v2/")
	f.expect(child.Get("api_definition", "proxy", "target_url").Text(), "http://two.example/")
	f.expect(string(child.Get("user_owners").JSON()), `["ann"]`)
	f.expect(f.call("admin", "GET", "/api/apis/two", "", 200).Get("api_definition", "definition", "versions", "v2").Text(), "00000000000000000000000000000001")
}

func TestMigrationDryRun(t *testing.T) {
	f := newFarm(t, apis.Settings{})
	f.classic("one", "")
	f.classic("two", versioned)
	head, _ := f.db.Head(t.Context())
	n := f.migrate("admin", `{"mode":"dryRun","all":true}`)
	f.expect(outcome(n), "ok[one two] def one+0 def two+1")
	base := n.Get("success", "definitions").Items()[1].Get("baseAPI")
	f.expect(base.Get("x-tyk-api-gateway", "info", "versioning", "name").Text(), "v1")
	if now, _ := f.db.Head(t.Context()); now != head {
		t.Error("a dry run was stored")
	}
}

// TestMigrationDryRunTaken: a dry run returns what the migration would return.
func TestMigrationDryRunTaken(t *testing.T) {
	f := newFarm(t, apis.Settings{})
	f.classic("two", versioned)
	f.classic("two-v2", "") // it has the listen path of the child of two
	n := f.migrate("admin", `{"mode":"dryRun","apiIDs":["two","two-v2"]}`)
	f.expect(outcome(n), "ok[two-v2] def two-v2+0 fail two:proxy.listen_path: Found API with same url. /two-v2/")
}

// TestMigrationBare: missing and empty members of a definition do not prevent its
// migration.
func TestMigrationBare(t *testing.T) {
	f := newFarm(t, apis.Settings{})
	for i, more := range []string{
		`"use_mutual_tls_auth":true,`,
		`"use_mutual_tls_auth":true,"client_certificates":null,`,
		`"upstream_auth":{"enabled":true,"oauth":{"enabled":true,"allowed_authorize_types":["clientCredentials"],"client_credentials":{"client_id":"c","client_secret":"s","token_url":"https://id.example/token"}}},`,
		`"custom_plugin_auth_enabled":true,"custom_middleware":{"driver":"grpc","auth_check":{"name":"Auth"},"id_extractor":{"extract_from":"header","extract_with":"value"}},`,
		`"use_openid":true,`,
		`"version_data":{"not_versioned":true,"versions":{"":{"name":""}}},`,
		`"session_lifetime":0,"session_lifetime_respects_key_expiration":true,`,
		`"event_handlers":{"events":{"AuthFailure":[{"handler_name":"eh_web_hook_handler","handler_meta":{"method":"POST","target_path":"http://h.example/","template_path":"","event_timeout":10}}]}},`,
		`"version_data":{"not_versioned":true,"versions":{"v":{"name":"v","use_extended_paths":true,"extended_paths":{"url_rewrites":[{"path":"/a","method":"GET","match_pattern":"","rewrite_to":""},
			{"path":"/b","method":"GET","match_pattern":"/b","rewrite_to":"","triggers":[{"on":"all","rewrite_to":"/c","options":{"query_val_matches":{"x":{"match_rx":"y"}}}}]}]}}}},`,
	} {
		id := fmt.Sprintf("bare%d", i)
		f.classic(id, more)
		f.expect(outcome(f.migrate("admin", `{"mode":"direct","apiIDs":["`+id+`"]}`)), "ok["+id+"]")
		f.call("admin", "GET", "/api/apis/oas/"+id, "", 200)
	}
}

func TestMigrationStaged(t *testing.T) {
	f := newFarm(t, apis.Settings{})
	f.classic("two", versioned)
	f.expect(outcome(f.migrate("admin", `{"mode":"promote","apiIDs":["two"]}`)), "ok[] skip two:not_staged")
	f.expect(outcome(f.migrate("admin", `{"mode":"stage","apiIDs":["two"]}`)), "ok[two] two>staging-two")
	f.expect(strings.Join(f.signals(), ","), "GroupReload ")
	copied := f.call("admin", "GET", "/api/apis/staging-two", "", 200)
	f.expect(copied.Get("api_definition", "name").Text(), "[staged] two #shop")
	f.expect(copied.Get("api_definition", "proxy", "listen_path").Text(), "/tyk-staging/two/")
	f.expect(string(copied.Get("oas", "servers").Items()[0].JSON()), `{"url":"https://gw.example/tyk-staging/two"}`)
	original := f.call("admin", "GET", "/api/apis/two", "", 200)
	if original.Get("api_definition", "is_oas").True() {
		t.Error("staging changed the original")
	}
	f.expect(outcome(f.migrate("admin", `{"mode":"stage","all":true}`)), "ok[] skip two:already_staged")
	f.expect(outcome(f.migrate("admin", `{"mode":"stage","all":true,"overrideStaged":true}`)), "ok[two] two>staging-two")
	if list := f.call("admin", "GET", "/api/apis?p=0", "", 200); list.Get("apis").Len() != 3 {
		t.Error("copies of copies", string(list.JSON()))
	}
	// Changes of the copy are promoted with it.
	document := f.call("admin", "GET", "/api/apis/oas/staging-two", "", 200)
	document.Put(doc.NewString("http://changed.example/"), "x-tyk-api-gateway", "upstream", "url")
	f.call("admin", "PUT", "/api/apis/oas/staging-two", string(document.JSON()), 200)
	f.expect(outcome(f.migrate("admin", `{"mode":"promote","all":true}`)), "ok[two]")
	f.expect(strings.Join(f.signals(), ","), "GroupReload ")
	promoted := f.call("admin", "GET", "/api/apis/two", "", 200)
	f.expect(promoted.Get("api_definition", "proxy", "target_url").Text(), "http://changed.example/")
	f.expect(promoted.Get("api_definition", "proxy", "listen_path").Text(), "/two/")
	f.expect(promoted.Get("api_definition", "name").Text(), "two #shop")
	f.expect(promoted.Get("api_definition", "id").Text(), original.Get("api_definition", "id").Text())
	if text := string(promoted.JSON()); strings.Contains(text, "staging") || strings.Contains(text, "staged") {
		t.Error(text)
	}
	list := f.call("admin", "GET", "/api/apis?p=0", "", 200)
	if text := string(list.JSON()); list.Get("apis").Len() != 2 || strings.Contains(text, "staging") {
		t.Error(text)
	}
}

// Only APIs that staging has created are replaced or deleted: not an API that happens
// to have the ID of a copy, and not one that a user has added to the versions of a
// copy.
func TestMigrationLeavesOthers(t *testing.T) {
	f := newFarm(t, apis.Settings{})
	f.classic("one", "")
	f.classic("staging-one", "")
	for _, c := range []struct{ body, want string }{
		{`{"mode":"stage","apiIDs":["one"],"overrideStaged":true}`, "ok[] fail one:api_id: Found API with the same ID"},
		{`{"mode":"promote","apiIDs":["one"]}`, "ok[] skip one:not_staged"},
	} {
		f.expect(outcome(f.migrate("admin", c.body)), c.want)
		f.call("admin", "GET", "/api/apis/staging-one", "", 200)
	}
	f.classic("two", versioned)
	f.migrate("admin", `{"mode":"stage","apiIDs":["two"]}`)
	f.call("admin", "POST", "/api/apis/oas?base_api_id=staging-two&new_version_name=v9", apistest.Document("mine", "Mine", "/mine/"), 200)
	f.expect(outcome(f.migrate("admin", `{"mode":"stage","apiIDs":["two"],"overrideStaged":true}`)), "ok[two] two>staging-two")
	f.call("admin", "GET", "/api/apis/oas/mine", "", 200)
	if list := f.call("admin", "GET", "/api/apis?p=0", "", 200); list.Get("apis").Len() != 6 {
		t.Error(string(list.JSON()))
	}
	table := f.call("admin", "GET", "/api/apis/oas/staging-two", "", 200)
	table.Get("x-tyk-api-gateway", "info", "versioning", "versions").Append(doc.NewObject())
	entry := table.Get("x-tyk-api-gateway", "info", "versioning", "versions").Items()[1]
	entry.Set("name", doc.NewString("v9"))
	entry.Set("id", doc.NewString("mine"))
	f.call("admin", "PUT", "/api/apis/oas/staging-two", string(table.JSON()), 200)
	f.expect(outcome(f.migrate("admin", `{"mode":"promote","apiIDs":["two"]}`)), "ok[two]")
	f.call("admin", "GET", "/api/apis/oas/mine", "", 200)
	if got := f.call("admin", "GET", "/api/apis/oas/two/versions", "", 200); got.Get("apis").Len() != 2 {
		t.Error(string(got.JSON()))
	}
}

func TestMigrationSkips(t *testing.T) {
	f := newFarm(t, apis.Settings{Streams: true})
	f.classic("tcp", `"protocol":"tcp","listen_port":9000,`)
	f.classic("gql", `"graphql":{"enabled":true,"execution_mode":"proxyOnly","schema":"type Query{a:Int}"},`)
	f.call("admin", "POST", "/api/apis", `{"api_definition":{"name":"ws","api_id":"ws","use_keyless":true,"proxy":{"listen_path":"/ws/","target_url":"ws://up.example/"}}}`, 200)
	f.call("admin", "POST", "/api/apis/streams", `{"openapi":"3.0.3","info":{"title":"s","version":"1"},"paths":{},"x-tyk-api-gateway":{"info":{"id":"str","name":"s","state":{"active":true}},
		"upstream":{"url":""},"server":{"listenPath":{"value":"/s/"}}},"x-tyk-streaming":{"streams":{"x":{"input":{"http_server":{"path":"/in"}},"output":{"http_server":{"ws_path":"/out"}}}}}}`, 200)
	f.expect(outcome(f.migrate("admin", `{"mode":"direct","all":true,"abortOnFailure":true}`)),
		"ok[] skip tcp:is_tcp skip gql:is_graphql skip ws:is_websocket skip str:is_streams")
}

func TestMigrationFailures(t *testing.T) {
	f := newFarm(t, apis.Settings{})
	f.classic("one", "")
	f.classic("two", versioned)
	f.classic("two-v2", "") // it has the listen path of the child of two
	f.classic("bad", `"version_data":{"not_versioned":true,"versions":{"a":{"name":"a"},"b":{"name":"b"}}},`)
	f.classic("last", "")
	head, _ := f.db.Head(t.Context())
	n := f.migrate("admin", `{"mode":"direct","apiIDs":["bad","last"],"abortOnFailure":true}`)
	f.expect(outcome(n), "ok[] fail bad:version_data.versions: The API is not versioned but has 2 versions aborted")
	if now, _ := f.db.Head(t.Context()); now != head {
		t.Error("an aborted migration was stored")
	}
	n = f.migrate("admin", `{"mode":"direct","apiIDs":["one","two","last"],"abortOnFailure":true}`)
	f.expect(outcome(n), "ok[one] fail two:proxy.listen_path: Found API with same url. /two-v2/ aborted")
	if f.call("admin", "GET", "/api/apis/two", "", 200).Get("api_definition", "is_oas").True() {
		t.Error("half of an API was migrated")
	}
	n = f.migrate("admin", `{"mode":"direct","all":true}`)
	f.expect(outcome(n), "ok[two-v2 last] fail two:proxy.listen_path: Found API with same url. /two-v2/ fail bad:version_data.versions: The API is not versioned but has 2 versions skip one:already_migrated")
	f.expect(strings.Join(f.signals(), ","), "GroupReload ")
}

func TestMigrationOwnership(t *testing.T) {
	f := newFarm(t, apis.Settings{Ownership: true})
	f.classic("mine", "")
	f.classic("theirs", "")
	f.call("admin", "PUT", "/api/apis/mine/access", `{"userIds":["ann"],"userGroupIds":[]}`, 200)
	f.call("admin", "PUT", "/api/apis/theirs/access", `{"userIds":["bob"],"userGroupIds":[]}`, 200)
	f.expect(outcome(f.migrate("ann", `{"mode":"dryRun","all":true}`)), "ok[mine] def mine+0")
	f.expect(outcome(f.migrate("ann", `{"mode":"direct","apiIDs":["mine","theirs","none"]}`)), "ok[mine] fail theirs:Not authorised fail none:API not found")
	if owners := f.call("admin", "GET", "/api/apis/mine/access", "", 200); string(owners.JSON()) != `{"userIds":["ann"],"userGroupIds":[]}` {
		t.Error(string(owners.JSON()))
	}
}

// TestMigrationWarnings checks that lost settings are reported and logged.
func TestMigrationWarnings(t *testing.T) {
	f := newFarm(t, apis.Settings{})
	f.classic("one", `"version_data":{"not_versioned":true,"versions":{"Default":{"name":"Default","use_extended_paths":true,"extended_paths":{"transform_jq":[{"path":"/x","method":"GET","filter":"."}]}}}},`)
	n := f.migrate("admin", `{"mode":"direct","apiIDs":["one"]}`)
	var warnings []migrate.MigrationMessage
	if err := json.Unmarshal(n.Get("warnings").JSON(), &warnings); err != nil || len(warnings) != 1 || warnings[0].APIID != "one" {
		t.Fatal(err, string(n.JSON()))
	}
	if !strings.Contains(f.log.String(), "transform_jq") || !strings.Contains(f.log.String(), "level=WARN") {
		t.Error(f.log.String())
	}
}

// TestMigrationIsStrict checks that clients can write back what a migration has stored,
// and that a copy keeps unknown members that a client has accepted.
func TestMigrationIsStrict(t *testing.T) {
	f := newFarm(t, apis.Settings{})
	f.call("admin", "POST", "/api/apis", `{"api_definition":{"name":"odd","api_id":"odd","use_keyless":false,"use_oauth2":true,"auth_configs":{"oauth":{}},"oauth_meta":{"allowed_authorize_types":["code","strange"]},
		"proxy":{"listen_path":"/odd/","target_url":"http://up.example/"}}}`, 200)
	const refused = `fail odd:x-tyk-api-gateway.server.authentication.securitySchemes.oauth.allowedAuthorizeTypes.1: must be one of ["code" "token"]` +
		`|x-tyk-api-gateway.server.authentication.securitySchemes.oauth: fits none of the allowed forms`
	for _, mode := range []string{"dryRun", "stage", "direct"} {
		f.expect(outcome(f.migrate("admin", `{"mode":"`+mode+`","apiIDs":["odd"]}`)), "ok[] "+refused)
	}
	f.classic("plain", "")
	f.migrate("admin", `{"mode":"stage","apiIDs":["plain"]}`)
	d := f.call("admin", "GET", "/api/apis/oas/staging-plain", "", 200)
	f.call("admin", "PUT", "/api/apis/oas/staging-plain", string(d.JSON()), 200)
	d.Put(doc.NewBool(true), "x-tyk-api-gateway", "future")
	f.call("admin", "PUT", "/api/apis/oas/staging-plain?accept_additional_properties=true", string(d.JSON()), 200)
	f.expect(outcome(f.migrate("admin", `{"mode":"promote","apiIDs":["plain"]}`)), "ok[plain]")
	if d = f.call("admin", "GET", "/api/apis/oas/plain", "", 200); !d.Get("x-tyk-api-gateway", "future").True() {
		t.Errorf("what a client has let pass is gone: %s", d.JSON())
	}
}
