package registry_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/registry"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestMappings states the result of each write on two mappings.
func TestMappings(t *testing.T) {
	const a, b = `"a":{"scope_to_policy":{"read":"gold"}}`, `"b":{"scope_to_policy":{}}`
	for name, c := range map[string]struct {
		request
		want, code string
	}{
		"one put":                 {request{op: "mappings.put", api: "a", body: `{"scope_to_policy":{"w":"p"}}`}, `{"a":{"scope_to_policy":{"w":"p"}},` + b + `}`, ""},
		"a new one put":           {request{op: "mappings.put", api: "c", body: `{}`}, `{` + a + `,` + b + `,"c":{"scope_to_policy":{}}}`, ""},
		"one of no form put":      {request{op: "mappings.put", api: "a", body: `{"scope_to_policy":[]}`}, `{` + a + `,` + b + `}`, "clientidp.mappings"},
		"one deleted":             {request{op: "mappings.delete", api: "a"}, `{` + b + `}`, ""},
		"none deleted":            {request{op: "mappings.delete", api: "c"}, `{` + a + `,` + b + `}`, "clientidp.mapping.not_found"},
		"patched":                 {request{op: "mappings.patch", body: `{"a":{"scope_to_policy":{"w":"p"}},"b":null}`}, `{"a":{"scope_to_policy":{"read":"gold","w":"p"}}}`, ""},
		"patched all or nothing":  {request{op: "mappings.patch", body: `{"b":null,"a":5}`}, `{` + a + `,` + b + `}`, "clientidp.mappings"},
		"patched by rules":        {request{op: "mappings.patch", body: `{"b":null}`, rules: `{"a":{"scope_to_policy":{"read":"silver"}}}`}, `{"a":{"scope_to_policy":{"read":"silver"}}}`, ""},
		"rules that take it back": {request{op: "mappings.patch", body: `{"c":{}}`, rules: `{"c":null}`}, `{` + a + `,` + b + `}`, ""},
		"rules of no form":        {request{op: "mappings.patch", body: `{"b":null}`, rules: `{"a":5}`}, `{` + a + `,` + b + `}`, "clientidp.mappings"},
		"rules on a wrong patch":  {request{op: "mappings.patch", body: `{"a":5}`, rules: `{"b":null}`}, `{` + a + `,` + b + `}`, "clientidp.mappings"},
		"a dry run":               {request{op: "mappings.delete", api: "a", query: map[string]string{"dry_run": "true"}}, `{` + a + `,` + b + `}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			d.must(t, request{op: "create", body: corp})
			c.id = "corp"
			_, err := d.do(t, c.request)
			wants(t, err, c.code)
			if have := d.stored(t, "corp"); have != c.want {
				t.Errorf("have %s\nwant %s", have, c.want)
			}
			var all map[string]json.RawMessage
			if err := json.Unmarshal([]byte(c.want), &all); err != nil {
				t.Fatal(err)
			}
			for _, api := range []string{"a", "b", "c"} {
				text, err := d.do(t, request{op: "mappings.get", id: "corp", api: api})
				if text != string(all[api]) || fault.CodeOf(err) != "clientidp.mapping.not_found" && all[api] == nil {
					t.Errorf("the mapping of %s is %s, %v", api, text, err)
				}
			}
		})
	}
	_, err := open(t).do(t, request{op: "mappings.patch", id: "corp", body: `{}`, rules: `{"a":null}`})
	wants(t, err, "clientidp.not_found")
}

// TestPreconditions states that a write with an entity tag succeeds only if there was
// no other write since, and that If-None-Match on one mapping checks whether that
// mapping exists.
func TestPreconditions(t *testing.T) {
	d := open(t)
	d.must(t, request{op: "create", body: corp})
	var stale string
	for rec, err := range records(t, d) {
		if err != nil {
			t.Fatal(err)
		}
		stale = operation.Tag(rec.Serial)
	}
	d.must(t, request{op: "mappings.put", id: "corp", api: "a", body: `{}`, header: map[string]string{"If-Match": `"` + stale + `"`}})
	before := d.stored(t, "corp")
	for _, r := range []request{
		{op: "replace", body: corp}, {op: "delete"}, {op: "mappings.patch", body: `{"b":null}`}, {op: "mappings.put", api: "b", body: `{}`}, {op: "mappings.delete", api: "a"},
	} {
		r.id, r.header = "corp", map[string]string{"If-Match": `"` + stale + `"`}
		_, err := d.do(t, r)
		if fault.KindOf(err) != fault.Stale {
			t.Errorf("%s: %v", r.op, err)
		}
	}
	fresh := map[string]string{"If-None-Match": "*"}
	_, err := d.do(t, request{op: "mappings.put", id: "corp", api: "a", body: `{"scope_to_policy":{"x":"y"}}`, header: fresh})
	wants(t, err, operation.CodeMatch)
	if after := d.stored(t, "corp"); after != before {
		t.Errorf("refused, and yet %s became %s", before, after)
	}
	d.must(t, request{op: "mappings.put", id: "corp", api: "new", body: `{}`, header: fresh})
}

func records(t testing.TB, d *desk) func(func(store.Record, error) bool) {
	return func(yield func(store.Record, error) bool) {
		if err := d.Store.View(t.Context(), scope(t, ours), func(r store.Reader) error {
			for rec, err := range r.Scan(t.Context(), store.Query{Kind: "clientidp"}) {
				if !yield(rec, err) {
					return nil
				}
			}
			return nil
		}); err != nil {
			yield(store.Record{}, err)
		}
	}
}

// TestReport states that a caller gets the dangling mappings of its organisation. A
// caller without organisation gets those of all organisations in order, each resolved
// within its own organisation.
func TestReport(t *testing.T) {
	d := open(t)
	d.References = crud.NewReferences(registry.Registration(), crud.Facts[named]{Kind: kind(apidef.Kind), Name: func(n named) string { return n.Name }}.Registration())
	provider := func(name string) string {
		return `{"client_idp_id":"` + name + `","name":"n","jwks_uri":"https://i","api_mappings":{"lost":{}}}`
	}
	if text := d.must(t, request{op: "report", all: true}); text != `{"dangling":[]}` {
		t.Errorf("an empty store: %s", text)
	}
	for _, r := range []request{{org: theirs, body: provider("their1")}, {body: provider("our1")}, {body: provider("our2")}} {
		r.op = "create"
		d.must(t, r)
	}
	for _, c := range []struct {
		request
		want string
	}{{request{}, "our1 our2"}, {request{org: theirs}, "their1"}, {request{all: true}, "our1 our2 their1"}} {
		c.op = "report"
		var report struct{ Dangling []store.Reference }
		if err := json.Unmarshal([]byte(d.must(t, c.request)), &report); err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, ref := range report.Dangling {
			have = append(have, ref.ID)
		}
		if strings.Join(have, " ") != c.want {
			t.Errorf("%+v is told of %q", c.request, have)
		}
	}
}

// TestWritable stores no identity provider that a body could not bring back: mappings add up.
func TestWritable(t *testing.T) {
	d := open(t)
	d.must(t, request{op: "create", body: corp})
	d.Room.Values = 60
	scopes := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"s%d":"gold"`, i))
		}
		return `{"scope_to_policy":{` + strings.Join(all, ",") + `}}`
	}
	before := d.stored(t, "corp")
	for _, r := range []request{{op: "mappings.put", api: "c", body: scopes(60)}, {op: "mappings.patch", body: `{"c":` + scopes(60) + `}`}} {
		r.id = "corp"
		_, err := d.do(t, r)
		wants(t, err, "clientidp.too_large")
	}
	if now := d.stored(t, "corp"); now != before {
		t.Error(now)
	}
	d.must(t, request{op: "mappings.put", id: "corp", api: "c", body: scopes(5)})
	// What was stored when more was allowed can be changed as long as it does not grow.
	d.Room.Values = 5
	d.must(t, request{op: "mappings.put", id: "corp", api: "c", body: scopes(4)})
	_, err := d.do(t, request{op: "mappings.patch", id: "corp", body: `{"d":{}}`})
	wants(t, err, "clientidp.too_large")
	d.must(t, request{op: "mappings.delete", id: "corp", api: "c"})
}
