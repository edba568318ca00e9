package contract_test

import (
	"fmt"
	"testing"
)

// showcasePlans are the plans for visitors of the portal.
var showcasePlans = map[string]plan{
	"portal-showcase.site":     {path: opened},
	"portal-showcase.products": {path: displayed, query: map[string][]string{"search": {"Payment", "%", "a b c d e f g h i j k l", "paymnets", "ſ İ 𝔛"}, "catalogue": {"1", "none"}, "featured": {"true", "x"}, "page": {"1", "2", "-1", "x", "99999999999"}}},
	"portal-showcase.product":  {path: displayed},
	"portal-showcase.document": {path: displayed},
	"portal-showcase.picture":  {path: pictured},
	"portal-showcase.tryout":   {path: served},
	"portal-showcase.try": {path: served, bodies: fixed(`{"Method":"POST","Path":"/cards/7%20a","Query":"a=b","Headers":[{"Name":"X-More","Value":"yes"}],"Body":"{}","Token":"Bearer x"}`, `{}`,
		`{"Method":"GET","Path":"/away"}`)},
	"portal-showcase.subscribe": {path: served, bodies: fixed(`{"Method":"POST","Path":"/","Body":"{\"query\":\"subscription { a }\"}","Token":"Bearer x"}`, `{}`, `{"Method":"POST","Path":"/","Body":"{}"}`)},
	"portal-showcase.content":   {path: published, query: map[string][]string{"path": {"{path}"}}},
	"portal-showcase.blog":      {path: blogging, query: map[string][]string{"category": {"None"}, "page": {"1", "2", "x"}}},
	"portal-showcase.post":      {path: blogging},
}

// displayed creates a public product with a description.
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

// pictured creates a public product with a logo.
func pictured(t testing.TB, s *service) map[string]string {
	t.Helper()
	open(t, s)
	n := s.next()
	id := s.add(t, "/products", fmt.Sprintf(`{"Name":"seen_%d","Path":"seen-%d","IsDocumentationOnly":true,"Catalogues":[1]}`, n, n))
	a := s.ask(t, request{method: "POST", path: "/portal-api/products/" + id + "/logo", as: s.portalAdmin(t), header: pictureForm[0], body: []byte(picture)})
	if a.status >= 300 {
		t.Fatal(a)
	}
	return map[string]string{"product_id": id, "picture": "logo", "file": "logo.gif"}
}

// served creates a public product whose API a gateway serves.
func served(t testing.TB, s *service) map[string]string {
	t.Helper()
	open(t, s)
	n := s.next()
	a := s.ask(t, request{method: "POST", path: "/api/apis", as: admin, body: fmt.Appendf(nil,
		`{"api_definition":{"name":"Served %d","api_id":"served-%d","active":true,"use_standard_auth":true,"proxy":{"listen_path":"/served-%d/","target_url":"http://access.example"}}}`, n, n, n)})
	if a.status != 200 {
		t.Fatal(a)
	}
	provider := s.add(t, "/providers", fmt.Sprintf(`{"Name":"Served %d","Configuration":{"MetaData":{"URL":"%s","Secret":"%s","Gateway":"https://gw.example"}}}`, n, ownAddress, admin))
	s.add(t, "/products", fmt.Sprintf(`{"Name":"Served %d","Path":"served-%d","ProviderID":%s,"Catalogues":[1],"APIDetails":[{"APIID":"served-%d"}]}`, n, n, provider, n))
	return map[string]string{"product_path": fmt.Sprintf("served-%d", n), "api_alias": fmt.Sprintf("served-%d", n)}
}

// open makes the portal public: random requests change the rules.
func open(t testing.TB, s *service) {
	t.Helper()
	a := s.ask(t, request{method: "PUT", path: "/portal-api/settings", as: s.portalAdmin(t), body: []byte(`{"PortalVisibility":"Public","BlogEnabled":true,"SecurityText":"Contact: mailto:security@example.com"}`)})
	if a.status >= 300 {
		t.Fatal(a)
	}
}

// reachable sets the contact for security reports.
func reachable(t testing.TB, s *service) map[string]string {
	t.Helper()
	open(t, s)
	return nil
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
