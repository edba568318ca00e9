package portal_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/gatehouse-io/gatehouse/e2e/browser"
)

// planted reports elements that come from a value.
const planted = `[...document.querySelectorAll('script:not([src^="/assets/"]), iframe, object, embed, base, math, video, marquee, meta[http-equiv], img[src=x], form[action^=javascript], [href^="javascript:" i], [src^="javascript:" i]')].map(e => e.outerHTML.slice(0, 100)).concat([...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => a.name.startsWith('on'))).map(e => e.outerHTML.slice(0, 100))).concat(window.pwned === undefined ? [] : ['a payload has run'])`

// TestPayloadsOfOffers: texts with scripts are names and texts of menus, pages, blocks,
// tags, catalogues, products, plans, attributes, teams, organisations, people and apps. They
// are shown as text, and none runs.
func TestPayloadsOfOffers(t *testing.T) {
	t.Parallel()
	w := offering(t)
	all, step := payloads(), 30
	if os.Getenv("GATEHOUSE_E2E_LONG") != "" {
		step = 1
	}
	taken, tried := map[string]int{}, 0
	write := func(kind, method, path string, body object) {
		t.Helper()
		text, err := json.Marshal(body)
		must(t, err)
		switch status, answer := fetch(t, method, w.at+"/portal-api"+path, w.token, text); {
		case status >= http.StatusInternalServerError:
			t.Errorf("%s %s: %d %s", method, path, status, answer)
		case status < http.StatusMultipleChoices:
			taken[kind]++
		}
	}
	for i := 0; i < len(all); i += step {
		p := all[i]
		tried++
		write("menu", "POST", "/menus/1/items", object{"Title": p, "Path": fmt.Sprint("/m", i)})
		write("page", "POST", "/pages", object{"Title": p, "Path": fmt.Sprint("page-", i), "Status": "Published", "Template": "page"})
		write("tag", "POST", "/tags", object{"Name": p})
		write("catalogue", "POST", "/catalogues", object{"Name": fmt.Sprint(p, i), "VisibilityStatus": "Public"})
		write("product", "POST", "/products", object{"Name": fmt.Sprint("p", i), "DisplayName": p, "Path": fmt.Sprint("p", i), "Description": p, "ProviderID": 1, "APIDetails": []object{{"APIID": "pay", "Name": p, "Description": p}}, "Catalogues": []int{1}})
		write("plan", "POST", "/plans", object{"Name": fmt.Sprint("plan", i), "DisplayName": p, "Description": p, "ProviderID": 1, "RateLimit": 1, "Per": 1, "Quota": -1, "Catalogues": []int{1}})
		write("attribute", "POST", "/extended_attributes/1/custom-attributes", object{"Name": p, "Identifier": fmt.Sprint("a", i), "Type": 1})
		write("team", "POST", "/organisations/2/teams", object{"Name": line(p)})
		write("person", "POST", "/users", object{"Email": fmt.Sprintf("p%d@example.com", i), "First": line(p), "Last": line(p), "OrganisationID": 2, "Active": true})
		write("app", "POST", "/apps", object{"Name": line(p), "Description": p, "UserID": 2})
	}
	var blocks []struct {
		ID, PageID int
		Name       string
	}
	must(t, json.Unmarshal(w.api("GET", "/pages/all/content-blocks?per_page=100", nil), &blocks))
	for i, one := range blocks[:min(len(blocks), tried)] {
		write("block", "PUT", fmt.Sprintf("/pages/%d/content-blocks/%d", one.PageID, one.ID), object{"Name": one.Name, "MarkdownEnabled": true, "MarkdownContent": all[i*step]})
	}
	write("organisation", "PUT", "/organisations/2", object{"Name": all[0]})
	for _, kind := range []string{"menu", "page", "product", "plan", "attribute", "team", "person", "app", "catalogue", "tag"} {
		if taken[kind] < tried/2 {
			t.Errorf("%d of %d payloads are names of a %s", taken[kind], tried, kind)
		}
	}
	if taken["block"] == 0 || taken["organisation"] == 0 {
		t.Errorf("blocks or organisations refuse what they are sent: %v", taken)
	}
	shown := 0
	clean := func(b *browser.Tab, p string, paths ...string) {
		t.Helper()
		for _, path := range paths {
			b.Go(path)
			b.Wait("document.readyState === 'complete' && document.querySelector('main')")
			if found := browser.Value[[]string](b, planted); len(found) > 0 {
				t.Errorf("%s: %q came from values", path, found)
			}
			if browser.Value[bool](b, "document.querySelector('main').textContent.includes("+browser.Quote(p)+")") {
				shown++
			}
		}
	}
	b := w.filled(t)
	clean(b, all[0], "/portal/catalogue-products", "/portal/catalogue-products/payments", "/portal/private/cart/provision", "/portal/private/apps", "/portal/private/apps/1", "/portal/private/analytics", "/portal/private/profile", "/portal/private/users", "/portal/private/organisation", "/portal/private/users/invite")
	for i := 0; i < len(all); i += step {
		n := i / step
		b.Expect(fmt.Sprint("/page-", i), fmt.Sprint("/p", i), fmt.Sprint("/private/apps/", n+4), fmt.Sprint("/private/users/", n+4))
		clean(b, all[i], fmt.Sprint("/page-", i), fmt.Sprint("/portal/catalogue-products/p", i), fmt.Sprint("/portal/private/apps/", n+4), fmt.Sprint("/portal/private/users/", n+4, "/edit"))
	}
	if shown < 3*tried {
		t.Errorf("payloads are shown on %d pages only", shown)
	}
	t.Logf("%d payloads, shown on %d pages: %v", tried, shown, taken)
	clean(w.visitor(t), all[0], "/auth/password/register", "/auth/password/login", "/portal/catalogue-products")
}
