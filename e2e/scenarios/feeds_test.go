package scenarios

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// stored is an API as records of it look in the store.
func stored(id, members string) string {
	return fmt.Sprintf(`{"_id":%q,"class":"classic","created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z",
		"api_definition":{"id":%[1]q,"api_id":%[1]q,"org_id":%q,"name":"n","active":true,"use_keyless":true,
		"proxy":{"listen_path":"/%[1]s/","target_url":"http://127.0.0.1:9/"},
		"version_data":{"not_versioned":true,"versions":{"Default":{"name":"Default"}}}%s}}`, id, orgID, members)
}

// harmful are records that no operation would store, as an older version or a
// direct import might leave them: each of them alone would void a whole feed or
// end the gateways.
var harmful = []store.Record{
	{Kind: "api", ID: "5f1a0c5d8e3b2a1f000000b1", Doc: []byte(stored("5f1a0c5d8e3b2a1f000000b1", `,"tags":"all"`))},
	{Kind: "api", ID: "5f1a0c5d8e3b2a1f000000b2", Doc: []byte(stored("5f1a0c5d8e3b2a1f000000b2", `,"version_data":{"versions":{"v":{"global_enforce_timeout":5}}}`))},
	{Kind: "api", ID: "5f1a0c5d8e3b2a1f000000b3", Doc: []byte(`{"_id":"5f1a0c5d8e3b2a1f000000b3","class":"classic","api_definition":null}`)},
	{Kind: "policy", ID: "5f1a0c5d8e3b2a1f000000b4", Doc: []byte(`{"_id":"5f1a0c5d8e3b2a1f000000b4","id":"bad","org_id":"` + orgID + `","name":"bad","rate":"ten"}`)},
}

// TestHarmfulRecords puts records into the store that gateways could not read:
// all others are served, and administrators see what is left out.
func TestHarmfulRecords(t *testing.T) {
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	good := store.Record{Kind: "api", ID: "5f1a0c5d8e3b2a1f000000a9", Doc: []byte(stored("5f1a0c5d8e3b2a1f000000a9", ""))}
	if _, err := db.Update(t.Context(), tenant.Everyone("test"), func(w store.Writer) error {
		for _, r := range append([]store.Record{good}, harmful...) {
			r.Org = orgID
			if err := w.Put(t.Context(), r); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	e := embedded(t, db)
	e.api.do(t, http.MethodPost, policies, policy("fine", nil))
	e.api.do(t, http.MethodPost, classicAPIs, classicAPI("shop", nil))
	e.gateway.PutKey("key", gatewaysim.Key{OrgID: orgID, Policies: []string{"fine"}})
	e.gateway.Reload()
	e.becomes(t, "what was made later", request{path: "/shop/x", token: "key"}, http.StatusOK, "")
	e.answers(t, "what was there before", get("/"+good.ID+"/x"), http.StatusOK, "")
	if s := e.gateway.State(); len(s.APIs) != 2 || len(s.Policies) != 1 {
		t.Errorf("loaded %v and %v", s.APIs, s.Policies)
	}
	e.healthy(t)
	e.checkLeftOut(t)
}

// checkLeftOut compares the list for administrators with what is harmful.
func (e *estate) checkLeftOut(t *testing.T) {
	t.Helper()
	var feeds []struct {
		Feed    string `json:"feed"`
		Entries int    `json:"entries"`
		LeftOut []struct {
			Kind, ID string
			Problems []struct{ Path, Want, Got string }
		} `json:"left_out"`
	}
	e.api.get(t, "/api/system/feeds", &feeds)
	listed, entries := map[string]string{}, map[string]int{}
	for _, f := range feeds {
		entries[f.Feed] = f.Entries
		for _, l := range f.LeftOut {
			if len(l.Problems) == 0 {
				t.Errorf("%s is left out without a reason", l.ID)
				continue
			}
			listed[l.ID] = l.Problems[0].Path
		}
	}
	if len(listed) != len(harmful) || entries["apis"] != 2 || entries["policies"] != 1 {
		t.Errorf("entries %v, left out %v", entries, listed)
	}
	for id, part := range map[string]string{harmful[0].ID: "tags", harmful[1].ID: "global_enforce_timeout", harmful[2].ID: "api_definition", harmful[3].ID: "rate"} {
		if path, ok := listed[id]; !ok || !strings.Contains(path, part) {
			t.Errorf("%s: listed %v at %q, want %s", id, ok, path, part)
		}
	}
	if text := e.api.read(t, "/api/system/feeds"); strings.Contains(text, "ten") {
		t.Error("a value is shown")
	}
}

// embedded is an estate whose service runs inside the test, over a store that
// the test has prepared. Nobody announces anything there.
func embedded(t *testing.T, s store.Store) *estate {
	t.Helper()
	a, err := app.New(app.WithStore(s), app.WithNodeSecret(nodeSecret), app.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startLimit)
		defer cancel()
		if err := a.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	if _, err := a.Bootstrap(t.Context(), identity.First{OrgID: orgID, Email: adminEmail, AccessKey: accessKey}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	e := &estate{service: &service{addr: server.URL, api: newClient(server.URL, "Authorization", accessKey), node: newClient(server.URL, "Authorization", nodeSecret)}}
	t.Cleanup(e.api.http.CloseIdleConnections)
	e.gateway = bareGateway(t, server.URL, "")
	e.serving(t)
	return e
}

// message returns what a feed says, without its nonce.
func (c *client) message(t *testing.T, path string) string {
	t.Helper()
	var feed struct{ Message json.RawMessage }
	c.get(t, path, &feed)
	return string(feed.Message)
}
