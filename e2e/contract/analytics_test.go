package contract_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	sqlanalytics "github.com/gatehouse-io/gatehouse/adapters/sql/analytics"
	"github.com/gatehouse-io/gatehouse/adapters/sql/analytics/analyticstest"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
)

// january returns the period of a view, with more path values as pairs.
func january(more ...string) func(testing.TB, *service) map[string]string {
	return func(testing.TB, *service) map[string]string {
		out := map[string]string{"startDay": "1", "startMonth": "1", "startYear": "2026", "EndDay": "31", "EndMonth": "1", "EndYear": "2026"}
		for i := 0; i+1 < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
}

var (
	viewQuery = map[string][]string{
		"p": {"1", "0", "-1", "7"}, "res": {"hour", "day", "month"}, "sort": {"1", "-1"}, "by": {"Hits", "Latency", "Name"}, "type": {"csv", "json"}, "tz": {"Europe/Berlin", "UTC"}, "api_id": {"", "api0", "unheard"},
	}
	// viewTags are for views that can be split by tags.
	viewTags   = joined(viewQuery, map[string][]string{"tags": {"gold", "gold,silver"}})
	proxies    = map[string][]string{"mcp_method": {"tools/call", "tools/list"}, "mcp_primitive_type": {"tool", "resource", "prompt"}, "mcp_primitive_name": {"thing-0"}, "group_by": {"mcp_primitive"}}
	trafficKey = analyticstest.Key(1)
)

// analyticsPlans are the plans of views of traffic.
var analyticsPlans = map[string]plan{
	"usage.totals":             {path: january(), query: viewTags},
	"usage.apis":               {path: january(), query: viewTags},
	"usage.api":                {path: january("apiID", "api0"), query: without(viewTags, "api_id")},
	"usage.mcp":                {path: january(), query: viewTags},
	"activity.key":             {path: january("keyHash", trafficKey), query: viewQuery},
	"activity.key.endpoint":    {path: january("keyHash", trafficKey), query: viewQuery},
	"activity.keys":            {path: january("keyHashes", trafficKey+",00001000"), query: viewTags},
	"activity.client":          {path: january("OAuthClientID", "client-1"), query: viewQuery},
	"activity.client.endpoint": {path: january("OAuthClientID", "client-1"), query: viewQuery},
	"activity.endpoint":        {path: january(), query: viewQuery},
	"activity.error":           {path: january(), query: viewTags},
	"activity.geo":             {path: january(), query: viewTags},
	"activity.graph":           {path: january(), query: joined(viewQuery, map[string][]string{"group_by": {"operation", "types", "fields", "rootfields"}})},
	"activity.mcp.primitives":  {path: january(), query: joined(joined(viewQuery, proxies), map[string][]string{"limit": {"1", "0"}})},
	"activity.mcp.errors":      {path: january(), query: joined(viewQuery, proxies)},
	"activity.mcp.key":         {path: january("keyId", trafficKey), query: joined(without(viewQuery, "api_id"), proxies)},
	"uptime.upstreams":         {path: january(), query: without(viewQuery, "api_id")},
	"logs.list":                {always: map[string]string{"start": "1767225600", "end": "1769903999"}, query: map[string][]string{"p": {"1", "-1"}, "key": {trafficKey}, "api": {"api0"}, "errors": {"true", "false"}}},
}

// without returns values without one name.
func without(values map[string][]string, name string) map[string][]string {
	out := maps.Clone(values)
	delete(out, name)
	return out
}

// reported is the file of a database with several days of reports of gateways. It is filled
// once, and copied for hundreds of services.
var reported = sync.OnceValues(func() (text []byte, err error) {
	dir, err := os.MkdirTemp("", "gatehouse-contract-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "analytics.db")
	s, err := analyticsAt(path)
	if err != nil {
		return nil, err
	}
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	filled := analyticstest.Fill(context.Background(), s, analyticstest.Traffic{Seed: 11, Records: 60, Days: 4, From: first, APIs: 10, Keys: 3, Orgs: []string{"org-a"}}.Make())
	if err := errors.Join(filled, s.Close()); err != nil { // closing moves the write-ahead log into the file
		return nil, err
	}
	return os.ReadFile(path)
})

func analyticsAt(path string) (*sqlanalytics.Store, error) {
	readers, writers, err := sqlite.Plain(path, slog.New(slog.DiscardHandler))
	at := sqlanalytics.Place{Readers: readers, Writers: writers, Dialect: sqlanalytics.SQLite}
	return &sqlanalytics.Store{Counters: at, Records: at, Uptime: at}, err
}

// traffic returns several days of reports of gateways.
func traffic(t testing.TB) *sqlanalytics.Store {
	t.Helper()
	text, err := reported()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "analytics.db")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := analyticsAt(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
