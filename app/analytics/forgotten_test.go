package analytics_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	sqlanalytics "github.com/gatehouse-io/gatehouse/adapters/sql/analytics"
	"github.com/gatehouse-io/gatehouse/adapters/sql/analytics/analyticstest"
)

// TestForgottenCalls: views that read single calls say since when these are kept, if
// counters have traffic of earlier days.
func TestForgottenCalls(t *testing.T) {
	for name, open := range databases(t) {
		t.Run(name, func(t *testing.T) {
			store := open(t)
			var records []analyticstest.Record
			for day := range 50 {
				for _, org := range []string{"a", "b"} {
					r := analyticstest.Record{At: first.AddDate(0, 0, day).Add(12 * time.Hour), Org: org, API: analyticstest.API(0), Version: "v1", Key: "k", Path: "/", Country: "DE", Code: 200, Latency: 1, Tags: []string{"gold"}}
					mcp := r
					mcp.Sort, mcp.Method = analyticstest.MCP, "tools/list"
					records = append(records, r, mcp)
					if day > 25 {
						late := mcp
						late.Key = "late"
						records = append(records, late)
					}
				}
			}
			w := newWorld(t, store, records)
			tables := []string{"tyk_analytics", "tyk_analytics_mcp"}
			forget := func(days int) {
				for day := range days {
					for _, table := range tables {
						column := map[bool]string{true: "analytics_timestamp", false: "timestamp"}[table == "tyk_analytics_mcp"]
						if store.Records.Sharded {
							table += first.AddDate(0, 0, day).Format("_20060102")
						}
						if _, err := store.Records.Writers.ExecContext(t.Context(), fmt.Sprintf("delete from %s where %s < %s", table, column, store.Records.Dialect.Param(1)),
							store.Records.Dialect.Time(first.AddDate(0, 0, days))); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			check := func(from, to, want string) {
				t.Helper()
				for as, paths := range map[string][]string{
					"admin": {"/api/usage/apis/…?tags=gold", "/api/activity/geo/…?tags=gold", "/api/activity/mcp/keys/k/…?mcp_method=tools/list"},
					"bob":   {"/api/usage/…?tags=gold", "/api/activity/geo/…?", "/api/activity/keys/aggregate/k/…?", "/api/activity/mcp/keys/k/…?mcp_method=tools/list"},
				} {
					for _, path := range paths {
						path = strings.Replace(path, "…", from+"/"+to, 1)
						if got := w.get(as, path); !strings.Contains(fmt.Sprint(got.Code, " ", got.Body), want) {
							t.Errorf("%s %s: %d %s, want %s", as, path, got.Code, got.Body, want)
						}
					}
				}
			}
			check("1/10/2025", "31/10/2025", `200 {"data":[{`)
			forget(20)
			check("1/10/2025", "31/10/2025", "stored since 2025-10-21: request that day and later ones")
			check("20/10/2025", "31/10/2025", "400 ")
			if got := w.get("admin", "/api/activity/mcp/keys/late/1/10/2025/31/10/2025?mcp_method=tools/list"); got.Code != 200 {
				t.Error("nothing of this key is forgotten:", got.Code, got.Body)
			}
			check("21/10/2025", "31/10/2025", `200 {"data":[{`)
			if got := w.get("bob", "/api/activity/geo/1/9/2025/30/9/2025"); got.Code != 200 || !strings.HasPrefix(got.Body.String(), `{"data":[],`) {
				t.Error("there was no traffic before:", got.Code, got.Body)
			}
			if got := w.get("bob", "/api/activity/geo/21/10/2025/31/10/2025?tz=Pacific/Kiritimati"); got.Code != 400 || !strings.Contains(got.Body.String(), "stored since 2025-10-22") {
				t.Error("days are those of the zone:", got.Code, got.Body)
			}
			if got := w.get("own", "/api/activity/geo/1/10/2025/31/10/2025"); got.Code != 200 {
				t.Error("what the caller does not see is missed:", got.Code, got.Body)
			}
			forget(50)
			check("1/10/2025", "31/10/2025", "none are stored")
			store.Records = sqlanalytics.Place{}
			check("1/10/2025", "31/10/2025", `200 {"data":[]`)
		})
	}
}
