package app_test

import (
	"strings"
	"testing"
)

// TestSessionsAreBounded states that no operation takes a session that lists could not hold.
func TestSessionsAreBounded(t *testing.T) {
	a := service(t, &seen{ops: map[string][]int{}})
	body := func(size int) string {
		return `{"access_rights":{"-":{"api_id":"-","versions":["Default"]}},"meta_data":{"x":"` + strings.Repeat("x", size) + `"}}`
	}
	for _, c := range []struct{ method, path string }{
		{"POST", "/api/keys"}, {"POST", "/api/keys/preview"}, {"POST", "/api/keys/mine"}, {"PUT", "/api/keys/mine"}, {"POST", "/api/apis/keys/basic/me"}, {"PUT", "/api/apis/-/keys/mine"},
	} {
		if code, text := fetch(t, a, c.method, c.path, "admin", body(4<<20)); code != 413 {
			t.Errorf("%s %s: %d %.200s", c.method, c.path, code, text)
		}
		if code, text := fetch(t, a, c.method, c.path, "admin", body(3<<20)); code == 413 {
			t.Errorf("%s %s: %d %.200s", c.method, c.path, code, text)
		}
	}
}
