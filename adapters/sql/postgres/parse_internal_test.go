package postgres

import (
	"strings"
	"testing"
)

// TestUnreadableAddress explains how to write a password, without quoting it.
func TestUnreadableAddress(t *testing.T) {
	for _, dsn := range []string{"postgres://u:hid/den@localhost/db", "postgres://u:hid%zzden@localhost/db", "host=localhost password=hid den"} {
		if _, err := parse(dsn); err == nil || !strings.Contains(err.Error(), "%40 for @") || strings.Contains(err.Error(), "den@") || strings.Contains(err.Error(), "hid") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}
