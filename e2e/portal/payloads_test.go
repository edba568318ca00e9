package portal_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/e2e/browser"
)

// TestPayloads: 300 texts with scripts are names, descriptions, titles and operations, and
// values that users type. They are shown as text, and none runs.
func TestPayloads(t *testing.T) {
	t.Parallel()
	all := payloads()
	if len(all) != 300 {
		t.Fatalf("%d payloads", len(all))
	}
	w := newWorld(t, config.PortalAlone)
	w.write(all)
	b := w.loggedIn(t, developer)
	b.Expect("/auth/reset/code", "/blog/", "/portal/private/profile", "/nothing")
	clean := func(path string) {
		t.Helper()
		b.Go(path)
		b.Wait("document.readyState === 'complete' && document.querySelector('main')")
		if browser.Value[bool](b, "window.pwned !== undefined") {
			t.Fatalf("a payload has run at %s", path)
		}
		if n := browser.Value[int](b, "document.querySelectorAll('main script:not([src^=\"/assets/\"]), main iframe, main object, main embed, main base, main meta, main img[src=x], main svg, main video, main math').length"); n != 0 {
			t.Errorf("%s: %d elements came from values", path, n)
		}
	}
	for page := 1; page <= 13; page++ {
		clean(fmt.Sprint("/portal/catalogue-products?page=", page))
	}
	for page := 1; page <= 30; page += 3 {
		clean(fmt.Sprint("/blog?page=", page))
	}
	clean("/portal/catalogue-products/p0")
	clean("/portal/catalogue-products/p0/main/docs")
	must(t, b.Run("document.querySelectorAll('details').forEach(d => { d.open = true })", nil))
	clean("/")
	some := 20
	if os.Getenv("GATEHOUSE_E2E_LONG") != "" {
		some = len(all)
	}
	for _, p := range all[:some] {
		clean("/portal/catalogue-products?search=" + url.QueryEscape(p) + "&catalogue=" + url.QueryEscape(p))
		clean("/portal/private/profile")
		b.Fill("First name", line(p))
		b.Fill("Last name", line(p))
		submit(b)
		b.See("Your changes are saved")
		clean("/portal/private/users")
	}
	s := w.visitor(t)
	s.Expect("/auth/")
	for _, p := range all[:some/2] {
		for _, path := range []string{"/auth/password/login?next=", "/auth/reset/code?token=", "/auth/password/register?token="} {
			s.Go(path + url.QueryEscape(p))
			if browser.Value[bool](s, "window.pwned !== undefined") {
				t.Fatalf("%s: %s has run", path, p)
			}
		}
		enter(s, p, p)
		s.Wait("document.querySelector('main')")
	}
}

// write uses payloads for all names that admins and developers can choose.
func (w *world) write(all []string) {
	w.t.Helper()
	w.api("POST", "/users", object{"Email": developer, "First": all[0], "Last": all[1], "Password": password, "Role": "consumer-admin", "Active": true, "OrgID": 1})
	paths := object{}
	for i, p := range all {
		w.api("POST", "/products", object{"Name": fmt.Sprint("p", i), "DisplayName": p, "Path": fmt.Sprint("p", i), "Description": p, "IsDocumentationOnly": true, "Feature": i%10 == 0, "Catalogues": []int{1}, "SpecDetails": []object{{"SpecAlias": "main", "Name": p, "Description": p}}})
		w.api("POST", "/posts", object{"Title": p, "Lede": p, "Content": "<p>x</p>", "MarkdownEnabled": true, "MarkdownContent": p, "Path": fmt.Sprint("post-", i), "Status": "published"})
		paths[fmt.Sprintf("/%d/%s", i, p)] = object{"get": object{"summary": p, "description": p, "tags": []string{p}, "parameters": []object{{"name": p, "in": "query", "description": p, "schema": object{"type": p}}}, "responses": object{"200": object{"description": p}}}}
		if i%10 == 0 {
			w.api("POST", "/products/1/docs", object{"Title": p, "Lede": p, "Content": "<p>x</p>", "MarkdownEnabled": true, "MarkdownContent": p, "Status": "published", "Path": fmt.Sprint("t", i)})
		}
	}
	text, err := json.Marshal(object{"openapi": "3.0.3", "info": object{"title": all[1], "version": all[2], "description": all[3]}, "servers": []object{{"url": all[8]}}, "paths": paths})
	must(w.t, err)
	w.describe("/products/1/spec-details/1/oas", string(text))
}
