package session

import (
	"strings"
	"testing"
)

// TestPageIsClosed: the form may lead to this service and to the origin of the login
// page only. A LoginURL that is no URL allows no origin.
func TestPageIsClosed(t *testing.T) {
	for address, want := range map[string]string{
		"": "'self';", "/login": "'self';", "https://login.example.com:8443/x?y=1#z": "'self' https://login.example.com:8443;",
		"javascript:alert(1)": "'self';", "https://user:secret@login.example.com/": "'self' https://login.example.com;",
	} {
		policy := page{goes: origin(address)}.Header()["Content-Security-Policy"]
		if !strings.Contains(policy, "form-action "+want) || !strings.HasPrefix(policy, "default-src 'none';") || !strings.HasSuffix(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: %s", address, policy)
		}
	}
}
