package plan_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/plan"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// apply applies a client's body to a plan. Records 1 to 9 exist.
func apply(t testing.TB, p plan.Plan, making bool, body string) (plan.Plan, string) {
	t.Helper()
	var b table.Body[plan.Plan]
	if err := json.Unmarshal([]byte(body), &b); err != nil {
		t.Fatal(err)
	}
	err := b.Apply(&p, making, func(_, name string) (table.ID, bool, error) {
		if name == "2r7p8aUnkzby17hCJk8w2XvK3K6" {
			return 5, true, nil
		}
		id, ok := table.ParseID(name)
		return id, ok && id < 10, nil
	})
	if err != nil {
		return p, err.Error()
	}
	return p, ""
}

func TestFields(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"sound":                  {`{"Name":"Gold","ProviderID":1,"RateLimit":100,"Per":1,"Quota":-1,"QuotaRenewalRate":-1,"PlanQuotaRenewalRate":-1,"MetaData":{"a":[1]}}`, ""},
		"nothing":                {`{}`, "Name can't be blank; ProviderID can't be blank"},
		"an unknown provider":    {`{"Name":"Gold","ProviderID":10}`, "ProviderID is invalid"},
		"an unknown catalogue":   {`{"Name":"Gold","ProviderID":1,"Catalogues":[1,10]}`, "Catalogues is invalid"},
		"a long name":            {`{"Name":"` + strings.Repeat("x", 256) + `","ProviderID":1}`, "Name is too long (the maximum is 255 characters)"},
		"rate":                   {`{"Name":"Gold","ProviderID":1,"RateLimit":-2}`, "RateLimit is invalid"},
		"a fraction":             {`{"Name":"Gold","ProviderID":1,"RateLimit":1.5,"Quota":"0.5"}`, "RateLimit is invalid; Quota is invalid"},
		"unlimited rate":         {`{"Name":"Gold","ProviderID":1,"RateLimit":-1,"Per":-1}`, ""},
		"per":                    {`{"Name":"Gold","ProviderID":1,"Per":-0.5}`, "Per is invalid"},
		"quota":                  {`{"Name":"Gold","ProviderID":1,"Quota":-2,"QuotaRenewalRate":-2}`, "Quota is invalid; QuotaRenewalRate is invalid"},
		"key expiry":             {`{"Name":"Gold","ProviderID":1,"KeyExpiresIn":-1}`, "KeyExpiresIn is invalid"},
		"metadata, a list":       {`{"Name":"Gold","ProviderID":1,"MetaData":[]}`, "MetaData is invalid"},
		"metadata, broken":       {`{"Name":"Gold","ProviderID":1,"MetaData":"{\"a\""}`, "MetaData is invalid"},
		"metadata, too large":    {`{"Name":"Gold","ProviderID":1,"MetaData":{"a":"` + strings.Repeat("x", 70000) + `"}}`, "MetaData is too long (the maximum is 65536 characters)"},
		"metadata, too deep":     {`{"Name":"Gold","ProviderID":1,"MetaData":{"a":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}}`, "MetaData is invalid"},
		"requests":               {`{"Name":"Gold","ProviderID":1,"PlanQuota":-1,"PlanQuotaRenewalRate":-2}`, "PlanQuota is invalid; PlanQuotaRenewalRate is invalid"},
		"zero is sent unchanged": {`{"Name":"Gold","ProviderID":1,"Quota":0,"RateLimit":0,"Per":0}`, ""},
		"scopes without end":     {`{"Name":"Gold","ProviderID":1,"JWTScope":"` + strings.Repeat("s,", 101) + `"}`, "JWTScope is invalid"},
		"switches":               {`{"Name":"Gold","ProviderID":1,"UnlimitedQuota":"perhaps","AutoApproveAccessRequests":[]}`, "AutoApproveAccessRequests is invalid; UnlimitedQuota is invalid"},
	} {
		if _, got := apply(t, plan.Plan{}, true, c.body); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestLenient: every form in which clients may send a field gives the same plan.
func TestLenient(t *testing.T) {
	plain := `{"Name":"7","ProviderID":1,"AutoApproveAccessRequests":true,"Catalogues":[2,5],"RateLimit":100,"Per":1,"Quota":1000,"QuotaRenewalRate":60,"UnlimitedRateLimit":false,"KeyExpiresIn":3600,"MetaData":{"a":"b"},"JWTScope":"true"}`
	want, wrong := apply(t, plan.Plan{}, true, plain)
	if wrong != "" {
		t.Fatal(wrong)
	}
	for name, change := range map[string]string{
		"a number as a name":       `{"Name":7,"JWTScope":true}`,
		"a provider as an object":  `{"ProviderID":{"ID":1}}`,
		"a provider as text":       `{"ProviderID":"1"}`,
		"by the relation's name":   `{"ProviderID":"a name","Provider":{"ID":"1"}}`,
		"catalogues as texts":      `{"Catalogues":["2","5"]}`,
		"catalogues by CID, twice": `{"Catalogues":[2,"2r7p8aUnkzby17hCJk8w2XvK3K6",5]}`,
		"numbers as texts":         `{"RateLimit":"100","Per":"1.0","Quota":1e3,"QuotaRenewalRate":60.0,"KeyExpiresIn":"3600"}`,
		"truth values as texts":    `{"AutoApproveAccessRequests":"true","UnlimitedRateLimit":"false"}`,
		"an object as text":        `{"MetaData":" {\"a\": \"b\"} "}`,
		"unknown members":          `{"Unknown":1,"name":"other","ID":99,"ReferenceID":"x","CreatedAt":"2026-01-02 15:04"}`,
	} {
		var merged map[string]json.RawMessage
		if err := json.Unmarshal([]byte(plain), &merged); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(change), &merged); err != nil {
			t.Fatal(err)
		}
		body, _ := json.Marshal(merged)
		if got, wrong := apply(t, plan.Plan{}, true, string(body)); wrong != "" || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s %+v", name, wrong, got)
		}
	}
	for name, c := range map[string]struct {
		body string
		want func(*plan.Plan)
	}{
		"nothing":           {`{}`, func(*plan.Plan) {}},
		"names and objects": {`{"Catalogues":["Public Catalogue"]}`, func(*plan.Plan) {}},
		"objects":           {`{"Catalogues":[{"ID":1}]}`, func(*plan.Plan) {}},
		"null empties": {`{"Catalogues":null,"MetaData":null,"Quota":null,"JWTScope":null,"AutoApproveAccessRequests":null}`, func(p *plan.Plan) {
			p.Catalogues, p.MetaData, p.Quota, p.JWTScope, p.AutoApprove = nil, "", 0, "", false
		}},
		"an empty list, and text":  {`{"Catalogues":[],"KeyExpiresIn":""}`, func(p *plan.Plan) { p.Catalogues, p.KeyExpiresIn = []table.ID{}, 0 }},
		"one number is a list too": {`{"Catalogues":"3"}`, func(p *plan.Plan) { p.Catalogues = []table.ID{3} }},
	} {
		expected := want
		c.want(&expected)
		if got, wrong := apply(t, want, false, c.body); wrong != "" || !reflect.DeepEqual(got, expected) {
			t.Errorf("%s: %s %+v", name, wrong, got)
		}
	}
}

func TestMoved(t *testing.T) {
	p := plan.Plan{ProviderID: 1}
	if len(p.Moved(p)) > 0 {
		t.Error("a plan that stays has moved")
	}
	if len(p.Moved(plan.Plan{ProviderID: 2})) != 1 {
		t.Error("a plan has changed its provider")
	}
}

func TestScopes(t *testing.T) {
	if got := (plan.Plan{JWTScope: " read, write\tadmin,,"}).Scopes(); !slices.Equal(got, []string{"read", "write", "admin"}) {
		t.Errorf("%q", got)
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

// TestRecord: Take of a Record gives the same plan, and changes nothing else.
func TestRecord(t *testing.T) {
	p := plan.Plan{Base: table.Base{CID: "c"}, Name: "Gold", DisplayName: "Shown", JWTScope: "s", Catalogues: []table.ID{1}, RateLimit: 5, Per: 1, Quota: -1, UnlimitedQuota: true, KeyExpiresIn: 60, MetaData: `{"a":1}`, PlanQuota: 3}
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
	if again := got.Record(); again.Terms.Per != 60 { // the dashboard's own form of unlimited
		t.Errorf("%+v", again.Terms)
	}
	p.DeletedAt = time.Unix(1, 0)
	if !p.Record().Deleted || (plan.Plan{Name: "n"}).Title() != "n" {
		t.Error("deleted, title")
	}
}

// FuzzApply: an accepted plan from any body has valid limits and metadata that is an object,
// and Take of its Record gives the same plan.
func FuzzApply(f *testing.F) {
	for _, body := range []string{`{"Name":"Gold","ProviderID":1,"MetaData":{"a":[1]},"RateLimit":"-1","Quota":1e3}`, `{"MetaData":"{}","JWTScope":["a"],"Catalogues":"1"}`, `{"UnlimitedQuota":1,"Per":0.5}`, `null`, `[`} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var b table.Body[plan.Plan]
		if json.Unmarshal([]byte(body), &b) != nil {
			return
		}
		p := plan.Plan{Name: "Gold", ProviderID: 1}
		if b.Apply(&p, false, func(_, name string) (table.ID, bool, error) {
			id, ok := table.ParseID(name)
			return id, ok, nil
		}) != nil {
			return
		}
		p = p.Take(p.Record())
		if again := p.Take(p.Record()); !reflect.DeepEqual(again, p) {
			t.Errorf("%+v; again %+v", p, again)
		}
		var meta map[string]any
		if p.MetaData != "" && json.Unmarshal([]byte(p.MetaData), &meta) != nil || p.UnlimitedQuota != (p.Quota == -1) || p.UnlimitedRateLimit != (p.RateLimit == -1) || len(p.Scopes()) > 100 {
			t.Errorf("%+v", p)
		}
	})
}
