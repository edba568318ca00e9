package analytics_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/sql/analytics/analyticstest"
	"github.com/gatehouse-io/gatehouse/core/analytics/view"
)

// few is a small amount of traffic.
func few(days int) []analyticstest.Record {
	return analyticstest.Traffic{Seed: 7, Records: 400, Days: days, From: first, APIs: 30, Keys: 4, Orgs: []string{"a", "b"}}.Make()
}

const month = "/1/10/2025/31/10/2025"

// TestPages: the pages of a view together have all results, each once, in order.
func TestPages(t *testing.T) {
	w := newWorld(t, onSQLite(t, false), few(31))
	for _, path := range []string{"/api/usage" + month + "?res=hour", "/api/usage/apis" + month + "?", "/api/usage/apis" + month + "?by=Name", "/api/activity/endpoint" + month + "?by=latency&sort=1"} {
		all, _ := w.page("ann", path+"&p=0")
		var pieces []unit
		for p := 1; ; p++ {
			units, pages := w.page("ann", fmt.Sprintf("%s&p=%d", path, p))
			if want := (len(all) + 9) / 10; pages != want {
				t.Fatalf("%s: %d pages, want %d", path, pages, want)
			}
			if len(units) == 0 {
				break
			}
			for _, u := range units {
				pieces = append(pieces, keyOf(u.ID))
			}
		}
		var whole []unit
		for _, u := range all {
			whole = append(whole, keyOf(u.ID))
		}
		if len(whole) < 11 || !slices.Equal(pieces, whole) {
			t.Errorf("%s: %d results, in pages %d", path, len(whole), len(pieces))
		}
	}
	units, _ := w.page("admin", "/api/usage/apis"+month+"?p=-1&by=Error&sort=1")
	if !slices.IsSortedFunc(units, func(a, b view.Unit) int { return int(a.Error - b.Error) }) {
		t.Error("not in order of errors")
	}
}

// TestOwners: a filter on an API that the caller may not see is refused. On an API that
// does not exist, the result is empty.
func TestOwners(t *testing.T) {
	w := newWorld(t, onSQLite(t, false), few(31))
	others, gone := analyticstest.API(2), analyticstest.API(22)
	for _, path := range []string{"/api/usage" + month, "/api/usage/apis" + month, "/api/activity/error" + month, "/api/activity/endpoint" + month, "/api/activity/keys/k" + month, "/api/activity/geo" + month, "/api/usage/mcp" + month} {
		for _, as := range []string{"ann", "bob", "own"} {
			if got := w.get(as, path+"?api_id="+others); got.Code != 403 || !strings.Contains(got.Body.String(), "User does not have access to the API with ID.") {
				t.Errorf("%s %s: %d %s", as, path, got.Code, got.Body)
			}
			if got := w.get(as, path+"?api_id="+gone); got.Code != 200 || !strings.HasPrefix(got.Body.String(), `{"data":[],`) {
				t.Errorf("%s %s: %d %s", as, path, got.Code, got.Body)
			}
		}
	}
	if got := w.get("own", "/api/usage/apis/"+analyticstest.API(0)+month); got.Code != 403 {
		t.Error("an API without owners is not owned:", got.Code, got.Body)
	}
	span := fmt.Sprintf("/api/logs?start=%d&end=%d", first.Unix(), first.AddDate(0, 0, 31).Unix())
	if got := w.get("bob", span+"&api="+others); got.Code != 403 {
		t.Error(got.Code, got.Body)
	}
	for as, sees := range map[string]func(string) bool{"admin": sees["admin"], "ann": sees["ann"], "own": sees["own"]} {
		got := w.get(as, span+"&p=-1").Body.String()
		for i := range 30 {
			api, there := analyticstest.API(i), false
			for _, r := range w.records {
				there = there || r.Org == "a" && r.API == api && r.Sort != analyticstest.MCP
			}
			if strings.Contains(got, `"api_id":"`+api+`"`) != (there && sees(api)) {
				t.Errorf("%s and calls of %s", as, api)
			}
		}
		if strings.Contains(got, `"org_id":"b"`) {
			t.Error("calls of another organisation")
		}
	}
	for _, path := range []string{"/api/usage/mcp" + month, "/api/activity/mcp/primitives" + month, "/api/activity/mcp/keys/k" + month} {
		if got := w.get("nomcp", path); got.Code != 403 {
			t.Errorf("%s: %d", path, got.Code)
		}
	}
}

// TestFiltersAreNoStatements: a text that would change an SQL statement matches
// nothing.
func TestFiltersAreNoStatements(t *testing.T) {
	for name, open := range databases(t) {
		if strings.HasSuffix(name, "sharded") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, open(t), few(31))
			for _, evil := range []string{`' or '1'='1`, `'; drop table tyk_aggregated; --`, `") or 1=1 --`, `x' union select 1 --`, `%`, `_`, `\`, `{table}`, `$1`, `?1`, `"`, `[]`, `\u0000`} {
				e := url.QueryEscape(evil)
				for _, path := range []string{
					"/api/usage" + month + "?api_id=" + e, "/api/usage" + month + "?tags=" + e, "/api/usage/apis" + month + "?api_id=" + e + "&api_version=" + e, "/api/usage/apis" + month + "?tags=x,y&api_id=" + e,
					"/api/activity/endpoint" + month + "?api_id=" + e + "&api_version=" + e, "/api/activity/keys/" + url.PathEscape(evil) + month, "/api/activity/keys/aggregate/" + url.PathEscape(evil) + month,
					"/api/activity/oauthid/" + url.PathEscape(evil) + month, "/api/activity/mcp/primitives" + month + "?mcp_primitive_name=" + e, "/api/logs?start=1759276800&end=1761955199&key=" + e, "/api/logs?start=1759276800&end=1761955199&api=" + e,
				} {
					if got := w.get("admin", path); got.Code != 200 || !strings.HasPrefix(got.Body.String(), `{"data":[],`) {
						t.Errorf("%s: %d %.200s", path, got.Code, got.Body)
					}
				}
				for _, path := range []string{"/api/usage" + month + "?by=" + e, "/api/usage" + month + "?sort=" + e, "/api/usage" + month + "?res=" + e, "/api/usage" + month + "?tz=" + e, "/api/activity/graph" + month + "?group_by=" + e} {
					if got := w.get("admin", path); got.Code != 400 {
						t.Errorf("%s: %d %.200s", path, got.Code, got.Body)
					}
				}
			}
			if units, _ := w.page("admin", "/api/usage"+month); len(units) == 0 {
				t.Error("the traffic has gone")
			}
		})
	}
}

// TestAnswersAreBounded: a response with more results than allowed is refused, and so
// are long lists in parameters.
func TestAnswersAreBounded(t *testing.T) {
	s := onSQLite(t, false)
	var many []analyticstest.Record
	for i := range 10_001 {
		many = append(many, analyticstest.Record{At: first.Add(time.Duration(i) * time.Hour), Org: "a", API: "one", Version: "v1", Key: "k", Code: 200})
	}
	w := newWorld(t, s, many)
	for path, status := range map[string]int{
		"/api/usage/1/10/2025/31/12/2026?res=hour&p=-1":                     400,
		"/api/usage/1/10/2025/31/12/2026?res=hour&type=csv":                 400,
		"/api/usage/1/10/2025/31/12/2026?res=hour&p=1000":                   200,
		"/api/usage/1/10/2025/31/12/2026?res=hour&p=999999999":              200,
		"/api/usage/1/10/2025/31/10/2026?res=hour&p=-1":                     200,
		"/api/logs?start=1759276800&end=1795276800&p=-1":                    400,
		"/api/logs?start=1759276800&end=1759376800&p=-1":                    200,
		"/api/usage" + month + "?tags=" + strings.Repeat("a,", 101):         400,
		"/api/usage" + month + "?tags=" + strings.Repeat("a", 1025):         400,
		"/api/activity/keys/aggregate/" + strings.Repeat("a,", 101) + month: 400,
		"/api/activity/geo/1/10/2025/1/11/2025?api_id=one":                  400,
		"/api/activity/geo/1/10/2025/31/10/2025?api_id=one":                 200,
		"/api/usage" + month + "?api_id=" + strings.Repeat("a", 1025):       400,
		"/api/usage" + month + "?tz=" + strings.Repeat("a", 100_000):        400,
	} {
		if got := w.get("admin", path); got.Code != status {
			t.Errorf("%.100s: %d %.100s, want %d", path, got.Code, got.Body, status)
		}
	}
}

// TestDatabaseIsAway: errors of the database do not reach callers.
func TestDatabaseIsAway(t *testing.T) {
	s := onSQLite(t, false)
	w := newWorld(t, s, few(2))
	if err := s.Counters.Readers.Close(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/api/usage" + month: "Failed to fetch analytics.", "/api/uptime" + month: "Failed to fetch analytics.", "/api/logs?start=1&end=2": "Failed to fetch logs."} {
		if got := w.get("admin", path); got.Code != 500 || strings.TrimSpace(got.Body.String()) != `{"Status":"Error","Message":"`+want+`","Meta":null}` {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
}

// TestNothingIsKnown: without a database, tables or traffic, views are empty.
func TestNothingIsKnown(t *testing.T) {
	for name, w := range map[string]*world{"no database": newWorld(t, nil, nil), "no tables": newWorld(t, onSQLite(t, false), nil), "no traffic": newWorld(t, onSQLite(t, false), few(3))} {
		for _, path := range []string{"/api/usage/1/1/2020/1/1/2020", "/api/activity/geo/1/1/2020/1/1/2020", "/api/uptime/1/1/2020/1/1/2020", "/api/logs?start=1&end=2", "/api/activity/graph/1/1/2020/1/1/2020?p=3"} {
			if got := w.get("nothing", path); got.Code != 200 || got.Body.String() != `{"data":[],"pages":1}`+"\n" {
				t.Errorf("%s, %s: %d %s", name, path, got.Code, got.Body)
			}
		}
	}
}
