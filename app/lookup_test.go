package app_test

import (
	"encoding/json"
	"testing"

	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

// TestLookups states that rules which look something up get what the caller would: lists
// with the keys of their family, and bare ones.
func TestLookups(t *testing.T) {
	var tools app.Tools
	a := service(t, &seen{ops: map[string][]int{}}, app.WithRules(func(t app.Tools) (rules.Engine, error) {
		tools = t
		return rules.BuiltIn{}, nil
	}))
	for _, path := range []string{"/api/hooks", "/api/assets", "/api/clientidps", "/api/portal/policies", "/api/apis"} {
		scope, err := tenant.Of("org-a")
		if err != nil {
			t.Fatal(err)
		}
		got, err := tools.Get(t.Context(), &operation.Call{Scope: scope, Principal: operation.Principal{Permissions: access.Map{"IsAdmin": access.LevelAdmin}}}, path)
		if err != nil {
			t.Fatal(path, err)
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var sent any
		code, body := fetch(t, a, "GET", path, "admin", "")
		if err := json.Unmarshal([]byte(body), &sent); code != 200 || err != nil {
			t.Fatal(code, body, err)
		}
		if want, _ := json.Marshal(sent); string(want) != string(text) {
			t.Errorf("%s: rules get %s, callers %s", path, text, want)
		}
	}
}
