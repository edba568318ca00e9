package weburl_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/weburl"
)

func TestPorts(t *testing.T) {
	for text, want := range map[string]bool{
		"http://h.example": true, "https://h.example:443/x": true, "http://h:1": true, "http://h:65535": true, "http://[::1]:80/": true, "http://h:/": true,
		"http://h:0": false, "http://h:65536": false, "http://h:99999/hook": false, "http://h:18446744073709551617": false, "http://[::1]:70000/": false,
		"http://:80": false, "ftp://h": false, "//h": false, "/x": false, "": false, "http://h:x": false,
	} {
		if got := weburl.Absolute(text); got != want {
			t.Errorf("%q %v", text, got)
		}
		if u, err := weburl.Parse(text); (err == nil) != (u != nil && (want || text == "ftp://h" || text == "//h" || text == "/x" || text == "" || text == "http://:80")) {
			t.Errorf("%q %v", text, err)
		}
	}
}
