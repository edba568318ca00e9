package sql

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// FuzzMeta decodes every meta as encoding/json does.
func FuzzMeta(f *testing.F) {
	f.Add("name", "a \"quoted\" <text> \u2028 \x80", true, false, true, uint8(2), uint64(store.FirstSerial)+7)
	f.Add("", "", false, true, false, uint8(0), uint64(0))
	f.Fuzz(func(t *testing.T, one, other string, a, b, c bool, rule uint8, serial uint64) {
		m := meta{Serial: store.Serial(serial)}
		if a {
			m.Keys = []store.Key{{Index: one, Value: other, Unique: b, Sorted: c, Across: a}, {Index: other, Value: one, Sorted: b}}
		}
		if b || c {
			m.Refs = []integrity.Ref{{Target: integrity.Target{Kind: one, ID: other}, Field: one + other, OnDelete: integrity.Rule(rule)}, {}}
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var want meta
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if got, err := metaOf(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	})
}

// TestMetaOfDamage refuses invalid metas.
func TestMetaOfDamage(t *testing.T) {
	for _, text := range []string{
		``, `5`, `[]`, `null`, `{`, `{}x`, `{"k":5}`, `{"k":{}}`, `{"k":[5]}`, `{"k":[{"i":5}]}`, `{"k":[{"u":1}]}`, `{"r":null}`, `{"r":[[]]}`,
		`{"r":[{"kind":true}]}`, `{"r":[{"on_delete":-1}]}`, `{"r":[{"on_delete":256}]}`, `{"s":"1"}`, `{"s":1.5}`, "{\"k\":[{\"v\":\"\xff\"}",
	} {
		if m, err := metaOf([]byte(text)); !errors.Is(err, errNoMeta) {
			t.Errorf("%s: %v, %v", text, m, err)
		}
	}
	if m, err := metaOf([]byte(`{"later":{"k":[5]},"k":[{"i":"a","v":"b","later":[1]}]}`)); err != nil || len(m.Keys) != 1 || m.Keys[0] != (store.Key{Index: "a", Value: "b"}) {
		t.Errorf("members of a later program: %v, %v", m, err)
	}
}
