package app_test

import (
	"encoding/json"
	"reflect"
	"strings"
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

// TestLookupOfDocuments states that rules which look up an API see the document that the caller
// would get, of every class, and nothing around it.
func TestLookupOfDocuments(t *testing.T) {
	var tools app.Tools
	a := service(t, &seen{ops: map[string][]int{}}, app.WithRules(func(t app.Tools) (rules.Engine, error) {
		tools = t
		return rules.BuiltIn{}, nil
	}))
	scope, err := tenant.Of("org-a")
	if err != nil {
		t.Fatal(err)
	}
	const extension = `"paths":{},"info":{"title":"A","version":"1"},"openapi":"3.0.3","x-tyk-api-gateway":{"info":{"id":"%","name":"A","state":{"active":true}},"upstream":{"url":"http://up.example"},"server":{"listenPath":{"value":"/%/"}}}`
	for _, c := range []struct{ create, body, read string }{
		{"/api/apis", `{"api_definition":{"name":"C","api_id":"c1","use_keyless":true,"proxy":{"listen_path":"/c1/","target_url":"http://up.example/"}}}`, "/api/apis/c1"},
		{"/api/apis/oas", "{" + strings.ReplaceAll(extension, "%", "o1") + "}", "/api/apis/oas/o1"},
		{"/api/mcps", "{" + strings.ReplaceAll(extension, "%", "m1") + "}", "/api/mcps/m1"},
	} {
		if code, body := fetch(t, a, "POST", c.create, "admin", c.body); code != 200 {
			t.Fatal(c.create, code, body)
		}
		got, err := tools.Get(t.Context(), &operation.Call{Scope: scope, Principal: operation.Principal{Permissions: access.Map{"IsAdmin": access.LevelAdmin}}}, c.read)
		if err != nil {
			t.Fatal(c.read, err)
		}
		var sent any
		code, body := fetch(t, a, "GET", c.read, "admin", "")
		if err := json.Unmarshal([]byte(body), &sent); code != 200 || err != nil {
			t.Fatal(code, body, err)
		}
		if !reflect.DeepEqual(got, sent) {
			t.Errorf("%s: rules get %.120v, callers %.120v", c.read, got, sent)
		}
	}
}
