package store_test

import (
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestUntyped: the untyped form of a kind behaves like the kind.
func TestUntyped(t *testing.T) {
	type pet struct{ ID, Org, Name, Owner string }
	k := &store.Kind[pet]{
		Name: "pet", Noun: "animal", Alias: "name", Shared: true,
		ID:  func(p pet) string { return p.ID },
		Org: func(p pet) tenant.ID { return tenant.ID(p.Org) },
		Indexes: []store.Index[pet]{
			store.Unique("name", "name", func(p pet) string { return p.Name }), store.Sorted("owner", func(p pet) string { return p.Owner }),
			{Name: "chip", Unique: true, Across: true, Values: func(p pet) []string { return []string{p.ID} }},
		},
		Refs: func(p pet) []integrity.Ref {
			return []integrity.Ref{{Target: integrity.Target{Kind: "person", ID: p.Owner}, Field: "owner"}}
		},
	}
	u, p := k.Untyped(), pet{"1", "o", "Rex", "ada"}
	if u.Name != k.Name || u.Noun != k.Noun || u.Alias != k.Alias || !u.Shared || u.ID(p) != k.ID(p) || u.Org(p) != k.Org(p) ||
		!slices.Equal(u.Names(p), k.Names(p)) || !slices.Equal(u.Refs(p), k.Refs(p)) || len(u.Indexes) != len(k.Indexes) {
		t.Errorf("%+v", u)
	}
	for i, ix := range k.Indexes {
		v := u.Indexes[i]
		if v.Name != ix.Name || v.Noun != ix.Noun || v.Unique != ix.Unique || v.Across != ix.Across || v.Sorted != ix.Sorted || !slices.Equal(v.Values(p), ix.Values(p)) {
			t.Errorf("the index %s: %+v", ix.Name, v)
		}
	}
	rec := store.Record{Kind: "pet", ID: "1", Org: "o", Doc: []byte(`{"ID":"1","Org":"o","Name":"Rex","Owner":"ada"}`)}
	if v, err := u.Decode(rec); err != nil || v != p {
		t.Errorf("%+v, %v", v, err)
	}
}
