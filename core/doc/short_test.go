package doc_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

func TestShort(t *testing.T) {
	for name, want := range map[string]string{
		"":                       "",
		"name":                   "name",
		strings.Repeat("a", 400): strings.Repeat("a", 400),
		strings.Repeat("a", 300) + strings.Repeat("b", 300): strings.Repeat("a", 200) + "…" + strings.Repeat("b", 200),
		strings.Repeat("a", 199) + strings.Repeat("é", 300): strings.Repeat("a", 199) + "…" + strings.Repeat("é", 100),
		"a" + strings.Repeat("é", 300):                      "a" + strings.Repeat("é", 99) + "…" + strings.Repeat("é", 100),
	} {
		if have := doc.Short(name); have != want {
			t.Errorf("%q: have %q, want %q", name, have, want)
		}
	}
}
