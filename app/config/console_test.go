package config

import "testing"

// TestOrigins: only an exact origin may become part of a policy.
func TestOrigins(t *testing.T) {
	for s, want := range map[string]bool{
		"https://plane.example.com": true, "http://127.0.0.1:3000": true, "http://[::1]:3000": true, "": false, "*": false, "https://*": false, "https://plane.example.com/": false,
		"https://plane.example.com/path": false, "https://plane.example.com?q": false, "https://user@plane.example.com": false, "ftp://plane.example.com": false,
		"https://a.example.com; script-src *": false, "https://a.example.com 'unsafe-inline'": false, "https://a;b": false, "https://a,b": false, "HTTPS://a": false,
	} {
		if origin(s) != want {
			t.Errorf("%q: %v", s, !want)
		}
	}
	if _, report := Load(nil, "", []string{"SVC_DB_CONSOLE_SERVERS=https://a.example.com; script-src *"}, Options{}); report.Err() == nil {
		t.Error("a policy was accepted as an origin")
	}
}
