package classic_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
)

// TestNullOwners: a client that sends null for the owners of an API, because it does
// not know them, does not open the API to all users. Empty lists do, and so does a
// patch that removes the lists.
func TestNullOwners(t *testing.T) {
	w := apistest.New(t, apis.Settings{Ownership: true})
	def := apistest.Classic("a", "A", "/a/")
	with := func(owners string) string {
		return `{"user_owners":` + owners + `,"user_group_owners":` + owners + `,` + def[1:]
	}
	w.Done("admin", "POST", "/apis", with("null"))
	for _, c := range []struct{ method, body, want string }{
		{"PUT", with(`["u"]`), `{"userIds":["u"],"userGroupIds":["u"]}`},
		{"PUT", with("null"), `{"userIds":["u"],"userGroupIds":["u"]}`},
		{"PUT", def, `{"userIds":["u"],"userGroupIds":["u"]}`},
		{"PUT", with("[]"), `{"userIds":[],"userGroupIds":[]}`},
		{"PUT", with(`["v"]`), `{"userIds":["v"],"userGroupIds":["v"]}`},
		{"PATCH", `{"user_owners":null}`, `{"userIds":[],"userGroupIds":["v"]}`},
	} {
		w.Done("admin", c.method, "/apis/a", c.body)
		if got := string(w.Node("admin", "/apis/a/access").JSON()); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.method, c.body, got, c.want)
		}
	}
}
