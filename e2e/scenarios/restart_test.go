package scenarios

import (
	"encoding/json"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// Unknown members, in unusual order and number spelling: they belong to the clients that sent
// them.
const foreign = `"x_z":{"b":1.50,"a":[1e3,-0.0,12345678901234567890],"ü":"\u00e9<\/>"},"x_a":null`

// belongings are texts of every kind of document, by path.
var belongings = map[string]string{
	classicAPIs: `{"x_wrapper":1.0,"api_definition":{"name":"Kept","api_id":"kept","active":true,"use_keyless":true,` + foreign + `,
		"proxy":{"target_url":"http://127.0.0.1:9/","listen_path":"/kept/","x_more":0.10},"version_data":{"not_versioned":true,"versions":{"Default":{"name":"Default"}}}},"x_b":{}}`,
	oasAPIs: `{"x-first":[1.0],"paths":{"/z":{"get":{"operationId":"z","responses":{"200":{"description":"fine"}},"x-y":1E2}},"/a":{}},
		"info":{"version":"1.0.0","title":"Kept"},"openapi":"3.0.3","x-tyk-api-gateway":{"upstream":{"url":"http://127.0.0.1:9/"},
		"server":{"listenPath":{"strip":true,"value":"/document/"}},"info":{"state":{"active":true},"name":"Kept","id":"document"}},"x-kept":{` + foreign + `}}`,
	mcpProxies: `{"info":{"version":"1.0.0","title":"Proxy"},"openapi":"3.0.3","paths":{},"x-kept":{` + foreign + `},"x-tyk-api-gateway":{"upstream":{"url":"http://127.0.0.1:9/"},
		"middleware":{"mcpTools":{"z":{"allow":{"enabled":true}},"a":{"block":{"enabled":true}}}},
		"server":{"listenPath":{"value":"/proxy/"}},"info":{"state":{"active":true},"name":"Proxy","id":"proxy"}}}`,
	streamsAPIs: `{"info":{"version":"1.0.0","title":"Stream"},"openapi":"3.0.3","paths":{},"x-kept":{` + foreign + `},"x-tyk-api-gateway":{"upstream":{"url":"http://127.0.0.1:9/"},
		"server":{"listenPath":{"value":"/stream/"}},"info":{"state":{"active":true},"name":"Stream","id":"stream"}},
		"x-tyk-streaming":{"streams":{"z":{"output":{"http_server":{"ws_path":"/out"}},"input":{"http_server":{"path":"/in","timeout":"1.50s"}}},"a":{"input":{"http_server":{"path":"/a"}},"output":{"http_server":{"ws_path":"/b"}}}}}}`,
	policies:      `{"name":"Kept","rate":10.50,"per":1e1,` + foreign + `,"id":"kept","access_rights":{"z":{"api_id":"z","x_y":1.0},"a":{"api_id":"a","versions":null}},"meta_data":{"z":1.0,"a":{}}}`,
	"/api/assets": `{"name":"Kept","kind":"oas-template","id":"kept","data":{` + foreign + `,"info":{"title":"T"}}}`,
}

// reads are the paths where documents are read.
var reads = []string{
	classicAPIs + "/kept", oasAPIs + "/document", mcpProxies + "/proxy", policies + "/kept", streamsAPIs + "/stream", "/api/assets/kept", "/api/assets",
	classicAPIs + "?p=-1", mcpProxies, policies, webhooks, oasAPIs + "/document/export",
}

var feeds = []string{"/system/apis", "/system/policies", "/system/clientidps"}

// TestRestart compares every document, byte for byte, before and after a restart, and
// searches the read documents for what was sent.
func TestRestart(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { restartWithDocuments(t, onSQLite(t.TempDir()).bootstrapping()) })
	if long() {
		t.Run("postgres", func(t *testing.T) {
			restartWithDocuments(t, onPostgres(t.TempDir(), harness.Database(t)).bootstrapping())
		})
	}
}

func restartWithDocuments(t *testing.T, env environment) {
	s := serve(t, env.with(environment{"STREAMING_ENABLED": "true"}))
	for _, path := range slices.Sorted(maps.Keys(belongings)) {
		s.api.do(t, http.MethodPost, path, json.RawMessage(belongings[path]))
	}
	s.api.do(t, http.MethodPost, webhooks, object{"name": "Kept", "method": "POST", "target_path": "https://hooks.example.com/"})
	for _, path := range reads[:5] {
		if text := s.api.raw(t, path); !strings.Contains(text, foreign) {
			t.Errorf("%s does not show what was sent: %s", path, text)
		}
	}
	before := s.everything(t)
	s.process.Stop(t)
	s.restart(t)
	for path, text := range s.everything(t) {
		if text != before[path] {
			t.Errorf("%s differs after a restart:\n%s\n%s", path, before[path], text)
		}
	}
}

// everything reads all documents, as users and as gateways do.
func (s *service) everything(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, path := range reads {
		all[path] = s.api.raw(t, path)
	}
	for _, path := range feeds {
		all[path] = s.node.message(t, path)
	}
	return all
}

// TestRestoreIsAnnounced: gateways reload everything after a restore, because they have
// loaded changes from after the backup.
func TestRestoreIsAnnounced(t *testing.T) {
	redis := harness.NewRedis(t).Addr()
	messages := listen(t, redis)
	env := onSQLite(t.TempDir()).bootstrapping().with(environment{"REDISADDRS": redis})
	file := filepath.Join(t.TempDir(), "backup.db")
	s := serve(t, env)
	run(t, env, "backup", file).want(t, 0)
	if err := s.api.createIDP(t.Context(), idp{ClientIDPID: "gone", Name: "gone", JWKSURI: "https://idp.example.com/jwks.json"}); err != nil {
		t.Fatal(err)
	}
	countUntil(t, messages, "gone")
	s.process.Stop(t)
	run(t, env, "restore", file, "--replace").want(t, 0)
	s.restart(t)
	for _, want := range []string{"ClientIdPChanged", "GroupReload"} {
		select {
		case m := <-messages:
			if !strings.Contains(m.Payload, want) {
				t.Errorf("%s, want %s", m.Payload, want)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("gateways are not told of the restore")
		}
	}
}
