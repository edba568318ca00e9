package audit

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

// FuzzPlain: plain texts are shown as they would be after parsing.
func FuzzPlain(f *testing.F) {
	for _, text := range []string{`"a"`, `""`, `"{}"`, `"https://u:p@a.example"`, `"?token=x"`, `"\u0061"`, "\"\u2028\"", `"<&>"`, `"a"b"`, `"`, `1`, `"a`, "\"\x7f\""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !plain([]byte(text)) {
			return
		}
		n := doctest.Node(t, text)
		c := comparison{Comparer: NewComparer(nil)}
		for _, hidden := range []bool{false, true} {
			if got, want := string(c.shown([]byte(text), hidden)), string(c.show(n, "", hidden)); got != want {
				t.Errorf("%q is shown as %s; want %s", text, got, want)
			}
		}
	})
}
