package request_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/plan"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
)

// TestStates: the result of every event in every state.
func TestStates(t *testing.T) {
	gone := "record not found"
	want := map[request.Status]map[request.Event]string{
		request.Pending:  {request.Approve: "approved", request.Reject: "rejected", request.Delete: "deleted"},
		request.Approved: {request.Approve: "access request is already approved", request.Reject: "an approved access request can't be rejected: delete it", request.Delete: "deleted"},
		request.Rejected: {request.Approve: "approved", request.Reject: "access request is already rejected", request.Delete: "deleted"},
		request.Deleted:  {request.Approve: gone, request.Reject: gone, request.Delete: gone},
	}
	for _, s := range request.Statuses {
		for _, e := range request.Events {
			to, err := s.On(e)
			have := string(to)
			if err != nil {
				have = err.Error()
				if fault.KindOf(err) != fault.Invalid || to != s {
					t.Errorf("%s, %s: %v", s, e, err)
				}
			}
			if have != want[s][e] {
				t.Errorf("%s, %s: %s", s, e, have)
			}
		}
	}
	if _, err := request.Status("x").On(request.Approve); err == nil {
		t.Error("an unknown state has a future")
	}
}

// TestAllowance: how many requests a plan allows in a period.
func TestAllowance(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		what           string
		quota, renewal int64
		after          []time.Duration
		want           string
	}{
		{"no limit", 0, 60, []time.Duration{0, 1, 2}, "yyy"},
		{"two a minute", 2, 60, []time.Duration{0, time.Second, 59 * time.Second, 60 * time.Second, 61 * time.Second, 62 * time.Second}, "yynyyn"},
		{"the period begins with the next request", 1, 60, []time.Duration{0, 90 * time.Second, 149 * time.Second, 150 * time.Second}, "yyny"},
		{"never renewed", 1, -1, []time.Duration{0, 1 << 60}, "yn"},
		{"no renewal", 1, 0, []time.Duration{0, 1 << 60}, "yn"},
		{"a clock that goes back a little", 1, 60, []time.Duration{0, -59 * time.Second}, "yn"},
		{"a clock that goes back by years", 1, 60, []time.Duration{0, -20000 * time.Hour, -20000 * time.Hour}, "yyn"},
	} {
		var a request.Allowance
		have := ""
		for _, d := range c.after {
			next, ok := a.Take(at.Add(d), c.quota, c.renewal)
			if have += map[bool]string{true: "y", false: "n"}[ok]; ok {
				a = next
			}
		}
		if have != c.want {
			t.Errorf("%s: %s", c.what, have)
		}
	}
}

// TestChecked: valid orders, and the problems of others.
func TestChecked(t *testing.T) {
	p := plan.Plan{ProviderID: 1, Name: "Gold"}
	one := product.Product{ProviderID: 1, Name: "Orders", APIs: product.Details{{APIID: "a"}}, AuthTypes: []string{"authToken"}}
	with := func(fn func(*product.Product)) product.Product {
		v := one
		v.Name = "Other"
		fn(&v)
		return v
	}
	method := func(names ...string) product.Product { return with(func(v *product.Product) { v.AuthTypes = names }) }
	dcr := with(func(v *product.Product) {
		v.AuthTypes, v.DCREnabled, v.Templates = []string{"jwt"}, true, []table.ID{4}
	})
	for _, c := range []struct {
		what string
		o    request.Order
		list []product.Product
		want string
	}{
		{"one", request.Order{}, []product.Product{one}, ""},
		{"documents", request.Order{}, []product.Product{with(func(v *product.Product) { v.APIs, v.IsDocumentationOnly = nil, true })}, "product Other is documentation only: access to it can't be requested"},
		{"another provider", request.Order{}, []product.Product{one, with(func(v *product.Product) { v.ProviderID = 2 })}, "product Other and plan Gold belong to different providers"},
		{"another method", request.Order{}, []product.Product{one, method("jwt")}, "products Orders and Other have different authentication methods"},
		{"basic authentication", request.Order{}, []product.Product{method("basic")}, "product Other authenticates by ba: access to it can't be requested"},
		{"custom authentication", request.Order{}, []product.Product{method("custom")}, "product Other authenticates by custom: access to it can't be requested"},
		{"registration", request.Order{ClientTypeID: 4}, []product.Product{dcr}, ""},
		{"no client type", request.Order{}, []product.Product{dcr}, "DCRTemplateID can't be blank"},
		{"another client type", request.Order{ClientTypeID: 5}, []product.Product{dcr}, "DCRTemplateID is not a client type of product Other"},
	} {
		if have := strings.Join(c.o.Checked(p, c.list), "; "); have != c.want {
			t.Errorf("%s: %s", c.what, have)
		}
	}
	r := request.Order{ProductIDs: []table.ID{1}}.Of(2, 7, plan.Plan{Base: table.Base{ID: 3}, ProviderID: 1, AutoApprove: true}, []product.Product{one})
	if r.Status != request.Pending || !r.ProvisionImmediately || r.AuthType != request.AuthToken || r.PlanID != 3 || r.UserID != 7 {
		t.Errorf("%+v", r)
	}
}

// TestRegister: when a client type counts, and the order without one.
func TestRegister(t *testing.T) {
	for want, list := range map[bool][]product.Product{false: {{}, {}}, true: {{}, {DCREnabled: true}}} {
		if request.Register(list) != want {
			t.Errorf("%+v", list)
		}
	}
	resolve := func(kind, _ string) (table.ID, bool, error) { return 1, kind != product.TemplateKind, nil }
	var sent table.Body[request.Order]
	if err := json.Unmarshal([]byte(`{"PlanID":1,"ProductIDs":[2],"DCRTemplateID":1}`), &sent); err != nil {
		t.Fatal(err)
	}
	var o request.Order
	untyped := request.Untyped(sent)
	if err := untyped.Apply(&o, true, resolve); err != nil || o.PlanID != 1 || o.ClientTypeID != 0 {
		t.Errorf("%+v, %v", o, err)
	}
	if err := sent.Apply(&o, true, resolve); err == nil || err.Error() != "DCRTemplateID is invalid" {
		t.Error(err)
	}
}

// TestBodies: valid orders and subscriptions.
func TestBodies(t *testing.T) {
	tabletest.Sound[request.Request](t, `{}`)
	tabletest.Sound[request.Order](t, `{"PlanID":1,"ProductIDs":[1]}`)
	tabletest.Sound[request.Subscribed](t, `{"WebhookURL":"https://a.example/in","WebhookEventTypes":"a"}`)
	tabletest.Bodies(t, request.Order{}, true, map[string]string{
		`{"PlanID":1,"ProductIDs":[2],"DCRTemplateID":1}`: "",
		`{"PlanID":"1","ProductIDs":"2"}`:                 "",
		`{}`:                                              "PlanID can't be blank; ProductIDs can't be blank",
		`{"PlanID":1,"ProductIDs":[]}`:                    "ProductIDs can't be blank",
	})
	tabletest.Bodies(t, request.Subscribed{}, false, map[string]string{
		`{"WebhookURL":"https://a.example/in","WebhookSecret":"s","WebhookEventTypes":"a,b"}`: "",
		`{"WebhookURL":"","WebhookEventTypes":[]}`:                                            "",
		`{"WebhookURL":"https://a.example/in"}`:                                               "WebhookEventTypes can't be blank",
		`{"WebhookURL":"http://10.0.0.8:9000/in","WebhookEventTypes":"a"}`:                    "",
		`{"WebhookURL":"http://169.254.169.254/in","WebhookEventTypes":"a"}`:                  "WebhookURL is invalid",
		`{"WebhookURL":"http://[fe80::1]:80/in","WebhookEventTypes":"a"}`:                     "WebhookURL is invalid",
		`{"WebhookURL":"http://[::ffff:169.254.169.254]/","WebhookEventTypes":"a"}`:           "WebhookURL is invalid",
		`{"WebhookURL":"http://:80/","WebhookEventTypes":"a"}`:                                "WebhookURL is invalid",
		`{"WebhookURL":"ftp://a.example","WebhookEventTypes":"a"}`:                            "WebhookURL is invalid",
		`{"WebhookURL":"https://a.example","WebhookEventTypes":["a b"]}`:                      "WebhookEventTypes is invalid",
		`{"WebhookURL":"https://a.example","WebhookEventTypes":["a,b"]}`:                      "WebhookEventTypes is invalid",
	})
	s := request.Subscribed{Types: []string{"a", "b"}}
	if wrong := s.Offered([]product.Product{{WebhookEventTypes: []string{"a"}}}, nil); len(wrong) != 1 || !strings.HasSuffix(wrong[0], " b") {
		t.Error(wrong)
	}
	if wrong := s.Offered([]product.Product{{WebhookEventTypes: []string{"a"}}, {}}, [][]string{{"c"}}); len(wrong) != 0 {
		t.Error(wrong)
	}
	// Types of other products are taken, and so are types that contain them.
	s.Types = []string{"a", "xby"}
	if wrong := s.Offered([]product.Product{{}}, [][]string{{"c"}, {"b"}}); len(wrong) != 1 || !strings.HasSuffix(wrong[0], " xby") {
		t.Error(wrong)
	}
	if wrong := s.Offered([]product.Product{{WebhookEventTypes: []string{"a", "xby"}}}, [][]string{{"b"}}); len(wrong) != 0 {
		t.Error(wrong)
	}
	stored := request.Subscription{WebhookURL: "https://a.example", WebhookEventTypes: []string{"a", "b"}}
	deleted := product.Product{Base: table.Base{DeletedAt: time.Now()}}
	for _, c := range []struct {
		list []product.Product
		want []string
	}{{nil, nil}, {[]product.Product{{}}, []string{"a", "b"}}, {[]product.Product{deleted, {WebhookEventTypes: []string{"b", "c"}}}, []string{"b"}}, {[]product.Product{deleted}, nil}} {
		if got := stored.Open(c.list); !slices.Equal(got.WebhookEventTypes, c.want) || (got.WebhookURL == "") != (len(c.want) == 0) {
			t.Errorf("%+v: %+v", c.list, got)
		}
	}
}

// TestManyProducts: the limit of products in one order, and whose an allowance is.
func TestManyProducts(t *testing.T) {
	many := func(n int) []table.ID { return make([]table.ID, n) }
	for n, want := range map[int]int{request.MaxProducts: 0, request.MaxProducts + 1: 1} {
		var wrong table.Problems
		if (request.Order{}).Table().Check(request.Order{ProductIDs: many(n)}, &wrong); len(wrong) != want {
			t.Errorf("%d products: %q", n, wrong)
		}
	}
	if a := (request.Allowance{Plan: 2, User: 3}); a.Key() == (request.Allowance{Plan: 3, User: 2}).Key() {
		t.Error("two users share an allowance:", a.Key())
	}
}

// TestCertificates: products that need a token and a certificate, and where the certificate
// comes from.
func TestCertificates(t *testing.T) {
	p := plan.Plan{ProviderID: 1, Name: "Gold"}
	own := product.Product{Base: table.Base{ID: 5}, ProviderID: 1, Name: "Own", APIs: product.Details{{APIID: "a"}}, AuthTypes: []string{"authToken", "mutualTLS"}}
	managed := own
	managed.Name, managed.AuthTypeMode = "Managed", product.Managed
	for _, c := range []struct {
		what string
		o    request.Order
		list []product.Product
		want string
	}{
		{"none", request.Order{}, []product.Product{own}, "Certificate can't be blank"},
		{"one", request.Order{Certificate: "pem"}, []product.Product{own}, ""},
		{"that of the credential", request.Order{CredentialID: 1}, []product.Product{own}, ""},
		{"another than the credential's", request.Order{CredentialID: 1, Certificate: "pem"}, []product.Product{own}, "Certificate is that of the credential: renew it there"},
		{"one of administrators", request.Order{}, []product.Product{managed}, ""},
		{"one from each", request.Order{Certificate: "pem"}, []product.Product{own, managed}, "certificates of products Own and Managed come from different people"},
	} {
		if have := strings.Join(c.o.Checked(p, c.list), "; "); have != c.want {
			t.Errorf("%s: %s", c.what, have)
		}
	}
	o := request.Order{Certificate: "pem", CertificateName: "mine"}
	if r := o.Of(1, 2, p, []product.Product{own}); r.Certificate != "pem" || r.CertificateName != "mine" || r.ProductNames[5] != "Own" {
		t.Errorf("%+v", r)
	}
	if r := o.Of(1, 2, p, []product.Product{managed}); r.Certificate != "" || r.CertificateName != "" {
		t.Errorf("an administrator's certificate is used, and the request has %q", r.Certificate)
	}
}

// TestRenewed: a request takes over what its products need now, or cannot be approved.
func TestRenewed(t *testing.T) {
	p := plan.Plan{Base: table.Base{ID: 3}, ProviderID: 1, Name: "Gold"}
	now := product.Product{ProviderID: 1, Name: "Orders", APIs: product.Details{{APIID: "a"}}, AuthTypes: []string{"jwt"}}
	was := request.Request{AppID: 1, UserID: 2, PlanID: 3, AuthType: request.AuthToken, Status: request.Pending, Certificate: "pem", CertificateName: "mine"}
	r, wrong := was.Renewed(p, []product.Product{now})
	if len(wrong) > 0 || r.AuthType != request.JWT || r.Certificate != "" || r.CertificateName != "" || r.Status != request.Pending || r.UserID != 2 {
		t.Errorf("%+v, %q", r, wrong)
	}
	if again, wrong := r.Renewed(p, []product.Product{now}); len(wrong) > 0 || again.AuthType != request.JWT {
		t.Errorf("%+v, %q", again, wrong)
	}
	now.IsDocumentationOnly = true
	if r, wrong = was.Renewed(p, []product.Product{now}); len(wrong) == 0 || r.AuthType != request.AuthToken {
		t.Errorf("%+v, %q", r, wrong)
	}
}

// TestRepeats: of two requests for a credential with the same plan and a common product, one
// can be approved.
func TestRepeats(t *testing.T) {
	r := request.Request{CredentialID: 1, PlanID: 2, ProductIDs: []table.ID{3, 4}}
	for name, c := range map[string]struct {
		other request.Request
		want  bool
	}{
		"a common product":   {request.Request{CredentialID: 1, PlanID: 2, ProductIDs: []table.ID{5, 4}}, true},
		"other products":     {request.Request{CredentialID: 1, PlanID: 2, ProductIDs: []table.ID{5}}, false},
		"another plan":       {request.Request{CredentialID: 1, PlanID: 3, ProductIDs: []table.ID{3}}, false},
		"another credential": {request.Request{CredentialID: 2, PlanID: 2, ProductIDs: []table.ID{3}}, false},
	} {
		if r.Repeats(c.other) != c.want || c.other.Repeats(r) != c.want {
			t.Error(name)
		}
	}
}

// TestProducts: a product keeps its name in a request after it was deleted.
func TestProducts(t *testing.T) {
	r := request.Request{ProductIDs: []table.ID{1, 2, 3}, ProductNames: map[table.ID]string{1: "Old", 2: "Gone"}}
	if got := r.Products([]product.Product{{Base: table.Base{ID: 1}, Name: "New"}}); !slices.Equal(got, []string{"New", "Gone"}) {
		t.Error(got)
	}
}
