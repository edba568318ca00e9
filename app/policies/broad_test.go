package policies_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// A policy for very many APIs is indexed once, and each of its APIs finds it as usual.
// When the policy gets smaller, it is indexed under each API again.
func TestBroadPolicies(t *testing.T) {
	w := newWorld(t, policies.Settings{})
	body := func(id string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"api-%d":{"versions":["Default"]}`, i)
		}
		return fmt.Sprintf(`{"id":%[1]q,"name":%[1]q,"rate":1,"per":1,"access_rights":{%s}}`, id, strings.TrimPrefix(b.String(), ","))
	}
	for id, n := range map[string]int{"narrow": 10, "broad": 300} {
		w.want("admin", "POST", "", body(id, n), 200, "")
	}
	find := func(api, want string) {
		t.Helper()
		if got := w.names("admin", "/search?sort=name&api_id="+api); got != want {
			t.Errorf("policies of %s: %q, want %q", api, got, want)
		}
	}
	find("api-1", "broad narrow")
	find("api-299", "broad")
	find("api-300", "")
	w.update("a", func(wr store.Writer) error { return w.service.Forget(t.Context(), wr, "api-1") })
	find("api-1", "")
	w.want("admin", "PUT", "/broad", body("broad", 20), 200, "")
	find("api-15", "broad")
	find("api-299", "")
}
