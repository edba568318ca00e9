package app_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/keys"
)

// TestManyKeys: one request looks at a bounded number of keys, the next ones go on from there,
// and places do not tell keys.
func TestManyKeys(t *testing.T) {
	a := service(t, nobodyWatches())
	call := func(method, path, body string, out any) {
		t.Helper()
		code, text := fetch(t, a, method, path, "admin", body)
		if code != 200 || out != nil && json.Unmarshal([]byte(text), out) != nil {
			t.Fatal(method, path, code, text)
		}
	}
	call("POST", "/api/portal/policies", `{"id":"gold","name":"Gold","access_rights":{"a":{}}}`, nil)
	const all = 1100
	for i := range all {
		call("POST", fmt.Sprintf("/api/keys/key-%d", i), `{"apply_policies":["gold"]}`, nil)
	}
	call("PATCH", "/api/portal/policies/gold", `{"state":"draft"}`, nil)
	seen, place := map[string]bool{}, ""
	for _, want := range []int{1000, 100} {
		var d keys.Diagnosis
		call("GET", "/api/doctor/keys?after="+url.QueryEscape(place), "", &d)
		if d.At != want || len(d.Keys) != want {
			t.Errorf("%d looked at, %d refused, want %d", d.At, len(d.Keys), want)
		}
		var c keys.Carriers
		call("GET", "/api/portal/policies/gold/keys?p=-1&after="+url.QueryEscape(place), "", &c)
		if c.Count != want || len(c.Keys) != want || c.Next != d.Next {
			t.Errorf("%d carry the policy, want %d", c.Count, want)
		}
		for _, k := range d.Keys {
			seen[k.Hash] = true
		}
		place = d.Next
		if seen[place] {
			t.Error("a place is a key")
		}
	}
	if len(seen) != all || place != "" {
		t.Errorf("%d keys, then %q", len(seen), place)
	}
}
