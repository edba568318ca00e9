package analytics_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	sqlanalytics "github.com/gatehouse-io/gatehouse/adapters/sql/analytics"
	"github.com/gatehouse-io/gatehouse/adapters/sql/analytics/analyticstest"
	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app/analytics"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/analytics/view"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Run(m)) }

// long reports whether to run tests that take minutes.
func long() bool { return os.Getenv("GATEHOUSE_E2E_LONG") == "1" }

var callers = apptest.Callers{
	"admin":   {ID: "admin", OrgID: "a", Permissions: access.Map{"IsAdmin": "admin"}},
	"ann":     {ID: "ann", OrgID: "a", GroupID: "team", Groups: []string{"team"}, Permissions: access.Map{"apis": "write", "analytics": "read", "mcp": "read", "log": "read"}},
	"bob":     {ID: "bob", OrgID: "a", Permissions: access.Map{"apis": "read", "analytics": "read", "mcp": "read", "log": "read"}},
	"own":     {ID: "ann", OrgID: "a", Permissions: access.Map{"analytics": "read", "owned_analytics": "read", "mcp": "read", "log": "read"}},
	"reader":  {ID: "reader", OrgID: "a", Permissions: access.Map{"apis": "read"}},
	"nomcp":   {ID: "nomcp", OrgID: "a", Permissions: access.Map{"analytics": "read"}},
	"other":   {ID: "other", OrgID: "b", Permissions: access.Map{"IsAdmin": "admin"}},
	"nothing": {ID: "nothing", OrgID: "c", Permissions: access.Map{"IsAdmin": "admin"}},
}

// world is traffic in a database, with callers.
type world struct {
	t       *testing.T
	records []analyticstest.Record
	apis    *apistest.World
	http    http.Handler
	service *analytics.Service
	whole   bool // there is traffic for every query
}

// databases are all forms of the tables.
func databases(t *testing.T) map[string]func(*testing.T) *sqlanalytics.Store {
	t.Helper()
	out := map[string]func(*testing.T) *sqlanalytics.Store{}
	for _, sharded := range []bool{false, true} {
		suffix := map[bool]string{false: "", true: ", sharded"}[sharded]
		out["SQLite"+suffix] = func(t *testing.T) *sqlanalytics.Store { return onSQLite(t, sharded) }
		out["PostgreSQL"+suffix] = func(t *testing.T) *sqlanalytics.Store {
			db, err := postgres.Plain(harness.Database(t), 4)
			if err != nil {
				t.Fatal(err)
			}
			return everywhere(t, sqlanalytics.Place{Readers: db, Writers: db, Dialect: sqlanalytics.Postgres, Sharded: sharded})
		}
	}
	return out
}

func onSQLite(t *testing.T, sharded bool) *sqlanalytics.Store {
	t.Helper()
	r, w, err := sqlite.Plain(filepath.Join(t.TempDir(), "analytics.db"), slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	return everywhere(t, sqlanalytics.Place{Readers: r, Writers: w, Dialect: sqlanalytics.SQLite, Sharded: sharded})
}

func everywhere(t *testing.T, p sqlanalytics.Place) *sqlanalytics.Store {
	t.Helper()
	s := &sqlanalytics.Store{Counters: p, Records: p, Uptime: p}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// first is the first day of the traffic.
var first = time.Date(2025, 10, 1, 0, 0, 0, 0, time.UTC)

// traffic is the traffic of all tests of views: 400 days, or 40 if each day has tables
// of its own and the tests must be short.
func traffic(sharded bool) analyticstest.Traffic {
	n, days := 12_000, 400
	switch {
	case long():
		n = 1_000_000
	case sharded:
		n, days = 2_000, 40
	}
	return analyticstest.Traffic{Seed: 25, Records: n, Days: days, From: first, APIs: 30, Keys: 12, Orgs: []string{"a", "a", "b"}}
}

// newWorld returns APIs, some of which have owners, with traffic in a store.
func newWorld(t *testing.T, s *sqlanalytics.Store, records []analyticstest.Record) *world {
	t.Helper()
	if s != nil {
		if err := analyticstest.Fill(t.Context(), s, records); err != nil {
			t.Fatal(err)
		}
	}
	w := apistest.New(t, apis.Settings{Ownership: true})
	for i := range 20 { // the APIs after these are deleted
		id := analyticstest.API(i)
		w.Done("admin", "POST", "/apis", apistest.Classic(id, fmt.Sprintf("Name %d", i), "/"+id+"/"))
		switch i % 3 {
		case 1:
			w.Done("admin", "PUT", "/apis/"+id+"/access", `{"userIds":["ann"],"userGroupIds":[]}`)
		case 2:
			w.Done("admin", "PUT", "/apis/"+id+"/access", `{"userIds":["zoe"],"userGroupIds":["others"]}`)
		}
	}
	out := &world{t: t, records: records, apis: w, service: &analytics.Service{APIs: w.APIs, PageSize: 10}}
	if s != nil {
		out.service.Reader = s
	}
	out.http = apptest.Checked(t, out.service.Operations(), callers.Guard())
	return out
}

// owner returns the kind of owner of an API: none, ann, or others.
func owner(api string) int {
	if i, there := owners[api]; there {
		return i
	}
	return -1 // it was deleted
}

// owners has the kind of owner of each API.
var owners = func() map[string]int {
	out := map[string]int{}
	for i := range 20 {
		out[analyticstest.API(i)] = i % 3
	}
	return out
}()

// sees says which APIs the callers of the organisation a see.
var sees = map[string]func(api string) bool{
	"admin": func(string) bool { return true },
	"ann":   func(api string) bool { return owner(api) == 0 || owner(api) == 1 },
	"bob":   func(api string) bool { return owner(api) == 0 },
	"own":   func(api string) bool { return owner(api) == 1 },
	"other": func(string) bool { return true },
}

func (w *world) get(as, path string) *httptest.ResponseRecorder {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), "GET", path, nil)
	r.Header.Set("Authorization", as)
	out := httptest.NewRecorder()
	w.http.ServeHTTP(out, r)
	return out
}

// page reads a successful response.
func (w *world) page(as, path string) (units []view.Unit, pages int) {
	w.t.Helper()
	got := w.get(as, path)
	var out struct {
		Data  []view.Unit
		Pages int
	}
	if err := json.Unmarshal(got.Body.Bytes(), &out); err != nil || got.Code != 200 || out.Data == nil {
		w.t.Fatalf("%s %s: %d %.300s", as, path, got.Code, got.Body)
	}
	return out.Data, out.Pages
}
