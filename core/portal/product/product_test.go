package product_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
)

var apis = sync.NewIndex([]sync.API{
	{ID: "a", AuthTypes: []string{"authToken"}}, {ID: "b", AuthTypes: []string{"authToken"}}, {ID: "j", AuthTypes: []string{"jwt"}},
	{ID: "k", AuthTypes: []string{"keyless"}}, {ID: "p", AuthTypes: []string{"authToken"}, Proxy: true},
})

func with(ids ...string) product.Product {
	return product.Product{Name: "Gold", ProviderID: 1}.WithAPIs(ids)
}

// resolve resolves relations: record 1 exists, 2 does not.
func resolve(_, name string) (table.ID, bool, error) { return 1, name == "1", nil }

// apply applies a body to a product, and returns the texts of failed validations.
func apply(t *testing.T, p *product.Product, body string, making bool) string {
	t.Helper()
	var b table.Body[product.Product]
	if err := json.Unmarshal([]byte(body), &b); err != nil {
		t.Fatal(err)
	}
	err := b.Apply(p, making, resolve)
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestBody(t *testing.T) {
	for body, want := range map[string]string{
		`{"Name":"Gold","ProviderID":1,"APIDetails":[{"APIID":"a"}]}`:           "",
		`{"Name":"Gold","Provider":{"ID":"1"},"IsDocumentationOnly":"false"}`:   "",
		`{"Name":"Docs","IsDocumentationOnly":true}`:                            "",
		`{"Name":"Docs","IsDocumentationOnly":1,"APIDetails":null,"Tags":null}`: "",
		`{"Name":"Docs"}`: "",
		`{"Name":"Docs","IsDocumentationOnly":false}`: "",
		`{}`:                          "Name can't be blank",
		`{"Name":" ","ProviderID":1}`: "Name can't be blank",
		`{"Name":"x","IsDocumentationOnly":true,"APIDetails":[{"APIID":"a"}]}`:                         "ProviderID can't be blank",
		`{"Name":"x","APIDetails":[{"APIID":"a"}]}`:                                                    "ProviderID can't be blank",
		`{"Name":"x","ProviderID":2}`:                                                                  "ProviderID is invalid",
		`{"Name":"x","ProviderID":1,"Scopes":"` + strings.Repeat("a,", 201) + `"}`:                     "Scopes is invalid",
		`{"Name":"x","ProviderID":1,"AuthTypeMode":"x"}`:                                               "AuthTypeMode is invalid",
		`{"Name":"x","ProviderID":1,"AuthTypeMode":"mtls_managed"}`:                                    "",
		`{"Name":"x","ProviderID":1,"Path":"a/b"}`:                                                     "Path is invalid",
		`{"Name":"x","ProviderID":1,"Path":".."}`:                                                      "Path is invalid",
		`{"Name":"x","ProviderID":1,"APIDetails":{}}`:                                                  "APIDetails is invalid",
		`{"Name":"x","ProviderID":1,"APIDetails":[7]}`:                                                 "APIDetails is invalid",
		`{"Name":"x","ProviderID":1,"APIDetails":[{"APIID":"a"},{"Name":"b"}]}`:                        "APIDetails is invalid",
		`{"Name":"x","ProviderID":1,"APIDetails":[{"APIID":{}}]}`:                                      "APIDetails is invalid",
		`{"Name":"x","ProviderID":1,"APIDetails":[{"APIID":"a","OASUrl":["x"]}]}`:                      "APIDetails is invalid",
		`{"Name":"x","ProviderID":1,"APIDetails":[{"APIID":"a","OASUrl":"javascript:alert(1)"}]}`:      "APIDetails is invalid",
		`{"Name":"x","ProviderID":1,"APIDetails":[{"APIID":"a","OASUrl":"file:///etc/passwd"}]}`:       "APIDetails is invalid",
		`{"Name":"x","ProviderID":1,"APIDetails":[{"APIID":"a","OASUrl":"https://a.example/o.yaml"}]}`: "",
		`{"Name":"x","ProviderID":1,"APIDetails":[` + strings.Repeat(`{"APIID":"a"},`, 1000) + `{}]}`:  "APIDetails is invalid",
		`{"Name":"x","ProviderID":1,"Catalogues":[2]}`:                                                 "Catalogues is invalid",
		`{"Name":"x","ProviderID":1,"Templates":[2]}`:                                                  "Templates is invalid",
		`{"Name":"x","ProviderID":1,"Tags":"2"}`:                                                       "Tags is invalid",
		`{"Name":"x","ProviderID":1,"Tags":"1","Catalogues":["Public Catalogue"],"Scopes":["a","b"]}`:  "",
		`{"Name":"x","ProviderID":1,"WebhookEventTypes":"a,b"}`:                                        "",
		`{"Name":"x","ProviderID":1,"WebhookEventTypes":["a,b"]}`:                                      "WebhookEventTypes is invalid",
		`{"Name":"x","ProviderID":1,"WebhookEventTypes":[" "]}`:                                        "WebhookEventTypes is invalid",
		`{"Name":"x","ProviderID":1,"WebhookEventTypes":["` + strings.Repeat("x", 256) + `"]}`:         "WebhookEventTypes is invalid",
		`{"Name":"x","ProviderID":1,"APIDetails":[{"Description":"d"}]}`:                               "",
		`{"Name":"x","SpecDetails":{}}`:                                                                "SpecDetails is invalid",
	} {
		if got := apply(t, &product.Product{}, body, true); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// TestDetails: a client sends all APIs, and data that it leaves out of one stays.
func TestDetails(t *testing.T) {
	facts := product.Facts{Name: "A", ListenPath: "/a/", Status: true}
	for body, want := range map[string]product.Details{
		`{}`:                               {{APIID: "a", Description: "said", Facts: facts}, {APIID: "b"}},
		`{"APIDetails":[{"Name":"A"},{}]}`: {{APIID: "a", Description: "said", Facts: facts}, {APIID: "b"}},
		`{"APIDetails":[]}`:                {},
		`{"APIDetails":null}`:              nil,
		`{"APIDetails":[{"APIID":"a"}]}`:   {{APIID: "a", Description: "said", Facts: facts}},
		`{"APIDetails":[{"APIID":"c","Description":7,"Name":"mine"},{"APIID":"a","Description":"","OASUrl":"https://x","Status":false}]}`: {{APIID: "a", OASUrl: "https://x", Facts: facts}, {APIID: "c", Description: "7"}},
		`{"APIDetails":[{"APIID":"b"},{"APIID":"b"}]}`: {{APIID: "b"}},
	} {
		p := product.Product{Name: "x", ProviderID: 1, APIs: product.Details{{APIID: "a", Description: "said", Facts: facts}, {APIID: "b"}}}
		if got := apply(t, &p, body, false); got != "" || !slices.Equal(p.APIs, want) {
			t.Errorf("%s: %q, %+v", body, got, p.APIs)
		}
	}
}

func TestMoved(t *testing.T) {
	free := product.Product{Name: "x"}
	bound := product.Product{Name: "x", ProviderID: 1, Agreed: &sync.Terms{}}
	if free.Moved(bound) != nil || bound.Moved(bound) != nil || len(bound.Moved(product.Product{ProviderID: 2})) != 1 {
		t.Error("a product moves")
	}
}

// TestKnown: the facts of APIs follow the dashboard; a missing API is not served.
func TestKnown(t *testing.T) {
	p := with("a", "x")
	index := sync.NewIndex([]sync.API{{ID: "a", Name: "A", ListenPath: "/a/", Target: "http://a", Active: true, AuthTypes: []string{"authToken"}}})
	p, news := p.Known(index)
	if want := (product.Facts{Name: "A", ListenPath: "/a/", TargetURL: "http://a", APIType: "authToken", Status: true}); !news || p.APIs[0].Facts != want {
		t.Errorf("%v, %+v", news, p.APIs)
	}
	if q, news := p.Known(index); news || !slices.Equal(q.APIs, p.APIs) {
		t.Errorf("%v, %+v", news, q.APIs)
	}
	if q, news := p.Known(sync.Index{}); !news || q.APIs[0].Status || q.APIs[0].Name != "A" || !p.APIs[0].Status {
		t.Errorf("%v, %+v", news, q.APIs)
	}
}

func TestClaims(t *testing.T) {
	p := product.Product{Scopes: "read, write,read"}
	if p.Claims() != nil {
		t.Error("scopes of a product whose clients do not register")
	}
	p.DCREnabled = true
	if got := p.Claims(); !slices.Equal(got, []string{"read", "write", "read"}) {
		t.Error(got)
	}
}

func TestSameMethod(t *testing.T) {
	for _, c := range []struct {
		name    string
		methods []string
		want    bool
	}{
		{"jwt", []string{"jwt"}, true}, {"ba", []string{"basic"}, true}, {"basic", []string{"ba"}, true}, {"jwt", []string{"authToken"}, false},
		{"multiAuth", []string{"authToken", "mutualTLS"}, true}, {"authToken", []string{"authToken", "mutualTLS"}, true}, {"jwt", nil, false},
	} {
		if got := product.SameMethod(c.name, c.methods); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// FuzzDetails: for any body, each API is in a product once, in order.
func FuzzDetails(f *testing.F) {
	f.Add(`[{"APIID":"b","Description":"x"},{"APIID":"a"},{"APIID":"b"},{}]`)
	f.Fuzz(func(t *testing.T, text string) {
		var sent any
		if json.Unmarshal([]byte(text), &sent) != nil {
			return
		}
		d := product.Details{{APIID: "a", Description: "said"}}
		if _, ok := d.Take(sent); !ok {
			return
		}
		for i := range d {
			if d[i].APIID == "" || i > 0 && d[i-1].APIID >= d[i].APIID {
				t.Errorf("%s: %+v", text, d)
			}
		}
	})
}

func TestCheckAPIs(t *testing.T) {
	for ids, want := range map[string]string{
		"":      "",
		"a b":   "",
		"a j":   "API j authenticates by jwt, others by authToken",
		"a x":   "API x not found at the dashboard",
		"x":     "API x not found at the dashboard",
		"k a":   "API k is keyless and can't be part of a product",
		"p":     "API p is an MCP proxy and can't be part of a product",
		"x j a": "API j authenticates by jwt, others by authToken; API x not found at the dashboard",
	} {
		if got := strings.Join(with(strings.Fields(ids)...).CheckAPIs(apis), "; "); got != want {
			t.Errorf("%s: %q", ids, got)
		}
	}
}

func TestWithAPIs(t *testing.T) {
	p := with("b", "a", "b")
	p.APIs[0].Description = "said"
	p = p.WithAPIs([]string{"j", "a"})
	if want := (product.Details{{APIID: "a", Description: "said"}, {APIID: "j"}}); !slices.Equal(p.APIs, want) || p.IsDocumentationOnly {
		t.Errorf("%+v", p)
	}
	if p = p.WithAPIs(nil); len(p.APIs) != 0 || !p.IsDocumentationOnly {
		t.Errorf("%+v", p)
	}
}

func TestAuthType(t *testing.T) {
	for want, types := range map[string][]string{"": nil, "jwt": {"jwt"}, "ba": {"basic"}, "multiAuth": {"authToken", "mutualTLS"}} {
		p := with("a")
		p.AuthTypes = types
		if got := p.AuthType(); got != want {
			t.Errorf("%v: %q", types, got)
		}
		if got := p.Mode(); (got == product.SelfServe) != (want == "multiAuth") {
			t.Errorf("%v: %q", types, got)
		}
		if got := p.WithAPIs(nil).AuthType(); got != "" {
			t.Errorf("without APIs: %q", got)
		}
	}
}

// TestMethods: the names of listed methods are those of AuthType, without duplicates.
func TestMethods(t *testing.T) {
	for _, c := range []struct{ stored, want []string }{
		{[]string{"authToken", "mutualTLS"}, []string{"authToken", "mutualTLS"}}, {[]string{"ba", "basic"}, []string{"ba"}}, {[]string{"authToken", "basic", "jwt"}, []string{"authToken", "ba", "jwt"}},
	} {
		p := with("a")
		p.AuthTypes = c.stored
		if got := p.Methods(); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v", c.stored, got)
		}
	}
}

// TestComeBack: an API that a policy loses and gets back, for example because it is deleted
// and created again, keeps its texts, and a client can change them meanwhile.
func TestComeBack(t *testing.T) {
	p := with("a", "b")
	p.APIs[0].Description, p.APIs[0].OASUrl = "my text", "https://docs.example/a.yaml"
	take := func(ids ...string) {
		r := p.Record()
		r.Terms.APIs = ids
		p = p.Take(r)
	}
	take("b")
	if len(p.APIs) != 1 || p.APIs[0].Description != "" {
		t.Errorf("%+v", p.APIs)
	}
	take()
	take("a", "b")
	if d := p.APIs[0]; d.APIID != "a" || d.Description != "my text" || d.OASUrl != "https://docs.example/a.yaml" || p.Left != nil {
		t.Errorf("%+v, %+v", p.APIs, p.Left)
	}
	take("b")
	p.APIs = append(product.Details{{APIID: "a", Description: "newer"}}, p.APIs...)
	take("b")
	take("a", "b")
	if d := p.APIs[0]; d.Description != "newer" || p.Left != nil {
		t.Errorf("%+v, %+v", p.APIs, p.Left)
	}
}

// TestRecord: Take of a Record gives the same product, and changes nothing else.
func TestRecord(t *testing.T) {
	p := with("a", "b")
	p.CID, p.DisplayName, p.Content, p.Catalogues, p.AuthTypes, p.PolicyTags, p.Path = "c", "Shown", "<p>", []table.ID{1}, []string{"authToken"}, []string{"x"}, "gold"
	if got := p.Take(p.Record()); !reflect.DeepEqual(got, p) {
		t.Errorf("%+v; want %+v", got, p)
	}
	r := p.Record()
	r.Ref, r.Terms.Name, r.Terms.APIs, r.Hidden, r.Generation = sync.Ref{ID: "i"}, "Other", nil, true, 2
	got := p.Take(r)
	if got.Name != "Other" || got.Title() != "Shown" || !got.Hidden || !got.IsDocumentationOnly || got.Ref.ID != "i" || got.Content != "<p>" || got.Path != "gold" || got.Generation != 2 {
		t.Errorf("%+v", got)
	}
	p.DeletedAt = time.Unix(1, 0)
	if !p.Record().Deleted || (product.Product{Name: "n"}).Title() != "n" {
		t.Error("deleted, title")
	}
}

// TestTable: the fields of products.
func TestTable(t *testing.T) {
	tabletest.Sound[product.Product](t, `{"Name":"Orders","ProviderID":1,"Path":"orders"}`)
	if items := (&product.Details{}).Schema()["items"]; items == nil {
		t.Error("the APIs of a product are not described")
	}
}

// TestSpecs: the forms of a list of specifications. nil was not sent; an empty list was.
func TestSpecs(t *testing.T) {
	for text, want := range map[string]struct {
		n  int // -1: nil
		ok bool
	}{
		`null`: {-1, true}, `[]`: {0, true}, `[{"SpecAlias":"a"},{}]`: {2, true}, `{}`: {0, false}, `"a"`: {0, false}, `[5]`: {0, false},
		`[` + strings.Repeat(`{},`, table.MaxList) + `{}]`: {0, false},
	} {
		var sent any
		if err := json.Unmarshal([]byte(text), &sent); err != nil {
			t.Fatal(err)
		}
		s := product.Specs{{"SpecAlias": "old"}}
		if _, ok := s.Take(sent); ok != want.ok || ok && (len(s) != max(0, want.n) || (s == nil) != (want.n < 0)) {
			t.Errorf("%.40s: %v, %t", text, s, ok)
		}
	}
	if items := (&product.Specs{}).Schema()["items"]; items == nil {
		t.Error("specifications are not described")
	}
}
