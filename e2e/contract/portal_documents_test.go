package contract_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// documentPlans are the plans for the documentation of products.
var documentPlans = map[string]plan{
	"portal-apis.list":          {path: offerWithAPI, query: portalLists},
	"portal-apis.get":           {path: offerWithAPI},
	"portal-apis.update":        {path: offerWithAPI, bodies: fixed(`{"Description":"Pays.","OASUrl":"https://docs.example/a.json","Name":"x","Status":"true"}`, `{"OASUrl":"","GraphQLServerEndpoint":"https://a.example/query"}`)},
	"portal-apis.get-oas":       {path: holding(offerWithAPI, "POST", apiPath+"/oas", openapi)},
	"portal-apis.upload-oas":    {path: offerWithAPI, bodies: fixed(openapi), header: pictureForm},
	"portal-apis.delete-oas":    {path: holding(offerWithAPI, "POST", apiPath+"/oas", openapi)},
	"portal-apis.get-schema":    {path: holding(offerWithAPI, "POST", apiPath+"/graphql/schema", sdl)},
	"portal-apis.upload-schema": {path: offerWithAPI, bodies: fixed(sdl), header: pictureForm, query: map[string][]string{"dry_run": {"true", "false"}}},
	"portal-apis.delete-schema": {path: holding(offerWithAPI, "POST", apiPath+"/graphql/schema", sdl)},

	"portal-specs.list":               {path: specified, query: portalLists},
	"portal-specs.create":             {path: offer, bodies: fresh(specification)},
	"portal-specs.get":                {path: specified},
	"portal-specs.update":             {path: specified, bodies: fresh(specification)},
	"portal-specs.delete":             {path: specified},
	"portal-specs.get-oas":            {path: holding(specified, "POST", specPath+"/oas", openapi)},
	"portal-specs.upload-oas":         {path: specified, bodies: fixed(openapi), header: pictureForm},
	"portal-specs.delete-oas":         {path: holding(specified, "POST", specPath+"/oas", openapi)},
	"portal-specs.get-schema":         {path: holding(specified, "PUT", specPath+"/graphql/schema", sdl)},
	"portal-specs.upload-schema":      {path: specified, bodies: fixed(sdl), header: pictureForm, query: map[string][]string{"dry_run": {"true", "false"}}},
	"portal-specs.delete-schema":      {path: holding(specified, "PUT", specPath+"/graphql/schema", sdl)},
	"portal-specs.create-from-schema": {path: offer, bodies: fixed(sdl), header: pictureForm, query: map[string][]string{"dry_run": {"true", "false"}}},

	"portal-tutorials.list":    {path: instructed, query: portalLists},
	"portal-tutorials.create":  {path: offer, bodies: fresh(tutorial)},
	"portal-tutorials.get":     {path: instructed},
	"portal-tutorials.update":  {path: instructed, bodies: fresh(tutorial)},
	"portal-tutorials.delete":  {path: instructed},
	"portal-tutorials.reorder": {path: instructed, bodies: func(_ *service, path map[string]string) []string { return []string{"[" + path["doc_id"] + "]"} }},
}

const (
	apiPath  = "/products/{product_id}/api-details/{api_id}"
	specPath = "/products/{product_id}/spec-details/{spec_id}"
)

// Forms with a file.
var (
	openapi = formWith("a.yaml", "openapi: 3.0.3\r\ninfo: {title: A, version: 1.0.0}\r\npaths: {}")
	sdl     = formWith("orders.graphql", "type Query { orders: Int }")
)

func formWith(name, text string) string {
	return strings.NewReplacer("logo.gif", name, "GIF89a", text).Replace(picture)
}

func specification(n int, _ string) string {
	return fmt.Sprintf(`{"SpecAlias":"payments_%d","Name":"Payments","OASUrl":"https://docs.example/%d.json"}`, n, n)
}

func tutorial(n int, _ string) string {
	return fmt.Sprintf(`{"Title":"Start %d","Content":"<p>Go</p>","Path":"start-%d","Status":"published","MarkdownEnabled":false,"Tags":[],"Categories":null}`, n, n)
}

// Products with a specification, and with a tutorial.
var (
	specified  = below(offer, "spec_id", "/products/{product_id}/spec-details", specification)
	instructed = below(offer, "doc_id", "/products/{product_id}/docs", tutorial)
)

// offerWithAPI creates a product with an API of the service's own dashboard.
func offerWithAPI(t testing.TB, s *service) map[string]string {
	t.Helper()
	api := s.create(t, classicKind)
	provider := s.add(t, "/providers", connected(s.next(), ""))
	return map[string]string{"api_id": api, "product_id": s.add(t, "/products", fmt.Sprintf(`{"Name":"Pay %d","ProviderID":%s,"APIDetails":[{"APIID":%q}]}`, s.next(), provider, api))}
}

// holding creates a record that has a document.
func holding(record func(testing.TB, *service) map[string]string, method, to, body string) func(testing.TB, *service) map[string]string {
	return func(t testing.TB, s *service) map[string]string {
		t.Helper()
		path := record(t, s)
		a := s.ask(t, request{method: method, path: "/portal-api" + placed(to, path), as: s.portalAdmin(t), body: []byte(body), header: pictureForm[0]})
		if a.status != http.StatusOK {
			t.Fatal(a)
		}
		return path
	}
}
