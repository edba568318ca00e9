package integrity_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/integrity"
)

func ref(kind, id, field string, rule integrity.Rule) integrity.Ref {
	return integrity.Ref{Target: integrity.Target{Kind: kind, ID: id}, Field: field, OnDelete: rule}
}

func TestDangling(t *testing.T) {
	there := []integrity.Target{{Kind: "api", ID: "orders"}, {Kind: "policy", ID: "gold"}}
	exists := func(x integrity.Target) bool { return slices.Contains(there, x) }
	for name, c := range map[string]struct {
		refs           []integrity.Ref
		field, message string // "": no reference dangles
	}{
		"no reference": {},
		"all targets exist": {refs: []integrity.Ref{
			ref("api", "orders", "a", integrity.Restrict), ref("policy", "gold", "b", integrity.Restrict)}},
		"a missing target": {refs: []integrity.Ref{ref("api", "lost", "a", integrity.Restrict)},
			field: "a", message: `api "lost" does not exist`},
		"an ID of another kind": {refs: []integrity.Ref{ref("policy", "orders", "a", integrity.Restrict)},
			field: "a", message: `policy "orders" does not exist`},
		"the first of several is named": {refs: []integrity.Ref{
			ref("api", "orders", "a", integrity.Restrict), ref("api", "x", "b", integrity.Restrict), ref("api", "y", "c", integrity.Restrict)},
			field: "b", message: `api "x" does not exist`},
		"what is tolerated may dangle": {refs: []integrity.Ref{ref("api", "lost", "a", integrity.Tolerate)}},
		"what is tolerated hides nothing behind it": {refs: []integrity.Ref{
			ref("api", "lost", "a", integrity.Tolerate), ref("api", "lost", "b", integrity.Restrict)},
			field: "b", message: `api "lost" does not exist`},
	} {
		t.Run(name, func(t *testing.T) {
			err := integrity.Dangling(c.refs, exists)
			if c.field == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			f, ok := errors.AsType[*fault.Error](err)
			if !ok || f.Kind != fault.Invalid || f.Code != "reference.dangling" || f.Field != c.field || f.Message != c.message {
				t.Errorf("got %+v", err)
			}
		})
	}
}

// TestTolerateAsksNothing: a tolerated reference needs no lookup.
func TestTolerateAsksNothing(t *testing.T) {
	if err := integrity.Dangling([]integrity.Ref{ref("api", "x", "a", integrity.Tolerate)}, func(x integrity.Target) bool {
		t.Errorf("asked for %v", x)
		return false
	}); err != nil {
		t.Error(err)
	}
}

// TestRefJSON: the members of a reference, which clients of the graph read.
func TestRefJSON(t *testing.T) {
	text, err := json.Marshal(ref("api", "orders", "a.b", integrity.Tolerate))
	if want := `{"kind":"api","id":"orders","field":"a.b","on_delete":1}`; err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}
