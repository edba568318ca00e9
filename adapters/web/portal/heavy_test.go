package portal_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// TestHeavyApp shows an app whose credentials have the maximum number of products, and one of
// them hundreds of event types: a page shows fewer of them.
func TestHeavyApp(t *testing.T) {
	w := newWorld(t)
	w.offering()
	types := make([]string, 900)
	for i := range types {
		types[i] = fmt.Sprintf("type-%d-of-%s", i, strings.Repeat("x", 40))
	}
	list := []string{}
	for i := range 50 {
		w.api("POST", "/portal-api/products", fmt.Sprintf(`{"Name":"Product %d %s","Path":"many-%d","ProviderID":1,"APIDetails":[{"APIID":"pay"}],"WebhookEventTypes":[%q],"Catalogues":[1]}`, i, strings.Repeat("&", 60), i, types[i]))
		list = append(list, strconv.Itoa(i+3))
	}
	w.api("PUT", "/portal-api/products/3", `{"WebhookEventTypes":["`+strings.Join(types, `","`)+`"]}`)
	w.as("ada")
	w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", "Till", "visibility", "personal")
	for range 70 {
		w.approved("1", "2", strings.Join(list, ","))
	}
	w.api("PUT", "/portal-api/apps/1/access-requests/70/webhook", `{"WebhookURL":"https://shop.example.com/in","WebhookEventTypes":["`+types[899]+`"]}`)
	w.shows(w.open("/portal/private/apps/1"), 200, `id="credential-70"`, "Page 1 of", `value="`+types[899]+`" checked`)
	w.shows(w.open("/portal/private/apps/1?page=99"), 200, `id="credential-1"`)
}

// TestManyPlans shows a product with more plans than a page may show.
func TestManyPlans(t *testing.T) {
	w := newWorld(t)
	w.offering()
	for i := range 110 {
		w.api("POST", "/portal-api/plans", fmt.Sprintf(`{"Name":"Plan %d.","ProviderID":1,"RateLimit":5,"Per":1,"Catalogues":[1],"Description":"begin %s"}`, i, strings.Repeat("& ", 8_000)))
	}
	w.as("ada")
	const at = "/portal/catalogue-products/payments"
	first := w.shows(w.open(at), 200, "Page 1 of 3", `href="`+at+`?page=2"`)
	last := w.shows(w.open(at+"?page=99"), 200, "Page 3 of 3", "Plan 109.")
	if n := strings.Count(first.text, "begin"); n < 40 || n > 50 || strings.Contains(first.text, "Plan 109.") || strings.Contains(last.text, "Plan 0.") {
		t.Errorf("%d plans are described", n)
	}
	w.shows(w.submit(last, at+"?page=3", "product_id", "1", "catalogue_id", "1", "plan_id", "100"), 200, "The product is in your cart", "Page 3 of 3")
}
