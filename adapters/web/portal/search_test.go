package portal_test

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestSearch finds products by their texts, with the matching operations.
func TestSearch(t *testing.T) {
	w := newWorld(t)
	w.stocked()
	at := "/portal/catalogue-products?search="
	w.shows(w.open(at+"store"), 200, "1 product", "Pet &lt;b&gt;<mark>store</mark>&lt;/b&gt;")
	found := w.shows(w.open(at+"fetch+pet"), 200, "<mark>Fetch</mark> a <mark>pet</mark>", `href="/portal/catalogue-products/pets/main/docs#get-pets-id-`)
	anchor := found.text[strings.Index(found.text, "#get-pets-id-")+1:]
	w.shows(w.open("/portal/catalogue-products/pets/main/docs"), 200, `id="`+anchor[:strings.Index(anchor, `"`)]+`"`)
	w.shows(w.open(at+"fecth"), 200, "<mark>Fetch</mark> a pet")
	w.shows(w.open(at+"%25"), 200, "No product matches")
	w.upload("POST", "/portal-api/products/1/spec-details/1/oas", "pets.yaml", []byte(strings.ReplaceAll(petstore, "Fetch a pet", "Walk a dog")))
	w.shows(w.open(at+"fetch"), 200, "No product matches")
	w.shows(w.open(at+"walk"), 200, "<mark>Walk</mark> a dog")
	w.api("PUT", "/portal-api/products/1", `{"Catalogues":[2]}`)
	w.shows(w.open(at+"walk"), 200, "No product matches")
	w.shows(w.submit(w.open("/auth/password/login"), "/auth/password/login", "login", "admin@example.com", "password", "secret"), 200)
	w.shows(w.open(at+"walk"), 200, "1 product")
	w.api("DELETE", "/portal-api/products/1", "")
	w.shows(w.open(at+"walk"), 200, "No product matches")
	w.shows(w.open("/assets/search.js"), 200, "use strict")
}

// TestSearchReads: one search reads a limited amount of documents, and skips unavailable
// ones until something changes.
func TestSearchReads(t *testing.T) {
	w := newWorld(t)
	large := strings.Replace(petstore, "Its name", strings.Repeat("long ", 190_000), 1)
	for n := range 4 {
		w.api("POST", "/portal-api/products", fmt.Sprintf(`{"Name":"product%d","IsDocumentationOnly":true,"Catalogues":[1],"SpecDetails":[{"SpecAlias":"main"}]}`, n))
		w.upload("POST", fmt.Sprintf("/portal-api/products/%d/spec-details/%d/oas", n+1, n+1), "pets.yaml", []byte(large))
	}
	at := "/portal/catalogue-products?search="
	w.shows(w.open(at+"fetch"), 200, "3 products")
	w.shows(w.open(at+"fetch"), 200, "4 products")
	must(t, os.RemoveAll(w.files))
	w.shows(w.open(at+"fetch"), 200, "4 products")
	w.api("POST", "/portal-api/products", `{"Name":"fifth","IsDocumentationOnly":true,"Catalogues":[1],"SpecDetails":[{"SpecAlias":"main"}]}`)
	w.upload("POST", "/portal-api/products/5/spec-details/5/oas", "pets.yaml", []byte(petstore))
	must(t, os.RemoveAll(w.files))
	w.shows(w.open(at+"fetch"), 200, "4 products")
	w.shows(w.open(at+"fifth"), 200, "1 product")
	w.upload("POST", "/portal-api/products/5/spec-details/5/oas", "pets.yaml", []byte(petstore))
	w.shows(w.open(at+"fetch"), 200, "5 products")
}

// random texts that differ from page to page.
var perPage = regexp.MustCompile(`nonce="[^"]*"|name="csrf_token" value="[^"]*"`)

// TestSearchHidden: invisible products do not influence a search: neither its results and
// their number, nor the marked words, nor the correction of typing errors.
func TestSearchHidden(t *testing.T) {
	w := newWorld(t)
	w.stocked()
	asked := []string{"store", "fetch+pet", "fecth", "stroe", "reactor", "reactr", "fetch+reactor", "coolant+pump", "pump", "sto", "buy+sel"}
	seen := func() map[string]string {
		out := map[string]string{}
		for _, q := range asked {
			p := w.open("/portal/catalogue-products?search=" + q)
			out[q] = perPage.ReplaceAllString(p.text, "")
		}
		return out
	}
	before := seen()
	w.api("POST", "/portal-api/products", `{"Name":"reactor","DisplayName":"Reactor fecth stroe","Path":"reactor","Description":"Fetch pets, reactr, sto, sel","IsDocumentationOnly":true,"Catalogues":[2],"SpecDetails":[{"SpecAlias":"main","Name":"Store"}]}`)
	w.upload("POST", "/portal-api/products/2/spec-details/2/oas", "pets.yaml", []byte(strings.ReplaceAll(petstore, "Fetch a pet", "Coolant pump of a store")))
	w.api("POST", "/portal-api/products/2/docs", `{"Title":"Fetch the pump","Path":"pump","Status":"published","Content":"Stroe"}`)
	for q, now := range seen() {
		if now != before[q] {
			t.Errorf("a product that a stranger does not see changes what %q finds:\n%s", q, now)
		}
	}
	w.shows(w.submit(w.open("/auth/password/login"), "/auth/password/login", "login", "admin@example.com", "password", "secret"), 200)
	w.shows(w.open("/portal/catalogue-products?search=pump"), 200, "1 product", "Reactor")
}

// BenchmarkSearch opens the results of a search among 1,000 products with a description
// each.
func BenchmarkSearch(b *testing.B) {
	w := newWorld(b)
	for p := range 1000 {
		w.api("POST", "/portal-api/products", fmt.Sprintf(`{"Name":"product%d","Description":"Sells thing%d","IsDocumentationOnly":true,"Catalogues":[1],"SpecDetails":[{"SpecAlias":"main"}]}`, p, p%50))
		w.upload("POST", fmt.Sprintf("/portal-api/products/%d/spec-details/%d/oas", p+1, p+1), "pets.yaml", []byte(petstore))
	}
	ask := func() {
		req, _ := http.NewRequest("GET", w.server.URL+"/portal/api/catalogue-products?search=fecth+thing7", nil)
		w.answered(req)
	}
	for name, before := range map[string]func(){"same": func() {}, "changed": func() { w.api("PUT", "/portal-api/products/1", `{"Description":"Sells more"}`) }} {
		b.Run(name, func(b *testing.B) {
			ask()
			for b.Loop() {
				b.StopTimer()
				before()
				b.StartTimer()
				ask()
			}
		})
	}
}
