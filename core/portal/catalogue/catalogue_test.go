package catalogue_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
)

// TestTables: the fields of catalogues and audiences.
func TestTables(t *testing.T) {
	tabletest.Sound[catalogue.Catalogue](t, `{"Name":"Partners","NameWithSlug":"partners"}`)
	tabletest.Sound[catalogue.Audience](t, `{"TeamID":1}`)
	cases := map[string]string{`{"Name":"A","NameWithSlug":"a-b.c"}`: `{"NameWithSlug":"a-b.c"}`, `{"Name":"A","NameWithSlug":"ü"}`: `{"NameWithSlug":"ü"}`}
	for _, slug := range []string{".", "..", "a b", "a/b", "a?b", "a#b", "%61", `a\\b`, `a\u007f`, `a\nb`} {
		cases[`{"Name":"A","NameWithSlug":"`+slug+`"}`] = "NameWithSlug is invalid"
	}
	tabletest.Bodies(t, catalogue.Catalogue{}, true, cases)
	a := catalogue.Audience{CatalogueID: 3, TeamID: 4}
	if tab := a.Table(); tab.Parent(a) != 3 || tab.Unique[0].Of(a) == tab.Unique[0].Of(catalogue.Audience{CatalogueID: 34}) {
		t.Error("audiences of two catalogues share teams")
	}
}

// TestSlug: the default part of the address, also of a name without letters.
func TestSlug(t *testing.T) {
	for name, want := range map[string]string{"Public Catalogue": "public-catalogue", "!": "catalogue", "": "catalogue"} {
		if got := (catalogue.Catalogue{Name: name}).Slug(); got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
	for _, c := range catalogue.First() {
		if c.NameWithSlug != c.Slug() || c.VisibilityStatus+" Catalogue" != c.Name {
			t.Errorf("a new portal has %+v", c)
		}
	}
}
