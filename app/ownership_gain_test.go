package app_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestNobodyGainsAPIs: with ownership on, who writes users without being an admin opens no
// API of other owners: not by a group that owns one, for itself or another, not by a key or
// an address of an owner, and not by deleting the last one.
func TestNobodyGainsAPIs(t *testing.T) {
	e := newEstate(t, true)
	admin, plain := credentials{"Authorization": e.keys["admin of a"]}, credentials{"Authorization": e.keys["write"]}
	ask := func(as credentials, method, path, body string, want int) string {
		t.Helper()
		w := e.send(as, method, path, body)
		if w.Code != want || want == 403 && !strings.Contains(w.Body.String(), "opens APIs of other owners") && !strings.Contains(w.Body.String(), "address of a user who has") {
			t.Errorf("%s %s %s: %d %s", method, path, body, w.Code, w.Body)
		}
		return w.Body.String()
	}
	program := e.must("admin of a", "POST", "/api/service-accounts", `{"name":"deploy","user_permissions":{"apis":"read"}}`)
	for i, owners := range []string{`"user_group_owners":["` + e.group + `"]`, `"user_owners":["` + e.ids["owner"] + `"]`, `"user_owners":["service:deploy"]`} {
		ask(admin, "POST", "/api/apis", fmt.Sprintf(`{"api_definition":{"api_id":"gain-%d","name":"Gain %[1]d","proxy":{"listen_path":"/gain-%[1]d/","target_url":"http://up.example"}},%s}`, i, owners), 200)
		ask(plain, "GET", fmt.Sprintf("/api/apis/gain-%d", i), "", 401)
	}
	self := e.ids["write"]
	puppet := `{"first_name":"P","last_name":"P","email_address":"puppet@example.com","active":true,"group_id":"` + e.group + `"}`
	ask(plain, "PUT", "/api/users/"+self, `{"group_id":"`+e.group+`"}`, 403)
	ask(plain, "PUT", "/api/users/"+self, `{"group_ids":["`+e.group+`"]}`, 403)
	ask(plain, "POST", "/api/users", puppet, 403)
	ask(plain, "PUT", "/api/users/"+e.ids["owner"], `{"email_address":"mine@example.com"}`, 403)
	ask(plain, "DELETE", "/api/users/"+e.ids["owner"], "", 403)
	ask(plain, "POST", "/api/service-accounts/"+program+"/keys", `{"name":"mine"}`, 403)
	ask(plain, "DELETE", "/api/service-accounts/"+program, "", 403)
	ask(plain, "PUT", "/api/users/"+self, `{"first_name":"Same"}`, 200)
	ask(admin, "POST", "/api/users", puppet, 200)
	ask(admin, "DELETE", "/api/users/"+e.ids["owner"], "", 200)
	ask(plain, "GET", "/api/apis/gain-0", "", 401)
}
