package app_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestOrganisationIsFull lets an organisation store until it has no room. It reads and deletes, and
// then stores again; others, and operators, are not concerned.
func TestOrganisationIsFull(t *testing.T) {
	const most = 100_000
	a := service(t, nobodyWatches(), app.WithOrganisationBytes(most))
	asset := func(as string, n, size int) (int, string) {
		return fetch(t, a, "POST", "/api/assets", as, fmt.Sprintf(`{"id":"asset-%d","name":"n","kind":"oas-template","data":{"x":%q}}`, n, strings.Repeat("x", size)))
	}
	size := func() int64 { return a.Store().(store.Sized).Size("org-a") }
	stored := 0
	for ; ; stored++ {
		code, text := asset("admin", stored, 10_000)
		if code == 507 && strings.Contains(text, "limits.organisation_bytes") {
			break
		}
		if code != 201 || stored > 20 {
			t.Fatal(stored, code, text)
		}
	}
	if n := size(); n > most+4_000 || n < most-13_000 {
		t.Errorf("%d bytes are stored", n)
	}
	for _, c := range []struct {
		method, path, as, body string
		code                   int
	}{
		{"PUT", "/api/assets/asset-0", "admin", `{"name":"n","kind":"oas-template","data":{"x":"` + strings.Repeat("y", 12_000) + `"}}`, 507},
		{"GET", "/api/assets/asset-0", "admin", "", 200},
		{"POST", "/admin/organisations", "super-admin", `{"owner_name":"Another"}`, 200},
		{"DELETE", "/api/assets/asset-0", "admin", "", 200},
	} {
		if code, text := fetch(t, a, c.method, c.path, c.as, c.body); code != c.code {
			t.Errorf("%s %s: %d %s", c.method, c.path, code, text)
		}
	}
	if code, text := asset("other", 1, 10_000); code != 201 {
		t.Error("another organisation:", code, text)
	}
	if code, text := asset("admin", 0, 5_000); code != 201 {
		t.Error("after a deletion:", code, text)
	}
	if code, text := asset("admin", 100, 50_000); code != 507 {
		t.Error("more than there is room for:", code, text)
	}
}
