package scenarios

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver that the service also uses

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// harm is a record that no operation would store, as older data or a careless import
// might leave it: each alone would void a whole feed or crash the gateways.
type harm struct {
	kind, id  string
	old, harm string // part of the stored document, and its replacement
	path      string // the path that administrators are told about
}

var harms = []harm{
	{"api", "listed", `"tags":["a"]`, `"tags":"all of them"`, "tags"},
	{"api", "timed", `"global_enforce_timeout":"5s"`, `"global_enforce_timeout":5`, "global_enforce_timeout"},
	{"api", "undefined", `"api_definition":{`, `"api_definition":null,"lost":{`, "api_definition"},
	{"policy", "bad", `"rate":10`, `"rate":"all of them"`, "rate"},
}

// TestHarmfulRecords changes records directly in the database into ones that gateways
// cannot read: all others are served, and administrators see what is left out.
func TestHarmfulRecords(t *testing.T) {
	home, redis := t.TempDir(), harness.Redis(t).Addr()
	s := serve(t, onSQLite(home).bootstrapping().with(environment{"REDISADDRS": redis, "ENCRYPTATREST": "false"}))
	s.api.do(t, http.MethodPost, classicAPIs, classicAPI("shop", nil))
	s.api.do(t, http.MethodPost, policies, policy("fine", nil, "shop"))
	s.api.do(t, http.MethodPost, classicAPIs, classicAPI("listed", object{"tags": []string{"a"}}))
	s.api.do(t, http.MethodPost, classicAPIs, classicAPI("timed", object{"version_data": object{"not_versioned": true,
		"versions": object{"Default": object{"name": "Default", "global_enforce_timeout": "5s"}}}}))
	s.api.do(t, http.MethodPost, classicAPIs, classicAPI("undefined", nil))
	s.api.do(t, http.MethodPost, policies, policy("bad", object{"rate": 10, "per": 1}, "shop"))
	s.process.Stop(t)
	corrupt(t, filepath.Join(home, "gatehouse.db"))
	s.restart(t)

	e := &estate{service: s, gateway: bareGateway(t, s.node.base, redis)}
	e.serving(t)
	e.gateway.PutKey("key", gatewaysim.Key{OrgID: orgID, Policies: []string{"fine"}})
	e.becomes(t, "what was there before", request{path: "/shop/x", token: "key"}, http.StatusOK, "")
	e.api.do(t, http.MethodPost, classicAPIs, classicAPI("later", object{"use_keyless": true}))
	e.becomes(t, "what is made later", get("/later/x"), http.StatusOK, "")
	if st := e.gateway.State(); len(st.APIs) != 2 || len(st.Policies) != 1 {
		t.Errorf("loaded %v and %v", st.APIs, st.Policies)
	}
	e.checkLeftOut(t)
	mended := classicAPI("listed", object{"use_keyless": true})
	e.api.do(t, http.MethodPut, classicAPIs+"/listed", mended)
	e.becomes(t, "what is mended", get("/listed/x"), http.StatusOK, "")
	e.healthy(t)
}

// corrupt makes these changes.
func corrupt(t *testing.T, file string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, h := range harms {
		res, err := db.ExecContext(t.Context(), `update record set doc = replace(doc, ?, ?) where kind = ? and instr(doc, ?) > 0 and instr(doc, ?) > 0`,
			h.old, h.harm, h.kind, h.old, `"name":"`+h.id+`"`)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := res.RowsAffected(); n != 1 || err != nil {
			t.Fatalf("%s: %d records harmed, %v", h.id, n, err)
		}
	}
}

// checkLeftOut compares the list for administrators with the harmful records.
func (e *estate) checkLeftOut(t *testing.T) {
	t.Helper()
	var list []struct {
		Feed    string `json:"feed"`
		Entries int    `json:"entries"`
		LeftOut []struct {
			Kind     string
			Problems []struct{ Path, Want, Got string }
		} `json:"left_out"`
	}
	e.api.get(t, "/api/system/feeds", &list)
	entries, told := map[string]int{}, []string{}
	for _, f := range list {
		entries[f.Feed] = f.Entries
		for _, l := range f.LeftOut {
			for _, p := range l.Problems {
				told = append(told, l.Kind+" "+p.Path)
			}
		}
	}
	if len(told) != len(harms) || entries["apis"] != 2 || entries["policies"] != 1 {
		t.Errorf("entries %v, left out %v", entries, told)
	}
	for _, h := range harms {
		if all := strings.Join(told, "\n"); !strings.Contains(all, h.path) {
			t.Errorf("nothing is told about %s: %s", h.path, all)
		}
	}
	if text := e.api.read(t, "/api/system/feeds"); strings.Contains(text, "all of them") {
		t.Error("a value is shown")
	}
}

// message returns the Message of a feed, without its nonce.
func (c *client) message(t *testing.T, path string) string {
	t.Helper()
	var feed struct{ Message json.RawMessage }
	c.get(t, path, &feed)
	return string(feed.Message)
}
