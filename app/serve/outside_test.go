package serve

import (
	"log/slog"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/fetch/fetchtest"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
)

// TestCallersStayOutside: no client for URLs that users choose reaches internal
// addresses, whatever host names resolve to and wherever responses redirect to.
func TestCallersStayOutside(t *testing.T) {
	s, report := config.Load(nil, "", []string{"SVC_DB_STORAGE_MAIN_TYPE=memory"}, config.Options{})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	s.Deliveries.Networks = []string{"127.0.0.1"}
	s.Portal.PrivateDashboards = false
	for name, c := range map[string]struct {
		fetch.Fetcher
		open bool
	}{
		"imports":                {importsOf(s), false},
		"events":                 {deliveriesOf(s.Deliveries).Fetcher, true},
		"webhooks of the portal": {webhooksOf(s).Deliveries.Fetcher, true},
		"dashboards":             {portalOf(s, nil, nil, Purpose{}).Fetcher, false},
		"identity providers":     {loginsOf(s), false},
	} {
		t.Run(name, func(t *testing.T) { fetchtest.Outside(t, c, c.open) })
	}
}

// TestDeliveryGauges: metrics have the deliveries that have not reached their
// receivers.
func TestDeliveryGauges(t *testing.T) {
	a, err := app.New(app.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range deliveryGauges(a) {
		if g.Value() != 0 {
			t.Errorf("%s is %v", g.Name, g.Value())
		}
	}
}
