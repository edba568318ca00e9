package page_test

import (
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/page"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
)

func TestAddress(t *testing.T) {
	for path, want := range map[string]string{"": "", "/": "/", "//": "/", "/about": "about", "about/": "about", "/a/b/": "a/b"} {
		if got := page.Address(path); got != want {
			t.Errorf("%q: %q", path, got)
		}
	}
}

func TestMissing(t *testing.T) {
	have := []page.Block{{Name: "A"}, {Name: "B"}}
	if got := page.Missing([]string{"B", "C", "C", "D"}, have); !slices.Equal(got, []string{"C", "D"}) {
		t.Error(got)
	}
	if got := page.Missing([]string{"C", "D"}, make([]page.Block, 999)); !slices.Equal(got, []string{"C"}) {
		t.Error(got)
	}
}

// TestTables: the fields of pages and blocks, and which paths pages may have.
func TestTables(t *testing.T) {
	tabletest.Sound[page.Page](t, `{"Title":"About","Path":"/about"}`)
	tabletest.Sound[page.Block](t, `{"Name":"Intro"}`)
	cases := map[string]string{`{"Title":"A"}`: `{"Status":"Draft"}`, `{"Title":"A","Path":"/","Status":"Published"}`: `{"Path":"/","Status":"Published"}`, `{"Title":"A","Path":"/a/b/"}`: `{"Path":"/a/b/"}`}
	for _, path := range []string{"a b", "a?b", "a#b", "%61", `a\\b`, `a\tb`, "a//b", "a/./b", "../b"} {
		cases[`{"Title":"A","Path":"`+path+`"}`] = "Path is invalid"
	}
	tabletest.Bodies(t, page.Page{}, true, cases)
	path, block := page.Page{}.Table().Unique[0].Of, page.Block{PageID: 3, Name: "A"}
	if path(page.Page{Path: "/a/"}) != path(page.Page{Path: "a"}) || path(page.Page{}) != "" {
		t.Error("two pages have one address")
	}
	if of := block.Table(); of.Parent(block) != 3 || of.Unique[0].Of(block) == of.Unique[0].Of(page.Block{PageID: 4, Name: "A"}) {
		t.Error("blocks of two pages share names")
	}
}

// TestTaken: paths that the portal itself answers, and neighbours that it does not.
func TestTaken(t *testing.T) {
	for path, want := range map[string]bool{
		"/portal-api": true, "portal-api/users": true, "/api/": true, "/robots.txt": true, "/blog": true, "/blog/category/news": true, "/portal/catalogue-products/x/y/docs": true, "/portal/private/apps/7": true,
		"": false, "/": false, "/about": false, "/apis": false, "/portal": false, "/blog/a": false, "/blog/category": false, "/portal/catalogue-products/x/y": false, "/portal/private/apps/7/8": false,
	} {
		if got := page.Taken(path); got != want {
			t.Errorf("%q: %t", path, got)
		}
	}
}
