package registry_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestOwners states that no operation changes the mapping of an API that the caller may
// not see. A replacement may keep such a mapping as long as the keys of the tokens stay
// the same, and may remove it, as a deletion could.
func TestOwners(t *testing.T) {
	const refused = "clientidp.not_owned"
	const mine, foreign = `"mine":{"scope_to_policy":{"r":"p"}}`, `"foreign":{"scope_to_policy":{"r":"p"}}`
	draft := func(mappings string) string {
		return `{"client_idp_id":"x","name":"n","jwks_uri":"https://i","api_mappings":{` + mappings + `}}`
	}
	for name, c := range map[string]struct {
		stored string
		request
		code string
	}{
		"create":                       {"", request{op: "create", body: `{"name":"n","jwks_uri":"u","api_mappings":{` + mine + `}}`}, ""},
		"create with a foreign one":    {"", request{op: "create", body: `{"name":"n","jwks_uri":"u","api_mappings":{` + foreign + `}}`}, refused},
		"replace":                      {mine, request{op: "replace", body: draft(`"mine2":{}`)}, ""},
		"replace, adding a foreign":    {mine, request{op: "replace", body: draft(foreign)}, refused},
		"replace, removing a foreign":  {mine + "," + foreign, request{op: "replace", body: draft(mine)}, ""},
		"replace, keeping a foreign":   {foreign, request{op: "replace", body: draft(foreign)}, ""},
		"replace, changing a foreign":  {foreign, request{op: "replace", body: draft(`"foreign":{"scope_to_policy":{"r":"p","w":"p"}}`)}, refused},
		"replace, with other keys":     {foreign, request{op: "replace", body: strings.Replace(draft(foreign), "https://i", "https://j", 1)}, refused},
		"replace, of another issuer":   {foreign, request{op: "replace", body: strings.Replace(draft(foreign), `"name"`, `"issuer":"i","name"`, 1)}, refused},
		"replace, by another claim":    {foreign, request{op: "replace", body: strings.Replace(draft(foreign), `"name"`, `"scope_claim_name":"c","name"`, 1)}, refused},
		"put":                          {foreign, request{op: "mappings.put", api: "mine", body: `{}`}, ""},
		"put a foreign":                {foreign, request{op: "mappings.put", api: "foreign", body: `{}`}, refused},
		"delete":                       {mine + "," + foreign, request{op: "mappings.delete", api: "mine"}, ""},
		"delete a foreign":             {foreign, request{op: "mappings.delete", api: "foreign"}, refused},
		"patch":                        {mine + "," + foreign, request{op: "mappings.patch", body: `{"mine":null}`}, ""},
		"patch a foreign":              {mine + "," + foreign, request{op: "mappings.patch", body: `{"foreign":null}`}, refused},
		"patch, amended":               {mine + "," + foreign, request{op: "mappings.patch", body: `{}`, rules: `{"mine":null}`}, ""},
		"patch, amended to a foreign":  {mine + "," + foreign, request{op: "mappings.patch", body: `{"mine":null}`, rules: `{"foreign":null}`}, refused},
		"an API that cannot be looked": {mine, request{op: "mappings.put", api: "broken", body: `{}`}, "internal"},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			d.must(t, request{op: "create", body: draft(c.stored)})
			before := d.must(t, request{op: "get", id: "x"})
			asked := map[string]int{}
			d.Foreign = func(who operation.Principal) func(context.Context, store.Reader, string) (bool, error) {
				if who.Permissions.Admin() {
					return nil
				}
				return func(_ context.Context, _ store.Reader, api string) (bool, error) {
					asked[api]++
					if api == "broken" {
						return false, errors.New("the disk is full")
					}
					return api == "foreign", nil
				}
			}
			c.id = "x"
			_, err := d.do(t, c.request)
			wants(t, err, c.code)
			if c.code != "" && d.must(t, request{op: "get", id: "x"}) != before {
				t.Error("refused, and yet something changed")
			}
			for api, n := range asked {
				if n > 1 {
					t.Errorf("%s was looked up %d times", api, n)
				}
			}
			c.who = operation.Principal{Permissions: access.Map{"IsAdmin": access.LevelAdmin}}
			if c.code == refused {
				d.must(t, c.request) // owners are ignored for admins
			}
		})
	}
}
