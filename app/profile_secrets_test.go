package app_test

import (
	"strings"
	"testing"
)

// TestSecretsOfProfiles: only admins of the organisation read the credentials of profiles.
func TestSecretsOfProfiles(t *testing.T) {
	e := newEstate(t, false)
	admin := credentials{"Authorization": e.keys["admin of a"]}
	w := e.send(admin, "POST", "/api/tib/profiles", `{"Name":"Our people","ActionType":"GenerateOrLoginUserProfile","Type":"redirect","ProviderName":"SocialProvider",`+
		`"ProviderConfig":{"UseProviders":[{"Name":"openid-connect","Key":"k","Secret":"tib-secret","DiscoverURL":"https://login.example.com"}]},"IdentityHandlerConfig":{"DashboardCredential":"tib-secret"}}`)
	if w.Code != 200 {
		t.Fatal(w.Code, w.Body)
	}
	_, rest, _ := strings.Cut(w.Body.String(), `"Meta":"`)
	id, _, _ := strings.Cut(rest, `"`)
	for who, sees := range map[string]int{"admin of a": 2, "admin": 2, "read": 0, "write": 0, "super": 0} {
		for path, times := range map[string]int{"/api/tib/profiles": 2, "/api/tib/profiles/" + id: 1} { // the list is answered under two names
			w := e.send(credentials{"Authorization": e.keys[who]}, "GET", path, "")
			if got := strings.Count(w.Body.String(), "tib-secret"); w.Code != 200 || got != times*sees || !strings.Contains(w.Body.String(), "https://login.example.com") {
				t.Errorf("%s %s: %d %s", who, path, w.Code, w.Body)
			}
		}
	}
}
