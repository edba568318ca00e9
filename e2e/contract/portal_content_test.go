package contract_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/theme"
)

// contentPlans are the plans for pages, posts, menus and themes.
var contentPlans = map[string]plan{
	"portal-pages.list":   {path: inPortal("page_id", "/pages", content), query: portalLists},
	"portal-pages.create": {bodies: fresh(content)},
	"portal-pages.get":    {path: inPortal("page_id", "/pages", content)},
	"portal-pages.update": {path: inPortal("page_id", "/pages", content), bodies: fresh(content)},
	"portal-pages.delete": {path: inPortal("page_id", "/pages", content)},

	"portal-content-blocks.list":   {path: block, query: portalLists},
	"portal-content-blocks.create": {path: inPortal("page_id", "/pages", content), bodies: fresh(blockBody)},
	"portal-content-blocks.get":    {path: block},
	"portal-content-blocks.update": {path: block, bodies: fresh(blockBody)},
	"portal-content-blocks.delete": {path: block},

	"portal-posts.list":            {path: news, query: portalLists},
	"portal-posts.create":          {bodies: fresh(newsBody)},
	"portal-posts.get":             {path: news},
	"portal-posts.update":          {path: news, bodies: fresh(newsBody)},
	"portal-posts.delete":          {path: news},
	"portal-posts.list-categories": {path: news, query: portalLists},
	"portal-posts.attach-category": {path: newsAnd("category_id", "/categories"), bodies: attached("category_id")},
	"portal-posts.detach-category": {path: newsWith("category_id", "/categories", "/categories")},
	"portal-posts.list-tags":       {path: news, query: portalLists},
	"portal-posts.attach-tag":      {path: newsAnd("tag_id", "/tags"), bodies: attached("tag_id")},
	"portal-posts.detach-tag":      {path: newsWith("tag_id", "/tags", "/tags")},

	"portal-categories.list":   {path: inPortal("category_id", "/categories", tag), query: portalLists},
	"portal-categories.create": {bodies: fresh(tag)},
	"portal-categories.get":    {path: inPortal("category_id", "/categories", tag)},
	"portal-categories.update": {path: inPortal("category_id", "/categories", tag), bodies: fresh(tag)},
	"portal-categories.delete": {path: inPortal("category_id", "/categories", tag)},

	"portal-menus.list":   {path: inPortal("menu_id", "/menus", tag), query: portalLists},
	"portal-menus.create": {bodies: fresh(tag)},
	"portal-menus.get":    {path: inPortal("menu_id", "/menus", tag)},
	"portal-menus.update": {path: inPortal("menu_id", "/menus", tag), bodies: fresh(tag)},
	"portal-menus.delete": {path: inPortal("menu_id", "/menus", tag)},

	"portal-menu-items.list":   {path: entry, query: portalLists},
	"portal-menu-items.create": {path: inPortal("menu_id", "/menus", tag), bodies: fresh(entryBody)},
	"portal-menu-items.get":    {path: entry},
	"portal-menu-items.update": {path: entry, bodies: fresh(entryBody)},
	"portal-menu-items.delete": {path: entry},

	"portal-themes.list":     {path: opened},
	"portal-themes.upload":   {path: opened, bodies: fixed(themeForm), header: pictureForm},
	"portal-themes.get":      {path: painted},
	"portal-themes.activate": {path: painted},
	"portal-themes.download": {path: painted},
	"portal-themes.delete":   {path: idle},
}

func content(n int, _ string) string {
	return fmt.Sprintf(`{"Title":"Page %d","Path":"/page-%d","Status":"Published","Template":"page","AllowFormSubmission":false,"PageTypeID":0}`, n, n)
}

func blockBody(n int, _ string) string {
	return fmt.Sprintf(`{"Name":"Block%d","Content":"<p>Text</p>","MarkdownContent":"Text","MarkdownEnabled":false}`, n)
}

func newsBody(n int, _ string) string {
	return fmt.Sprintf(`{"Title":"News %d","Lede":"Short","Content":"<p>Long</p>","Path":"news-%d","Status":"published","MarkdownEnabled":false,"Tags":[],"Categories":null}`, n, n)
}

func entryBody(n int, _ string) string {
	return fmt.Sprintf(`{"Title":"Entry %d","Path":"/page-%d","Position":%d,"ParentID":0}`, n, n, n)
}

var (
	block = below(inPortal("page_id", "/pages", content), "content-block_id", "/pages/{page_id}/content-blocks", blockBody)
	entry = below(inPortal("menu_id", "/menus", tag), "item_id", "/menus/{menu_id}/items", entryBody)
	news  = inPortal("post_id", "/posts", newsBody)
)

// newsAnd creates a post and a label for it; newsWith also adds the label to the post.
func newsAnd(name, path string) func(testing.TB, *service) map[string]string {
	return func(t testing.TB, s *service) map[string]string {
		t.Helper()
		names := news(t, s)
		names[name] = s.add(t, path, tag(s.next(), ""))
		return names
	}
}

func newsWith(name, path, at string) func(testing.TB, *service) map[string]string {
	return func(t testing.TB, s *service) map[string]string {
		t.Helper()
		names := newsAnd(name, path)(t, s)
		s.add(t, "/posts/"+names["post_id"]+at, `{"ID":`+names[name]+`}`)
		return names
	}
}

func attached(name string) func(*service, map[string]string) []string {
	return func(_ *service, path map[string]string) []string { return []string{`{"ID":` + path[name] + `}`} }
}

// themeForm is a form with a theme.
var themeForm = formWith("ocean.zip", packedTheme())

func packedTheme() string {
	data, err := theme.Pack(theme.Files{
		"theme.json":       []byte(`{"name":"Ocean","version":"1.0.0","author":"Ada","templates":[{"name":"Page","template":"page","layout":""}]}`),
		"views/page.tmpl":  []byte(`<h1>{{.page.Title}}</h1>`),
		"assets/ocean.css": []byte("body {}"),
	})
	if err != nil {
		panic(err)
	}
	return string(data)
}

// painted uploads a theme; idle also makes sure that another one is active.
func painted(t testing.TB, s *service) map[string]string {
	t.Helper()
	a := s.ask(t, request{method: "POST", path: "/portal-api/themes/upload", as: s.portalAdmin(t), body: []byte(themeForm), header: pictureForm[0]})
	if a.status != http.StatusOK {
		t.Fatal(a)
	}
	return map[string]string{"theme_id": "Ocean"}
}

func idle(t testing.TB, s *service) map[string]string {
	t.Helper()
	path := painted(t, s)
	if a := s.ask(t, request{method: "PUT", path: "/portal-api/themes/default/activate", as: s.portalAdmin(t)}); a.status != http.StatusOK {
		t.Fatal(a)
	}
	return path
}
