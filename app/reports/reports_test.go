package reports_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/reports"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

var now = time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)

// serve serves the operations over HTTP for the organisation a.
func serve(t *testing.T, s operation.Service) http.Handler {
	t.Helper()
	return apptest.Checked(t, s.Operations(), apptest.Within("a"))
}

func ask(t *testing.T, h http.Handler, path string) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
	return fmt.Sprintf("%d %s", w.Code, strings.TrimSpace(w.Body.String()))
}

func failed(status int, message string) string {
	return fmt.Sprintf(`%d {"Status":"Error","Message":"%s","Meta":null}`, status, message)
}

func day(date string, low, high, lowActive, highActive int) string {
	return fmt.Sprintf(`{"date":"%s","max_usage":%d,"min_usage":%d,"avg_usage":%d,"max_active_usage":%d,"min_active_usage":%d,"avg_active_usage":%d,`+
		`"license_entitlement":-1,"license_entitlement_active":-1}`, date, high, low, (low+high)/2, highActive, lowActive, (lowActive+highActive)/2)
}

func stats(apis, dataplanes, gateways string) string {
	return `200 {"status":"Success","message":"System stats retrieved.","stats":{"apis":[` + apis + `],"dataplanes":[` + dataplanes + `],"dataplanes_gateways":[` + gateways + `]}}`
}

func TestStats(t *testing.T) {
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	at := func(d, h int) time.Time { return time.Date(2026, 3, d, h, 0, 0, 0, time.UTC) }
	s := &reports.Stats{Store: db, Now: func() time.Time { return now }, Gateways: func(context.Context) (int, error) { return 3, nil },
		APIs: func(context.Context, store.Reader) iter.Seq2[reports.Lifetime, error] {
			return func(yield func(reports.Lifetime, error) bool) {
				for _, l := range []reports.Lifetime{{Created: at(4, 23), Active: true}, {Created: at(2, 1), Active: true}, {Created: at(2, 2)}, {Created: at(4, 0), Active: true}} {
					if !yield(l, nil) {
						return
					}
				}
			}
		}}
	h := serve(t, s)
	second, third, fourth, fifth := day("2026-03-02", 0, 2, 0, 1), day("2026-03-03", 2, 2, 1, 1), day("2026-03-04", 2, 4, 1, 3), day("2026-03-05", 4, 4, 3, 3)
	invalid := failed(400, "Request validation failed.")
	for query, want := range map[string]string{
		"":             stats(second+","+third+","+fourth+","+fifth, "", ""),
		"?entity=apis": stats(second+","+third+","+fourth+","+fifth, "", ""),
		"?resolution=day&start_day=2026-03-03&end_day=2026-03-04": stats(third+","+fourth, "", ""),
		"?start_day=2026-02-01&end_day=2026-03-01":                stats("", "", ""),
		"?start_day=2020-02-01&end_day=2026-03-02":                stats(second, "", ""),
		"?start_day=2026-03-05&end_day=2027-01-01":                stats(fifth, "", ""),
		"?entity=dataplanes":                                      stats("", day("2026-03-05", 1, 1, 1, 1), ""),
		"?entity=dataplanes.gateways":                             stats("", "", day("2026-03-05", 3, 3, 3, 3)),
		"?entity=dataplanes.gateways&end_day=2026-03-04":          stats("", "", ""),
		"?start_day=2026-03-06":                                   failed(404, "Stats not found."),
		"?start_day=2026-03-06&end_day=2026-03-07":                failed(404, "Stats not found."),
		"?start_day=2026-03-06&end_day=2026-03-05":                invalid,
		"?start_day=0001-01-01":                                   invalid,
		"?start_day=2026-3-1":                                     invalid,
		"?end_day=tomorrow":                                       invalid,
		"?resolution=hour":                                        invalid,
		"?entity=keys":                                            invalid,
	} {
		if got := ask(t, h, "/api/system/stats"+query); got != want {
			t.Errorf("%s:\n%s, want\n%s", query, got, want)
		}
	}
	s.Gateways = func(context.Context) (int, error) { return 0, errors.New("away") }
	if got := ask(t, serve(t, s), "/api/system/stats?entity=dataplanes"); got != failed(500, "Failed to system stats.") {
		t.Error(got)
	}
	s.APIs = func(context.Context, store.Reader) iter.Seq2[reports.Lifetime, error] {
		return func(func(reports.Lifetime, error) bool) {}
	}
	if got := ask(t, serve(t, s), "/api/system/stats"); got != stats("", "", "") {
		t.Error(got)
	}
}

// expiring is a source of notifications.
type expiring struct {
	list      []reports.Notification
	err       error
	refreshed int
}

func (e *expiring) Notifications(_ context.Context, s tenant.Scope, refresh bool) ([]reports.Notification, error) {
	if s.Org() != "a" {
		return nil, errors.New("another organisation")
	}
	if refresh {
		e.refreshed++
	}
	return e.list, e.err
}

func TestNotifications(t *testing.T) {
	if got := ask(t, serve(t, &reports.Notifications{}), "/api/org/notifications"); got != "200 []" {
		t.Error(got)
	}
	one := &expiring{list: []reports.Notification{
		{ID: "1", Created: now, OrgID: "a", Hash: "h1", Kind: reports.Warning, Topic: "certificate.expiry", Title: "t", Message: "m", Data: map[string]int{"days_remaining": 3}},
		{ID: "2", Created: now, OrgID: "b", Hash: "h2"}, {ID: "3", Created: now.Add(time.Hour), OrgID: "a", Hash: "h3", Kind: reports.Critical, Topic: "certificate.expiry"},
	}}
	two := &expiring{list: []reports.Notification{{ID: "4", OrgID: "a", Hash: "h1"}}}
	h := serve(t, &reports.Notifications{Sources: []reports.Source{one, two}})
	want := `200 [{"id":"3","created_at":"2026-03-05T13:00:00Z","org_id":"a","hash":"h3","kind":"critical","topic":"certificate.expiry","title":"","message":"","data":null},` +
		`{"id":"1","created_at":"2026-03-05T12:00:00Z","org_id":"a","hash":"h1","kind":"warning","topic":"certificate.expiry","title":"t","message":"m","data":{"days_remaining":3}}]`
	for path, refreshed := range map[string]bool{"/api/org/notifications": false, "/api/org/notifications?refresh=true": true, "/api/org/notifications?refresh=x": false} {
		one.refreshed = 0
		if got := ask(t, h, path); got != want || one.refreshed > 0 != refreshed {
			t.Errorf("%s: refreshed %d\n%s, want\n%s", path, one.refreshed, got, want)
		}
	}
	two.err = errors.New("away")
	if got := ask(t, h, "/api/org/notifications"); !strings.HasPrefix(got, "500 ") {
		t.Error(got)
	}
}
