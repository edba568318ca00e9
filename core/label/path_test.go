package label_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/label"
)

func TestInPath(t *testing.T) {
	for _, id := range []string{"a", "a.b", "...", "é\u200dé", "12345", "a b"} {
		if !label.InPath(id, 5) {
			t.Errorf("%q is refused", id)
		}
	}
	for _, id := range []string{"", ".", "..", "a/b", "a\nb", "a\x7f", "a\u202eb", "123456", "\xff"} {
		if label.InPath(id, 5) {
			t.Errorf("%q passes", id)
		}
	}
}
