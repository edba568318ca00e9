package plan_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/plan"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
)

func TestCheck(t *testing.T) {
	sound := plan.Plan{Name: "Gold", ProviderID: 1, RateLimit: 100, Per: 1, Quota: -1, QuotaRenewalRate: -1, PlanQuotaRenewalRate: -1, MetaData: json.RawMessage(`{"a":[1]}`)}
	for name, c := range map[string]struct {
		change func(*plan.Plan)
		want   string
	}{
		"sound":                  {func(*plan.Plan) {}, ""},
		"nothing":                {func(p *plan.Plan) { *p = plan.Plan{} }, "Name can't be blank; ProviderID can't be blank"},
		"rate":                   {func(p *plan.Plan) { p.RateLimit = -2 }, "RateLimit is invalid"},
		"unlimited rate":         {func(p *plan.Plan) { p.RateLimit, p.Per = -1, -1 }, ""},
		"per":                    {func(p *plan.Plan) { p.Per = -0.5 }, "Per is invalid"},
		"quota":                  {func(p *plan.Plan) { p.Quota, p.QuotaRenewalRate = -2, -2 }, "Quota is invalid; QuotaRenewalRate is invalid"},
		"key expiry":             {func(p *plan.Plan) { p.KeyExpiresIn = -1 }, "KeyExpiresIn is invalid"},
		"metadata, a list":       {func(p *plan.Plan) { p.MetaData = json.RawMessage(`[]`) }, "MetaData is invalid"},
		"metadata, broken":       {func(p *plan.Plan) { p.MetaData = json.RawMessage(`{"a"`) }, "MetaData is invalid"},
		"metadata, too large":    {func(p *plan.Plan) { p.MetaData = json.RawMessage(`{"a":"` + strings.Repeat("x", 70000) + `"}`) }, "MetaData is invalid"},
		"requests":               {func(p *plan.Plan) { p.PlanQuota, p.PlanQuotaRenewalRate = -1, -2 }, "PlanQuota is invalid; PlanQuotaRenewalRate is invalid"},
		"zero is sent unchanged": {func(p *plan.Plan) { p.Quota, p.RateLimit, p.Per = 0, 0, 0 }, ""},
	} {
		p := sound
		c.change(&p)
		if got := strings.Join(p.Check(), "; "); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if next := sound; len(sound.Moved(next)) > 0 {
		t.Error("a plan that stays has moved")
	}
	next := sound
	if next.ProviderID = 2; len(sound.Moved(next)) != 1 {
		t.Error("a plan has changed its provider")
	}
}

func TestSettled(t *testing.T) {
	for name, c := range map[string]struct{ in, want plan.Plan }{
		"numbers":            {plan.Plan{RateLimit: 5, Per: 1, Quota: 9}, plan.Plan{RateLimit: 5, Per: 1, Quota: 9}},
		"switches win":       {plan.Plan{RateLimit: 5, Per: 1, Quota: 9, UnlimitedRateLimit: true, UnlimitedQuota: true}, plan.Plan{RateLimit: -1, Per: -1, Quota: -1, UnlimitedRateLimit: true, UnlimitedQuota: true}},
		"-1 throws a switch": {plan.Plan{RateLimit: -1, Per: 3, Quota: -1}, plan.Plan{RateLimit: -1, Per: -1, Quota: -1, UnlimitedRateLimit: true, UnlimitedQuota: true}},
	} {
		if got := c.in.Settled(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestRecord: what synchronisation takes over is what it gave, and nothing else changes.
func TestRecord(t *testing.T) {
	p := plan.Plan{CID: "c", Name: "Gold", DisplayName: "Shown", JWTScope: "s", Catalogues: []int{1}, RateLimit: 5, Per: 1, Quota: -1, UnlimitedQuota: true, KeyExpiresIn: 60, MetaData: json.RawMessage(`{"a":1}`), PlanQuota: 3}
	if got := p.Take(p.Record()); !reflect.DeepEqual(got, p) {
		t.Errorf("%+v; want %+v", got, p)
	}
	r := p.Record()
	r.Terms.KeyExpiresIn, r.Terms.Rate, r.Terms.Per, r.Hidden = 0, -1, 60, true
	r.Agreed = &sync.Terms{Rate: -1, Per: 60}
	got := p.Take(r)
	if !got.UnlimitedRateLimit || got.KeyExpiresIn != 0 || !got.Hidden || got.PlanQuota != 3 || got.Title() != "Shown" {
		t.Errorf("%+v", got)
	}
	if again := got.Record(); again.Terms.Per != 60 { // the dashboard's own spelling of unlimited
		t.Errorf("%+v", again.Terms)
	}
	p.Deleted = time.Unix(1, 0)
	if !p.Record().Deleted || (plan.Plan{Name: "n"}).Title() != "n" {
		t.Error("deleted, title")
	}
}
