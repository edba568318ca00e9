package portal_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/e2e/browser"
)

// TestLongNames uses long names without spaces, with markup and with right-to-left letters
// everywhere: no page is wider than a small phone.
func TestLongNames(t *testing.T) {
	t.Parallel()
	w := offering(t)
	b := w.filled(t)
	name := "<b>B</b> \U0001F600 " + strings.Repeat("\u05de\u05d0\u05d5\u05d3", 10) + strings.Repeat("W", 120)
	w.api("PUT", "/products/1", object{"DisplayName": name, "Description": name})
	w.api("PUT", "/catalogues/1", object{"Name": name, "NameWithSlug": "public"})
	w.api("PUT", "/organisations/2", object{"Name": name})
	for _, plan := range []string{"1", "2"} {
		w.api("PUT", "/plans/"+plan, object{"DisplayName": name, "Description": "<p>For <em>all</em> who begin.</p>"})
	}
	for _, app := range []string{"1", "2", "3"} {
		w.api("PUT", "/apps/"+app, object{"Name": name, "Description": name})
	}
	w.api("PUT", "/users/3", object{"First": name[:90], "Last": "W"})
	b.Size(320, 640)
	for _, p := range append([]place{{"catalogue", "/portal/catalogue-products", "", false}}, users...) {
		b.Go(p.path)
		if over := browser.Value[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
			t.Errorf("%s: %d pixels wider than 320", p.name, over)
		}
	}
	b.Go("/portal/catalogue-products/payments")
	if got := browser.Value[string](b, "document.querySelector('article em')?.innerText ?? ''"); got != "all" {
		t.Errorf("the description of a plan is no fragment of HTML: %q", got)
	}
}
