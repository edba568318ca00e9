package label_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/label"
)

func TestFlaw(t *testing.T) {
	for _, name := range []string{"", "Orders", "סדר", "می\u200cخواهم", "क्\u200dष", "👩\u200d👩\u200d👧", "a\u200eb\u200f", "\u061cنص", "\xff"} {
		if got := label.Flaw(name, ""); got != "" {
			t.Errorf("%q %s", name, got)
		}
	}
	for _, r := range "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" {
		name := "pay" + string(r) + "live"
		if got := label.Flaw(name, "pay"); !strings.Contains(got, "U+20") {
			t.Errorf("%q %s", name, got)
		}
		if got := label.Flaw(name, name); got != "" {
			t.Errorf("%q, as stored, %s", name, got)
		}
	}
}
