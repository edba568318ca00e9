package caps_test

import (
	"errors"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/caps"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// TestCount: entries that are counted elsewhere have the same limit as those of a document,
// the fault names the place, and a field without a cap has no limit.
func TestCount(t *testing.T) {
	for _, l := range caps.Lists() {
		for _, c := range l.Caps {
			if err := l.Count(c.Field, c.Most); err != nil {
				t.Errorf("%s %s: %v", l.Kind, c.Field, err)
			}
			err := l.CountAt(c.Field, "here", c.Most+1)
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Field != "here" || f.Code != l.Kind+".too_many" || f.Kind != fault.Invalid {
				t.Errorf("%s %s: %v", l.Kind, c.Field, err)
			}
		}
		if err := l.Count("name", 1<<40); err != nil {
			t.Errorf("%s name: %v", l.Kind, err)
		}
	}
}
