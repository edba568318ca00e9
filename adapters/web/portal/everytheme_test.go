package portal_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/graphql"
	pages "github.com/gatehouse-io/gatehouse/adapters/web/portal"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/core/portal/theme"
)

// wear activates a theme.
func (w *world) wear(name string, files theme.Files) {
	w.t.Helper()
	data, err := theme.Pack(files)
	must(w.t, err)
	w.upload("POST", "/portal-api/themes/upload", name+".zip", data)
	w.api("PUT", "/portal-api/themes/"+name+"/activate", "")
}

// everything is the theme in testdata that uses all features.
func everything(t *testing.T) theme.Files {
	t.Helper()
	out := theme.Files{}
	must(t, filepath.WalkDir("testdata/theme", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel("testdata/theme", path)
		must(t, err)
		text, err := os.ReadFile(path)
		out[filepath.ToSlash(name)] = text
		return err
	}))
	return out
}

var (
	markOf   = regexp.MustCompile(`⟦([\w/]+)\.(\w+)⟧([^⟦]*)⟦⟧`)
	viewRow  = regexp.MustCompile("(?m)^\\| `([\\w/]+)` \\| (`[^|]*) \\|$")
	nameRule = regexp.MustCompile("`(\\w+)`")
)

// documentedViews returns the objects of each view, from the page about themes.
func documentedViews(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/wire/portal-content.md")
	must(t, err)
	_, rest, _ := strings.Cut(string(text), "| view | objects |")
	rest, _, _ = strings.Cut(rest, "| object |")
	out := map[string][]string{}
	for _, m := range viewRow.FindAllStringSubmatch(rest, -1) {
		for _, n := range nameRule.FindAllStringSubmatch(m[2], -1) {
			out[m[1]] = append(out[m[1]], n[1])
		}
	}
	return out
}

// gallery records which objects views have received.
type gallery map[string]string

func (g gallery) see(w *world, p page, status int, views ...string) page {
	w.t.Helper()
	w.shows(p, status)
	seen := map[string]bool{}
	for _, m := range markOf.FindAllStringSubmatch(p.text, -1) {
		seen[m[1]] = true
		if at := m[1] + "." + m[2]; g[at] == "" || g[at] == "&lt;nil&gt;" {
			g[at] = m[3]
		}
	}
	for _, view := range views {
		if !seen[view] {
			w.t.Errorf("%s does not show the view %s:\n%.300s\n%s", p.path, view, p.text, w.log)
		}
	}
	return p
}

// TestThemeOfEverything shows every view with a theme that uses all features: none fails,
// and each documented object exists.
func TestThemeOfEverything(t *testing.T) {
	w, g := newWorldWith(t, func(p *app.Portal) { p.GraphQL = graphql.Checker{} }), gallery{}
	w.stocked()
	w.offering() // its products are 2 and 3, its plans 1 and 2
	w.api("POST", "/portal-api/products", `{"Name":"graph","Path":"graph","IsDocumentationOnly":true,"Catalogues":[1],"SpecDetails":[{"SpecAlias":"main"}]}`)
	w.upload("PUT", "/portal-api/products/4/spec-details/2/graphql/schema", "schema.graphql", []byte("type Query { pet: String }\ntype Subscription { born: String }"))
	for _, template := range []string{"page", "flip_flop"} {
		w.api("POST", "/portal-api/pages", `{"Title":"T","Path":"/a-`+template+`","Template":"`+template+`","Status":"Published"}`)
	}
	w.shows(w.open("/portal/catalogue-products/graph/main/docs"), 200, "The schema has subscriptions.")
	w.wear("Everything", everything(t))
	for path, view := range map[string]string{"/": "home", "/a-page": "page", "/a-flip_flop": "flip_flop", "/blog": "blog_listing", "/portal/catalogue-products": "catalogue", "/portal/catalogue-products/pets": "portal_product_detail",
		"/portal/catalogue-products/pets/main/docs": "product_doc_stoplight_spec", "/portal/catalogue-products/graph/main/docs": "product_doc_graphql_playground",
		"/auth/password/login": "auth/login", "/auth/password/register": "auth/register", "/auth/password/register?token=x": "auth/targeted_invite", "/auth/password/new": "auth/forgot_password", "/auth/reset/code?token=x": "auth/reset"} {
		g.see(w, w.open(path), 200, view)
	}
	post := regexp.MustCompile(`/blog/\d+/\d+/\d+/ten-tips`).FindString(w.open("/blog").text)
	g.see(w, w.open(post), 200, "blog_detail")
	g.see(w, w.open("/nothing"), 404, "not_found")
	g.see(w, w.open("/sso?nonce=used"), 401, "auth/error")
	w.as("ada")
	w.shows(w.open("/portal/private/users/invite"), 403, "Only an admin of the organisation") // the theme has a layout called message, but no view
	w.api("PUT", "/portal-api/users/"+account(w, "ada@example.com"), `{"Role":"consumer-admin"}`)
	w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", "Till", "description", "Pays")
	w.approved("1", "2", "2")
	shipping := "/portal/catalogue-products/shipping"
	w.submit(g.see(w, w.open(shipping), 200, "portal_product_detail", "plan"), shipping, "product_id", "3", "catalogue_id", "1", "plan_id", "1")
	w.submit(w.open("/portal/private/users/invite"), "/portal/private/users/invite", "email", "new@example.com", "first", "New")
	for path, views := range map[string][]string{"/portal/private/apps": {"user_home", "app", "credential"}, "/portal/private/apps/new": {"app_form_create"}, "/portal/private/apps/1": {"app_form_update", "access_request", "user"},
		"/portal/private/cart/provision": {"portal_checkout", "cart_item"}, "/portal/private/analytics": {"analytics"}, "/portal/private/users": {"user_list", "user"}, "/portal/private/users/2": {"user_detail", "invite"},
		"/portal/private/users/2/edit": {"user_edit"}, "/portal/private/users/invite": {"user_invite"}, "/portal/private/profile": {"user_profile", "user"}} {
		g.see(w, w.open(path), 200, views...)
	}
	w.as("eve")
	form := g.see(w, w.open("/portal/private/organisation"), 200, "organisation_edit")
	g.see(w, w.submit(form, "/portal/private/organisation", "org_name", "Eves"), 200, "organisation_success")
	g.see(w, w.open("/portal/private/organisation"), 200, "user_org_pending")
	w.api("PUT", "/portal-api/settings", `{"OrganisationRequestsEnabled":false}`)
	w.as("bob")
	g.see(w, w.open("/portal/private/organisation"), 200, "user_org_disabled")
	w.api("PUT", "/portal-api/settings", `{"PortalVisibility":"Hidden"}`)
	g.see(w, w.open("/portal/catalogue-products"), 403, "portal_disabled")
	if w.log.Len() > 0 {
		t.Error(w.log)
	}
	for view, objects := range documentedViews(t) {
		for _, object := range objects {
			if had := g[view+"."+object]; (had == "" || had == "&lt;nil&gt;") && view != "product_doc_redoc" {
				t.Errorf("%s has no %s: %q", view, object, had)
			}
		}
	}
}

// account returns the number of a user.
func account(w *world, email string) string {
	w.t.Helper()
	var all []struct {
		ID    int
		Email string
	}
	must(w.t, json.Unmarshal(w.api("GET", "/portal-api/users?per_page=-1&page=-1", ""), &all))
	for _, u := range all {
		if u.Email == email {
			return strconv.Itoa(u.ID)
		}
	}
	w.t.Fatal("no account has the address", email)
	return ""
}

// TestThemeOfRedoc shows the only view that needs another setting.
func TestThemeOfRedoc(t *testing.T) {
	var log bytes.Buffer
	w := newWorldWith(t, func(p *app.Portal) {
		p.Pages = fronted(func(c *pages.Config) { c.Renderer, c.Log = "redoc", slog.New(slog.NewTextHandler(&log, nil)) })
	})
	w.stocked()
	w.wear("Everything", everything(t))
	p := gallery{}.see(w, w.open("/portal/catalogue-products/pets/main/docs"), 200, "product_doc_redoc")
	if strings.Contains(p.text, "&lt;nil&gt;") || log.Len() > 0 {
		t.Error(p.text, &log)
	}
}

// TestThemeAttacks shows views that loop, include themselves, and print without end: a
// visitor gets an error page, never half a page, and the log has one line with file and
// line.
func TestThemeAttacks(t *testing.T) {
	w := newWorld(t)
	const start = "<p>begun</p>\n"
	files := theme.Files{
		"theme.json":                 []byte(`{"name":"Knot","version":"1","author":"eve","templates":[{"name":"Home","template":"home","layout":"portal_layout"}]}`),
		"layouts/portal_layout.tmpl": []byte(`<body>{{yield}}</body>`),
		"layouts/blog_layout.tmpl":   []byte(`<body>{{yield}}{{yield}}{{range 1000}}{{yield}}{{end}}</body>`),
		"views/home.tmpl":            []byte(start + `{{range 100000}}{{range 100000}}{{end}}{{end}}`),
		"views/catalogue.tmpl":       []byte(start + `{{range 4000000000}}0123456789012345678901234567890123456789{{end}}`),
		"views/not_found.tmpl":       []byte(start + `{{render (print "not_" "found") .}}`),
		"views/page.tmpl":            []byte(start + `{{$x := "0123456789"}}` + strings.Repeat(`{{$x = print $x $x}}`, 40)),
		"views/blog_listing.tmpl":    []byte(start + strings.Repeat("x", 100_000)),
		"views/message.tmpl":         []byte(start + `{{.message.nothing.here}}`),
	}
	w.wear("Knot", files)
	for path, at := range map[string]string{"/": "views/home:2", "/portal/catalogue-products": "views/catalogue:2", "/nothing": "views/not_found:2", "/about-us": "views/page:2", "/blog": "views/blog_listing:1"} {
		w.log.Reset()
		p := w.shows(w.open(path), 500, "<!doctype html>", "Something went wrong")
		if strings.Contains(p.text, "begun") || !strings.HasSuffix(strings.TrimSpace(p.text), "</html>") {
			t.Errorf("%s shows half a page:\n%.500s", path, p.text)
		}
		if lines := strings.Count(w.log.String(), "\n"); lines != 1 || !strings.Contains(w.log.String(), at) {
			t.Errorf("%s: %d lines, want one with %s:\n%.1000s", path, lines, at, w.log)
		}
	}
}
