package credential_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/credential"
)

// TestFormerKeys: which ended keys of an app are remembered.
func TestFormerKeys(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var all credential.FormerKeys
	add := func(name string, day int) {
		all = all.With(credential.FormerKey{Provider: 1, Name: name, Ended: start.AddDate(0, 0, day)})
	}
	add("a", 0)
	add("b", 1)
	add("a", 2) // a rotation that was undone
	if len(all) != 2 || all[1].Name != "a" {
		t.Error(all)
	}
	add("c", 92)
	if len(all) != 3 {
		t.Error(all)
	}
	add("d", 94)
	if len(all) != 2 || all[0].Name != "c" {
		t.Error(all)
	}
	for i := range 1000 {
		add(fmt.Sprint(i), 95)
	}
	if len(all) != 200 || all[0].Name != "800" || all[199].Name != "999" {
		t.Error(len(all), all[0])
	}
	if none, err := credential.ReadFormer(""); err != nil || none != nil {
		t.Error(none, err)
	}
}
