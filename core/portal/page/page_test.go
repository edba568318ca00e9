package page_test

import (
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/page"
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
