package product_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
)

var apis = sync.NewIndex([]sync.API{
	{ID: "a", AuthTypes: []string{"authToken"}}, {ID: "b", AuthTypes: []string{"authToken"}}, {ID: "j", AuthTypes: []string{"jwt"}},
	{ID: "k", AuthTypes: []string{"keyless"}}, {ID: "p", AuthTypes: []string{"authToken"}, Proxy: true},
})

func with(ids ...string) product.Product {
	return product.Product{Name: "Gold", ProviderID: 1}.WithAPIs(ids)
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		p    product.Product
		want string
	}{
		"sound":                  {with("a"), ""},
		"without APIs":           {product.Product{Name: "Docs", IsDocumentationOnly: true}, ""},
		"nothing":                {product.Product{}, "Name can't be blank; ProviderID can't be blank"},
		"blank name":             {product.Product{Name: " ", ProviderID: 1}, "Name can't be blank"},
		"mode":                   {product.Product{Name: "x", ProviderID: 1, AuthTypeMode: "x"}, "AuthTypeMode is invalid"},
		"modes there are":        {product.Product{Name: "x", ProviderID: 1, AuthTypeMode: product.Managed}, ""},
		"path":                   {product.Product{Name: "x", ProviderID: 1, Path: "a/b"}, "Path is invalid"},
		"an API without a name":  {product.Product{Name: "x", ProviderID: 1, APIs: []product.Detail{{}}}, "APIDetails is invalid"},
		"more APIs than allowed": {product.Product{Name: "x", ProviderID: 1, APIs: slices.Repeat([]product.Detail{{APIID: "a"}}, 1001)}, "APIDetails is invalid"},
	} {
		if got := strings.Join(c.p.Check(), "; "); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
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
	if want := []product.Detail{{APIID: "a", Description: "said"}, {APIID: "j"}}; !slices.Equal(p.APIs, want) || p.IsDocumentationOnly {
		t.Errorf("%+v", p)
	}
	if p = p.WithAPIs(nil); len(p.APIs) != 0 || !p.IsDocumentationOnly {
		t.Errorf("%+v", p)
	}
}

func TestAuthType(t *testing.T) {
	for want, types := range map[string][]string{"": nil, "jwt": {"jwt"}, "multiAuth": {"authToken", "mutualTLS"}} {
		if got := (product.Product{AuthTypes: types}).AuthType(); got != want {
			t.Errorf("%v: %q", types, got)
		}
	}
}

// TestRecord: what synchronisation takes over is what it gave, and nothing else changes.
func TestRecord(t *testing.T) {
	p := with("a", "b")
	p.CID, p.DisplayName, p.Content, p.Catalogues, p.AuthTypes, p.PolicyTags, p.Path = "c", "Shown", "<p>", []int{1}, []string{"authToken"}, []string{"x"}, "gold"
	if got := p.Take(p.Record()); !reflect.DeepEqual(got, p) {
		t.Errorf("%+v; want %+v", got, p)
	}
	r := p.Record()
	r.Ref, r.Terms.Name, r.Terms.APIs, r.Hidden, r.Generation = sync.Ref{ID: "i"}, "Other", nil, true, 2
	got := p.Take(r)
	if got.Name != "Other" || got.Title() != "Shown" || !got.Hidden || !got.IsDocumentationOnly || got.Ref.ID != "i" || got.Content != "<p>" || got.Path != "gold" || got.Generation != 2 {
		t.Errorf("%+v", got)
	}
	p.Deleted = time.Unix(1, 0)
	if !p.Record().Deleted || (product.Product{Name: "n"}).Title() != "n" {
		t.Error("deleted, title")
	}
}
