package contract_test

import (
	"fmt"
	"testing"
)

// showcasePlans are those of what visitors of the portal see.
var showcasePlans = map[string]plan{
	"portal-showcase.site":     {path: opened},
	"portal-showcase.products": {path: displayed, query: map[string][]string{"search": {"Payment", "%", "a b c d e f g h i j k l"}, "catalogue": {"1", "none"}, "featured": {"true", "x"}, "page": {"1", "2", "-1", "x", "99999999999"}}},
	"portal-showcase.product":  {path: displayed},
	"portal-showcase.document": {path: displayed},
	"portal-showcase.content":  {path: published, query: map[string][]string{"path": {"{path}"}}},
	"portal-showcase.blog":     {path: blogging, query: map[string][]string{"category": {"None"}, "page": {"1", "2", "x"}}},
	"portal-showcase.post":     {path: blogging},
}

// displayed makes a product that everybody sees, with a description.
func displayed(t testing.TB, s *service) map[string]string {
	t.Helper()
	open(t, s)
	n := s.next()
	id := s.add(t, "/products", fmt.Sprintf(`{"Name":"read_%d","Path":"read-%d","IsDocumentationOnly":true,"Catalogues":[1]}`, n, n))
	spec := s.add(t, "/products/"+id+"/spec-details", `{"SpecAlias":"main","Name":"Payments"}`)
	a := s.ask(t, request{method: "POST", path: "/portal-api/products/" + id + "/spec-details/" + spec + "/oas", as: s.portalAdmin(t), header: pictureForm[0], body: []byte(openapi)})
	if a.status >= 300 {
		t.Fatal(a)
	}
	return map[string]string{"product_path": fmt.Sprintf("read-%d", n), "api_alias": "main"}
}

// open lets everybody see the portal: random requests change the rules.
func open(t testing.TB, s *service) {
	t.Helper()
	a := s.ask(t, request{method: "PUT", path: "/portal-api/settings", as: s.portalAdmin(t), body: []byte(`{"PortalVisibility":"Public","BlogEnabled":true}`)})
	if a.status >= 300 {
		t.Fatal(a)
	}
}

func published(t testing.TB, s *service) map[string]string {
	t.Helper()
	open(t, s)
	n := s.next()
	s.add(t, "/pages", content(n, ""))
	return map[string]string{"path": fmt.Sprintf("/page-%d", n)}
}

func blogging(t testing.TB, s *service) map[string]string {
	t.Helper()
	open(t, s)
	n := s.next()
	s.add(t, "/posts", newsBody(n, ""))
	return map[string]string{"post_path": fmt.Sprintf("news-%d", n)}
}
