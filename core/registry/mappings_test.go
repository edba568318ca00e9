package registry_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/registry"
)

// TestDiffering states the laws of a difference: a table does not differ from itself, the
// difference is the same both ways, and it has exactly the APIs with different mappings.
func TestDiffering(t *testing.T) {
	const p, q = `{"scope_to_policy":{"r":"p"}}`, `{"scope_to_policy":{"r":"q"}}`
	tables := []string{`{}`, `{"a":` + p + `}`, `{"a":` + q + `}`, `{"a":` + p + `,"b":{}}`, `{"b":{},"a":` + p + `}`, `{"c":{},"b":{},"a":` + q + `}`}
	for _, one := range tables {
		for _, two := range tables {
			a, b := mappings(t, one), mappings(t, two)
			have, back := slices.Sorted(registry.Differing(a, b)), slices.Sorted(registry.Differing(b, a))
			var want []string
			for _, api := range []string{"a", "b", "c"} {
				x, inA := a.Get(api)
				y, inB := b.Get(api)
				if inA != inB || show(t, x) != show(t, y) {
					want = append(want, api)
				}
			}
			if !slices.Equal(have, want) || !slices.Equal(back, want) {
				t.Errorf("%s and %s: %q and %q, want %q", one, two, have, back, want)
			}
			for api := range registry.Differing(a, b) { // a reader that stops gets no further APIs
				if api != "" {
					break
				}
			}
		}
	}
}

// TestReading states that all ways to read a table return the same, in its order.
func TestReading(t *testing.T) {
	ms := mappings(t, `{"b":{"scope_to_policy":{"w":"gold","r":"silver"}},"a":{},"c":{"scope_to_policy":null}}`)
	if have := slices.Collect(ms.APIs()); !slices.Equal(have, []string{"b", "a", "c"}) || ms.Len() != 3 || ms.IsZero() {
		t.Errorf("%q, %d", have, ms.Len())
	}
	var order []string
	for api, m := range ms.All() {
		order = append(order, api)
		if same, ok := ms.Get(api); !ok || show(t, same) != show(t, m) {
			t.Errorf("%s: %s, %v", api, show(t, same), ok)
		}
		for scope, policy := range m.All() {
			if same, ok := m.Policy(scope); !ok || same != policy {
				t.Errorf("%s %s: %q and %q", api, scope, policy, same)
			}
		}
	}
	if !slices.Equal(order, []string{"b", "a", "c"}) {
		t.Errorf("the order is %q", order)
	}
	b, _ := ms.Get("b")
	if have := maps.Collect(b.All()); !maps.Equal(have, map[string]string{"w": "gold", "r": "silver"}) {
		t.Errorf("%v", have)
	}
	if policy, ok := b.Policy("none"); ok || policy != "" {
		t.Errorf("a scope that is not grants %q", policy)
	}
	for range ms.All() {
		break
	}
	for range ms.APIs() {
		break
	}
	if text, err := ms.AppendJSON([]byte("x")); err != nil || string(text) != "x"+show(t, ms) {
		t.Errorf("%s, %v", text, err)
	}
	if empty := mappings(t, `null`); !empty.IsZero() || show(t, empty) != `{}` {
		t.Errorf("null is %s", show(t, empty))
	}
	if have := slices.Collect(registry.Named(patch(t, `{"b":null,"x":{}}`))); !slices.Equal(have, []string{"b", "x"}) {
		t.Errorf("a patch names %q", have)
	}
	p := registry.IdP{ID: "i", Updated: born}
	if next := p.WithMappings(ms, later); show(t, next.APIMappings) != show(t, ms) || next.Updated != later || p.APIMappings.Len() != 0 || next.ID != "i" {
		t.Errorf("%+v", next)
	}
}

// TestTablesRefused states that a table is read completely or not at all, and that the error
// names the place.
func TestTablesRefused(t *testing.T) {
	for text, where := range map[string]string{
		`[]`: "api_mappings", `5`: "api_mappings", `{"a":5}`: "api_mappings.a", `{"a":{},"b":{"scope_to_policy":5}}`: "api_mappings.b.scope_to_policy",
		`{"a":{"scope_to_policy":{"r":1}}}`: "api_mappings.a.scope_to_policy.r",
	} {
		ms := mappings(t, `{"kept":{}}`)
		if err := json.Unmarshal([]byte(text), &ms); err == nil || !strings.Contains(err.Error(), where) || show(t, ms) != `{"kept":{"scope_to_policy":{}}}` {
			t.Errorf("%s: %v, %s", text, err, show(t, ms))
		}
	}
}

// TestLoadRefuses states which records cannot be read: those that are not objects, and those
// with a wrong type in a member other than api_mappings.
func TestLoadRefuses(t *testing.T) {
	for text, readable := range map[string]bool{
		`{}`: true, `{"api_mappings":null}`: true, `{"api_mappings":[]}`: true, `[]`: false, `{`: false, `{"_id":5}`: false, `{"date_created":"x"}`: false,
	} {
		if p, err := registry.Load([]byte(text)); (err == nil) != readable || p.APIMappings.Len() != 0 {
			t.Errorf("%s: %+v, %v", text, p, err)
		}
	}
}

// TestDraftDecodes states that a draft is decoded by the known names in exactly this letter
// case.
func TestDraftDecodes(t *testing.T) {
	var d registry.Draft
	if err := json.Unmarshal([]byte(`{"name":"n","other":1,"api_mappings":{"a":{}}}`), &d); err != nil || d.Name != "n" || d.APIMappings.Len() != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	if err := json.Unmarshal([]byte(`{"Name":"n"}`), &d); err == nil || !strings.Contains(err.Error(), "must be spelled name") {
		t.Error(err)
	}
}

// TestSchemas states that the examples in the API description can be decoded.
func TestSchemas(t *testing.T) {
	for _, example := range (registry.Mapping{}).Schema()["examples"].([]any) {
		var m registry.Mapping
		if err := json.Unmarshal([]byte(show(t, example)), &m); err != nil || show(t, m) != show(t, example) {
			t.Errorf("%s, %v", show(t, m), err)
		}
	}
	if ref := (registry.Mappings{}).Schema()["additionalProperties"]; show(t, ref) != `{"$ref":"#/components/schemas/Mapping"}` {
		t.Errorf("a table has %v", ref)
	}
}

func TestMappingEqual(t *testing.T) {
	m := registry.NewMapping([2]string{"r", "p"}, [2]string{"w", "q"})
	for name, c := range map[string]struct {
		other registry.Mapping
		equal bool
	}{
		"the same":        {m, true},
		"another order":   {registry.NewMapping([2]string{"w", "q"}, [2]string{"r", "p"}), true},
		"another policy":  {registry.NewMapping([2]string{"r", "p"}, [2]string{"w", "p"}), false},
		"fewer scopes":    {registry.NewMapping([2]string{"r", "p"}), false},
		"nothing granted": {registry.Mapping{}, false},
	} {
		if m.Equal(c.other) != c.equal || c.other.Equal(m) != c.equal {
			t.Errorf("%s: want %v", name, c.equal)
		}
	}
}
