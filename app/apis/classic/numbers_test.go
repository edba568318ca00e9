package classic_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
)

// TestNumbers: clients with only one type of numbers write whole ones with a fraction.
// Gateways and other clients get whole numbers; members that they do not decode stay as
// they were sent.
func TestNumbers(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	w.Done("admin", "POST", "/apis", strings.Replace(apistest.Classic("n", "N", "/n/"), `"active":true`,
		`"active":true,"global_rate_limit":{"rate":5.0,"per":6e1},"cache_options":{"cache_timeout":60.0},"config_data":{"x":1.0}`, 1))
	_, stored := w.Stored("n")
	for place, got := range map[string]string{"answered": w.Ask("admin", "GET", "/apis/n", "").Body.String(), "stored": stored} {
		for _, want := range []string{`"rate":5,`, `"per":60}`, `"cache_timeout":60`, `"config_data":{"x":1.0}`} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %s in %s", place, want, got)
			}
		}
	}
}
